#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Copyright the Weft authors
"""A training step of many GPUs at message fidelity: time and memory, with folding and without.

The job is that of docs/performance.md: tp 8, pp 10, 40 layers, 10 microbatches on Switch(8)_Switch(10 x dp), its ranks
in a class manifest. One row a size: ranks, ranks that are simulated, processor time, wall time, peak memory.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

TP, PP, LAYERS, MICROBATCHES = 8, 10, 40, 10

MACHINE = """weft: 1
topology:
  notation: Switch({tp})_Switch({rest})
  dimensions:
    - {{bandwidth: 450 GB/s, latency: 250 ns, fidelity: message}}
    - {{bandwidth: 50 GB/s, latency: 600 ns, fidelity: message}}
npu: {{peak: 312 TFLOPS}}
"""


def generate(weft, folder, replicas, slow):
    command = [weft, "generate", "llm", "--tp", TP, "--pp", PP, "--dp", replicas, "--layers", LAYERS]
    command += ["--hidden", 5120, "--microbatches", MICROBATCHES, "--batch", MICROBATCHES * replicas, "--classes"]
    for rank in slow:
        command += ["--slow", rank]
    subprocess.run([str(word) for word in command + ["--out", folder / "trace"]], check=True, stdout=subprocess.DEVNULL)
    (folder / "machine.yaml").write_text(MACHINE.format(tp=TP, rest=PP * replicas))


def run(weft, folder, more):
    """Processor seconds, wall seconds, peak MiB and summary.json of one run."""
    command = [weft, "run", str(folder / "machine.yaml"), "--trace", str(folder / "trace" / "llm")]
    begin = time.monotonic()
    child = subprocess.Popen(command + ["--out", str(folder / "out"), "--force", *more], stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    wall = time.monotonic() - begin
    if status != 0:
        sys.exit(f"{' '.join(command)}: failed")
    summary = json.loads((folder / "out" / "summary.json").read_text())
    return usage.ru_utime + usage.ru_stime, wall, usage.ru_maxrss / 1024, summary


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--weft", default="build/release/bin/weft", help="the program")
    parser.add_argument("--dp", default="1024", help="data parallel replicas, separated by commas; 80 ranks each")
    parser.add_argument("--slow", action="append", default=[], metavar="RANK=FACTOR", help="a straggler; repeatable")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="a key of the configuration")
    parser.add_argument("--no-fold", action="store_true", help="simulate every rank")
    arguments = parser.parse_args()
    more = ["--no-fold"] if arguments.no_fold else []
    for key in arguments.set:
        more += ["--set", key]
    print(f"{'ranks':>8} {'simulated':>10} {'CPU s':>8} {'wall s':>8} {'peak MiB':>9} {'KiB a rank':>11}  step")
    for replicas in (int(number) for number in arguments.dp.split(",")):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            generate(arguments.weft, folder, replicas, arguments.slow)
            cpu, wall, peak, summary = run(arguments.weft, folder, more)
        ranks = TP * PP * replicas
        simulated = summary["folding"]["simulated_ranks"]
        print(f"{ranks:>8,} {simulated:>10,} {cpu:>8.2f} {wall:>8.2f} {peak:>9.0f} {peak * 1024 / ranks:>11.1f}"
              f"  {summary['time_ns'] / 1e6:.3f} ms", flush=True)
        if "split" in summary["folding"]:
            split = summary["folding"]["split"]
            print(f"{'':>8} split: {split['ranks']:,} ranks did as others until {split['at_ns'] / 1e6:.3f} ms")
        for reason, count in summary["folding"]["not_folded"].items():
            print(f"{'':>8} not folded: {count:,} ranks: {reason}")


if __name__ == "__main__":
    main()
