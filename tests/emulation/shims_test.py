#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Copyright the Weft authors
"""MPI and NCCL programs under `weft emulate`, through its shims.

    shims_test.py --weft WEFT --source DIR --work DIR [--mpi ompi=mpicc.openmpi] [--mpi mpich=mpicc.mpich] [--nccl DIR]
"""

import argparse
import csv
import json
import pathlib
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from installed_weft import check, command, finish  # noqa: E402

MACHINE = "weft: 1\ntopology: {{notation: {}, dimensions: [{{bandwidth: 50 GB/s, latency: 500 ns}}]}}\n{}"


class Bench:
    def __init__(self, args):
        self.weft = pathlib.Path(args.weft).resolve()
        self.source = pathlib.Path(args.source).resolve()
        self.work = pathlib.Path(args.work).resolve()
        shutil.rmtree(self.work, ignore_errors=True)
        self.work.mkdir(parents=True)
        self.runs = 0

    def machine(self, notation, more=""):
        path = self.work / f"machine{self.runs}.yaml"
        path.write_text(MACHINE.format(notation, more))
        return path

    def compile(self, compiler, name, source, *options):
        program = self.work / name
        command([*compiler.split(), "-O1", "-Wall", "-Wextra", self.source / source, *options, "-o", program])
        return program

    def emulate(self, machine, real, program, *arguments, options=()):
        """(exit code, summary, lines of each rank, errors)"""
        self.runs += 1
        out = self.work / f"out{self.runs}"
        done = subprocess.run([self.weft, "emulate", machine, "--real", real, *([] if "--compute" in options else ["--compute", "fixed:0"]), "--time-limit", "100 s",
                               "--json", "--out", out, "--set", "environment.detail=full", *options, "--", program, *map(str, arguments)],
                              capture_output=True, text=True, timeout=200, cwd=self.work)
        lines = {}
        for line in (done.stdout + done.stderr).splitlines():
            if line.startswith("["):
                rank, _, text = line[1:].partition("] ")
                lines.setdefault(rank, []).append(text)
        summary = out / "summary.json"
        return done.returncode, json.loads(summary.read_text()) if summary.exists() else {}, lines, done.stderr + done.stdout


def all_calls(bench, name, program):
    """Every call, checked by the program: all ranks real, exact data."""
    for notation in ("Ring(4)", "Ring(2)_Switch(2)"):
        code, _, lines, text = bench.emulate(bench.machine(notation), "0..3", program, options=("--data", "functional"))
        check(code == 0 and "ok" in lines.get("0", []), f"{name} on {notation}: exit {code}: {text[-2000:]}")


def tables(bench, programs, name, world, real, arguments, options=()):
    """The table that rank 0 prints, of every MPI: the same. Then the capture, replayed."""
    printed = {}
    for mpi, program in programs.items():
        capture = bench.work / f"capture{bench.runs}" / "job"
        capture.parent.mkdir()
        machine = bench.machine(f"Ring({world})")
        code, summary, lines, text = bench.emulate(machine, real, program, *arguments,
                                                   options=("--capture", capture, *options))
        check(code == 0, f"{name} {mpi}, {world} ranks, real {real}: exit {code}: {text[-1500:]}")
        if code != 0:
            continue
        printed[mpi] = [line for line in lines.get("0", []) if not line.startswith("#")]
        check(len(printed[mpi]) > 5, f"{name} {mpi}: no table: {text[-500:]}")
        time, again = summary["time_ns"], replayed(bench, machine, capture)
        # Parts that do not divide evenly make ranks unequal: then their ends differ by a few bytes' time.
        check(abs(again - time) <= 2e-5 * time, f"{name} {mpi}, {world} ranks, real {real}: {time} ns, replayed {again} ns")
    check(len({tuple(p) for p in printed.values()}) <= 1, f"{name}: the MPIs differ: {printed}")
    return next(iter(printed.values()), [])


def closed_forms(bench, programs):
    """A ping-pong of two real ranks is latency + bytes / bandwidth, one way."""
    lines = tables(bench, {m: p["pingpong"] for m, p in programs.items()}, "pingpong", 2, "0,1", (4096, 5))
    for line in lines:
        size, us, _ = line.split()
        expected = 0.5 + int(size) * 20e-6
        check(abs(float(us) - expected) < 1e-6, f"pingpong of {size} B: {us} us, not {expected}")


