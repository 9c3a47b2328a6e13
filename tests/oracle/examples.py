#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Copyright the Weft authors
"""What the documents work out by hand, on the oracle's simulator alone. Exit 1 if it does not agree.

Sources: docs/analytical.md, "Example 1" and "Example 2"; docs/collective_waits.md, "Example".
"""

import pathlib
import sys
from fractions import Fraction

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import chakra
import collective
import job
import machine as m


def coll(ident, op, size, group="", deps=(), root=None):
    attributes = {"comm_type": chakra.COMM_TYPES[op], "comm_size": size, "pg_name": group}
    if root is not None:
        attributes["root"] = root
    return chakra.Node(ident, chakra.COLL, f"{op}_{group}", deps, **attributes)


def alone(dimension, op, size, algorithm, root=None, chunks=1, **delays):
    """The time of one collective of all NPUs of a dimension, in ps."""
    settings = collective.Settings(chunks=chunks, algorithm={op: [algorithm]})
    traces = [[coll(0, op, size, root=root)] for _ in range(dimension.size)]
    return job.Job(m.Machine([dimension], **delays), settings, traces, {}).run().time()


def waits(scheduling, unrelated_us):
    """docs/collective_waits.md: the ends of A and B; rank 0 may have a compute node beside them."""
    ring = m.Dimension(m.RING, 4, Fraction(100, 1000), 500_000)
    settings = collective.Settings(chunks=4, scheduling=scheduling)
    traces = []
    for rank in range(4):
        first, second = ("a", "b") if rank == 0 else ("b", "a")
        traces.append([coll(1, "all_reduce", 4_000_000, first),
                       chakra.Node(2, chakra.COMP, "work", [], 1000, is_cpu_op=True),
                       coll(3, "all_reduce", 4_000_000, second, [2])])
    if unrelated_us:
        traces[0].append(chakra.Node(4, chakra.COMP, "unrelated", [], unrelated_us, is_cpu_op=False))
    done = job.Job(m.Machine([ring]), settings, traces, {"a": range(4), "b": range(4)}).run()
    return tuple(max(done.instances[(group, 0)].ended.values()) for group in "ab")


def closed_forms():
    """(name, ps, by hand): 8 NPUs, S = 800,000 B, 0.1 B/ps, L = 500 ns, e = 10 ns, reductions at 1 B/ps."""
    size, delay, latency, n = 800_000, 10_000, 500_000, 8
    options = {"endpoint_delay": delay, "reduction": Fraction(1)}
    block, reducing = latency + size // n * 10, 3 * size // n
    for fidelity in (m.ANALYTICAL, m.MESSAGE):
        ring, full = (m.Dimension(kind, n, Fraction(1, 10), latency, fidelity) for kind in (m.RING, m.FULL))
        yield "ring all-gather", alone(ring, "all_gather", size, "ring", **options), (
            delay + (n - 1) * (latency + size * 10 + delay))
        yield "ring reduce-scatter", alone(ring, "reduce_scatter", size, "ring", **options), (
            delay + (n - 1) * (block + delay + reducing))
        yield "ring all-reduce", alone(ring, "all_reduce", size, "ring", **options), (
            delay + 2 * (n - 1) * (block + delay) + (n - 1) * reducing)
        yield "ring all-to-all", alone(ring, "all_to_all", size, "ring", **options), (
            delay + n * (n - 1) // 2 * (block + delay))
        yield "direct all-reduce", alone(full, "all_reduce", size, "direct", **options), (
            3 * delay + 2 * block + reducing)
        yield "halving-doubling all-reduce", alone(full, "all_reduce", size, "halving_doubling", **options), (
            delay + sum(2 * (latency + size // k * 10 + delay) + 3 * size // k for k in (2, 4, 8)))


def main():
    ring = m.Dimension(m.RING, 4, Fraction(50, 1000), 500_000, m.ANALYTICAL)
    mesh = m.Dimension(m.MESH, 4, Fraction(100, 1000), 1_000_000, m.ANALYTICAL)
    checks = [("analytical.md, example 1", alone(ring, "all_gather", 1 << 20, "direct"), 63_414_560),
              ("analytical.md, example 2", alone(mesh, "broadcast", 1_000_000, "halving_doubling", root=0), 23_000_000)]
    for unrelated in (0, 100_000):
        checks.append((f"collective_waits.md, lifo, {unrelated} us beside", waits("lifo", unrelated),
                       (1_104_000_000, 1_140_000_000)))
        checks.append((f"collective_waits.md, fifo, {unrelated} us beside", waits("fifo", unrelated),
                       (1_140_000_000, 1_104_000_000)))
    checks += closed_forms()
    wrong = [c for c in checks if c[1] != c[2]]
    for name, found, wanted in wrong:
        print(f"{name}: {found} ps, but by hand {wanted} ps")
    print(f"{len(checks)} examples, {len(wrong)} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
