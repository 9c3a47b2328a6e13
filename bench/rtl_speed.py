#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Copyright the Weft authors
"""How fast a job with one RTL block is, measured by the same RTL alone under Verilator.

    bench/rtl_speed.py --weft WEFT --plugin reduction_unit.so --alone rtl_alone [--runs 5] [--size '4 MiB']

64 NPUs in 8 switches of 8, and 8 switches between them, do an all-reduce in the switches. The collective unit of one
switch is examples/rtl/reduction_unit. Speed is beats of contributions in a second of processor time. Runs come in
pairs; the figure is the median of their ratios.
"""

import argparse
import json
import pathlib
import resource
import statistics
import subprocess
import sys
import tempfile

MACHINE = """\
weft: 1
topology:
  notation: Switch(8)_Switch(8)
  dimensions:
    - {bandwidth: 50 GB/s, latency: 200 ns, collective_unit: {segment: 4 KiB, reduction_bandwidth: 32 GB/s}}
    - {bandwidth: 50 GB/s, latency: 500 ns, collective_unit: {segment: 4 KiB}}
collectives: {all_reduce: in_switch, order: baseline}
"""
RTL = """\
implementations:
  - {modules: switch0_0.unit, implementation: "rtl:reduction_unit"}
"""


def user_seconds(command):
    """Processor time of a command that must succeed, and its output."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}\nfailed with {done.returncode}:\n{done.stderr}")
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before, done.stdout


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--weft", required=True)
    parser.add_argument("--plugin", required=True)
    parser.add_argument("--alone", required=True)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--mebibytes", type=int, default=4, help="of the all-reduce")
    parser.add_argument("--clock", default="automatic")
    args = parser.parse_args()
    beats = 8 * args.mebibytes * 2**20 // 32
    ratios = []
    with tempfile.TemporaryDirectory() as folder:
        machine = pathlib.Path(folder) / "machine.yaml"
        plugin = f"plugins: {pathlib.Path(args.plugin).resolve()}\n"
        machine.write_text(MACHINE + plugin + RTL.replace("reduction_unit\"", f"reduction_unit(clock={args.clock})\""))
        job = [args.weft, "collective", str(machine), "--size", f"{args.mebibytes} MiB", "--json"]
        for run in range(args.runs):
            in_job, _ = user_seconds(job)
            alone = json.loads(user_seconds([args.alone, str(beats)])[1].splitlines()[-1])["user_s"]
            ratios.append(alone / in_job)
            print(f"run {run}: {beats} beats: job {in_job:.2f} s, alone {alone:.2f} s, ratio {ratios[-1]:.3f}", flush=True)
    print(json.dumps({"beats": beats, "median_ratio": round(statistics.median(ratios), 3)}))


if __name__ == "__main__":
    main()
