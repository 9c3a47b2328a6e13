# SPDX-License-Identifier: Apache-2.0
# Copyright the Weft authors
"""Collectives: members, chunks, and the lines on which their phases run.

Sizes are bytes, times picoseconds. Sources: docs/oracle.md, "Chunks, phases and blocks"; docs/analytical.md, "Full
exchanges on a Ring"; docs/collective_waits.md, "Words" and "Start".
"""

import algorithms
import machine as m
import plan

ROOTED = ("broadcast", "reduce", "gather", "scatter")


class Settings:
    """`collectives` of the configuration: chunks, slots, queues, orders, algorithms by operation and dimension."""

    def __init__(self, chunks=1, active=1, queues=1, order="local_bw_aware", scheduling="lifo",
                 dimension_scheduling="fifo", algorithm=None):
        self.chunks = chunks
        self.active = active
        self.queues = queues
        self.order = order
        self.scheduling = scheduling
        self.dimension_scheduling = dimension_scheduling
        self.algorithm = algorithm or {}  # op -> [name a dimension] or one name


class Line:
    """A chunk in a phase on one line of members: the X of collective_waits.md."""

    __slots__ = ("collective", "chunk", "phase", "members", "begun", "ended", "queue", "entered")

    def __init__(self, collective, chunk, phase, members, queue):
        self.collective = collective
        self.chunk = chunk
        self.phase = phase
        self.members = members
        self.queue = queue
        self.begun = set()    # members that have begun, by a slot or by a decision
        self.ended = set()
        self.entered = {}     # (round, member) -> time, for full exchanges

    def open(self):
        return bool(self.begun) and len(self.begun) < len(self.members)

    def missing(self):
        return [q for q in self.members if q not in self.begun]


class Part:
    """One phase of a chunk at one rank."""

    __slots__ = ("line", "me", "rounds", "mirrored", "position")

    def __init__(self, line, me, rounds, mirrored, position):
        self.line = line
        self.me = me
        self.rounds = rounds      # algorithms.of_member
        self.mirrored = mirrored
        self.position = position  # number of the phase, which counts those without this rank, too


