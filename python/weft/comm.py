# SPDX-License-Identifier: Apache-2.0
# Copyright the Weft authors
"""libweft_comm for Python, by ctypes: a process's session under `weft emulate`. Functions have the meaning of
weft_comm.h; an error is raised as EmulationError with the library's text."""

import ctypes
import os

ANY_SOURCE, ANY_TAG = -1, -1
OPERATIONS = {name: number for number, name in enumerate(
    ("all_reduce", "all_gather", "reduce_scatter", "all_to_all", "broadcast", "reduce", "gather", "scatter", "barrier"))}
REDUCTIONS = {name: number for number, name in enumerate(
    ("sum", "prod", "min", "max", "avg", "band", "bor", "bxor"))}
TYPES = {name: number for number, name in enumerate(
    ("byte", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float16", "bfloat16", "float32",
     "float64"))}
_SHIM_TORCH = 2


class EmulationError(RuntimeError):
    """Weft refuses a call, or the job is over."""


class _Options(ctypes.Structure):
    _fields_ = [("size", ctypes.c_uint32), ("shim", ctypes.c_uint32), ("socket", ctypes.c_char_p), ("rank", ctypes.c_int32),
                ("world", ctypes.c_int32), ("version", ctypes.c_char_p)]


class _Collective(ctypes.Structure):
    _fields_ = [("size", ctypes.c_uint32), ("comm", ctypes.c_uint32), ("operation", ctypes.c_uint32), ("type", ctypes.c_uint32),
                ("element_bytes", ctypes.c_uint32), ("reduction", ctypes.c_uint32), ("root", ctypes.c_int32),
                ("count", ctypes.c_uint64), ("counts", ctypes.POINTER(ctypes.c_uint64)),
                ("receive_counts", ctypes.POINTER(ctypes.c_uint64)), ("send", ctypes.c_void_p), ("receive", ctypes.c_void_p),
                ("name", ctypes.c_char_p), ("stream", ctypes.c_uint32), ("flags", ctypes.c_uint32)]


class Status(ctypes.Structure):
    """weft_status; times in ps."""
    _fields_ = [("source", ctypes.c_int32), ("tag", ctypes.c_int32), ("bytes", ctypes.c_uint64), ("error", ctypes.c_int32),
                ("pad", ctypes.c_int32), ("time", ctypes.c_int64), ("queue", ctypes.c_int64), ("network", ctypes.c_int64),
                ("reduce", ctypes.c_int64), ("injected", ctypes.c_int64)]


def _library():
    path = os.environ.get("WEFT_COMM_LIBRARY", "libweft_comm.so.1")
    try:
        library = ctypes.CDLL(path)
    except OSError as error:
        raise EmulationError(f"{path} cannot be loaded ({error}); start the program by `weft emulate --shim torch`, or name the "
                             "library by the environment variable WEFT_COMM_LIBRARY") from error
    session, request = ctypes.c_void_p, ctypes.POINTER(ctypes.c_uint64)
    for name, result, arguments in (
            ("weft_open", ctypes.c_int, (ctypes.POINTER(_Options), ctypes.POINTER(session))),
            ("weft_options_init", None, (ctypes.POINTER(_Options),)),
            ("weft_coll_init", None, (ctypes.POINTER(_Collective),)),
            ("weft_bye", ctypes.c_int, (session, ctypes.c_int)), ("weft_close", None, (session,)),
            ("weft_strerror", ctypes.c_char_p, (ctypes.c_int,)), ("weft_last_error", ctypes.c_char_p, (session,)),
            ("weft_rank", ctypes.c_int, (session,)), ("weft_world", ctypes.c_int, (session,)),
            ("weft_now", ctypes.c_int64, (session,)), ("weft_compute", ctypes.c_int, (session, ctypes.c_int64)),
            ("weft_mark", ctypes.c_int, (session, ctypes.c_int, ctypes.c_int64, ctypes.c_int, ctypes.c_char_p)),
            ("weft_comm_create", ctypes.c_int, (session, ctypes.c_uint32, ctypes.POINTER(ctypes.c_int32), ctypes.c_uint32,
                                                ctypes.POINTER(ctypes.c_uint32))),
            ("weft_comm_free", ctypes.c_int, (session, ctypes.c_uint32)),
            ("weft_coll", ctypes.c_int, (session, ctypes.POINTER(_Collective), request)),
            ("weft_send", ctypes.c_int, (session, ctypes.c_uint32, ctypes.c_int, ctypes.c_int, ctypes.c_void_p, ctypes.c_uint64,
                                         ctypes.c_int, ctypes.c_char_p, request)),
            ("weft_recv", ctypes.c_int, (session, ctypes.c_uint32, ctypes.c_int, ctypes.c_int, ctypes.c_void_p, ctypes.c_uint64,
                                         ctypes.c_char_p, request)),
            ("weft_wait_all", ctypes.c_int, (session, ctypes.c_uint32, request, ctypes.POINTER(Status))),
            ("weft_test_all", ctypes.c_int, (session, ctypes.c_uint32, request, ctypes.POINTER(ctypes.c_int),
                                             ctypes.POINTER(Status)))):
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments
    return library


