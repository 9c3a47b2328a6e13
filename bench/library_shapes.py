#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Copyright the Weft authors
"""Plans of communication libraries on shapes that no preset has: other numbers of nodes, and of GPUs in them.

    bench/library_shapes.py [WEFT] [--fidelity message] [--limit 2] [--machines NAME..] [--shapes N] [--seed S]

Takes every machine of configs/machines that has a library and no graph, draws shapes for it (1 to 8 nodes of 1 to 8
GPUs, each with as many NICs as it has of the preset's), and runs all operations over odd sizes from 1 B to 256 MiB at
`analytical` and at another fidelity. Prints what is refused, what differs by more than the limit in per cent, and
what takes less time than a smaller call by more than 7 %, which is expected only where the plan changes. Exit 1: a
call failed, differs, or falls without a change of its plan.
"""

import random
import re
import sys

from library_cases import machines, parser, rows_of

SIZES = ["0 B", "1 B", "7 B", "1000 B", "4097 B", "65537 B", "1048577 B", "16777219 B", "268435459 B"]
OPERATIONS = ["all_reduce", "all_gather", "reduce_scatter", "broadcast", "reduce", "all_to_all", "gather", "scatter"]
FALL = 0.93


def run(weft, machine, sets, operation, fidelity):
    command = [weft, "collective", "--machine", str(machine), "--op", operation, "--sizes", ",".join(SIZES), "--json",
               "--fidelity", fidelity]
    for key in sets:
        command += ["--set", key]
    return rows_of(command)


def shapes_of(text, drawn):
    notation = re.search(r"notation: *(\S+)", text).group(1)
    kinds = re.findall(r"([A-Za-z]+)\((\d+)\)", notation)
    nics = re.search(r"nics_per_node: *(\d+)", text)
    alone = len(kinds) == 1 and "gpus_per_node: 1" in text  # hosts of one GPU
    for _ in range(drawn[1]):
        gpus, nodes = drawn[0].choice([1, 2, 3, 4, 5, 7, 8]), drawn[0].choice([1, 2, 3, 4, 5, 8])
        if alone:
            yield [f"topology.notation={kinds[0][0]}({max(2, nodes)})"]
        elif len(kinds) == 1:
            yield [f"topology.notation={kinds[0][0]}({gpus})"]
        else:
            sets = [f"topology.notation={kinds[0][0]}({gpus})_{kinds[1][0]}({nodes})"]
            if nics:
                sets.append(f"collectives.nics_per_node={max(1, int(nics.group(1)) * gpus // int(kinds[0][1]))}")
            yield sets


def plan_of(row):
    return row.get("algo"), row.get("proto"), row.get("channels")


def main():
    arguments = parser(__doc__)
    arguments.add_argument("--shapes", type=int, default=4)
    arguments.add_argument("--seed", type=int, default=1)
    arguments.add_argument("--set", nargs="*", default=[], help="further keys, for example collectives.collnet=true")
    options = arguments.parse_args()
    bad = calls = 0
    worst = 0.0
    for machine, text in machines(options.machines):
        if "graph:" in text:
            continue
        rand = random.Random(f"{options.seed} {machine.stem}")
        for sets in shapes_of(text, (rand, options.shapes)):
            for operation in OPERATIONS:
                where = f"{machine.stem} {' '.join(sets)} {operation}"
                closed, why = run(options.weft, machine, sets + options.set, operation, "analytical")
                program, why2 = run(options.weft, machine, sets + options.set, operation, options.fidelity)
                if closed is None or program is None:
                    print(f"refused: {where}: {(why or why2)[:200]}", flush=True)
                    bad += 1
                    continue
                for before, row in zip(closed, closed[1:]):
                    if row["time_ns"] < FALL * before["time_ns"]:
                        changed = plan_of(before) != plan_of(row)
                        bad += not changed
                        print(f"falls: {where}: {before['bytes']} B {plan_of(before)} {before['time_ns']} ns, "
                              f"{row['bytes']} B {plan_of(row)} {row['time_ns']} ns", flush=True)
                for row, other in zip(closed, program):
                    calls += 1
                    if row["time_ns"] == other["time_ns"]:
                        continue
                    error = 100 * (other["time_ns"] / row["time_ns"] - 1)
                    worst = max(worst, abs(error))
                    if abs(error) > options.limit:
                        bad += 1
                        print(f"differs: {where}: {row['bytes']} B {plan_of(row)} {error:+.2f} %", flush=True)
    print(f"{calls} calls, largest difference {worst:.2f} %, {bad} findings")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
