# SPDX-License-Identifier: Apache-2.0
# Copyright the Weft authors
"""Trace nodes: dependencies, compute slots, point-to-point messages, and where a rank's time goes.

Times are picoseconds. Sources: docs/oracle.md, "Nodes"; docs/guide/results.md.
"""

import collections

import network
from chakra import COLL, COMP, METADATA, RECV, SEND

MICROSECOND = 1_000_000  # ps


class Intervals:
    """The union of time intervals, as a list of (begin, end) in ps that may overlap until asked."""

    def __init__(self):
        self.items = []

    def add(self, begin, end):
        if end > begin:
            self.items.append((begin, end))

    def merged(self):
        out = []
        for begin, end in sorted(self.items):
            if out and begin <= out[-1][1]:
                out[-1][1] = max(out[-1][1], end)
            else:
                out.append([begin, end])
        return out


def total(intervals):
    return sum(end - begin for begin, end in intervals)


def outside(intervals, covers):
    """The time in `intervals` that is not in `covers`; both merged."""
    covered = 0
    for begin, end in intervals:
        covered += sum(max(0, min(end, e) - max(begin, b)) for b, e in covers)
    return total(intervals) - covered


class Nodes:
    """The nodes of one rank, in the order of its file."""

    def __init__(self, job, rank, nodes):
        self.job = job
        self.rank = rank
        self.place = {node.id: i for i, node in enumerate(nodes)}
        self.nodes = {node.id: node for node in nodes}
        self.missing = {node.id: len(set(node.deps)) for node in nodes}
        self.children = collections.defaultdict(list)
        for node in nodes:
            for dep in dict.fromkeys(node.deps):
                self.children[dep].append(node.id)
        self.slots = {False: [0, collections.deque()], True: [0, collections.deque()]}  # by is_cpu_op: busy, waiting
        self.ready, self.done = [], []  # nodes that may start; nodes that have ended and have not been looked at
        self.pumping = False
        self.started = {}
        self.ended = {}
        self.compute, self.communication = Intervals(), Intervals()

    def begin(self):
        self.ready = [n for n in self.nodes if not self.missing[n]]
        self._pump()

    def finish(self, ident):
        """A node is over. What depends on it starts when all that arrives in this instant has been seen."""
        now = self.job.simulator.now
        node = self.nodes[ident]
        self.ended[ident] = now
        if node.kind == COMP:
            self.compute.add(self.started[ident], now)
        elif node.kind in (COLL, SEND, RECV):
            self.communication.add(self.started[ident], now)
        self.done.append(ident)
        if not self.pumping:
            self.pumping = True
            self.job.simulator.at(now, self._pump, order=(network.NODE, self.rank))

    def _pump(self):
        """Starts what is ready, in the order of the file. What ends at once has its turn after all of that."""
        self.pumping = True
        while self.done or self.ready:
            done, self.done = self.done, []
            for ident in done:
                for child in self.children[ident]:
                    self.missing[child] -= 1
                    if not self.missing[child]:
                        self.ready.append(child)
            ready, self.ready = sorted(self.ready, key=self.place.get), []
            for ident in ready:
                self._start(ident)
            for slot in self.slots.values():
                self._fill(slot)
        self.pumping = False

    def _start(self, ident):
        """A node whose dependencies are done starts, or waits for a slot."""
        node, simulator = self.nodes[ident], self.job.simulator
        if node.kind == COMP:
            self.slots[bool(node.attributes.get("is_cpu_op", False))][1].append(ident)
            return
        self.started[ident] = simulator.now
        if node.kind == METADATA:
            self.finish(ident)
        elif node.kind == COLL:
            self.job.start_collective(self.rank, node)
        elif node.kind == SEND:
            self.job.start_send(self.rank, node)
        elif node.kind == RECV:
            self.job.start_receive(self.rank, node)

    def _fill(self, slot):
        """One slot of each kind; first ready, first served. A node without a duration waits, but takes no slot."""
        simulator = self.job.simulator
        while slot[1] and slot[0] < 1:
            ident = slot[1].popleft()
            self.started[ident] = simulator.now
            if not self.nodes[ident].duration_us:
                self.finish(ident)
                continue
            slot[0] += 1
            simulator.at(simulator.now + self.nodes[ident].duration_us * MICROSECOND, self._computed, ident, slot,
                         order=(network.NODE,))

    def _computed(self, ident, slot):
        slot[0] -= 1
        self.finish(ident)

    def times(self):
        """(compute, exposed communication) in ps: compute comes first."""
        compute, communication = self.compute.merged(), self.communication.merged()
        return total(compute), outside(communication, compute)
