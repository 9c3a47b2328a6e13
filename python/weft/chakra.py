# SPDX-License-Identifier: Apache-2.0
# Copyright the Weft authors
"""Chakra execution traces: one file a rank, read as a stream, written, edited without loss.

A file is a sequence of messages, each after its length as a varint: one GlobalMetadata, then Nodes. What a message has
beyond the known fields is kept, and written again behind them.
"""

import enum
import json
import os
import re
import struct
from dataclasses import dataclass, field

from . import wire


class NodeType(enum.IntEnum):
    INVALID, METADATA, MEM_LOAD, MEM_STORE, COMP, COMM_SEND, COMM_RECV, COMM_COLL = range(8)


#: Values of the attribute `comm_type`.
COLLECTIVES = {"all_reduce": 0, "reduce": 1, "all_gather": 2, "gather": 3, "scatter": 4, "broadcast": 5,
               "all_to_all": 6, "reduce_scatter": 7, "reduce_scatter_block": 8, "barrier": 9}

# Kinds of attributes: field of the value (the list has the next number), how it is encoded.
_KINDS = {"double": (3, "d"), "float": (5, "f"), "int32": (7, "int"), "int64": (9, "int"), "uint32": (11, "uint"),
          "uint64": (13, "uint"), "sint32": (15, "zigzag"), "sint64": (17, "zigzag"), "fixed32": (19, "I"),
          "fixed64": (21, "Q"), "sfixed32": (23, "i"), "sfixed64": (25, "q"), "bool": (27, "bool"),
          "string": (29, "text"), "bytes": (31, "bytes")}
_FIELDS = {number: (kind, False) for kind, (number, _) in _KINDS.items()}
_FIELDS.update({number + 1: (kind, True) for kind, (number, _) in _KINDS.items()})


def _encode_one(field_number, how, value):
    if how in ("int", "uint", "bool"):
        return wire.number(field_number, int(value))
    if how == "zigzag":
        return wire.number(field_number, wire.zigzag(int(value)))
    if how == "text":
        return wire.blob(field_number, value.encode())
    if how == "bytes":
        return wire.blob(field_number, bytes(value))
    size = wire.FIXED64 if struct.calcsize("<" + how) == 8 else wire.FIXED32
    return wire.key(field_number, size) + struct.pack("<" + how, value)


def _encode_list(how, values):
    if how in ("text", "bytes"):
        return b"".join(_encode_one(1, how, value) for value in values)
    if how in ("int", "uint", "bool"):
        packed = b"".join(wire.varint(int(value)) for value in values)
    elif how == "zigzag":
        packed = b"".join(wire.varint(wire.zigzag(int(value))) for value in values)
    else:
        packed = struct.pack(f"<{len(values)}{how}", *values)
    return wire.blob(1, packed) if packed else b""


def _number(how, value):
    return (wire.signed(value) if how == "int" else wire.unzigzag(value) if how == "zigzag" else
            bool(value) if how == "bool" else value)


def _decode_one(how, kind, value):
    if how == "text":
        return value.decode()
    if how == "bytes":
        return value
    if kind == wire.VARINT:
        return _number(how, value)
    return struct.unpack("<" + how, value)[0]


def _decode_list(how, data):
    values = []
    for _, kind, value, _ in wire.fields(data):
        if how in ("text", "bytes") or kind != wire.BYTES:
            values.append(_decode_one(how, kind, value))
        elif how in ("int", "uint", "bool", "zigzag"):
            values.extend(_number(how, number) for number in wire.packed_varints(value))
        else:
            values.extend(wire.unpack(how, value))
    return values


