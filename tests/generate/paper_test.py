#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""weft paper: small definitions with known values, and what is said of mistakes in them.

    tests/generate/paper_test.py WEFT
"""

import csv
import io
import subprocess
import sys
import tempfile
import unittest
import xml.dom.minidom
from pathlib import Path

WEFT = sys.argv[1]

FIGURE = """
paper: A test, Fig. 1
title: All-gathers
given: [sizes]
runs:
  - name: gather
    vary: {n: [2, 4], size: [1 KiB, 2 KiB]}
    lookup: {notation: {by: n, 2: Ring(2), 4: Ring(4)}}
    command: [collective, --topology, "${notation}", --bandwidth, 1 GB/s, --latency, 0 ns, --op, all_gather, --chunks,
              "1", --size, "${size}"]
    values: {ns: "results[0].time_ns", per_peer: "ns / (n - 1)"}
derived: {ratio: "`gather[4, 2 KiB].ns` / `gather[2, 2 KiB].ns`"}
plot:
  - {kind: lines, x: size, series: n, y: ns}
  - {kind: bars, x: size, series: n, y: ns, where: {n: 4}}
expect:
  - {name: ring of 4, status: given, value: "`gather[4, 1 KiB].ns`", is: "3 * 1024", tolerance: 0}
  - {name: ratio, status: claim, value: ratio, is: "3", tolerance: 0.01 %}
  - {name: "twice the size (${n})", status: claim, each: {n: [2, 4]},
     relation: "`gather[${n}, 2 KiB].ns` = 2 * `gather[${n}, 1 KiB].ns`"}
  - {name: shown only, status: fit, value: "`gather[2, 1 KiB].per_peer`", is: "5", tolerance: 1 %}
"""


class Papers(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.path = Path(self.folder.name)

    def weft(self, *arguments):
        return subprocess.run([WEFT, "paper", *arguments, "--dir", str(self.path / "defs")], capture_output=True,
                              text=True, cwd=self.path)

    def define(self, text):
        (self.path / "defs").mkdir(exist_ok=True)
        (self.path / "defs" / "fig1.yaml").write_text(text)
        # A machine in the same folder is no figure.
        (self.path / "defs" / "machine.yaml").write_text("weft: 1\ntopology: {notation: Ring(2)}\n")

    def test_values_and_files(self):
        self.define(FIGURE)
        done = self.weft("fig1", "--check", "--out", "out", "--markdown", "page.md")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        rows = list(csv.DictReader(io.StringIO((self.path / "out/fig1.csv").read_text())))
        self.assertEqual([(r["n"], r["size"], float(r["ns"]), float(r["per_peer"])) for r in rows],
                         [("2", "1 KiB", 1024, 1024), ("2", "2 KiB", 2048, 2048), ("4", "1 KiB", 3072, 1024),
                          ("4", "2 KiB", 6144, 2048)])
        picture = xml.dom.minidom.parse(str(self.path / "out/fig1.svg"))
        self.assertEqual(len(picture.getElementsByTagName("circle")), 4)
        bars = xml.dom.minidom.parse(str(self.path / "out/fig1_2.svg"))
        # The page, two bars, one entry of the legend.
        self.assertEqual(len(bars.getElementsByTagName("rect")), 4)
        self.assertIn("prefers-color-scheme:dark", (self.path / "out/fig1.svg").read_text())
        page = (self.path / "page.md").read_text()
        self.assertIn("(out/fig1.svg)", page)
        self.assertIn("| shown only | fit |", page)
        self.assertIn("fig1", self.weft("list").stdout)
        self.assertNotIn("machine", self.weft("list").stdout)

    def test_values_of_a_table(self):
        """Two layers of 3 us and 5 us of compute, by name and pass; and what is wrong with a table."""
        figure = """
paper: A test, Fig. 2
title: Layers
runs:
  - name: layer
    vary: {name: ["a,b", c]}
    command: [run, "${dir}/machine.yaml", --text, "${dir}/layers.txt", --out, "${work}/out"]
    table: {file: "${work}/out/text_layers.csv", where: {name: "${name}"}, by: pass}
    values: {us: "table.forward.compute_ns / 1000", back: "table.weight_gradient.compute_ns / 1000"}
