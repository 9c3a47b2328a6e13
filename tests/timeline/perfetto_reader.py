# SPDX-License-Identifier: Apache-2.0
# Copyright the Weft authors
"""Reads a Perfetto trace as its published schema says (perfetto.dev/docs/reference/trace-packet-proto), by itself: no code
is shared with the writer. What ui.perfetto.dev would drop or draw wrongly is an Error: a field that the schema does not
have or of another type, a name without its text, an event on a track that is not described before, slices of a track
that are not nested, an end without a beginning, an arrow with one end.

    perfetto_reader.py FILE      prints what is in it, by track
"""

import collections
import struct
import sys

VARINT, FIXED64, BYTES = 0, 1, 2
SLICE_BEGIN, SLICE_END, INSTANT, COUNTER = 1, 2, 3, 4
STATE_CLEARED, NEEDS_STATE = 1, 2

# Message: {field: (name, wire type or message, repeated)}. The part of the schema that is accepted.
SCHEMA = {
    "Trace": {1: ("packet", "TracePacket", True)},
    "TracePacket": {8: ("timestamp", VARINT, False), 10: ("trusted_packet_sequence_id", VARINT, False),
                    11: ("track_event", "TrackEvent", False), 12: ("interned_data", "InternedData", False),
                    13: ("sequence_flags", VARINT, False), 60: ("track_descriptor", "TrackDescriptor", False),
                    87: ("first_packet_on_sequence", VARINT, False)},
    "InternedData": {2: ("event_names", "EventName", True), 3: ("debug_annotation_names", "EventName", True)},
    "EventName": {1: ("iid", VARINT, False), 2: ("name", "string", False)},
    "TrackDescriptor": {1: ("uuid", VARINT, False), 2: ("name", "string", False), 5: ("parent_uuid", VARINT, False),
                        8: ("counter", "CounterDescriptor", False), 11: ("child_ordering", VARINT, False),
                        12: ("sibling_order_rank", VARINT, False), 14: ("description", "string", False)},
    "CounterDescriptor": {6: ("unit_name", "string", False)},
    "TrackEvent": {4: ("debug_annotations", "DebugAnnotation", True), 9: ("type", VARINT, False),
                   10: ("name_iid", VARINT, False), 11: ("track_uuid", VARINT, False), 23: ("name", "string", False),
                   30: ("counter_value", VARINT, False), 44: ("double_counter_value", FIXED64, False),
                   47: ("flow_ids", FIXED64, True), 48: ("terminating_flow_ids", FIXED64, True)},
    "DebugAnnotation": {1: ("name_iid", VARINT, False), 3: ("uint_value", VARINT, False)},
}


class Error(Exception):
    pass


def varint(data, at):
    value = shift = 0
    while True:
        if at >= len(data) or shift > 63:
            raise Error("a number is cut off or too long")
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return value, at


def fields(data, message, begin=0):
    """(name, value, wire) of each field."""
    at = begin
    schema = SCHEMA[message]
    while at < len(data):
        tag, at = varint(data, at)
        number, wire = tag >> 3, tag & 7
        if number not in schema:
            raise Error(f"{message} has no field {number}")
        name, kind, repeated = schema[number]
        expected = kind if isinstance(kind, int) else BYTES
        if wire != expected:
            raise Error(f"{message}.{name} is of wire type {wire}")
        if wire == VARINT:
            value, at = varint(data, at)
        elif wire == FIXED64:
            if at + 8 > len(data):
                raise Error(f"{message}.{name} is cut off")
            value, at = data[at:at + 8], at + 8
        else:
            length, at = varint(data, at)
            if at + length > len(data):
                raise Error(f"{message}.{name} is cut off")
            value, at = data[at:at + length], at + length
            if kind == "string":
                value = value.decode("utf-8")
            else:
                value = parse(value, kind)
        yield name, value, repeated


def parse(data, message):
    result = {}
    for name, value, repeated in fields(data, message):
        if repeated:
            result.setdefault(name, []).append(value)
        elif name in result:
            raise Error(f"{message}.{name} is there twice")
        else:
            result[name] = value
    return result


class Slice:
    """Times are picoseconds, by the arguments `ps` and `end_ps`; `ts` and `dur` are Perfetto's, nanoseconds."""

    def __init__(self, track, name, ts, args, flows, ends, order):
        self.track, self.name, self.ts, self.args, self.flows, self.ends, self.order = (track, name, ts, args, flows,
                                                                                        ends, order)
        self.begin = ts * 1000 + args.pop("ps", 0)
        self.end = self.dur = None

    def close(self, ts, args):
        self.dur = ts - self.ts
        self.end = ts * 1000 + args.pop("end_ps", 0)
        if self.end < self.begin:
            raise Error(f"{self.name} ends before it begins")


