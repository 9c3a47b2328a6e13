# SPDX-License-Identifier: Apache-2.0
# Copyright the Weft authors
"""Random cases, and their files: machine.yaml, traces, groups.

A case is drawn from a seed and a number alone. All operations are drawn in one order for the whole job, and a node
depends on earlier operations of its rank only, so that every job can end.
"""

import json
import random
from fractions import Fraction

import collective
import machine as m
import chakra

OPS = ("all_reduce", "all_gather", "reduce_scatter", "all_to_all", "broadcast", "reduce", "gather", "scatter",
       "barrier")
ORDERS = ("local_bw_aware", "local_bw_aware", "baseline", "round_robin")
KINDS = ("analytical", "message", "joins", "p2p", "jobs")
#: Drawn only if asked for: one collective with equal latencies, rates and blocks, so that many messages meet at once.
TIES = "ties"
MB_PER_S = 1_000_000  # 1 B/ps in MB/s


def _algorithms(op):
    names = ["ring", "direct"]
    if op != "all_to_all":
        names.append("halving_doubling")
    if op in ("all_reduce", "broadcast", "reduce", "barrier"):
        names.append("double_binary_tree")
    return names


class Case:
    """What is simulated: dimensions, settings, endpoint delay (ps), reduction (bytes/ps), traces and groups."""

    def __init__(self, kind):
        self.kind = kind
        self.dimensions = []
        self.settings = None
        self.endpoint_delay = 0
        self.reduction = None
        self.traces = []
        self.groups = {}

    def machine(self):
        return m.Machine(self.dimensions, self.endpoint_delay, self.reduction)

    def yaml(self):
        s = self.settings
        lines = ["weft: 1", "topology:",
                 "  notation: " + "_".join(f"{d.kind}({d.size})" for d in self.dimensions), "  dimensions:"]
        for d in self.dimensions:
            lines.append(f"    - {{bandwidth: {_rate(d.rate)}, latency: {d.latency} ps, fidelity: {d.fidelity}, "
                         f"switching: {d.switching}}}")
        lines += [f"nmu: {{endpoint_delay: {self.endpoint_delay} ps}}", "collectives:", f"  chunks: {s.chunks}",
                  f"  active_chunks_per_dimension: {s.active}", f"  queues_per_dimension: {s.queues}",
                  f"  order: {s.order}", f"  scheduling: {s.scheduling}",
                  f"  dimension_scheduling: {s.dimension_scheduling}"]
        if self.reduction:
            lines.append(f"  reduction: {{bandwidth: {_rate(self.reduction)}}}")
        for op, names in s.algorithm.items():
            lines.append(f"  {op}: " + (names if isinstance(names, str) else "[" + ", ".join(names) + "]"))
        return "\n".join(lines) + "\n"

    def write(self, folder):
        (folder / "machine.yaml").write_text(self.yaml())
        (folder / "groups.json").write_text(json.dumps(self.groups))
        for rank, nodes in enumerate(self.traces):
            chakra.write(folder / f"trace.{rank}.et", nodes)


def _rate(rate):
    value = Fraction(rate) * MB_PER_S
    return f"{value.numerator} MB/s" if value.denominator == 1 else f"{value.numerator}/{value.denominator} MB/s"


def draw(seed, number, kind=None):
    """Case `number` of a seed. Kinds take turns."""
    rng = random.Random(f"{seed}/{number}")
    case = Case(kind or KINDS[number % len(KINDS)])
    _draw_machine(rng, case)
    _draw_settings(rng, case)
    npus = case.machine().npus
    case.traces = [[] for _ in range(npus)]
    works = {"analytical": 1, "message": 1, TIES: 1, "joins": rng.randint(2, 4), "p2p": rng.randint(2, 20),
             "jobs": rng.randint(4, 16)}[case.kind]
    builder = _Builder(rng, case, npus)
    for _ in range(works):
        builder.add()
    builder.shuffle()
    return case


def _draw_machine(rng, case):
    count = rng.choice((1, 1, 2, 2, 3))
    npus = 1
    fidelity = {"analytical": m.ANALYTICAL, "message": m.MESSAGE, TIES: m.MESSAGE}.get(case.kind)
    for _ in range(count):
        kind = rng.choice((m.RING, m.MESH, m.FULL, m.SWITCH))
        size = rng.randint(2, 9 if count == 1 else 4)
        if npus * size > 24:
            size = 2
        if npus * size > 24:
            break
        npus *= size
        rate = Fraction(rng.choice((1, 10, 50, 100, 300, 700, rng.randint(1, 999))), 1000)
        latency = rng.choice((1000, 10_000, 500_000, rng.randint(1, 50_000)))
        if case.kind == TIES:
            kind, rate, latency = rng.choice((m.MESH, m.MESH, m.RING, m.SWITCH)), Fraction(1), 1000
        case.dimensions.append(m.Dimension(kind, size, rate, latency, fidelity or rng.choice((m.ANALYTICAL, m.MESSAGE)),
                                           rng.choice((m.CUT_THROUGH, m.STORE_AND_FORWARD))))
    case.endpoint_delay = rng.choice((0, 0, 5000, rng.randint(1, 2000)))
    case.reduction = rng.choice((None, None, Fraction(rng.randint(1, 3000), 1000)))
    if case.kind == TIES:
        case.endpoint_delay, case.reduction = rng.choice((0, 1000)), None