@dataclass
class Attribute:
    """A typed value of a node. `kind` is the schema's, such as int64, bool or string; a list has a list of them."""
    kind: str
    value: object
    is_list: bool = False
    doc: str = ""

    @staticmethod
    def of(value):
        """The usual kind for a Python value: bool, int64, double, string, bytes, or a list of one of them."""
        if isinstance(value, Attribute):
            return value
        is_list = isinstance(value, (list, tuple))
        sample = (value[0] if value else 0) if is_list else value
        if isinstance(sample, int) and not isinstance(sample, bool):
            numbers = value if is_list else [value]
            if any(not -1 << 63 <= number < 1 << 64 for number in numbers):
                raise ValueError(f"an attribute's whole number is from -2^63 to 2^64 - 1, not {max(numbers, key=abs)}")
            if any(number >= 1 << 63 for number in numbers):
                if min(numbers) < 0:
                    raise ValueError(f"no kind of attribute holds both {min(numbers)} and {max(numbers)}")
                return Attribute("uint64", list(value) if is_list else value, is_list)
        for types, kind in ((bool, "bool"), (int, "int64"), (float, "double"), (str, "string"), (bytes, "bytes")):
            if isinstance(sample, types):
                return Attribute(kind, list(value) if is_list else value, is_list)
        raise TypeError(f"an attribute is a bool, a number, a text, bytes or a list of them, not {type(sample).__name__}")

    def encode(self, name):
        number, how = _KINDS[self.kind]
        out = wire.blob(1, name.encode()) + (wire.blob(2, self.doc.encode()) if self.doc else b"")
        if self.is_list:
            return out + wire.blob(number + 1, _encode_list(how, self.value))
        return out + _encode_one(number, how, self.value)


def _decode_attribute(data):
    name, doc, found = "", "", None
    for number, kind, value, _ in wire.fields(data):
        if number == 1:
            name = value.decode()
        elif number == 2:
            doc = value.decode()
        elif number in _FIELDS:
            of, is_list = _FIELDS[number]
            how = _KINDS[of][1]
            found = Attribute(of, _decode_list(how, value) if is_list else _decode_one(how, kind, value), is_list)
    if found is not None:
        found.doc = doc
    return name, found


@dataclass
class Node:
    """A node of a trace. `node["comm_size"]` is an attribute's value; `attributes` has them with their kinds."""
    id: int
    type: NodeType = NodeType.COMP
    name: str = ""
    data_deps: list = field(default_factory=list)
    ctrl_deps: list = field(default_factory=list)
    duration_micros: int = 0
    start_time_micros: int = 0
    attributes: dict = field(default_factory=dict)
    unknown: bytes = b""  #: further fields, as they were

    @staticmethod
    def make(ident, kind, name="", data_deps=(), duration_micros=0, **attributes):
        """A node with attributes by their names: make(3, NodeType.COMM_COLL, "ar", [2], comm_type=0, comm_size=1 << 20)."""
        return Node(ident, NodeType(kind), name, list(data_deps), duration_micros=duration_micros,
                    attributes={key: Attribute.of(value) for key, value in attributes.items()})

    def __getitem__(self, name):
        return self.attributes[name].value

    def __setitem__(self, name, value):
        old = self.attributes.get(name)
        new = Attribute.of(value)
        if old is not None and not isinstance(value, Attribute) and old.is_list == new.is_list:
            plain = {"bool": bool, "string": str, "bytes": bytes}.get(old.kind, (int, float))
            if isinstance(value if not old.is_list else (value or [0])[0], plain):
                new = Attribute(old.kind, new.value, old.is_list, old.doc)  # keeps its kind
        self.attributes[name] = new

    def __contains__(self, name):
        return name in self.attributes

    def get(self, name, default=None):
        return self.attributes[name].value if name in self.attributes else default

    def encode(self):
        out = [wire.number(1, self.id), wire.blob(2, self.name.encode()), wire.number(3, int(self.type))]
        for number, deps in ((4, self.ctrl_deps), (5, self.data_deps)):
            if deps:
                out.append(wire.blob(number, b"".join(wire.varint(d) for d in deps)))
        for number, value in ((6, self.start_time_micros), (7, self.duration_micros)):
            if value:
                out.append(wire.number(number, value))
        out += [wire.blob(10, attribute.encode(name)) for name, attribute in self.attributes.items()]
        return b"".join(out) + self.unknown


def _decode_node(data):
    node, unknown = Node(0, NodeType.INVALID), []
    for number, kind, value, raw in wire.fields(data):
        if number == 1:
            node.id = value
        elif number == 2:
            node.name = value.decode()
        elif number == 3:
            node.type = NodeType(value) if value in NodeType._value2member_map_ else value
        elif number in (4, 5):
            deps = node.ctrl_deps if number == 4 else node.data_deps
            deps.extend(wire.packed_varints(value) if kind == wire.BYTES else [value])
        elif number == 6:
            node.start_time_micros = value
        elif number == 7:
            node.duration_micros = value
        elif number == 10:
            name, attribute = _decode_attribute(value)
            if attribute is None:
                unknown.append(raw)
            else:
                node.attributes[name] = attribute
        else:
            unknown.append(raw)
    node.unknown = b"".join(unknown)
    return node