class Timeline:
    def __init__(self, path):
        with open(path, "rb") as file:
            data = file.read()
        self.bytes = len(data)
        self.tracks = {}
        self.slices = []      # instants are slices of no time
        self.counters = collections.defaultdict(list)  # path: [(ts, value)]
        names, annotations, events, self.packets = {}, {}, [], 0
        for _, packet, _ in fields(data, "Trace"):
            self.packets += 1
            self._packet(packet, names, annotations, events)
        # The trace processor sorts by time; what is at one time stays in the order of the file.
        events.sort(key=lambda event: event[0])
        self._import(events)
        self._check_flows()

    def _packet(self, packet, names, annotations, events):
        flags = packet.get("sequence_flags", 0)
        if self.packets == 1 and (flags & STATE_CLEARED) == 0:
            raise Error("the first packet does not clear the state")
        if packet.get("trusted_packet_sequence_id", 0) == 0:
            raise Error("a packet without its sequence")
        for table, field in ((names, "event_names"), (annotations, "debug_annotation_names")):
            for entry in packet.get("interned_data", {}).get(field, []):
                if entry["iid"] == 0 or entry["iid"] in table:
                    raise Error(f"the name {entry} is there twice")
                table[entry["iid"]] = entry["name"]
        descriptor = packet.get("track_descriptor")
        if descriptor is not None:
            if descriptor["uuid"] in self.tracks or descriptor["uuid"] == 0:
                raise Error(f"the track {descriptor} is there twice")
            parent = descriptor.get("parent_uuid")
            if parent is not None and parent not in self.tracks:
                raise Error(f"{descriptor['name']} comes before its parent")
            descriptor["path"] = (self.tracks[parent]["path"] + "/" if parent else "") + descriptor["name"]
            self.tracks[descriptor["uuid"]] = descriptor
        event = packet.get("track_event")
        if event is None:
            return
        if (flags & NEEDS_STATE) == 0:
            raise Error("an event with interned names whose packet does not say that it needs them")
        track = self.tracks.get(event["track_uuid"])
        if track is None:
            raise Error("an event on a track that is not described")
        kind = event["type"]
        if (kind == COUNTER) != ("counter" in track):
            raise Error(f"{track['path']}: a counter with slices, or slices with values")
        if kind in (SLICE_BEGIN, INSTANT) and "name" not in event and "name_iid" not in event:
            raise Error(f"{track['path']}: an event without a name")
        name = event.get("name") or names.get(event.get("name_iid"))
        if "name_iid" in event and name is None:
            raise Error("a name that is not in the file")
        args = {}
        for annotation in event.get("debug_annotations", []):
            key = annotations[annotation["name_iid"]]
            if key in args:
                raise Error(f"{track['path']}: the argument {key} is there twice")
            args[key] = annotation["uint_value"]
        value = event.get("counter_value")
        if "double_counter_value" in event:
            value = struct.unpack("<d", event["double_counter_value"])[0]
        flows = [int.from_bytes(f, "little") for f in event.get("flow_ids", [])]
        ends = [int.from_bytes(f, "little") for f in event.get("terminating_flow_ids", [])]
        events.append((packet["timestamp"], kind, event["track_uuid"], name, args, flows, ends, value))

    def _import(self, events):
        stacks = collections.defaultdict(list)
        for order, (ts, kind, uuid, name, args, flows, ends, value) in enumerate(events):
            path = self.tracks[uuid]["path"]
            if kind == COUNTER:
                self.counters[path].append((ts, value))
                continue
            if kind == SLICE_END:
                if not stacks[uuid]:
                    raise Error(f"{path}: an end at {ts} without a beginning")
                stacks[uuid].pop().close(ts, args)
                continue
            slice_ = Slice(path, name, ts, args, flows, ends, order)
            self.slices.append(slice_)
            if kind == INSTANT:
                slice_.end, slice_.dur = slice_.begin, 0
                continue
            if stacks[uuid]:
                raise Error(f"{path}: {name} begins at {slice_.begin} ps while {stacks[uuid][-1].name}, from "
                            f"{stacks[uuid][-1].begin} ps on, has not ended")
            stacks[uuid].append(slice_)
        for uuid, stack in stacks.items():
            if stack:
                raise Error(f"{self.tracks[uuid]['path']}: {stack[-1].name} has no end")

    def _check_flows(self):
        """Each arrow begins with `flow_ids` and ends once, not before any of its other events."""
        self.flows = collections.defaultdict(list)
        for slice_ in self.slices:
            for flow in slice_.flows + slice_.ends:
                self.flows[flow].append((slice_, flow in slice_.ends))
        for flow, steps in self.flows.items():
            if len(steps) < 2 or [end for _, end in steps].count(True) != 1:
                raise Error(f"the arrow {flow} has not two ends: {[(s.track, s.name, e) for s, e in steps]}")
            if not steps[-1][1]:
                raise Error(f"the arrow {flow} goes on after its end, on {steps[-1][0].track}")
            last = steps[-1][0]
            for slice_, _ in steps[:-1]:
                if slice_.begin > last.end:
                    raise Error(f"the message of arrow {flow} is received at {last.end} ps and sent at "
                                f"{slice_.begin} ps")

    def of(self, path):
        """The slices of a row, with all of its lines."""
        return self._by_path().get(path, [])

    def _by_path(self):
        if not hasattr(self, "_rows"):
            self._rows = collections.defaultdict(list)
            for slice_ in self.slices:
                self._rows[slice_.track].append(slice_)
        return self._rows

    def rows(self):
        return self._by_path().keys()

    def notes(self):
        return [slice_.name for slice_ in self.of("machine/about this file")]


if __name__ == "__main__":
    timeline = Timeline(sys.argv[1])
    print(f"{timeline.bytes} bytes, {timeline.packets} packets, {len(timeline.tracks)} tracks, "
          f"{len(timeline.slices)} slices, {len(timeline.flows)} arrows")
    for row, slices in timeline._by_path().items():
        print(f"{len(slices):8} {row}")
    for counter, values in timeline.counters.items():
        print(f"{len(values):8} {counter} (counter)")
    for note in timeline.notes():
        print(note)
