#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Copyright the Weft authors
"""How runs in parts end: refusals, parts that die, signals. Nothing hangs, and nothing is left behind.

    tests/parts/parts_ends_test.py WEFT
"""

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import unittest

WEFT = ""
LONG = ["--topology", "Ring(16)_Ring(16)_Ring(16)", "--bandwidth", "50 GB/s", "--size", "16MiB", "--chunks", "64",
        "--no-fold"]


def weft(*arguments):
    return subprocess.run([WEFT, *arguments], capture_output=True, text=True, timeout=120)


def children(pid):
    """The processes of a run, by their parent."""
    found = []
    for entry in os.listdir("/proc"):
        if not entry.isdigit():
            continue
        try:
            with open(f"/proc/{entry}/stat") as file:
                text = file.read()
        except OSError:
            continue
        if int(text.rsplit(")", 1)[1].split()[1]) == pid:
            found.append(int(entry))
    return sorted(found)


def alive(pid):
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


class Ends(unittest.TestCase):
    def start(self, parts, *more):
        run = subprocess.Popen([WEFT, "collective", *LONG, "--parts", str(parts), *more], stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True)
        end = time.time() + 60
        while len(children(run.pid)) < parts and run.poll() is None and time.time() < end:
            time.sleep(0.02)
        time.sleep(0.5)
        return run, children(run.pid)

    def gone(self, processes):
        end = time.time() + 20
        while any(alive(p) for p in processes) and time.time() < end:
            time.sleep(0.05)
        self.assertFalse([p for p in processes if alive(p)])

    def test_a_part_that_dies_is_named(self):
        run, others = self.start(3)
        os.kill(others[1], signal.SIGKILL)  # the first one is in reserve
        out, err = run.communicate(timeout=60)
        self.assertEqual(run.returncode, 1, err)
        self.assertIn("part 1 of 3 was ended by signal 9", err)
        self.assertIn("window", err)
        self.gone(others)

    def test_the_others_end_with_part_0(self):
        run, others = self.start(3)
        run.kill()
        run.communicate(timeout=60)
        self.gone(others)

    def test_a_signal_ends_all_parts(self):
        for number, code in ((signal.SIGINT, 130), (signal.SIGTERM, 143)):
            run, others = self.start(2)
            run.send_signal(number)
            out, err = run.communicate(timeout=60)
            self.assertEqual(run.returncode, code, err)
            self.assertIn("interrupted by", err)
            self.gone(others)

    def test_refusals_name_the_key(self):
        machine = ["--topology", "Ring(4)", "--bandwidth", "50 GB/s", "--size", "1MiB", "--no-fold"]
        for more, text in (
                (["--parts", "0"], "--parts 0: give a number from 1"),
                (["--parts", "two"], "--parts two: give a number from 1"),
                (["--parts", "5"], "the machine has 4 NPUs"),
                (["--parts", "2", "--latency", "0 ns"], "without latency"),
                (["--parts", "2", "--fidelity", "packet"], "packet network"),
                (["--parts", "2", "--data", "int32"], "`run.data`"),
                (["--parts", "2", "--critical-path"], "--critical-path")):
            done = weft("collective", *machine, *more)
            self.assertEqual(done.returncode, 2, (more, done.stderr))
            self.assertIn(text, done.stderr)

    def test_what_folds_runs_in_one_process(self):
        done = weft("collective", "--topology", "Ring(4)", "--bandwidth", "50 GB/s", "--size", "1MiB", "--fidelity",
                    "analytical", "--parts", "2")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("parts    1: the collective is folded", done.stdout)

    def test_a_pipeline_in_parts_finishes(self):
        with tempfile.TemporaryDirectory() as folder:
            config = os.path.join(folder, "machine.yaml")
            with open(config, "w") as file:
                file.write("weft: 1\ntopology:\n  notation: Ring(4)\n  dimensions:\n"
                           "    - {bandwidth: 50 GB/s, latency: 500 ns}\n")
            prefix = os.path.join(folder, "job")
            done = weft("generate", "llm", "--tp", "1", "--dp", "1", "--pp", "4", "--layers", "4", "--hidden", "64",
                        "--heads", "4", "--seq", "16", "--microbatches", "1", "--batch", "1", "--out", prefix)
            self.assertEqual(done.returncode, 0, done.stderr)
            trace = os.path.join(prefix, "llm")
            out = os.path.join(folder, "out")
            done = weft("run", config, "--trace", trace, "--groups", trace + ".groups.json", "--no-fold", "--parts", "2",
                        "--out", out)
            self.assertEqual(done.returncode, 0, done.stderr)
            with open(os.path.join(out, "summary.json")) as file:
                summary = json.load(file)
            self.assertIn("parts", summary)
            self.assertTrue(summary["finished"])


if __name__ == "__main__":
    WEFT = sys.argv.pop(1)
    unittest.main()