class Session:
    """One process, one real rank. Addresses are integers; None: no data."""

    def __init__(self, version=""):
        self.library = _library()
        self.handle = ctypes.c_void_p()
        options = _Options()
        self.library.weft_options_init(ctypes.byref(options))
        options.shim, options.version = _SHIM_TORCH, version.encode()
        self._check(self.library.weft_open(ctypes.byref(options), ctypes.byref(self.handle)))
        self.rank, self.world = self.library.weft_rank(self.handle), self.library.weft_world(self.handle)

    def _check(self, code):
        if code != 0:
            text = self.library.weft_last_error(self.handle) if self.handle else b""
            raise EmulationError((text or self.library.weft_strerror(code)).decode())

    def close(self, status=0):
        """Says BYE, once."""
        if not self.handle:
            return
        handle, self.handle = self.handle, ctypes.c_void_p()
        self.library.weft_bye(handle, status)
        self.library.weft_close(handle)

    def now(self):
        """This rank's local time in ps."""
        return self.library.weft_now(self.handle)

    def compute(self, ps):
        """So much simulated time, in place of what was measured since the last call."""
        self._check(self.library.weft_compute(self.handle, ps))

    def mark(self, number, begin):
        """An iteration begins or ends."""
        self._check(self.library.weft_mark(self.handle, 0, number, 1 if begin else 0, None))

    def group(self, ranks):
        """A communicator of these ranks of the world."""
        comm = ctypes.c_uint32()
        self._check(self.library.weft_comm_create(self.handle, 0, (ctypes.c_int32 * len(ranks))(*ranks), len(ranks),
                                                  ctypes.byref(comm)))
        return comm.value

    def free(self, comm):
        self._check(self.library.weft_comm_free(self.handle, comm))

    def collective(self, comm, operation, kind, count, *, element_bytes=0, reduction="sum", root=0, send=None, receive=None,
                   counts=None, receive_counts=None, name=None):
        """Joins it; the request's number."""
        call = _Collective()
        self.library.weft_coll_init(ctypes.byref(call))
        call.comm, call.operation, call.type, call.count = comm, OPERATIONS[operation], TYPES[kind], count
        call.element_bytes, call.reduction, call.root = element_bytes, REDUCTIONS[reduction], root
        call.send, call.receive = send, receive
        call.name = name.encode() if name else None
        if counts is not None:
            call.counts = (ctypes.c_uint64 * len(counts))(*counts)
        if receive_counts is not None:
            call.receive_counts = (ctypes.c_uint64 * len(receive_counts))(*receive_counts)
        request = ctypes.c_uint64()
        self._check(self.library.weft_coll(self.handle, ctypes.byref(call), ctypes.byref(request)))
        return request.value

    def send(self, comm, peer, tag, address, size):
        request = ctypes.c_uint64()
        self._check(self.library.weft_send(self.handle, comm, peer, tag, address, size, 0, None, ctypes.byref(request)))
        return request.value

    def receive(self, comm, peer, tag, address, size):
        request = ctypes.c_uint64()
        self._check(self.library.weft_recv(self.handle, comm, peer, tag, address, size, None, ctypes.byref(request)))
        return request.value

    def wait(self, requests):
        """Blocks until all are over; their statuses."""
        statuses = (Status * max(1, len(requests)))()
        self._check(self.library.weft_wait_all(self.handle, len(requests), (ctypes.c_uint64 * max(1, len(requests)))(*requests),
                                               statuses))
        return list(statuses)[:len(requests)]

    def test(self, requests):
        """Are all over? Then they are finished; their statuses. Otherwise None."""
        done, statuses = ctypes.c_int(), (Status * max(1, len(requests)))()
        self._check(self.library.weft_test_all(self.handle, len(requests), (ctypes.c_uint64 * max(1, len(requests)))(*requests),
                                               ctypes.byref(done), statuses))
        return list(statuses)[:len(requests)] if done.value else None
