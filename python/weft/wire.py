# SPDX-License-Identifier: Apache-2.0
# Copyright the Weft authors
"""The wire format of protocol buffers (version 3): as much of it as traces need.

Source: the public description of the encoding. A message is a sequence of fields; each begins with a key, the field
number times 8 plus the wire type.
"""

import struct

VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5
_MASK = (1 << 64) - 1


def varint(value):
    """A number as a base-128 varint; a negative one in two's complement of 64 bits."""
    value &= _MASK
    out = bytearray()
    while value > 0x7F:
        out.append((value & 0x7F) | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def read_varint(data, at):
    """The number at `at`, and where it ends. ValueError if the data end within it."""
    value = shift = 0
    while True:
        if at >= len(data):
            raise ValueError("the data end within a number")
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value & _MASK, at
        shift += 7
        if shift > 63:
            raise ValueError("a number has more than 10 bytes")


def key(field, wire):
    return varint(field << 3 | wire)


def number(field, value):
    return key(field, VARINT) + varint(value)


def blob(field, data):
    return key(field, BYTES) + varint(len(data)) + data


def signed(value):
    """A varint's number as int64."""
    return value - (1 << 64) if value >> 63 else value


def zigzag(value):
    return (value << 1) ^ (value >> 63)


def unzigzag(value):
    return (value >> 1) ^ -(value & 1)


def fields(data):
    """(field, wire type, value, raw bytes) of each field; of BYTES the value is the bytes, of the fixed ones too."""
    at = 0
    while at < len(data):
        begin = at
        tag, at = read_varint(data, at)
        wire = tag & 7
        if tag >> 3 == 0:
            raise ValueError("a field has the number 0")
        if wire == VARINT:
            value, at = read_varint(data, at)
        elif wire in (FIXED64, FIXED32, BYTES):
            size = 8 if wire == FIXED64 else 4
            if wire == BYTES:
                size, at = read_varint(data, at)
            if at + size > len(data):
                raise ValueError("the data end within a field")
            value = bytes(data[at:at + size])
            at += size
        else:
            raise ValueError(f"a field has the unknown wire type {wire}")
        yield tag >> 3, wire, value, bytes(data[begin:at])


def packed_varints(data):
    at = 0
    while at < len(data):
        value, at = read_varint(data, at)
        yield value


def unpack(form, data):
    """Numbers of a fixed size, one after the other."""
    size = struct.calcsize("<" + form)
    if len(data) % size:
        raise ValueError("a list of numbers has a part of one at its end")
    return [value for value, in struct.iter_unpack("<" + form, data)]