def echoed(bench, programs):
    """A ping-pong with an emulated rank that answers is that of two real ranks."""
    for mpi, program in programs.items():
        printed = []
        for real, more in (("0,1", ""), ("0", "environment: {peers: [{rank: 1, when: echo}]}\n")):
            for detail in ("full", "restricted"):
                code, _, lines, text = bench.emulate(bench.machine("Ring(2)", more), real, program, 65536, 4,
                                                     options=("--set", f"environment.detail={detail}"))
                check(code == 0, f"echoed pingpong {mpi}, real {real}: exit {code}: {text[-1500:]}")
                printed.append([line for line in lines.get("0", []) if not line.startswith("#")])
        check(len(printed[0]) > 5 and all(p == printed[0] for p in printed), f"echoed pingpong {mpi}: {printed}")


def details(bench, programs, name, world, real, arguments):
    """`restricted` prints the table of `full`: equal where the bytes divide evenly among the ranks, within 1e-4 elsewhere."""
    for mpi, program in programs.items():
        printed = []
        for detail in ("full", "restricted"):
            code, _, lines, text = bench.emulate(bench.machine(f"Ring({world})"), real, program, *arguments,
                                                 options=("--set", f"environment.detail={detail}"))
            check(code == 0, f"{name} {mpi} {detail}, {world} ranks: exit {code}: {text[-1500:]}")
            printed.append([line for line in lines.get("0", []) if not line.startswith("#")])
        check(len(printed[0]) > 5 and len(printed[0]) == len(printed[1]), f"{name} {mpi}, {world} ranks: {printed}")
        for line, other in zip(*printed):
            size, us, same, now = int(line.split()[0]), float(line.split()[1]), line == other, float(other.split()[1])
            check(same or size % (4 * world) != 0 and abs(now - us) <= 1e-4 * us,
                  f"{name} {mpi}, {world} ranks, real {real}: full {line}, restricted {other}")


def replayed(bench, machine, capture):
    out = bench.work / f"replay{bench.runs}"
    groups = pathlib.Path(f"{capture}.groups.json")
    command([bench.weft, "run", machine, "--trace", capture, *(["--groups", groups] if groups.exists() else []), "--out", out])
    return json.loads((out / "summary.json").read_text())["time_ns"]


def measured(bench, programs):
    """Measured compute: the capture's replay is within 1 %. By the wall clock: the time that passes, and how late answers were."""
    jobs = (("allreduce", 8, "0", (1 << 16, 20)), ("allreduce", 64, "0,8", (1 << 14, 10)), ("alltoall", 4, "0..3", (1 << 14, 10)),
            ("pingpong", 2, "0,1", (1 << 14, 10)), ("overlap", 8, "0", (1 << 14, 3)))
    for mpi in programs:
        for name, world, real, arguments in jobs:
            program = programs[mpi][name]
            capture = bench.work / f"capture{bench.runs}" / "job"
            capture.parent.mkdir()
            machine = bench.machine(f"Ring({world})")
            code, summary, _, text = bench.emulate(machine, real, program, *arguments, options=("--compute", "cpu", "--capture", capture))
            check(code == 0, f"measured {name} {mpi}: exit {code}: {text[-1500:]}")
            if code != 0:
                continue
            again = replayed(bench, machine, capture)
            print(f"{mpi}, {name}, {world} ranks, real {real}, measured compute: {summary['time_ns']} ns, replayed {again} ns")
            # Two real ranks compute for different times. In the replay each emulated rank goes on when it is done itself, not
            # when the rank that it follows is.
            check(abs(again - summary["time_ns"]) <= (0.01 if world != 64 else 0.05) * summary["time_ns"],
                  f"measured {name} {mpi}, {world} ranks, real {real}: {summary['time_ns']} ns, replayed {again} ns")
        code, summary, _, text = bench.emulate(bench.machine("Ring(8)"), "0,4", programs[mpi]["allreduce"], 1 << 14, 5,
                                               options=("--clock", "wall"))
        check(code == 0 and summary["lateness"]["answers"] > 0, f"wall clock {mpi}: exit {code}: {text[-1500:]}")
        print(f"{mpi}, wall clock: lateness {summary['lateness']}")


