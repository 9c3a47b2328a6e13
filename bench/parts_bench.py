#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Copyright the Weft authors
"""What a run in parts gains (docs/parts.md): pairs of runs in one process and in parts, taken in turn.

    bench/parts_bench.py WEFT [--parts 2] [--repeat 3] [--large]

An all-reduce of 1 MiB on a torus of 4,096 NPUs in 64 chunks, and a training step of 1,280 ranks with traces; with --large a
torus of 65,536 NPUs, too. Prints the median wall time of each, their ratio, and the processor time of the slowest part of
each window: what free processors would need.
"""

import argparse
import json
import os
import re
import statistics
import subprocess
import tempfile
import time

MACHINE = """weft: 1
topology:
  notation: Switch(8)_Switch(160)
  dimensions:
    - {bandwidth: 450 GB/s, latency: 250 ns}
    - {bandwidth: 50 GB/s, latency: 600 ns}
npu: {peak: 300 TFLOP/s, memory_bandwidth: 2 TB/s}
"""
STEP = ["--tp", "8", "--dp", "16", "--pp", "10", "--layers", "40", "--hidden", "1024", "--heads", "16", "--seq", "512",
        "--microbatches", "10", "--batch", "160"]


def torus(weft, notation, chunks):
    return [weft, "collective", "--topology", notation, "--bandwidth", "50 GB/s", "--latency", "500 ns", "--size", "1MiB",
            "--chunks", str(chunks), "--no-fold"]


def step(weft, folder):
    config = os.path.join(folder, "machine.yaml")
    with open(config, "w") as file:
        file.write(MACHINE)
    traces = os.path.join(folder, "traces")
    subprocess.run([weft, "generate", "llm", *STEP, "--out", traces], check=True, capture_output=True)
    return [weft, "run", config, "--trace", traces + "/llm", "--groups", traces + "/llm.groups.json", "--no-fold", "--out",
            os.path.join(folder, "out")]


def seconds(command):
    begin = time.monotonic()
    ran = subprocess.run(command, check=True, capture_output=True, text=True)
    slowest = re.search(r"the slowest part of each window ([0-9.]+) s", ran.stdout + ran.stderr)
    return time.monotonic() - begin, float(slowest[1]) if slowest else None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("weft")
    parser.add_argument("--parts", type=int, default=2)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--large", action="store_true")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        runs = {"torus 4096x64": torus(arguments.weft, "Ring(16)_Ring(16)_Ring(16)", 64),
                "step of 1,280 ranks": step(arguments.weft, folder)}
        if arguments.large:
            runs["torus 65536x4"] = torus(arguments.weft, "Ring(64)_Ring(32)_Ring(32)", 4)
        for name, command in runs.items():
            one, parts, slowest = [], [], []
            for _ in range(arguments.repeat):
                one.append(seconds(command)[0])
                wall, critical = seconds(command + ["--parts", str(arguments.parts)])
                parts.append(wall)
                slowest.append(critical)
            print(json.dumps({"run": name, "parts": arguments.parts, "one_process_s": round(statistics.median(one), 2),
                              "in_parts_s": round(statistics.median(parts), 2),
                              "speed_up": round(statistics.median(one) / statistics.median(parts), 2),
                              "critical_s": round(statistics.median(slowest), 2)}))


if __name__ == "__main__":
    main()
