#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Copyright the Weft authors
"""What waveforms cost: time and bytes of `weft run --waves`.

    waves_bench.py WEFT [--repeat N] [--latency "5 us"]... [--only many|packets]

Many signals, of which few change: a job on 4 of 2,048 NPUs at message fidelity, with some 20,000 signals. The limit is
1.3 times the run without.

Packets: everything, by `--waves '*'`.

A step of a small transformer on a Switch of eight ranks, with credits and with priority flow control, at each latency
of its links. One line each: wall-clock time of the run without and with waveforms (medians of pairs), their ratio
(limit: 3), the ratio of their processor times, the changes of signals in waves.vcd, its bytes and bytes a change. Exit
code 1 if a limit is missed: the ratio of wall-clock times, or more than 40 bytes a change. The time of a change stands
in the file once for all changes of an instant.

A second thread writes the file. On a machine with one core, or with other work on all of its cores, the ratio of
processor times is what you wait for.
"""

import argparse
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

RATIO = 3
BYTES = 40
MACHINE = """weft: 1
topology:
  notation: Switch(8)
  dimensions: [{{bandwidth: 400 Gb/s, latency: {latency}, fidelity: packet, flow_control: {flow}}}]
packet: {{packet_size: 4 KiB, flit_size: 64 B, vcs: 1, virtual_networks: 2, point_to_point_network: 1}}
"""


def timed(command):
    """Wall-clock and processor time (s)."""
    begin = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    error = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    wall = time.perf_counter() - begin
    if os.waitstatus_to_exitcode(status) != 0:
        raise SystemExit(f"{' '.join(command)}: {error.decode()}")
    return wall, usage.ru_utime + usage.ru_stime


def medians(run, more, repeat):
    """Of pairs of the run without and with `more`: wall-clock times, and the ratios of wall-clock and processor time."""
    pairs = [(timed(run), timed([*run, *more])) for _ in range(repeat)]
    wall = [statistics.median(pair[i][0] for pair in pairs) for i in (0, 1)]
    return wall, [statistics.median(with_[i] / max(without[i], 0.001) for without, with_ in pairs) for i in (0, 1)]


def changes(path):
    """Changes of values: lines after the definitions that are no times and no commands."""
    count, body = 0, False
    with open(path, "rb") as file:
        for line in file:
            if body:
                count += line[:1] not in (b"#", b"$")
            elif line.startswith(b"$enddefinitions"):
                body = True
    return count


MANY = """weft: 1
topology:
  notation: Ring(4)_Switch(512)
  dimensions: [{bandwidth: 100 GB/s, latency: 500 ns}, {bandwidth: 50 GB/s, latency: 1 us}]
"""
MANY_SIGNALS = "{nmu*.{state,outstanding,collective,phase},*.flow,npu*.node}"
MANY_RATIO = 1.3


def generate(weft, folder, name, tp, layers, *more):
    subprocess.run([weft, "generate", "llm", "--tp", str(tp), "--layers", str(layers), "--hidden", "2048", "--heads",
                    "16", "--seq", "1024", *more, "--out", folder, "--name", name], check=True,
                   stdout=subprocess.DEVNULL)


def many(weft, work, repeat):
    """True if the limit is kept."""
    generate(weft, work, "s", 4, 80, "--batch", "64", "--microbatches", "64")
    (work / "many.yaml").write_text(MANY)
    (work / "job.yaml").write_text("weft: 1\nworkload: {trace: s, groups: s.groups.json, npus: [0..3]}\n")
    run = [weft, "run", str(work / "many.yaml"), "--job", str(work / "job.yaml"), "--out", str(work / "out")]
    waves = ["--waves", MANY_SIGNALS]
    wall, (ratio, processor) = medians(run, waves, repeat)
    with open(work / "out/waves.vcd", "rb") as file:
        signals = sum(line.startswith(b"$var") for line in file)
    count = changes(work / "out/waves.vcd")
    print(f"{signals} signals, {count} changes: {wall[0]:.2f} s without, {wall[1]:.2f} s with, ratio {ratio:.2f} "
          f"(of processor time {processor:.2f})\n", flush=True)
    return ratio <= MANY_RATIO


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("weft")
    parser.add_argument("--repeat", type=int, default=5, help="pairs of runs (default: 5)")
    parser.add_argument("--latency", action="append", help="of a link (default: 600 ns, 5 us and 20 us)")
    parser.add_argument("--only", choices=["many", "packets"])
    options = parser.parse_args()
    weft, good = str(pathlib.Path(options.weft).resolve()), True
    if options.only != "packets":
        with tempfile.TemporaryDirectory(prefix="weft_waves_") as folder:
            good = many(weft, pathlib.Path(folder), options.repeat)
    if options.only != "many":
        good = packets(weft, options) and good
    print("within the limits" if good else
          f"a limit is missed: ratio {MANY_RATIO} (many) or {RATIO} (packets), {BYTES} bytes a change")
    return 0 if good else 1


def packets(weft, options):
    """True if the limits are kept."""
    good = True
    print(f"{'flow':8} {'latency':8} {'run s':>7} {'waves s':>8} {'ratio':>6} {'cpu':>6} {'changes':>9} {'MB':>7} {'B/change':>9}")
    with tempfile.TemporaryDirectory(prefix="weft_waves_") as folder:
        work = pathlib.Path(folder)
        generate(weft, work, "t", 8, 2, "--batch", "1")
        for flow in ("credits", "pfc"):
            for latency in options.latency or ["600 ns", "5 us", "20 us"]:
                (work / "m.yaml").write_text(MACHINE.format(latency=latency, flow=flow))
                run = [weft, "run", str(work / "m.yaml"), "--trace", str(work / "t"), "--groups",
                       str(work / "t.groups.json"), "--no-fold", "--out", str(work / "out")]
                (plain, waves), (ratio, processor) = medians(run, ["--waves", "*"], options.repeat)
                size = (work / "out/waves.vcd").stat().st_size
                count = changes(work / "out/waves.vcd")
                good = good and ratio <= RATIO and size <= BYTES * count
                print(f"{flow:8} {latency:8} {plain:7.2f} {waves:8.2f} {ratio:6.2f} {processor:6.2f} {count:9} {size / 1e6:7.1f} "
                      f"{size / max(count, 1):9.1f}", flush=True)
    return good


if __name__ == "__main__":
    sys.exit(main())
