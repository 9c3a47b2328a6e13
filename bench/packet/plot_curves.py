#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Copyright the Weft authors
"""Draws the load-latency goldens and our curves beside each other as one SVG, a panel a topology.

    build/release/bin/packet_bench curves DATA 1 > curves.txt
    bench/packet/plot_curves.py DATA curves.txt docs/load_latency.svg

DATA is the folder that holds golden/network_load_latency.json; curves.txt is what the bench printed for it: per
curve the relative error of every point in per cent, from which our latency follows.
"""

import json
import math
import re
import sys

WIDTH, HEIGHT, MARGIN, COLUMNS = 340, 240, 46, 3
COLOURS = {"uniform": "#1f77b4", "transpose": "#d62728", "bitcomp": "#2ca02c", "neighbor": "#9467bd",
           "hotspot": "#ff7f0e", "incast_node0": "#8c564b"}


def errors_of(path):
    """Curve name -> list of (fraction of saturation, error in per cent)."""
    found = {}
    for line in open(path, encoding="utf-8"):
        head, bar, points = line.partition("|")
        if bar and " over " in head:
            found[head.split(" over ")[0].strip()] = [
                tuple(map(float, p)) for p in re.findall(r"([\d.]+):([+-][\d.]+|[+-]?nan|[+-]?inf)", points)]
    return found


def name_of(curve):
    return "{} {} N={} V={} B={} {}{}".format(
        curve["topology"], curve["traffic"], curve["packet_flits"], curve["num_vcs"], curve["vc_buffer_flits"],
        curve["switching"], " tail-credit" if curve.get("wait_for_tail_credit", 0) else "")


def main():
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    golden = json.load(open(sys.argv[1] + "/golden/network_load_latency.json", encoding="utf-8"))["curves"]
    ours = errors_of(sys.argv[2])
    topologies = list(dict.fromkeys(c["topology"] for c in golden))
    rows = (len(topologies) + COLUMNS - 1) // COLUMNS
    out = ['<svg xmlns="http://www.w3.org/2000/svg" width="{}" height="{}" font-family="sans-serif" '
           'font-size="11">'.format(WIDTH * COLUMNS, HEIGHT * rows + 44),
           '<!-- SPDX-License-Identifier: Apache-2.0 -->', '<!-- Copyright the Weft authors -->',
           '<rect width="100%" height="100%" fill="white"/>']
    missing = 0
    for index, topology in enumerate(topologies):
        left, top = WIDTH * (index % COLUMNS), HEIGHT * (index // COLUMNS)
        curves = [c for c in golden if c["topology"] == topology]
        # Up to six times the latency at rest: beyond, queues grow with the time of measurement.
        rest = min(p[1] for c in curves for p in c["points"] if p[1])
        low, high = math.log(0.7 * rest), math.log(14 * rest)

        def x(load):
            return left + MARGIN + load * (WIDTH - MARGIN - 12)

        def y(latency):
            return top + HEIGHT - MARGIN + 8 - (math.log(latency) - low) / (high - low) * (HEIGHT - MARGIN - 22)

        out.append('<text x="{:.0f}" y="{:.0f}" font-weight="bold">{}</text>'.format(
            left + MARGIN, top + 14, topology))
        out.append('<rect x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.1f}" fill="none" stroke="#999"/>'.format(
            x(0), y(math.exp(high)), x(1) - x(0), y(math.exp(low)) - y(math.exp(high))))
        for load in (0, 0.25, 0.5, 0.75, 1):
            out.append('<text x="{:.0f}" y="{:.0f}" text-anchor="middle" fill="#555">{}</text>'.format(
                x(load), y(math.exp(low)) + 13, load))
        for factor in (1, 2, 5, 10):
            out.append('<text x="{:.0f}" y="{:.0f}" text-anchor="end" fill="#555">{:.0f}</text>'.format(
                x(0) - 4, y(rest * factor) + 4, rest * factor))
        for curve in curves:
            errors = ours.get(name_of(curve))
            if errors is None:
                missing += 1
                continue
            colour = COLOURS[curve["traffic"]]
            line = []
            for point, (_, error) in zip(curve["points"], errors):
                load, latency = point[0], point[1]
                if not latency or latency > 14 * rest:
                    continue
                out.append('<circle cx="{:.1f}" cy="{:.1f}" r="2.6" fill="none" stroke="{}"/>'.format(
                    x(load), y(latency), colour))
                mine = latency * (1 + error / 100)
                if math.isfinite(mine) and 0.7 * rest < mine < 14 * rest:
                    line.append("{:.1f},{:.1f}".format(x(load), y(mine)))
            out.append('<polyline points="{}" fill="none" stroke="{}" stroke-width="0.9"/>'.format(
                " ".join(line), colour))
    at = MARGIN
    for traffic, colour in COLOURS.items():
        out.append('<text x="{}" y="{}" fill="{}">{}</text>'.format(at, HEIGHT * rows + 12, colour, traffic))
        at += 90
    out.append('<text x="{}" y="{}">circles: flit simulator; lines: Weft; average latency in cycles over flits per node '
               'and cycle</text>'.format(MARGIN, HEIGHT * rows + 32))
    out.append("</svg>")
    with open(sys.argv[3], "w", encoding="utf-8") as file:
        file.write("\n".join(out) + "\n")
    if missing:
        sys.exit("{} curves of the golden are not in {}".format(missing, sys.argv[2]))


if __name__ == "__main__":
    main()
