# SPDX-License-Identifier: Apache-2.0
# Copyright the Weft authors
"""Chakra execution traces, written as bytes (proto3, no package needed).

Source: the schema workload/trace/chakra.proto (field numbers) and the user guide. A file is a sequence of messages,
each after its length as a varint: one GlobalMetadata, then Nodes.
"""

METADATA, COMP, SEND, RECV, COLL = 1, 4, 5, 6, 7

COMM_TYPES = {"all_reduce": 0, "reduce": 1, "all_gather": 2, "gather": 3, "scatter": 4, "broadcast": 5,
              "all_to_all": 6, "reduce_scatter": 7, "barrier": 9}

_VARINT, _BYTES = 0, 2


def varint(value):
    """The base-128 varint of a number (negative ones as 64-bit two's complement)."""
    value &= (1 << 64) - 1
    out = bytearray()
    while value > 0x7F:
        out.append((value & 0x7F) | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def _key(field, wire):
    return varint(field << 3 | wire)


def _number(field, value):
    return _key(field, _VARINT) + varint(value)


def _bytes(field, data):
    return _key(field, _BYTES) + varint(len(data)) + data


def _attribute(name, value):
    """An AttributeProto: bool 27, int64 9, string 29, BoolList 28."""
    body = _bytes(1, name.encode())
    if isinstance(value, bool):
        body += _number(27, int(value))
    elif isinstance(value, int):
        body += _number(9, value)
    elif isinstance(value, str):
        body += _bytes(29, value.encode())
    else:
        body += _bytes(28, _bytes(1, bytes(int(v) for v in value)))
    return body


class Node:
    """A trace node: id, type (see above), name, dependencies (ids), duration in us, attributes."""

    def __init__(self, ident, kind, name="", deps=(), duration_us=0, **attributes):
        self.id = ident
        self.kind = kind
        self.name = name
        self.deps = list(deps)
        self.duration_us = duration_us
        self.attributes = attributes

    def encode(self):
        body = _number(1, self.id) + _bytes(2, self.name.encode()) + _number(3, self.kind)
        if self.deps:
            body += _bytes(5, b"".join(varint(d) for d in self.deps))
        if self.duration_us:
            body += _number(7, self.duration_us)
        for name, value in self.attributes.items():
            body += _bytes(10, _attribute(name, value))
        return body


def write(path, nodes):
    """Writes the trace of one rank."""
    with open(path, "wb") as file:
        for body in [_bytes(1, b"0.0.4")] + [node.encode() for node in nodes]:
            file.write(varint(len(body)) + body)
