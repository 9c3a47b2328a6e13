# SPDX-License-Identifier: Apache-2.0
# Copyright the Weft authors
"""Data-parallel training of a small network: mlp.py [STEPS] [--alone RANK]. Each rank has a shard of its own. --alone: one
process trains on the shard of this rank, without torch.distributed."""

import argparse

import torch
import torch.distributed as dist
from torch import nn

options = argparse.ArgumentParser()
options.add_argument("steps", nargs="?", type=int, default=5)
options.add_argument("--alone", type=int, default=-1)
options.add_argument("--width", type=int, default=256)
args = options.parse_args()

torch.manual_seed(1)
model = nn.Sequential(nn.Linear(64, args.width), nn.ReLU(), nn.Linear(args.width, args.width), nn.ReLU(), nn.Linear(args.width, 10))
rank = args.alone
if args.alone < 0:
    dist.init_process_group("nccl" if torch.cuda.is_available() else "gloo")
    rank = dist.get_rank()
    model = nn.parallel.DistributedDataParallel(model)
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)

shard = torch.Generator().manual_seed(100 + rank)
for step in range(args.steps):
    inputs = torch.randn(32, 64, generator=shard)
    targets = torch.randint(10, (32,), generator=shard)
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(model(inputs), targets)
    loss.backward()
    optimizer.step()
    print(f"step {step} loss {loss.item():.9f}", flush=True)
if args.alone < 0:
    dist.destroy_process_group()
