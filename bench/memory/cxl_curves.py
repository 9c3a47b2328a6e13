#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Copyright the Weft authors
"""Draws latency over bandwidth of every CXL preset, as `weft memory` measures it.

    bench/memory/cxl_curves.py build/release/bin/weft docs/cxl_latency.svg
    bench/memory/cxl_curves.py build/release/bin/weft --check docs/cxl_latency.svg

--check measures again and compares the figures with those that the picture keeps; exit 1 names the differences.
"""

import json
import pathlib
import sys
import tempfile

import chart

PRESETS = ["cxl2_x8", "cxl2_x16", "cxl3_x8", "cxl3_x16"]
LOADS = "0.05,0.1,0.2,0.3,0.4,0.5,0.6,0.65,0.7,0.75,0.8,0.82,0.84,0.86,1"
KINDS = {"reads": [], "half written": ["--read-fraction", "0.5"]}
MACHINE = "weft: 1\ntopology: {notation: Ring(2), dimensions: [{bandwidth: 1 GB/s, latency: 0 ns}]}\n"
WIDTH, HEIGHT, LEFT, BOTTOM, TOP = 760, 420, 56, 46, 26
MOST_LATENCY = 700  # ns


def measure(program):
    """Preset -> its idle latencies, and by kind the points (GB/s, ns) and the sustained GB/s."""
    data = {}
    with tempfile.TemporaryDirectory() as folder:
        machine = pathlib.Path(folder) / "machine.yaml"
        machine.write_text(MACHINE, encoding="utf-8")
        for preset in PRESETS:
            own = data[preset] = {"idle_ns": [], "curves": {}, "sustained_GBps": {}}
            for switches in (0, 1, 2):
                found = json.loads(chart.weft(program, "memory", machine, "--json", "--memory",
                                              f"cxl(preset={preset}, switches={switches})", "--load", "0.01",
                                              "--blocks", "10", "--pattern", "random"))
                own["idle_ns"].append(round(found["idle_latency_ns"], 3))
            for kind, more in KINDS.items():
                found = json.loads(chart.weft(program, "memory", machine, "--json", "--memory",
                                              f"cxl(preset={preset})", "--pattern", "random", "--load", LOADS,
                                              "--blocks", "20000", *more))
                own["sustained_GBps"][kind] = round(found["points"][-1]["bandwidth_GBps"], 3)
                own["curves"][kind] = [[round(p["bandwidth_GBps"], 3), round(p["avg_latency_ns"], 2)]
                                       for p in found["points"][:-1] if not p["saturated"]]
    return data


def draw(data, path):
    picture = chart.Svg(WIDTH, HEIGHT, data)
    most = 20 * (max(g for own in data.values() for g in own["sustained_GBps"].values()) // 20 + 1)

    def x(bandwidth):
        return LEFT + bandwidth / most * (WIDTH - LEFT - 16)

    def y(latency):
        return HEIGHT - BOTTOM - min(latency, MOST_LATENCY) / MOST_LATENCY * (HEIGHT - BOTTOM - TOP)

    for latency in range(0, MOST_LATENCY + 1, 100):
        picture.line(x(0), y(latency), x(most), y(latency), "#ddd")
        picture.text(x(0) - 5, y(latency) + 4, str(latency), "end")
    for bandwidth in range(0, int(most) + 1, 20):
        picture.text(x(bandwidth), y(0) + 15, str(bandwidth), "middle")
    picture.text(x(most / 2), HEIGHT - 12, "bandwidth, GB/s (solid: reads; dashed: half of the blocks written)", "middle")
    picture.text(8, 15, "average latency of random blocks of 64 B, ns")
    for number, (preset, own) in enumerate(data.items()):
        colour = chart.COLOURS[number]
        for kind, points in own["curves"].items():
            shown = [(x(b), y(l)) for b, l in points if l <= MOST_LATENCY]
            picture.curve(shown, colour, "" if kind == "reads" else "5 3")
        picture.text(x(0) + 12, TOP + 18 + 15 * number, "{}: idle {:.0f} ns, reads up to {:.1f} GB/s".format(
            preset, own["idle_ns"][0], own["sustained_GBps"]["reads"]), fill=colour)
    picture.write(path)


def main():
    if len(sys.argv) not in (3, 4) or (len(sys.argv) == 4 and sys.argv[2] != "--check"):
        sys.exit(__doc__)
    data = measure(sys.argv[1])
    if len(sys.argv) == 4:
        chart.check(sys.argv[3], data)
        return
    draw(data, sys.argv[2])
    for preset, own in data.items():
        print("| `{}` | {} | {} |".format(preset, " | ".join(f"{n:.1f}" for n in own["idle_ns"]),
                                          " | ".join(f"{own['sustained_GBps'][kind]:.1f}" for kind in KINDS)))


if __name__ == "__main__":
    main()
