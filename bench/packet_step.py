#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Copyright the Weft authors
"""A training step of GPT-13B on 128 GPUs, every dimension in packets; and an all-reduce of 72 GPUs in packets.

The jobs of docs/performance.md ("A whole step, all simulated", "Messages of a gigabyte"). One row each: processor time,
wall time, peak memory, the share of packets that went by train, and the simulated time; of an all-reduce wall time and
simulated time.
"""

import argparse
import json
import pathlib
import subprocess
import tempfile
import time

from large_job import run

STEP = """weft: 1
topology:
  notation: Switch(8)_Clos(hosts=4,leaves=4,spines=4)
  dimensions:
    - {bandwidth: 450 GB/s, latency: 250 ns, fidelity: packet}
    - {bandwidth: 50 GB/s, latency: 600 ns, fidelity: packet}
packet: {packet_size: 4 KiB, flit_size: 64 B, vcs: 4}
"""
SWITCH = """weft: 1
topology:
  notation: Switch(72)
  dimensions: [{bandwidth: 900 GB/s, latency: 250 ns, fidelity: packet}]
packet: {packet_size: 256 B, flit_size: 64 B, vcs: 4}
"""
STEPS = {"small": (4, 4, 1), "eight": (8, 32, 8), "whole": (40, 32, 8)}  # layers, batch, microbatches
COLLECTIVES = {"ring": ["--algorithm", "ring"], "halving_doubling": ["--algorithm", "halving_doubling"]}


def step(weft, folder, name, more):
    layers, batch, microbatches = STEPS[name]
    command = [weft, "generate", "llm", "--tp", 8, "--pp", 4, "--dp", 4, "--layers", layers, "--hidden", 5120]
    command += ["--heads", 40, "--seq", 2048, "--batch", batch, "--microbatches", microbatches]
    subprocess.run([str(word) for word in command + ["--out", folder / "trace"]], check=True, stdout=subprocess.DEVNULL)
    (folder / "machine.yaml").write_text(STEP)
    processor, wall, peak, summary = run(weft, folder, ["--groups", str(folder / "trace" / "llm.groups.json"), *more])
    trains = summary.get("trains", {})
    share = 100 * trains.get("carried", 0) / max(1, trains.get("packets", 0))
    simulated = f"{summary['time_ns'] / 1e6:.5f} ms"
    print(f"{name:>16}  {processor:8.2f}  {wall:8.2f}  {peak:8.0f}  {share:10.1f}  {simulated}", flush=True)


def collective(weft, folder, name, size, more):
    (folder / "switch.yaml").write_text(SWITCH)
    command = [weft, "collective", str(folder / "switch.yaml"), "--op", "all_reduce", "--size", size, "--no-fold"]
    begin = time.monotonic()
    command += ["--json", *COLLECTIVES[name], *more]
    text = subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout
    wall = time.monotonic() - begin
    simulated = f"{json.loads(text)['results'][0]['time_ns'] / 1e3:.3f} us"
    print(f"{name:>16}  {'':8}  {wall:8.2f}  {'':8}  {'':10}  {simulated}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    cases = [*STEPS, *COLLECTIVES]
    parser.add_argument("cases", nargs="*", default=cases, metavar="CASE", help=f"{', '.join(cases)} (default: all)")
    parser.add_argument("--weft", default="build/release/bin/weft", help="the program")
    parser.add_argument("--size", default="1 GiB", help="of the all-reduce")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="a key of the configuration")
    arguments = parser.parse_args()
    for name in set(arguments.cases) - set(cases):
        parser.error(f"there is no case {name}; there are {', '.join(cases)}")
    weft = str(pathlib.Path(arguments.weft).resolve())
    more = [word for key in arguments.set for word in ("--set", key)]
    print(f"{'case':>16}  {'cpu (s)':>8}  {'wall (s)':>8}  {'MiB':>8}  {'by train %':>10}  time")
    for name in arguments.cases:
        with tempfile.TemporaryDirectory(prefix="weft_step_") as folder:
            if name in STEPS:
                step(weft, pathlib.Path(folder), name, more)
            else:
                collective(weft, pathlib.Path(folder), name, arguments.size, more)


if __name__ == "__main__":
    main()