def _draw_settings(rng, case):
    chosen = {}
    for op in OPS:
        turn = rng.random()
        if turn < 0.15:
            chosen[op] = "one_" + rng.choice(_algorithms(op))
        elif turn < 0.7:
            chosen[op] = [rng.choice(_algorithms(op) + ["default"]) for _ in case.dimensions]
    case.settings = collective.Settings(
        chunks=rng.choice((1, 1, 2, 3, 4, 5, 8)), active=rng.choice((1, 1, 1, 2, 3)), queues=rng.choice((1, 1, 2, 3)),
        order=rng.choice(ORDERS), scheduling=rng.choice(("lifo", "lifo", "fifo", "priority")),
        dimension_scheduling=rng.choice(("fifo", "fifo", "less_remaining_phase_first")), algorithm=chosen)


class _Builder:
    """Adds operations to the traces of the ranks that take part."""

    def __init__(self, rng, case, npus):
        self.rng = rng
        self.case = case
        self.npus = npus
        self.next_id = [0] * npus
        self.tag = 0

    def add(self):
        kind = self.case.kind
        if kind in ("analytical", "message", TIES):
            self._collective(list(range(self.npus)), "")
            return
        turn = self.rng.random()
        if kind == "joins":
            if self.rng.random() < 0.7:
                self._delay(self.rng.randrange(self.npus))
            self._any_collective()
        elif kind == "p2p":
            self._message() if turn < 0.8 else self._delay(self.rng.randrange(self.npus))
        elif turn < 0.4:
            self._any_collective()
        elif turn < 0.65:
            self._message()
        else:
            self._delay(self.rng.randrange(self.npus))

    def shuffle(self):
        """Files need not list operations in the order in which they were drawn."""
        if self.case.kind in ("joins", "jobs"):
            for nodes in self.case.traces:
                if self.rng.random() < 0.5:
                    self.rng.shuffle(nodes)

    def _size(self):
        if self.case.kind == TIES:
            return self.npus * self.rng.choice((24_000, 120_000))
        if self.rng.random() < 0.6:
            return self.npus * self.rng.choice((1, 24, 64)) * self.rng.randint(1, 9)
        return self.rng.randint(1, 3000)

    def _deps(self, rank):
        nodes = self.case.traces[rank]
        if not nodes or self.rng.random() < 0.4:
            return []
        return [n.id for n in self.rng.sample(nodes, min(len(nodes), self.rng.choice((1, 1, 2))))]

    def _append(self, rank, kind, name, duration=0, **attributes):
        deps = self._deps(rank)
        ident = self.next_id[rank]
        self.next_id[rank] += self.rng.choice((1, 1, 3))
        self.case.traces[rank].append(chakra.Node(ident, kind, name, deps, duration, **attributes))

    def _delay(self, rank):
        self._append(rank, chakra.COMP, "work", self.rng.randint(0, 5), is_cpu_op=self.rng.random() < 0.3)

    def _message(self):
        if self.npus < 2:
            return
        source, target = self.rng.sample(range(self.npus), 2)
        tag = self.tag
        self.tag += 1
        size = self.rng.choice((0, 1, self._size(), self._size(), self._size()))
        self._append(source, chakra.SEND, f"send{tag}", comm_src=source, comm_dst=target, comm_tag=tag, comm_size=size)
        self._append(target, chakra.RECV, f"recv{tag}", comm_src=source, comm_dst=target, comm_tag=tag, comm_size=size)

    def _any_collective(self):
        ranks = list(range(self.npus))
        turn = self.rng.random()
        if turn < 0.4:
            members = ranks
        elif turn < 0.7:  # a line or a plane of the machine
            machine = self.case.machine()
            kept = [d for d in range(len(machine.dimensions)) if self.rng.random() < 0.5]
            base = self.rng.randrange(self.npus)
            members = [r for r in ranks
                       if all(machine.coordinate(r, d) == machine.coordinate(base, d) for d in kept)]
        else:
            members = self.rng.sample(ranks, self.rng.randint(2, self.npus))
        if len(members) < 2:
            members = ranks
        name = f"g{len(self.case.groups)}"
        self.case.groups[name] = members
        self._collective(members, name)

    def _collective(self, members, group):
        op = self.rng.choice(OPS)
        attributes = {"comm_type": chakra.COMM_TYPES[op], "comm_size": self._size(), "is_cpu_op": False}
        if group:
            attributes["pg_name"] = group
        if op in collective.ROOTED:
            attributes["root"] = self.rng.choice(members)
        if self.case.settings.scheduling == "priority":
            attributes["comm_priority"] = self.rng.randint(0, 2)
        for rank in members:
            self._append(rank, chakra.COLL, f"{op}_{group}", **attributes)
