# SPDX-License-Identifier: Apache-2.0
# Copyright the Weft authors
"""What the figures of bench/memory share: running weft, SVG, and the data that a figure keeps of itself."""

import json
import re
import subprocess
import sys
from xml.sax.saxutils import escape

COLOURS = ["#1f77b4", "#d62728", "#2ca02c", "#9467bd", "#ff7f0e", "#8c564b"]


def weft(program, *arguments):
    """Standard output of a run; the program's own message when it fails."""
    ran = subprocess.run([program, *map(str, arguments)], capture_output=True, text=True, check=False)
    if ran.returncode != 0:
        sys.exit(f"{' '.join(map(str, [program, *arguments]))}: exit code {ran.returncode}\n{ran.stderr}")
    return ran.stdout


class Svg:
    """Elements of a picture, with the figures that it shows as JSON."""

    def __init__(self, width, height, data):
        self.lines = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
                      'font-family="sans-serif" font-size="11">',
                      "<!-- SPDX-License-Identifier: Apache-2.0 -->", "<!-- Copyright the Weft authors -->",
                      f"<metadata>{escape(json.dumps(data, sort_keys=True))}</metadata>",
                      '<rect width="100%" height="100%" fill="white"/>']

    def text(self, x, y, text, anchor="start", **more):
        extra = "".join(f' {key.replace("_", "-")}="{value}"' for key, value in more.items())
        self.lines.append(f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{extra}>{escape(text)}</text>')

    def line(self, x1, y1, x2, y2, colour="#999"):
        self.lines.append(f'<path d="M{x1:.1f} {y1:.1f}L{x2:.1f} {y2:.1f}" stroke="{colour}"/>')

    def box(self, x, y, width, height, colour):
        self.lines.append(f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" fill="{colour}"/>')

    def curve(self, points, colour, dashes=""):
        at = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        dashed = f' stroke-dasharray="{dashes}"' if dashes else ""
        self.lines.append(f'<polyline points="{at}" fill="none" stroke="{colour}" stroke-width="1.4"{dashed}/>')

    def write(self, path):
        with open(path, "w", encoding="utf-8") as file:
            file.write("\n".join(self.lines + ["</svg>"]) + "\n")


def data_of(path):
    """The figures of a picture."""
    with open(path, encoding="utf-8") as file:
        found = re.search(r"<metadata>(.*?)</metadata>", file.read())
    if found is None:
        sys.exit(f"{path}: it has no <metadata>; make it anew with the script")
    text = found.group(1).replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
    return json.loads(text)


def differences(old, new, tolerance, where=""):
    """Where two trees of numbers differ by more than a fraction."""
    if isinstance(new, dict) and isinstance(old, dict):
        keys = sorted(set(old) | set(new))
        return [line for key in keys
                for line in differences(old.get(key), new.get(key), tolerance, f"{where}/{key}")]
    if isinstance(new, list) and isinstance(old, list) and len(new) == len(old):
        return [line for i, pair in enumerate(zip(old, new))
                for line in differences(*pair, tolerance, f"{where}[{i}]")]
    if isinstance(new, (int, float)) and isinstance(old, (int, float)):
        return [] if abs(new - old) <= tolerance * max(abs(new), abs(old)) else [f"{where}: {old}, now {new}"]
    return [] if old == new else [f"{where}: {old}, now {new}"]


def check(path, data, tolerance=0.005):
    """Exits with the differences when the picture shows something else."""
    wrong = differences(data_of(path), json.loads(json.dumps(data)), tolerance)
    if wrong:
        sys.exit(f"{path} does not show what the program gives; make it anew:\n  " + "\n  ".join(wrong[:20]))
    print(f"{path}: its figures are the program's")
