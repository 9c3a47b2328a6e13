#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Copyright the Weft authors
"""Real against emulated: two MPI processes on this computer, then one of them with the other emulated, by the wall clock.

    bench/emulation/real_pair.py WEFT [--mpi mpich|openmpi] [--largest BYTES] [--repetitions N] [--rounds N]

A ping-pong of the two processes is measured first. Latency and bandwidth of a machine of two NPUs are fitted to it. Then the
all-reduces of both pairs are compared, rounds in turn, and their medians shown. Nothing is gated: what passes on a computer
that does other things is noise.
"""

import argparse
import json
import pathlib
import re
import statistics
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
WANTED = 0.15


def table(text):
    """bytes -> us, of the programs' tables."""
    rows = re.findall(r"^(?:\[0\] )?(\d+) +([0-9.]+) +[0-9.]+$", text, re.M)
    return {int(size): float(us) for size, us in rows}


def run(*command):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=600)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(map(str, command))} failed with {done.returncode}:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return done.stdout


def medians(tables):
    return {size: statistics.median(t[size] for t in tables) for size in tables[0]}


def fit(times):
    """Seconds and bytes a second: least squares of the relative error, by latency + bytes / bandwidth."""
    points = [(size, us * 1e-6) for size, us in times.items()]
    weights = [1 / us ** 2 for _, us in points]
    s = sum(weights)
    sx = sum(w * x for w, (x, _) in zip(weights, points))
    sy = sum(w * y for w, (_, y) in zip(weights, points))
    sxx = sum(w * x * x for w, (x, _) in zip(weights, points))
    sxy = sum(w * x * y for w, (x, y) in zip(weights, points))
    slope = (s * sxy - sx * sy) / (s * sxx - sx * sx)
    return max(1e-9, (sy - slope * sx) / s), 1 / slope


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("weft", type=pathlib.Path)
    options.add_argument("--mpi", choices=["mpich", "openmpi"], default="mpich")
    options.add_argument("--largest", type=int, default=16 << 20)
    options.add_argument("--repetitions", type=int, default=20)
    options.add_argument("--rounds", type=int, default=5)
    args = options.parse_args()
    weft = args.weft.resolve()
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        for name in ("pingpong", "allreduce"):
            run(f"mpicc.{args.mpi}", "-O2", ROOT / f"examples/emulation/mpi/{name}.c", "-o", folder / name)
        pair = [f"mpirun.{args.mpi}", *(["--allow-run-as-root"] if args.mpi == "openmpi" else []), "-n", "2"]
        arguments = [args.largest, args.repetitions]
        pings = medians([table(run(*pair, folder / "pingpong", *arguments)) for _ in range(args.rounds)])
        latency, bandwidth = fit(pings)
        print(f"ping-pong of two processes ({args.mpi}): {latency * 1e6:.3f} us + bytes / {bandwidth / 1e9:.3f} GB/s")
        machine = folder / "machine.yaml"
        machine.write_text(f"weft: 1\ntopology: {{notation: Ring(2), dimensions: [{{bandwidth: {bandwidth / 1e9:.6f} GB/s, "
                           f"latency: {latency * 1e9:.0f} ns}}]}}\ncollectives: {{chunks: 1}}\n")
        real, emulated, lateness = [], [], []
        for number in range(args.rounds):
            real.append(table(run(*pair, folder / "allreduce", *arguments)))
            emulated.append(table(run(weft, "emulate", machine, "--real", "0", "--clock", "wall", "--data", "dummy", "--out", folder / f"out{number}",
                                      "--", folder / "allreduce", *arguments)))
            lateness.append(json.loads((folder / f"out{number}/summary.json").read_text())["lateness"])
        real, emulated = medians(real), medians(emulated)
        print("| bytes | two processes, us | rank 1 emulated, us | difference | |\n|---|---|---|---|---|")
        for size in sorted(real):
            by = emulated[size] / real[size] - 1
            print(f"| {size} | {real[size]:.1f} | {emulated[size]:.1f} | {100 * by:+.0f} % | {'within 15 %' if abs(by) <= WANTED else ''} |")
        for key in ("p50_ns", "p99_ns", "max_ns"):
            print(f"lateness {key[:-3]}: {statistics.median(item[key] for item in lateness) / 1000:.1f} us")


if __name__ == "__main__":
    main()
