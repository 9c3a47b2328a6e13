#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""iterations.csv: passes of text workloads and steps of traces.

    tests/text/iterations_test.py WEFT
"""

import csv
import hashlib
import json
import subprocess
import sys
import tempfile
import unittest
from decimal import Decimal
from pathlib import Path

WEFT = sys.argv[1]
MACHINE = """weft: 1
topology: {notation: Ring(4), dimensions: [{bandwidth: 10 GB/s, latency: 100 ns, fidelity: analytical}]}
npu: {peak: 100 TFLOPS, memory_bandwidth: none}
"""
#: Two layers, whose weight gradients are reduced while the next pass begins.
TEXT = "DATA 2\na -1 1000 NONE 0 1000 NONE 0 1000 ALLREDUCE 1000000 50\n" \
       "b -1 1000 NONE 0 1000 NONE 0 1000 ALLREDUCE 1000000 50\n"
PARTS = ("compute_ns", "local_memory_ns", "remote_memory_ns", "communication_ns")


class Iterations(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.path = Path(self.folder.name)
        (self.path / "m.yaml").write_text(MACHINE)
        (self.path / "w.txt").write_text(TEXT)

    def weft(self, *arguments):
        done = subprocess.run([WEFT, *map(str, arguments)], capture_output=True, text=True, cwd=self.path)
        self.assertEqual(done.returncode, 0, f"{arguments}: {done.stdout}{done.stderr}")
        return done.stdout

    def table(self, name, out="out"):
        with open(self.path / out / name, newline="") as file:
            return [{k: v if k in ("iteration", "layer") else Decimal(v) for k, v in row.items()}
                    for row in csv.DictReader(file)]

    def run_and_check(self, count, *arguments, out="out"):
        told = self.weft("run", "m.yaml", *arguments, "--out", out)
        self.assertIn(" iterations.csv", told.split("results")[-1])
        rows, ranks = self.table("iterations.csv", out), self.table("ranks.csv", out)
        total = Decimal(json.loads((self.path / out / "summary.json").read_text(), parse_float=Decimal)["time_ns"])
        self.assertEqual([int(r["iteration"]) for r in rows], list(range(count)))
        self.assertEqual(sum(r["step_ns"] for r in rows), total)
        self.assertEqual(max(r["end_ns"] for r in rows), total)
        self.assertEqual(rows[0]["start_ns"], 0)
        self.assertEqual(max(r["finished_ns"] for r in ranks), total)
        for row in rows:
            self.assertEqual(row["time_ns"], row["end_ns"] - row["start_ns"])
            self.assertEqual(row["ranks"], len(ranks))
        # Every node belongs to one: the parts add up to the ranks'.
        for part in PARTS:
            self.assertAlmostEqual(sum(r[part] for r in rows) * len(ranks), sum(r[part] for r in ranks),
                                   delta=Decimal("0.01") * len(rows))
        return rows, total

    def test_passes_of_a_text(self):
        one, time = self.run_and_check(1, "--text", "w.txt")
        rows, _ = self.run_and_check(3, "--text", "w.txt", "--passes", 3)
        # 2 forward, 2 weight gradients and an input gradient, each of 1 us.
        self.assertEqual({r["compute_ns"] for r in rows}, {Decimal(5000)})
        # The next pass begins before the last all-reduces of the one before are done.
        self.assertEqual(rows[0]["end_ns"], one[0]["end_ns"])
        self.assertLess(rows[1]["start_ns"], rows[0]["end_ns"])

    def test_converted_texts_say_the_same(self):
        direct, _ = self.run_and_check(2, "--text", "w.txt", "--passes", 2)
        self.weft("trace", "convert", "--from", "text", "w.txt", "--ranks", 4, "--passes", 2, "--out", "t")
        self.assertEqual(self.run_and_check(2, "--trace", "t/w", out="b")[0], direct)
        # The traces say which bytes they were made of.
        digest = hashlib.sha256(TEXT.encode()).hexdigest().encode()
        for rank in range(4):
            self.assertIn(digest, (self.path / f"t/w.{rank}.et").read_bytes())

    def test_steps_of_traces(self):
        self.weft("generate", "llm", "--tp", 2, "--dp", 2, "--layers", 2, "--hidden", 128, "--seq", 64, "--batch", 4,
                  "--vocab", 256, "--steps", 3, "--zero", 1, "--out", "s")
        arguments = ["--trace", "s/llm", "--groups", "s/llm.groups.json"]
        rows, _ = self.run_and_check(3, *arguments)
        self.assertEqual(len({r["step_ns"] for r in rows[:2]}), 1)
        self.assertEqual(self.run_and_check(3, *arguments, "--no-fold", out="whole")[0], rows)

    def test_without_iterations_there_is_no_file(self):
        self.run_and_check(1, "--text", "w.txt")
        self.weft("generate", "llm", "--dp", 4, "--layers", 2, "--hidden", 64, "--seq", 32, "--batch", 4, "--vocab", 64,
                  "--out", "p")
        told = self.weft("run", "m.yaml", "--trace", "p/llm", "--groups", "p/llm.groups.json", "--out", "out")
        self.assertNotIn("iterations.csv", told)
        self.assertFalse((self.path / "out/iterations.csv").exists())


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