expect:
  - {name: first, status: given, value: "`layer[a,b].us`", is: "3", tolerance: 0}
  - {name: second, status: given, value: "`layer[c].us`", is: "5", tolerance: 0}
  - {name: back, status: given, value: "`layer[c].back`", is: "7", tolerance: 0}
"""
        self.define(figure)
        (self.path / "defs/machine.yaml").write_text("weft: 1\ntopology:\n  notation: Ring(2)\n  dimensions: "
                                                     "[{bandwidth: 1 GB/s, latency: 0 ns}]\n")
        (self.path / "defs/layers.txt").write_text("DATA 2 a,b -1 3000 NONE 0 0 NONE 0 1000 NONE 0 0 "
                                                   "c -1 5000 NONE 0 0 NONE 0 7000 NONE 0 0\n")
        done = self.weft("fig1", "--check", "--no-files")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        for wrong, right, words in (("by: pass", "by: passes", "no column `passes`"),
                                    ("where: {name: \"${name}\"}, ", "", "two rows with"),
                                    ("text_layers.csv", "none.csv", "none.csv"),
                                    (", by: pass", "", "table.by"),
                                    ("by: pass", "by: pass, of: x", "is unknown")):
            self.define(figure.replace(wrong, right))
            (self.path / "defs/machine.yaml").write_text("weft: 1\ntopology:\n  notation: Ring(2)\n  dimensions: "
                                                         "[{bandwidth: 1 GB/s, latency: 0 ns}]\n")
            done = self.weft("fig1", "--check", "--no-files")
            self.assertNotEqual(done.returncode, 0, words)
            self.assertIn(words, done.stdout + done.stderr)

    def test_a_broken_claim_fails_the_check_only(self):
        self.define(FIGURE.replace('is: "3 * 1024"', 'is: "3 * 1025"'))
        checked = self.weft("all", "--check", "--no-files")
        self.assertEqual(checked.returncode, 5, checked.stderr)
        self.assertIn("MISSED", checked.stdout)
        self.assertEqual(self.weft("all", "--no-files").returncode, 0)
        self.assertFalse((self.path / "papers").exists())

    def test_a_failing_run_fails_the_check(self):
        self.define(FIGURE.replace("--op, all_gather", "--op, no_such"))
        done = self.weft("fig1", "--check", "--no-files")
        self.assertEqual(done.returncode, 5)
        self.assertIn("no_such", done.stdout)

    def test_mistakes(self):
        for change, message in [
            (("title:", "titles:"), "defs/fig1.yaml:3: key `titles` is unknown (did you mean title?)"),
            (("status: given", "status: sure"), "key `expect[0].status` is 'sure'; one of given, claim, fit, unknown"),
            (("{by: n, 2: Ring(2), 4: Ring(4)}", "{by: n, 2: Ring(2)}"), "lookup.notation` has no entry for '4'"),
            (("${notation}", "${notatoin}"), "there is no variable `notatoin`"),
            ((', is: "3", tolerance: 0.01 %', ""), "key `expect[1]` needs `is` and `tolerance`"),
            (("kind: lines", "kind: pie"), "one of lines, bars, stack"),
            (("name: gather\n    vary", "vary"), "key `runs[0].name` is missing"),
        ]:
            self.assertIn(change[0], FIGURE)
            self.define(FIGURE.replace(*change))
            done = self.weft("fig1", "--no-files")
            self.assertEqual(done.returncode, 2, f"{change}: {done.stdout}{done.stderr}")
            self.assertIn(message, done.stderr)
        self.define(FIGURE.replace("`gather[4, 1 KiB].ns`", "`gather[5, 1 KiB].ns`"))
        done = self.weft("fig1", "--check", "--no-files")
        self.assertEqual(done.returncode, 5)
        self.assertIn("there is no value `gather[5, 1 KiB].ns`", done.stdout)
        done = self.weft("fig2")
        self.assertEqual(done.returncode, 2)
        self.assertIn("did you mean fig1?", done.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