class Collective:
    """One collective: operation, size (as comm_size), members (ranks), root (a rank)."""

    def __init__(self, machine, settings, op, size, members, root=None):
        self.machine = machine
        self.settings = settings
        self.op = op
        self.size = size
        self.members = list(members)
        self.root = members[0] if root is None else root
        self.number = None      # its place among the job's collectives: see docs/oracle.md, "Joins"
        self.started = {}       # rank -> (time, order of starts at that rank)
        self.ended = {}
        self.sizes = plan.chunk_sizes(size, settings.chunks, op)
        self.dims, self.flat = self._shape()
        self.lines = {}
        self.parts = {}         # (chunk, rank) -> [Part]
        self.blocks = {}
        self.early = {}         # (chunk, rank) -> messages that came before the rank has started

    def _shape(self):
        """(dimensions, None), or for a flat line (None, algorithm).

        A group that is a product of coordinates has its members in ascending order, and spans dimensions. Other groups
        are a flat line in their own order, and so are all groups over several dimensions with a one_.. algorithm.
        """
        machine = self.machine
        names = self.settings.algorithm.get(self.op)
        sets = [sorted({machine.coordinate(r, d) for r in self.members}) for d in range(len(machine.dimensions))]
        count = 1
        for coordinates in sets:
            count *= len(coordinates)
        dims = [d for d, s in enumerate(sets) if len(s) > 1]
        if count == len(self.members):
            self.members.sort()
        if isinstance(names, str) and names.startswith("one_") and len(dims) > 1:
            return None, names[4:]
        if count != len(self.members):
            return None, "ring"
        return dims, None

    def algorithm(self, d):
        names = self.settings.algorithm.get(self.op)
        name = names if isinstance(names, str) else (names[d] if names else None)
        if name and name.startswith("one_"):  # a flat line within one dimension is that dimension's
            name = name[4:]
        if name in (None, "default"):
            name = plan.default_algorithm(self.machine.dimensions[d], self.op)
        return name

    def sequence(self, chunk):
        if self.flat:
            return [(self.op, None)]
        if not self.dims:
            return []
        trees = [d for d in self.dims if self.algorithm(d) == "double_binary_tree"]
        return plan.phases(self.op, self.dims, self.settings.order, chunk, trees)

    def mirrored(self, chunk, d):
        return d is not None and self.machine.dimensions[d].directed() and chunk % self.settings.queues % 2 == 1

    def queue_key(self, chunk, d):
        """A dimension, and on rings and meshes a direction; the last queue is that of flat lines."""
        if d is None:
            return (len(self.machine.dimensions), 0)
        if self.machine.dimensions[d].directed():
            return (d, chunk % self.settings.queues)
        return (d, 0)

    def line_members(self, rank, d):
        machine = self.machine
        if d is None:
            return self.members
        base = rank - machine.coordinate(rank, d) * machine.strides[d]
        return sorted(r for r in self.members
                      if r - machine.coordinate(r, d) * machine.strides[d] == base)

    def takes_part(self, rank, p, sequence):
        """Of operations with a root: a line works only where its data is (docs/oracle.md)."""
        if self.op not in ROOTED or self.flat:
            return True
        dims = [d for _, d in sequence]
        others = dims[:p] if self.op in ("reduce", "gather") else dims[p + 1:]
        return all(self.machine.coordinate(rank, d) == self.machine.coordinate(self.root, d) for d in others)

    def parts_of(self, chunk, rank):
        """The phases of a chunk at a rank, and the bytes of their blocks."""
        key = (chunk, rank)
        if key in self.parts:
            return self.parts[key]
        sequence = self.sequence(chunk)
        index, count, parts = [], [], []
        for p, (op, d) in enumerate(sequence):
            members = self.line_members(rank, d)
            me = members.index(rank)
            index.append(me)
            count.append(len(members))
            if not self.takes_part(rank, p, sequence):
                continue
            mirrored = self.mirrored(chunk, d)
            name = self.flat if d is None else self.algorithm(d)
            root = 0
            if self.op in ROOTED:
                root = next(i for i, r in enumerate(members) if d is None and r == self.root or d is not None
                            and self.machine.coordinate(r, d) == self.machine.coordinate(self.root, d))
            other_tree = name == "double_binary_tree" and chunk % 2 == 1
            rounds = algorithms.of_member(name, op, len(members), root,
                                          other_tree if name == "double_binary_tree" else mirrored, me)
            line_key = (chunk, p, members[0])
            line = self.lines.get(line_key)
            if line is None:
                line = self.lines[line_key] = Line(self, chunk, p, members, self.queue_key(chunk, d))
            parts.append(Part(line, me, rounds, mirrored, p))
        self.parts[key] = parts
        self.blocks[key] = plan.Blocks(self.op, self.sizes[chunk], sequence, index, count)
        return parts

    def full_exchange(self, part, k):
        """docs/analytical.md, "Full exchanges on a Ring": the dimension if round k of a part is one, else None."""
        machine = self.machine
        d = self.sequence(part.line.chunk)[part.position][1]
        if d is None or self.algorithm(d) != "direct" or k >= 2:
            return None
        dimension = machine.dimensions[d]
        whole = len(part.line.members) == dimension.size
        if dimension.kind != m.RING or dimension.fidelity != m.ANALYTICAL or dimension.size < 4 or not whole:
            return None
        return None if self.op in ROOTED else dimension

    def exchange_bytes(self, part, k, sizes):
        """W: the bytes that pass the busier of a member's two last links in round k."""
        op = self.sequence(part.line.chunk)[part.position][0]
        n, i = len(part.line.members), part.me
        by_source = op == "all_gather" or k == 1
        half = (n - 1) // 2 if part.mirrored else n // 2
        totals = []
        for sign, reach in ((1, half), (-1, n - 1 - half)):
            totals.append(sum(sizes[(i - sign * far) % n if by_source else (i + sign * q) % n]
                              for far in range(1, reach + 1) for q in range(reach - far + 1)))
        return max(totals)

    def latency(self, line):
        """L of collective_waits.md: of the dimension, or the largest of those in which a flat line's members differ."""
        machine = self.machine
        sequence = self.sequence(line.chunk)
        d = sequence[line.phase][1]
        if d is not None:
            return machine.dimensions[d].latency
        used = [k for k in range(len(machine.dimensions)) if len({machine.coordinate(r, k) for r in self.members}) > 1]
        return max(machine.dimensions[k].latency for k in used)
