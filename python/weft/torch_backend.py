# SPDX-License-Identifier: Apache-2.0
# Copyright the Weft authors
"""The backend `weft` of torch.distributed: its calls go to `weft emulate` (docs/guide/emulate_torch.md). `install()` puts
it in the place of nccl and gloo, too; `python -m weft.run script.py` does that."""

import atexit
import inspect
import re
import sys
import traceback

import torch
import torch.distributed as dist
from torch.distributed import distributed_c10d as c10d

from .comm import ANY_SOURCE, ANY_TAG, EmulationError, Session

_TYPES = {torch.int8: "int8", torch.uint8: "uint8", torch.int16: "int16", torch.int32: "int32", torch.int64: "int64",
          torch.float16: "float16", torch.bfloat16: "bfloat16", torch.float32: "float32", torch.float64: "float64",
          torch.bool: "uint8"}
_REDUCTIONS = (("SUM", "sum"), ("AVG", "avg"), ("PRODUCT", "prod"), ("MIN", "min"), ("MAX", "max"), ("BAND", "band"),
               ("BOR", "bor"), ("BXOR", "bxor"))
_session = None
_status = 0


def session():
    """The process's session; opened at the first call."""
    global _session
    if _session is None:
        _session = Session(f"torch {torch.__version__}")
        atexit.register(_end)
    return _session


def _end():
    _end_iteration()
    try:
        _session.close(_status)
    except EmulationError as error:
        print(error, file=sys.stderr)


def _reduction(operation):
    for name, own in _REDUCTIONS:
        if hasattr(dist.ReduceOp, name) and operation == getattr(dist.ReduceOp, name):
            return own
    raise EmulationError(f"the backend weft knows no reduction {operation}; it has {', '.join(n for n, _ in _REDUCTIONS)}")


def _kind(tensor):
    if tensor.device.type != "cpu":
        raise EmulationError(f"the backend weft moves CPU tensors, and this one is on {tensor.device}")
    if tensor.layout != torch.strided or tensor.dtype not in _TYPES:
        raise EmulationError(f"the backend weft does not move tensors of {tensor.dtype}, {tensor.layout}")
    return _TYPES[tensor.dtype]


class Work(dist._Work if hasattr(dist, "_Work") else c10d.Work):
    """Of one call: its requests, and what happens when they are over. C++ waits for the future, which knows nothing of
    simulated time; so it is complete before C++ asks: at wait(), or at the end of the backward pass."""

    def __init__(self, requests, result, after=(), source=-1):
        super().__init__()
        self.requests, self.value, self.after, self.source = requests, result, after, source
        self.future = torch.futures.Future()
        self.over = not requests
        if self.over:
            self._finish()
        else:
            _open.append(self)
            _wait_after_backward()

    def _finish(self):
        for call in self.after:
            call()
        self.over = True
        self.requests, self.after = [], ()
        self.future.set_result(self.value)

    def wait(self, timeout=None):
        if not self.over:
            statuses = session().wait(self.requests)
            self.source = statuses[-1].source
            _open.remove(self)
            self._finish()
        return True

    def is_completed(self):
        if not self.over and session().test(self.requests) is not None:
            _open.remove(self)
            self._finish()
        return self.over

    def is_success(self):
        return self.over

    def synchronize(self):
        self.wait()

    def result(self):
        return self.value

    def source_rank(self):
        return self.source

    _source_rank = source_rank

    def get_future(self):
        return self.future


_open = []
_callback = [False]


def _finish_open():
    """The end of a backward pass: DistributedDataParallel waits now, behind us."""
    _callback[0] = False
    for work in list(_open):
        work.wait()


def _wait_after_backward():
    if _callback[0]:
        return
    try:
        torch.autograd.Variable._execution_engine.queue_callback(_finish_open)
        _callback[0] = True
    except RuntimeError:
        pass  # not in a backward pass: the program waits itself