class Trace:
    """The trace of one rank, read as a stream: iterate over it for its nodes, as often as you like.

    Errors are ValueError with file and byte."""

    def __init__(self, path):
        self.path = os.fspath(path)
        first = next(self._messages(), None)
        if first is None:
            raise ValueError(f"{self.path}: is empty; a trace begins with its metadata")
        #: The GlobalMetadata as it is in the file, for write_trace().
        self.metadata = first
        self.version = next((value.decode(errors="replace") for number, kind, value, _ in self._fields(first, 0)
                             if number == 1 and kind == wire.BYTES), "")

    def _messages(self):
        with open(self.path, "rb") as file:
            at = 0
            while True:
                head = b""
                while not head or head[-1] & 0x80:
                    byte = file.read(1)
                    if not byte and not head:
                        return
                    if not byte or len(head) > 9:
                        raise ValueError(f"{self.path}: byte {at}: no length of a message; is it a Chakra trace?")
                    head += byte
                size, _ = wire.read_varint(head, 0)
                data = file.read(size)
                if len(data) != size:
                    raise ValueError(f"{self.path}: byte {at}: a message of {size} B ends after {len(data)}; "
                                     "the file is cut")
                at += len(head) + size
                yield data

    def _fields(self, data, index):
        try:
            yield from wire.fields(data)
        except ValueError as error:
            raise ValueError(f"{self.path}: message {index}: {error}") from None

    def __iter__(self):
        for index, data in enumerate(self._messages()):
            if index == 0:
                continue
            try:
                yield _decode_node(data)
            except (ValueError, TypeError, AttributeError, struct.error) as error:
                # A field of another type than the schema's is a text where a number should be, or the reverse.
                raise ValueError(f"{self.path}: message {index}: {error}") from None


def write_trace(path, nodes, metadata=None):
    """Writes the trace of one rank, and returns the number of nodes. `metadata`: that of a Trace; else version 0.0.4.
    The file appears when all nodes are written."""
    part, count = f"{os.fspath(path)}.part", 0
    try:
        with open(part, "wb") as file:
            head = wire.blob(1, b"0.0.4") if metadata is None else metadata
            file.write(wire.varint(len(head)) + head)
            for node in nodes:
                data = node.encode()
                file.write(wire.varint(len(data)) + data)
                count += 1
        os.replace(part, path)
    finally:
        if os.path.exists(part):
            os.remove(part)
    return count


def read_groups(path):
    """Communicator groups: {name: [ranks]}."""
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def write_groups(path, groups):
    with open(path, "w", encoding="utf-8") as file:
        json.dump({str(name): list(ranks) for name, ranks in groups.items()}, file, indent=1)
        file.write("\n")


def ranks_of(prefix):
    """The files PREFIX.<rank>.et: {rank: path}. FileNotFoundError if there are none."""
    folder, base = os.path.split(os.fspath(prefix))
    pattern = re.compile(re.escape(base) + r"\.(\d+)\.et$")
    found = {int(match.group(1)): os.path.join(folder, name)
             for name in os.listdir(folder or ".") if (match := pattern.match(name))}
    if not found:
        raise FileNotFoundError(f"{prefix}: there are no files {base}.<rank>.et")
    return dict(sorted(found.items()))


def edit_traces(prefix, out, change):
    """Copies the traces of all ranks to the prefix `out`, with `change(rank, node)` called for each node. It may change
    the node in place, return another one or a list of them, or False to leave the node out (its dependents are then
    the caller's to mend). Returns {rank: nodes written}."""
    written = {}
    if os.path.dirname(os.fspath(out)):
        os.makedirs(os.path.dirname(os.fspath(out)), exist_ok=True)
    for rank, path in ranks_of(prefix).items():
        trace = Trace(path)

        def nodes(rank=rank, trace=trace):
            for node in trace:
                new = change(rank, node)
                if new is False:
                    continue
                yield from (new if isinstance(new, (list, tuple)) else [node if new is None else new])

        written[rank] = write_trace(f"{os.fspath(out)}.{rank}.et", nodes(), trace.metadata)
    return written
