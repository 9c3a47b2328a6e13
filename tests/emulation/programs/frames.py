# SPDX-License-Identifier: Apache-2.0
# Copyright the Weft authors
"""A rank that writes its frames itself, right ones and wrong ones: libweft_comm would not send the wrong ones, and keeps
frames back until it waits. Each argument is a step of every rank, or of one ("8:step").

  TYPE[:FIELD=VALUE..]  sends a frame, of mark, coll, wait .. or of a number; FIELD may be t (the stamp), request (else
                        counted from 1), flags, bytes (what the head says), and those of the message; lists are 1,2,3
  answer                reads a frame and prints it        stay         .. all, to ERROR, SHUTDOWN or the end, and exits
  all                   waits until every rank has said HELLO: then the socket is gone
  sleep:MS              kill     exit:STATUS
  close                 closes the connection, and stays
"""
import os
import signal
import socket
import struct
import sys
import time

RANK, WORLD = int(os.environ["WEFT_RANK"]), int(os.environ["WEFT_WORLD_SIZE"])
NO_BUFFER = 2**64 - 1

# Fields in their order: name, format of `struct` (s: text, *: a list of the format before it), what it is by default.
MESSAGES = {
    "hello": (1, (("magic", "I", 0x54464557), ("min", "I", 1), ("max", "I", 1), ("rank", "I", RANK), ("world", "I", WORLD),
                  ("local", "I", 0), ("pid", "I", os.getpid()), ("shim", "I", 0), ("version", "s", ""), ("features", "Q", 0))),
    "comm_new": (2, (("parent", "I", 0), ("how", "I", 0), ("values", "i*", []), ("color", "i", 0), ("key", "i", 0),
                     ("n", "I", 0), ("number", "I", 0), ("id", "s", ""), ("site", "s", ""))),
    "comm_free": (3, (("id", "I", 0),)),
    "coll": (4, (("comm", "I", 0), ("sequence", "I", 0), ("operation", "I", 0), ("type", "I", 11), ("element", "I", 4),
                 ("reduction", "I", 0), ("root", "i", 0), ("stream", "I", 0), ("count", "Q", 64), ("counts", "Q*", []),
                 ("receive_counts", "Q*", []), ("send", "Q", NO_BUFFER), ("receive", "Q", NO_BUFFER), ("name", "s", ""))),
    "send": (5, (("comm", "I", 0), ("peer", "i", 0), ("tag", "i", 1), ("mode", "I", 0), ("size", "Q", 8),
                 ("offset", "Q", NO_BUFFER), ("name", "s", ""))),
    "recv": (6, (("comm", "I", 0), ("peer", "i", 0), ("tag", "i", 1), ("size", "Q", 8), ("offset", "Q", NO_BUFFER),
                 ("name", "s", ""))),
    "wait": (7, (("how", "I", 0), ("requests", "Q*", []))),
    "test": (8, (("how", "I", 0), ("requests", "Q*", []))),
    "probe": (9, (("comm", "I", 0), ("peer", "i", 0), ("tag", "i", 1), ("blocking", "I", 1))),
    "compute": (10, (("ps", "q", -1), ("flops", "Q", 0), ("work_bytes", "Q", 0), ("region", "s", ""))),
    "mark": (11, (("kind", "I", 0), ("begin", "I", 1), ("number", "q", 0), ("name", "s", ""))),
    "bye": (12, (("status", "i", 0),)),
}
NAMES = {32: "WELCOME", 33: "DONE", 34: "ERROR", 35: "SHUTDOWN", 36: "COMM"}


def packed(form, value):
    if form == "s":
        return struct.pack("<I", len(value)) + value.encode()
    if form.endswith("*"):
        return struct.pack("<I", len(value)) + b"".join(struct.pack("<" + form[0], v) for v in value)
    return struct.pack("<" + form, value)


def read(form, text):
    if form == "s":
        return text
    return [int(v) for v in text.split(",")] if form.endswith("*") else int(text)


class Rank:
    def __init__(self):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.connect(os.environ["WEFT_SOCKET"])
        self.requests = 0

    def send(self, word, given):
        number, fields = MESSAGES.get(word) or (int(word), ())
        known = {"t", "request", "flags", "bytes"} | {name for name, _, _ in fields}
        assert set(given) <= known, f"{word} has no {set(given) - known}"
        self.requests += 1
        body = b"".join(packed(form, read(form, given[name]) if name in given else value) for name, form, value in fields)
        body += bytes(-len(body) % 8)
        head = struct.pack("<IHHQq", int(given.get("bytes", 24 + len(body))), number, int(given.get("flags", 0)),
                           int(given.get("request", self.requests)), int(given.get("t", 0)))
        self.socket.sendall(head + body)

    def exactly(self, size):
        data = b""
        while len(data) < size:
            more = self.socket.recv(size - len(data))
            if not more:
                raise ConnectionError
            data += more
        return data

    def answer(self):
        size, number, _, request, t = struct.unpack("<IHHQq", self.exactly(24))
        body = self.exactly(size - 24)
        text = ""
        if number in (34, 35):
            text = " " + body[8:8 + struct.unpack_from("<I", body, 4)[0]].decode()
        print(f"{NAMES[number]} of {request} at {t} ps{text}", flush=True)
        return number

    def stay(self):
        """Weft's SIGTERM must not be faster than what it has said before."""
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        try:
            while self.answer() not in (34, 35):
                pass
        except ConnectionError:
            pass
        sys.exit(0)

    def step(self, step):
        word, *fields = step.split(":")
        if word == "answer":
            self.answer()
        elif word == "stay":
            self.stay()
        elif word == "all":
            while os.path.exists(os.environ["WEFT_SOCKET"]):
                time.sleep(0.002)
        elif word == "sleep":
            time.sleep(int(fields[0]) / 1000)
        elif word == "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        elif word == "exit":
            os._exit(int(fields[0]))
        elif word == "close":
            self.socket.close()
            time.sleep(20)
        else:
            self.send(word, dict(field.split("=") for field in fields))


rank = Rank()
for argument in sys.argv[1:]:
    of, _, rest = argument.partition(":")
    # A number before a word is a rank; before FIELD=VALUE, or alone, a type.
    if of.isdigit() and rest and "=" not in rest.partition(":")[0]:
        if int(of) == RANK:
            rank.step(rest)
    else:
        rank.step(argument)
