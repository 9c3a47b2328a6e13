#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Copyright the Weft authors
"""PyTorch programs under `weft emulate`: torch_test.py WEFT SOURCE. Without a PyTorch it says so and ends with status 77,
which CTest takes for skipped. WEFT_TORCH_PYTHON: the Python that has one."""

import csv
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

WEFT, SOURCE = (os.path.abspath(path) for path in sys.argv[1:3])
MACHINE = """weft: 1
topology: {notation: Ring(8)_Switch(8), dimensions: [{bandwidth: 50 GB/s, latency: 500 ns}, {bandwidth: 25 GB/s, latency: 2 us}]}
"""
ENV = dict(os.environ, PYTHONPATH=os.path.join(SOURCE, "python"), PYTHONDONTWRITEBYTECODE="1")


def find_python():
    for python in (os.environ.get("WEFT_TORCH_PYTHON"), sys.executable, "/usr/bin/python3"):
        if python and os.path.exists(python) and subprocess.run(
                [python, "-c", "import torch.distributed as d; assert d.is_available()"], capture_output=True).returncode == 0:
            return python
    return None


PYTHON = find_python()


class Torch(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.tmp = Path(folder.name)

    def emulate(self, machine, real, script, *arguments, options=(), code=0):
        (self.tmp / "machine.yaml").write_text(machine)
        done = subprocess.run([WEFT, "emulate", self.tmp / "machine.yaml", "--real", real, "--shim", "torch", "--out", self.tmp / "out",
                               "--time-limit", "200 s", *options, "--", PYTHON, "-m", "weft.run", os.path.join(SOURCE, script), *arguments],
                              env=ENV, capture_output=True, text=True, timeout=280)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        lines = {}
        for line in done.stdout.splitlines():
            if match := re.match(r"\[(\d+)\] (.*)", line):
                lines.setdefault(int(match[1]), []).append(match[2])
        return lines, json.loads((self.tmp / "out/summary.json").read_text()), done.stdout + done.stderr

    def test_every_call(self):
        for notation in ("Ring(4)", "Ring(2)_Switch(2)"):
            machine = f"weft: 1\ntopology: {{notation: {notation}, dimensions: [{{bandwidth: 50 GB/s, latency: 500 ns}}]}}\n"
            lines, _, text = self.emulate(machine, "0..3", "tests/emulation/torch/calls.py", options=["--data", "functional"])
            self.assertEqual({rank: found[-1] for rank, found in lines.items()}, dict.fromkeys(range(4), "ok"), text)

    def test_data_parallel_training(self):
        for compute in ("fixed:100us", "cpu"):
            prefix = self.tmp / f"capture_{compute[:3]}" / "job"
            lines, summary, text = self.emulate(MACHINE, "0,8", "examples/emulation/torch/mlp.py", "8",
                                                options=["--capture", prefix, "--compute", compute])
            for rank in (0, 8):
                self.assertIn("torch", json.dumps(summary["ranks"]), summary)
                alone = subprocess.run([PYTHON, os.path.join(SOURCE, "examples/emulation/torch/mlp.py"), "8", "--alone", str(rank)],
                                       env=ENV, capture_output=True, text=True, check=True).stdout.splitlines()
                losses = [float(line.split()[-1]) for line in lines[rank]]
                self.assertEqual(len(losses), 8)
                for own, other in zip(losses, alone):
                    self.assertLess(abs(own - float(other.split()[-1])), 1e-6, f"rank {rank}: {lines[rank]}, alone {alone}")
            self.assertGreater(len(set(losses)), 6)
            rows = list(csv.DictReader((self.tmp / "out/iterations.csv").read_text().splitlines()))
            self.assertEqual(len(rows), 16)
            replay = subprocess.run([WEFT, "run", self.tmp / "machine.yaml", "--trace", prefix, "--out", self.tmp / "run", "--json"],
                                    capture_output=True, text=True, check=True).stdout
            replayed, emulated = json.loads(replay)["time_ns"], summary["time_ns"]
            print(f"--compute {compute}: emulated {emulated / 1e6:.3f} ms, replayed {replayed / 1e6:.3f} ms", file=sys.stderr)
            self.assertLess(abs(replayed - emulated), 0.01 * emulated, compute)

    def test_errors(self):
        wrong = self.tmp / "wrong.py"
        wrong.write_text("import torch, torch.distributed as d\nd.init_process_group('nccl')\n"
                         "d.all_reduce(torch.ones(d.get_rank() + 1))\n")
        _, _, text = self.emulate(MACHINE, "0,8", str(wrong), code=4)
        self.assertIn("different counts", text)
        wrong.write_text("import torch.distributed as d\nd.init_process_group('gloo')\nraise ValueError('of the program')\n")
        _, _, text = self.emulate(MACHINE, "0", str(wrong), code=1)
        self.assertIn("of the program", text)
        done = subprocess.run([PYTHON, "-m", "weft.run", str(wrong)], env=ENV, capture_output=True, text=True)
        self.assertIn("not under `weft emulate`", done.stderr)


if __name__ == "__main__":
    if PYTHON is None:
        print("skipped: no Python with PyTorch (Debian: python3-torch); WEFT_TORCH_PYTHON names one")
        sys.exit(77)
    unittest.main(argv=sys.argv[:1], verbosity=1)
