#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Copyright the Weft authors
"""The oracle: random jobs on weft and on an independent simulator, compared to the picosecond.

    oracle.py WEFT --seed 1 --cases 500           compare; exit 1 and show the first differences
    oracle.py WEFT --seed 1 --case 17 --keep DIR  one case, its files stay in DIR/case17
    oracle.py WEFT --seed 1 --cases 100 --kind joins

Compared are, of every job: the time of the run, start and end of every collective, and for every rank the time that
counts as compute and as communication. docs/oracle.md has the rules that the simulator follows.
"""

import argparse
import concurrent.futures
import csv
import decimal
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import traceback

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import job
import jobs
import shrink

TIME_LIMIT = 60  # seconds of a run of weft
BEYOND = "chunks started beyond the slots"
SHOWN = 5        # differences printed of a case


def ps(text):
    """Nanoseconds as weft prints them, in whole picoseconds."""
    return int(decimal.Decimal(text) * 1000)


def rows(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def command(weft, folder):
    return [weft, "run", str(folder / "machine.yaml"), "--trace", str(folder / "trace"), "--groups",
            str(folder / "groups.json"), "--out", str(folder / "out")]


def measured(weft, folder):
    """{what: ps} of a run of weft; raises RuntimeError when it fails."""
    done = subprocess.run(command(weft, folder), stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=TIME_LIMIT,
                          check=False)
    if done.returncode != 0:
        raise RuntimeError(f"exit {done.returncode}: {done.stderr.decode(errors='replace').strip()}")
    with open(folder / "out" / "summary.json") as file:
        summary = json.load(file, parse_float=decimal.Decimal)
    found = {"time of the run": ps(str(summary["time_ns"])), BEYOND: int(summary["out_of_order_starts"])}
    for row in rows(folder / "out" / "collectives.csv"):
        name = f"collective {row['name']} of group '{row['group']}'"
        found[name + ": start"], found[name + ": end"] = ps(row["start_ns"]), ps(row["end_ns"])
    for row in rows(folder / "out" / "ranks.csv"):
        name = f"rank {row['rank']}"
        found[name + ": compute"], found[name + ": communication"] = ps(row["compute_ns"]), ps(row["communication_ns"])
    return found


def expected(case):
    """The same from the oracle's simulator."""
    done = job.Job(case.machine(), case.settings, case.traces, case.groups).run()
    found = {"time of the run": done.time(), BEYOND: done.simulator.beyond}
    for instance in done.instances.values():
        name = f"collective {instance.name} of group '{instance.group}'"
        found[name + ": start"] = min(time for time, _ in instance.started.values())
        found[name + ": end"] = max(instance.ended.values())
    for rank in done.ranks:
        compute, communication = rank.times()
        found[f"rank {rank.rank}: compute"], found[f"rank {rank.rank}: communication"] = compute, communication
    return found, done.simulator.beyond


def differences(weft, case, folder):
    """(lines, chunks beyond the slots) of a case; no lines if all is equal."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    beyond, lines = 0, []
    try:
        case.write(folder)
        weft_times = measured(weft, folder)
        own_times, beyond = expected(case)
        names = [n for n in dict.fromkeys([*weft_times, *own_times]) if weft_times.get(n) != own_times.get(n)]
        lines = [f"  {n}: weft {weft_times.get(n)}, oracle {own_times.get(n)} (ps)" for n in names[:SHOWN]]
        if len(names) > SHOWN:
            lines.append(f"  and {len(names) - SHOWN} more")
    except (RuntimeError, subprocess.TimeoutExpired) as error:
        lines = ["  " + str(error)]
    except Exception:  # a fault of the oracle itself: show where
        lines = ["  " + traceback.format_exc()]
    return lines, beyond


def check(weft, seed, number, kind, keep, smaller=False):
    """(kind, chunks beyond the slots, report): no report if all is equal."""
    case = jobs.draw(seed, number, kind)
    folder = pathlib.Path(keep or tempfile.mkdtemp(prefix="weft_oracle_")) / f"case{number}"
    lines, beyond = differences(weft, case, folder)
    if lines and smaller:
        def fails(candidate):
            found, _ = differences(weft, candidate, folder)
            return bool(found) and not found[0].startswith("  exit")
        shrink.shrink(case, fails)
        lines, beyond = differences(weft, case, folder)
    if keep is None:
        shutil.rmtree(folder.parent, ignore_errors=True)
    if not lines:
        return case.kind, beyond, ""
    again = f"{sys.argv[0]} {weft} --seed {seed} --case {number}" + (f" --kind {kind}" if kind else "")
    lines = [f"case {number} ({case.kind}) differs:", *lines, f"  draw it again: {again} --keep DIR"]
    lines.append("  run it again:  " + " ".join(command(weft, pathlib.Path(keep or "DIR") / f"case{number}")))
    return case.kind, beyond, "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("weft", help="the program")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--cases", type=int, default=100)
    parser.add_argument("--case", type=int, help="only this one")
    parser.add_argument("--kind", choices=(*jobs.KINDS, jobs.TIES), help="only cases of this kind")
    parser.add_argument("--keep", metavar="DIR", help="keep the files of the cases")
    parser.add_argument("--smaller", action="store_true", help="make failing cases smaller (with --keep)")
    parser.add_argument("--jobs", type=int, default=min(2, os.cpu_count() or 1), help="processes at a time")
    arguments = parser.parse_args()
    numbers = range(arguments.cases) if arguments.case is None else [arguments.case]
    counts, failed, beyond = {}, {}, 0
    with concurrent.futures.ProcessPoolExecutor(arguments.jobs) as pool:
        todo = [pool.submit(check, arguments.weft, arguments.seed, n, arguments.kind, arguments.keep,
                            arguments.smaller)
                for n in numbers]
        for done in todo:
            kind, started, report = done.result()
            counts[kind] = counts.get(kind, 0) + 1
            beyond += bool(started)
            if report:
                failed[kind] = failed.get(kind, 0) + 1
                print(report, flush=True)
    for kind in counts:
        print(f"{kind}: {counts[kind]} cases, {failed.get(kind, 0)} differ")
    print(f"{sum(counts.values())} cases of seed {arguments.seed}, {sum(failed.values())} differ; "
          f"in {beyond} chunks started beyond the slots")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