def durations(bench):
    """bytes -> the times that all-reduces of the last job took for its ranks, ns."""
    found = {}
    with open(bench.work / f"out{bench.runs}" / "calls.csv", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            if row["operation"] == "all_reduce":
                found.setdefault(int(row["bytes"]), set()).add(round(float(row["finished_ns"]) - float(row["issued_ns"]), 3))
    return found


def nccl_times(bench, program, mpis):
    """All-reduces of an NCCL program take as long as those of the MPI program."""
    for notation, real in (("Ring(8)", "0"), ("Ring(2)_Switch(4)", "0,3"), ("Switch(64)", "0,8")):
        taken = {}
        for name, each in (("nccl", program), *((mpi, p["allreduce"]) for mpi, p in mpis.items())):
            code, _, _, text = bench.emulate(bench.machine(notation), real, each, 1 << 16, 2)
            check(code == 0, f"{name} all-reduces on {notation}: exit {code}: {text[-1500:]}")
            taken[name] = durations(bench)
        check(len(taken["nccl"]) == 15 and all(t == taken["nccl"] for t in taken.values()), f"all-reduces on {notation}: {taken}")


def overlap(bench, programs):
    """Beside work w an all-reduce takes max(w, alone)."""
    for mpi, program in programs.items():
        code, _, lines, text = bench.emulate(bench.machine("Ring(4)"), "0", program["overlap"], 1 << 19, 2)
        rows = [line.split() for line in lines.get("0", []) if not line.startswith("#")]
        check(code == 0 and len(rows) == 18, f"overlap {mpi}: exit {code}: {text[-1500:]}")
        for _, work, alone, both in rows:
            expected = max(float(work), float(alone))
            check(abs(float(both) - expected) <= 0.01 * expected, f"overlap {mpi}: work {work}, alone {alone}: {both} us")


def refused(bench, mpi, compiler):
    """A call that is not emulated is named; children have no shim; a wrong --shim says what is right."""
    scan = bench.work / "scan.c"
    scan.write_text("#include <mpi.h>\nint main(int c, char** v) { int a = 1, b; MPI_Init(&c, &v); "
                    "MPI_Scan(&a, &b, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD); MPI_Finalize(); return 0; }\n")
    program = bench.compile(compiler, f"scan_{mpi}", scan)
    code, _, _, text = bench.emulate(bench.machine("Ring(2)"), "0", program)
    check(code != 0 and "MPI_Scan" in text and "does not emulate" in text, f"MPI_Scan: exit {code}: {text[-800:]}")
    child = bench.work / "child.c"
    child.write_text("#include <mpi.h>\n#include <stdlib.h>\nint main(int c, char** v) { MPI_Init(&c, &v); "
                     "int r = system(\"echo preload=$LD_PRELOAD.\"); MPI_Finalize(); return r; }\n")
    program = bench.compile(compiler, f"child_{mpi}", child)
    code, _, lines, text = bench.emulate(bench.machine("Ring(2)"), "1", program)
    check(code == 0 and "preload=." in lines.get("1", []), f"a child's preload: exit {code}: {text[-800:]}")
    code, _, _, text = bench.emulate(bench.machine("Ring(2)"), "0", program, options=("--shim", "pmi"))
    check(code == 2 and "auto, ompi, mpich, nccl, torch and none" in text, f"--shim pmi: exit {code}: {text[-500:]}")


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--weft", required=True)
    options.add_argument("--source", required=True)
    options.add_argument("--work", required=True)
    options.add_argument("--mpi", action="append", default=[], help="NAME=COMPILER")
    options.add_argument("--nccl", help="folder of libnccl.so")
    args = options.parse_args()
    bench = Bench(args)
    if args.nccl:
        program = bench.compile("cc -std=c11", "nccl_calls", "tests/emulation/nccl/calls.c", f"-I{bench.source}/emulation/nccl",
                                f"-L{args.nccl}", "-lnccl")
        all_calls(bench, "nccl", program)
        nccl_allreduce = bench.compile("cc -std=c11", "nccl_allreduce", "tests/emulation/nccl/allreduce.c",
                                       f"-I{bench.source}/emulation/nccl", f"-L{args.nccl}", "-lnccl")
    programs = {}
    for entry in args.mpi:
        mpi, compiler = entry.split("=", 1)
        programs[mpi] = {name: bench.compile(compiler, f"{name}_{mpi}", f"examples/emulation/mpi/{name}.c")
                         for name in ("pingpong", "allreduce", "alltoall", "bcast", "overlap")}
        all_calls(bench, mpi, bench.compile(compiler, f"calls_{mpi}", "tests/emulation/mpi/calls.c"))
        refused(bench, mpi, compiler)
    if args.nccl and programs:
        nccl_times(bench, nccl_allreduce, programs)
    if programs:
        closed_forms(bench, programs)
        overlap(bench, programs)
        echoed(bench, {m: p["pingpong"] for m, p in programs.items()})
        measured(bench, programs)
        for real in ("0", "0,8", "0..3"):
            for name in ("allreduce", "alltoall"):
                details(bench, {m: p[name] for m, p in programs.items()}, name, 64, real, (4096, 2))
        for name in ("allreduce", "alltoall", "bcast"):
            chosen = {m: p[name] for m, p in programs.items()}
            for world, real in ((2, "0,1"), (4, "0..3"), (4, "0"), (16, "0,8"), (64, "0"), (64, "0,8")):
                # A root that is alone real does not wait for the others, and ends before the replay does.
                if name != "bcast" or real in ("0,1", "0..3"):
                    tables(bench, chosen, name, world, real, (2048, 3))
    finish()


if __name__ == "__main__":
    main()
