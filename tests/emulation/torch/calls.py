# SPDX-License-Identifier: Apache-2.0
# Copyright the Weft authors
"""Every call of the backend, with values that are checked: four ranks, all real, --data functional."""

import torch
import torch.distributed as dist

dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
assert world == 4 and dist.get_backend() == "weft"


def same(tensor, expected, what):
    assert torch.equal(tensor, torch.as_tensor(expected, dtype=tensor.dtype)), (rank, what, tensor, expected)


for kind in (torch.float32, torch.float64, torch.int32, torch.int64):
    t = torch.tensor([rank, 2 * rank], dtype=kind)
    dist.all_reduce(t)
    same(t, [6, 12], "all_reduce")
t = torch.arange(6.).reshape(2, 3).t() + rank  # not contiguous
dist.all_reduce(t, op=dist.ReduceOp.MAX)
same(t, torch.arange(6.).reshape(2, 3).t() + 3, "all_reduce of a view")
t = torch.full((4,), float(rank))
work = dist.all_reduce(t, async_op=True)
while not work.is_completed():
    pass
same(t, [6.] * 4, "async all_reduce")
t = torch.full((3,), float(rank))
dist.broadcast(t, 2)
same(t, [2.] * 3, "broadcast")
t = torch.full((3,), float(rank))
dist.reduce(t, 1)
same(t, [6.] * 3 if rank == 1 else [float(rank)] * 3, "reduce")
parts = [torch.empty(2) for _ in range(world)]
dist.all_gather(parts, torch.tensor([rank, -rank], dtype=torch.float32))
for other, part in enumerate(parts):
    same(part, [other, -other], "all_gather")
flat = torch.empty(2 * world)
dist._all_gather_base(flat, torch.tensor([rank, -rank], dtype=torch.float32))
same(flat, [v for other in range(world) for v in (other, -other)], "_all_gather_base")
parts = [torch.empty(2) for _ in range(world)] if rank == 3 else None
dist.gather(torch.full((2,), float(rank)), parts, dst=3)
for other, part in enumerate(parts or []):
    same(part, [other, other], "gather")
t = torch.empty(2)
dist.scatter(t, [torch.full((2,), 10. * other) for other in range(world)] if rank == 1 else None, src=1)
same(t, [10. * rank] * 2, "scatter")
t = torch.empty(2)
dist.reduce_scatter(t, [torch.full((2,), float(rank + other)) for other in range(world)])
same(t, [6. + 4 * rank] * 2, "reduce_scatter")
out = [torch.empty(1) for _ in range(world)]
dist.all_to_all(out, [torch.tensor([10. * rank + other]) for other in range(world)])
for other, part in enumerate(out):
    same(part, [10. * other + rank], "all_to_all")
out = torch.empty(world)
dist.all_to_all_single(out, torch.tensor([10. * rank + other for other in range(world)]))
same(out, [10. * other + rank for other in range(world)], "all_to_all_single")
out = torch.empty(sum(rank + 1 for _ in range(world)))  # rank r gets r + 1 elements of each
dist.all_to_all_single(out, torch.cat([torch.full((other + 1,), 10. * rank + other) for other in range(world)]),
                       [rank + 1] * world, [other + 1 for other in range(world)])
same(out, [10. * other + rank for other in range(world) for _ in range(rank + 1)], "all_to_all_single, unequal")
t = torch.full((5,), float(rank))
request = dist.isend(t, (rank + 1) % world, tag=3)
got = torch.empty(5)
dist.recv(got, (rank - 1) % world, tag=3)
request.wait()
same(got, [float((rank - 1) % world)] * 5, "recv")
if rank == 0:
    dist.send(torch.ones(1), 1)
if rank == 1:
    got = torch.empty(1)
    assert dist.recv(got) == 0  # from anybody
    same(got, [1.], "recv from anybody")
dist.barrier()
evens, odds = dist.new_group([0, 2]), dist.new_group([1, 3])
mine = odds if rank % 2 else evens
t = torch.tensor([float(rank)])
dist.all_reduce(t, group=mine)
same(t, [2. if rank % 2 == 0 else 4.], "all_reduce of a group")
t = torch.tensor([float(rank)])
dist.broadcast(t, 3 if rank % 2 else 2, group=mine)
same(t, [3. if rank % 2 else 2.], "broadcast of a group")

# Two buckets and more: the backward pass goes on beside the all-reduces.
torch.manual_seed(1)
model = torch.nn.Sequential(*[torch.nn.Linear(64, 64) for _ in range(6)])
ddp = torch.nn.parallel.DistributedDataParallel(model, bucket_cap_mb=0.02)
shards = [torch.randn(8, 64, generator=torch.Generator().manual_seed(other)) for other in range(world)]
for _ in range(2):
    ddp.zero_grad()
    ddp(shards[rank]).square().mean().backward()
alone = torch.nn.Sequential(*[torch.nn.Linear(64, 64) for _ in range(6)])
alone.load_state_dict(model.state_dict())
sum(alone(shard).square().mean() for shard in shards).div(world).backward()
for own, whole in zip(model.parameters(), alone.parameters()):
    assert torch.allclose(own.grad, whole.grad, atol=1e-7), (rank, "gradients")

try:
    dist.broadcast(torch.ones(2, dtype=torch.complex64), 0)
    raise AssertionError("complex numbers are not refused")
except RuntimeError as error:
    assert "complex64" in str(error), error
print("ok", flush=True)
dist.destroy_process_group()
