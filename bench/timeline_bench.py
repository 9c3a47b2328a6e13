#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Copyright the Weft authors
"""What a timeline costs: an all-reduce of 1 MiB on a torus of 4,096 NPUs, with `--timeline` and without.

    timeline_bench.py WEFT [--pairs N] [--budget SIZE] [--chunks N] [--fidelity F]

Prints the medians of the pairs' times and of their ratios, wall-clock and processor, and the size of the file. Exit code 1
if a run with the timeline takes twice the time of one without, or more.
"""

import argparse
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

RATIO = 2


def measure(command):
    """(wall-clock, processor) seconds."""
    begin = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    error = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    wall = time.perf_counter() - begin
    if os.waitstatus_to_exitcode(status) != 0:
        raise SystemExit(f"{' '.join(command)}: {error.decode()}")
    return wall, usage.ru_utime + usage.ru_stime


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("weft")
    parser.add_argument("--pairs", type=int, default=15)
    parser.add_argument("--budget", default="64 MiB")
    parser.add_argument("--chunks", default="1")
    parser.add_argument("--fidelity", default="message")
    options = parser.parse_args()
    weft = str(pathlib.Path(options.weft).resolve())
    with tempfile.TemporaryDirectory() as folder:
        plain = [weft, "collective", "--topology", "Ring(16)_Ring(16)_Ring(16)", "--bandwidth", "50 GB/s", "--size",
                 "1MiB", "--chunks", options.chunks, "--fidelity", options.fidelity, "--no-fold", "--out", folder]
        seen = plain + ["--timeline", "--timeline-budget", options.budget]
        measure(plain), measure(seen)  # the first ones fill caches
        pairs = [(measure(plain), measure(seen)) for _ in range(options.pairs)]
        size = (pathlib.Path(folder) / "timeline.pftrace").stat().st_size
    good = True
    for kind, name in enumerate(("wall-clock", "processor")):
        without = statistics.median(p[0][kind] for p in pairs)
        with_it = statistics.median(p[1][kind] for p in pairs)
        ratio = statistics.median(p[1][kind] / p[0][kind] for p in pairs)
        good = good and ratio < RATIO
        print(f"{name:10}  {without:.3f} s without, {with_it:.3f} s with the timeline: {ratio:.2f} times")
    print(f"{options.pairs} pairs; timeline.pftrace has {size / 1e6:.1f} MB")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
