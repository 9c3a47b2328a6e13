# SPDX-License-Identifier: Apache-2.0
# Copyright the Weft authors
"""A job under `weft emulate`, for the tests: after each, no process and no socket may be left. The program's first two
arguments are WEFT and PATTERN (programs/pattern.c)."""

import csv
import glob
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time
import unittest

WEFT, PATTERN = sys.argv[1:3]

MACHINE = """weft: 1
topology:
  notation: {notation}
  dimensions:
    - {{bandwidth: 50 GB/s, latency: 500 ns, fidelity: {fidelity}}}
nmu: {{endpoint_delay: 10 ns}}
npu: {{peak: 1 TFLOPS}}
{more}
"""


class EmulatedJob(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.tmp = pathlib.Path(self.folder.name)
        (self.tmp / "sockets").mkdir()
        self.there_before = set(glob.glob("/dev/shm/*weft*"))
        self.env = dict(os.environ, TMPDIR=str(self.tmp / "sockets"))

    def tearDown(self):
        self.nothing_is_left()
        self.folder.cleanup()

    def nothing_is_left(self):
        """Processes that were killed may take a moment to go."""
        for _ in range(100):
            left = [p for p in glob.glob("/proc/[0-9]*/environ") if self.of_us(p)]
            if not left:
                break
            time.sleep(0.01)
        self.assertEqual(left, [], "processes are left behind")
        self.assertEqual(os.listdir(self.tmp / "sockets"), [], "sockets are left behind")
        # Drawn relations and fuzzing, which run beside this test, have folders there.
        left = [p for p in set(glob.glob("/dev/shm/*weft*")) - self.there_before
                if "weft_relation_" not in p and "weft_fuzz_" not in p]
        self.assertEqual(left, [], "shared memory is left behind")

    def of_us(self, path):
        try:
            return str(self.tmp).encode() in pathlib.Path(path).read_bytes()
        except OSError:
            return False

    def machine(self, notation="Ring(8)", fidelity="message", more=""):
        path = self.tmp / "machine.yaml"
        path.write_text(MACHINE.format(notation=notation, fidelity=fidelity, more=more))
        return path

    def emulate(self, machine, real, *steps, options=(), command=None, code=0):
        out = self.tmp / "out"
        line = [WEFT, "emulate", str(machine), "--real", real, *([] if "--compute" in options else ["--compute", "fixed:0"]), "--out", str(out), "--json",
                *([] if "--time-limit" in options else ["--time-limit", "20 s"]), *options, "--", *(command or [PATTERN]), *steps]
        done = subprocess.run(line, env=self.env, capture_output=True, text=True, timeout=60)
        self.status = done.returncode
        if isinstance(code, tuple):
            self.assertIn(done.returncode, code, done.stdout + done.stderr)
        else:
            self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        # The ranks' lines come before the summary.
        self.lines = [line for line in done.stdout.splitlines() if line.startswith("[")]
        self.error = done.stderr
        summary = done.stdout[done.stdout.index("{\n"):] if "{\n" in done.stdout else "{}"
        self.summary = json.loads(summary)
        calls = out / "calls.csv"
        self.calls = list(csv.DictReader(calls.read_text().splitlines())) if calls.exists() else []
        return self.times()

    def times(self):
        return {int(m[1]): int(m[2]) for m in (re.match(r"\[(\d+)\] time (\d+)", line) for line in self.lines) if m}

    def replay(self, machine, prefix, groups=False):
        line = [WEFT, "run", str(machine), "--trace", prefix, "--out", str(self.tmp / "run"), "--json", "--no-fold"]
        if groups:
            line += ["--groups", prefix + ".groups.json"]
        done = subprocess.run(line, capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        return round(float(json.loads(done.stdout)["time_ns"]) * 1000)
