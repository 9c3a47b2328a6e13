#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Copyright the Weft authors
"""How far programs of communication libraries are from the closed forms without contention.

    bench/library_fidelity.py [WEFT] [--fidelity message] [--limit 2] [--machines NAME..] [--own] [--markdown]

Runs every machine of configs/machines that has a library at `analytical` and at another fidelity: all operations with
the library's own choice, and all_reduce, all_gather, reduce_scatter and broadcast with every algorithm and protocol
that can be forced, over 1 KiB .. 1 GiB. Prints the largest difference of each in per cent, and the seconds that the
slowest call took. Exit 1: a difference is above the limit.
"""

import pathlib
import sys
import tempfile
import time

from library_cases import machines, parser, rows_of

SIZES = "1 KiB:1 GiB:x8"
OPERATIONS = ["all_reduce", "all_gather", "reduce_scatter", "broadcast", "reduce", "all_to_all"]
FORCED = [("ring", "ll"), ("ring", "ll128"), ("ring", "simple"), ("tree", "ll"), ("tree", "ll128"), ("tree", "simple")]
FORCED_OPERATIONS = {"allreduce": "all_reduce", "allgather": "all_gather", "reducescatter": "reduce_scatter",
                     "broadcast": "broadcast"}


def run(weft, machine, text, operation, fidelity, overrides):
    command = [weft, "collective", "--config", str(machine), "--op", operation, "--sizes", SIZES, "--json"]
    key = "topology.graph.fidelity" if "graph:" in text else None
    if key is not None:
        command += ["--set", f"{key}={fidelity}"]
    else:
        command += ["--fidelity", fidelity]
    if overrides:
        command += ["--set", f"collectives.overrides={overrides}"]
    begin = time.time()
    rows, why = rows_of(command)
    return rows, why, time.time() - begin


def main():
    arguments = parser(__doc__)
    arguments.add_argument("--own", action="store_true", help="the library's own choices only")
    arguments.add_argument("--markdown", action="store_true")
    options = arguments.parse_args()
    worst = 0.0
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for machine, text in machines(options.machines):
            cases = [("own choice", operation, None) for operation in OPERATIONS]
            for algorithm, protocol in [] if options.own else FORCED:
                path = pathlib.Path(folder) / f"{algorithm}_{protocol}.csv"
                lines = [f"{name},-1,-1,{algorithm},{protocol},-1,-1,-1\n" for name in FORCED_OPERATIONS]
                path.write_text("".join(lines))
                cases += [(f"{algorithm} {protocol}", operation, path) for operation in FORCED_OPERATIONS.values()
                          if algorithm == "ring" or operation == "all_reduce"]
            for what, operation, path in cases:
                closed, why, _ = run(options.weft, machine, text, operation, "analytical", path)
                if closed is None:
                    continue  # the library has no such plan
                program, why, seconds = run(options.weft, machine, text, operation, options.fidelity, path)
                if program is None:
                    rows.append((machine.stem, what, operation, None, 0, 0, why))
                    continue
                errors = [(100 * (p["time_ns"] / c["time_ns"] - 1), p["bytes"]) for p, c in zip(program, closed)]
                error, size = max(errors, key=lambda e: abs(e[0]))
                worst = max(worst, abs(error))
                rows.append((machine.stem, what, operation, error, size, seconds, ""))
                print(f"{machine.stem:22} {what:12} {operation:15} {error:8.3f} % at {size:>11} B  {seconds:6.2f} s",
                      flush=True)
    for machine, what, operation, error, _, _, why in rows:
        if error is None:
            print(f"{machine:22} {what:12} {operation:15} refused: {why[:160]}")
    if options.markdown:
        print("\n| machine | plans compared | largest difference | slowest run |\n|---|---|---|---|")
        for name in sorted({r[0] for r in rows}):
            own = [r for r in rows if r[0] == name and r[3] is not None]
            if own:
                top = max(own, key=lambda r: abs(r[3]))
                print(f"| {name} | {len(own)} | {top[3]:.2f} % ({top[1]}, {top[2]}) | {max(r[5] for r in own):.1f} s |")
    print(f"largest difference: {worst:.3f} %")
    return 1 if worst > options.limit else 0


if __name__ == "__main__":
    sys.exit(main())