class WeftGroup(dist.ProcessGroup):
    """A process group on a communicator of Weft."""

    def __init__(self, rank, size, comm, name):
        super().__init__(rank, size)
        self.comm, self.name_ = comm, name

    def getBackendName(self):  # noqa: N802 (torch's name)
        return "weft"

    def _flat(self, tensor, after, write):
        """The tensor's elements in a row; what is written there comes back into it."""
        if tensor.is_contiguous():
            return tensor
        row = tensor.contiguous()
        if write:
            after.append(lambda: tensor.copy_(row))
        return row

    def _row(self, tensors, after, write):
        """Tensors one after the other."""
        row = torch.cat([t.detach().reshape(-1) for t in tensors]) if tensors else torch.empty(0)
        if write:
            def spread():
                at = 0
                for t in tensors:
                    t.copy_(row[at:at + t.numel()].view(t.shape))
                    at += t.numel()
            after.append(spread)
        return row

    def _collective(self, operation, like, count, send, receive, after, result, **more):
        """`send`, `receive`: tensors in a row, kept until it is over."""
        kind = _kind(like)
        request = session().collective(
            self.comm, operation, kind, count, send=send.data_ptr() if send is not None and send.numel() else None,
            receive=receive.data_ptr() if receive is not None and receive.numel() else None, **more)
        after.insert(0, lambda: (send, receive))
        return Work([request], result, after)

    def allreduce(self, tensors, opts=None):
        opts = opts or dist.AllreduceOptions()
        works, reduction = [], _reduction(opts.reduceOp)
        for tensor in tensors:
            after = []
            row = self._flat(tensor.detach(), after, True)
            works.append(self._collective("all_reduce", tensor, row.numel(), row, row, after, tensors, reduction=reduction))
        return works[0] if len(works) == 1 else _Several(works, tensors)

    def allreduce_coalesced(self, tensors, opts=None):
        return self.allreduce(tensors, opts)

    def broadcast(self, tensors, opts):
        after, root = [], opts.rootRank
        row = self._flat(tensors[0].detach(), after, True)
        return self._collective("broadcast", row, row.numel(), row if root == self.rank() else None, row, after, tensors,
                                root=root)

    def reduce(self, tensors, opts):
        after, root = [], opts.rootRank
        row = self._flat(tensors[0].detach(), after, root == self.rank())
        return self._collective("reduce", row, row.numel(), row, row if root == self.rank() else None, after, tensors,
                                root=root, reduction=_reduction(opts.reduceOp))

    def allgather(self, outputs, inputs, opts=None):
        after = []
        own = self._flat(inputs[0].detach(), after, False)
        row = self._row(outputs[0], after, True)
        return self._collective("all_gather", own, own.numel(), own, row, after, outputs)

    def _allgather_base(self, output, own, opts=None):
        after = []
        row = self._flat(output.detach(), after, True)
        own = self._flat(own.detach(), after, False)
        return self._collective("all_gather", own, own.numel(), own, row, after, [output])

    def gather(self, outputs, inputs, opts):
        after, root = [], opts.rootRank
        own = self._flat(inputs[0].detach(), after, False)
        row = self._row(outputs[0], after, True) if root == self.rank() else None
        return self._collective("gather", own, own.numel(), own, row, after, outputs, root=root)

    def scatter(self, outputs, inputs, opts):
        after, root = [], opts.rootRank
        row = self._flat(outputs[0].detach(), after, True)
        parts = self._row(inputs[0], after, False) if root == self.rank() else None
        return self._collective("scatter", row, row.numel(), parts, row, after, outputs, root=root)

    def reduce_scatter(self, outputs, inputs, opts=None):
        after = []
        row = self._flat(outputs[0].detach(), after, True)
        parts = self._row(inputs[0], after, False)
        reduction = _reduction((opts or dist.ReduceScatterOptions()).reduceOp)
        return self._collective("reduce_scatter", row, row.numel(), parts, row, after, outputs, reduction=reduction)

    def _reduce_scatter_base(self, output, parts, opts=None):
        after = []
        row = self._flat(output.detach(), after, True)
        parts = self._flat(parts.detach(), after, False)
        reduction = _reduction((opts or dist.ReduceScatterOptions()).reduceOp)
        return self._collective("reduce_scatter", row, row.numel(), parts, row, after, [output], reduction=reduction)

    def alltoall(self, outputs, inputs, opts=None):
        after = []
        to = [t.numel() for t in inputs]
        back = [t.numel() for t in outputs]
        row = self._row(outputs, after, True)
        parts = self._row(inputs, after, False)
        more = {} if len(set(to + back)) == 1 else {"counts": to, "receive_counts": back}
        return self._collective("all_to_all", parts, to[0], parts, row, after, outputs, **more)

    def alltoall_base(self, output, own, output_sizes, input_sizes, opts=None):
        after = []
        row = self._flat(output.detach(), after, True)
        parts = self._flat(own.detach(), after, False)
        more = {}
        if input_sizes or output_sizes:
            inner = parts[0].numel() if parts.dim() and parts.shape[0] else 1
            size = self.size()
            more = {"counts": [n * inner for n in input_sizes or [parts.shape[0] // size] * size],
                    "receive_counts": [n * inner for n in output_sizes or [row.shape[0] // size] * size]}
        return self._collective("all_to_all", parts, parts.numel() // self.size(), parts, row, after, [output], **more)

    def barrier(self, opts=None):
        return Work([session().collective(self.comm, "barrier", "byte", 0)], [])

    def send(self, tensors, peer, tag=0):
        row = self._flat(tensors[0].detach(), [], False)
        _kind(row)
        request = session().send(self.comm, peer, tag, row.data_ptr(), row.numel() * row.element_size())
        return Work([request], tensors, [lambda: row])

    def recv(self, tensors, peer, tag=0):
        after = []
        row = self._flat(tensors[0].detach(), after, True)
        _kind(row)
        request = session().receive(self.comm, peer, tag, row.data_ptr(), row.numel() * row.element_size())
        after.insert(0, lambda: row)
        return Work([request], tensors, after)

    def recv_anysource(self, tensors, tag=0):
        return self.recv(tensors, ANY_SOURCE, tag if tag >= 0 else ANY_TAG)

    def _set_sequence_number_for_group(self):
        pass

    def monitored_barrier(self, *_args, **_more):
        self.barrier().wait()


class _Several(Work):
    """Of several calls."""

    def __init__(self, works, result):
        self.works = works
        super().__init__([], result)

    def wait(self, timeout=None):
        for work in self.works:
            work.wait()
        return True

    def is_completed(self):
        return all([work.is_completed() for work in self.works])


class Store(dist.Store):
    """The rendezvous: every other rank is there. Counters count all ranks; a key that another rank writes has the value that
    this rank has written under its own number."""

    def __init__(self, world):
        super().__init__()
        self.world, self.values, self.counters = world, {}, {}

    def set(self, key, value):
        self.values[key] = value if isinstance(value, bytes) else str(value).encode()

    def get(self, key):
        if key in self.values:
            return self.values[key]
        shape = re.sub(r"\d+", "#", key)
        for own, value in self.values.items():
            if re.sub(r"\d+", "#", own) == shape:
                return value
        raise EmulationError(f"the program reads the key {key} of the rendezvous store, which only an emulated rank writes, and "
                             "this rank has written none like it")

    def add(self, key, value):
        self.counters[key] = self.counters.get(key, 0) + value * self.world
        return self.counters[key]

    def wait(self, keys, timeout=None):
        for key in keys:
            self.get(key)

    def set_timeout(self, timeout):
        pass

    def delete_key(self, key):
        return self.values.pop(key, None) is not None or self.counters.pop(key, None) is not None

    def num_keys(self):
        return len(self.values) + len(self.counters)


def _create(options, _pg_options=None):
    ranks = list(options.global_ranks_in_group)
    comm = session().group(ranks) if ranks else 0
    return WeftGroup(options.group_rank, options.group_size, comm, options.group_id)


def register():
    """The backend `weft`."""
    if hasattr(dist.Backend, "WEFT"):
        return
    more = {"extended_api": True}
    if "devices" in inspect.signature(dist.Backend.register_backend).parameters:
        more["devices"] = ["cpu", "cuda"]
    dist.Backend.register_backend("weft", _create, **more)


_iteration = [None, 0]


def _end_iteration():
    if _iteration[0] is not None:
        session().mark(_iteration[0], False)
        _iteration[0] = None


def _mark_iterations():
    """One begins with the forward pass of DistributedDataParallel in training, and ends where the next one begins."""
    from torch.nn.parallel import DistributedDataParallel
    forward = DistributedDataParallel.forward

    def marked(self, *inputs, **more):
        if self.training and torch.is_grad_enabled():
            _end_iteration()
            _iteration[0] = _iteration[1]
            _iteration[1] += 1
            session().mark(_iteration[0], True)
        return forward(self, *inputs, **more)

    DistributedDataParallel.forward = marked


def install():
    """init_process_group() and new_group() take `weft` whatever backend the program names, ranks and store are Weft's, and
    iterations are marked."""
    register()
    init, group = dist.init_process_group, dist.new_group

    def init_process_group(backend=None, init_method=None, timeout=c10d.default_pg_timeout, world_size=-1, rank=-1, store=None,
                           group_name="", pg_options=None, **_more):
        return init("weft", timeout=timeout, world_size=session().world, rank=session().rank, store=Store(session().world),
                    group_name=group_name)

    def new_group(ranks=None, timeout=c10d.default_pg_timeout, backend=None, pg_options=None, **_more):
        return group(ranks, timeout=timeout, backend=None)

    for module in (dist, c10d):
        module.init_process_group, module.new_group = init_process_group, new_group
    dist.is_nccl_available = c10d.is_nccl_available = lambda: True
    _mark_iterations()
    report = sys.excepthook

    def failed(kind, value, trace):
        global _status
        _status = 1
        if isinstance(value, EmulationError):
            traceback.print_tb(trace, limit=-3)
            print(f"weft: error: {value}", file=sys.stderr)
        else:
            report(kind, value, trace)

    sys.excepthook = failed
