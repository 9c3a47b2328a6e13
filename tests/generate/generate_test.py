#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""weft generate: networks and transformers as traces and texts, run and looked into.

    tests/generate/generate_test.py WEFT DATA
"""

import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "python"))
import weft  # noqa: E402

WEFT = sys.argv[1]
DATA = Path(os.environ.get("WEFT_DATA_DIR", sys.argv[2]))

MACHINE = """weft: 1
topology: {{notation: Ring({n}), dimensions: [{{bandwidth: {rate}, latency: {latency}, fidelity: analytical}}]}}
npu: {{peak: 100 TFLOPS, memory_bandwidth: none}}
"""


class Generate(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.path = Path(self.folder.name)

    def weft(self, *arguments, status=0):
        done = subprocess.run([WEFT, *map(str, arguments)], capture_output=True, text=True, cwd=self.path)
        self.assertEqual(done.returncode, status, f"{arguments}: {done.stdout}{done.stderr}")
        return done.stdout if status == 0 else done.stderr

    def machine(self, n, rate="100 GB/s", latency="0 ns"):
        (self.path / "m.yaml").write_text(MACHINE.format(n=n, rate=rate, latency=latency))
        return "m.yaml"

    def run_traces(self, n, prefix, *more, groups=None, **machine):
        arguments = ["run", self.machine(n, **machine), "--trace", prefix, "--out", "out", "--json", *more]
        if groups:
            arguments += ["--groups", groups]
        return json.loads(self.weft(*arguments))

    def info(self, *files):
        return json.loads(self.weft("trace", "info", *files, "--json"))["total"]

    def test_the_public_text_file(self):
        words = self.weft("generate", "resnet50", "--text", "--batch", "1").split()
        theirs = (DATA / "text_workloads/Resnet50_DataParallel.txt").read_text().split()
        self.assertEqual(len(words), len(theirs))
        self.assertEqual([(a, b) for a, b in zip(words, theirs) if a != b], [("16416", "27708")])
        self.weft("generate", "resnet50", "--text", "--batch", "1", "--out", "texts")
        self.assertEqual((self.path / "texts/resnet50.txt").read_text().split(), words)
        self.weft("run", self.machine(4), "--text", "texts/resnet50.txt", "--out", "out")

    def test_every_network_runs(self):
        for name, options in [("resnet50", []), ("bert", ["--layers", "2"]), ("dlrm", ["--preset", "terabyte"]),
                              ("deeplight", ["--rows", "10000"]), ("micro", ["--op", "all_to_all"])]:
            out = self.weft("generate", name, *options, "--ranks", 4, "--steps", 2, "--out", name)
            self.assertIn(f"{name}/{name}.[0-3].et: 4 ranks", out)
            result = self.run_traces(4, f"{name}/{name}")
            self.assertGreater(result["time_ns"], 0)
            self.weft("generate", name, *options, "--describe")
            if name not in ("micro",):
                self.weft("generate", name, *options, "--text", "--out", name)
                self.weft("run", self.machine(4), "--text", f"{name}/{name}.txt", "--out", "out")

    def test_bytes_of_buckets_are_those_of_layers(self):
        sums = set()
        for bucket in ["layer", "1 MiB", "25 MiB", "all"]:
            self.weft("generate", "bert", "--layers", 3, "--ranks", 2, "--bucket", bucket, "--out", "b")
            sums.add(self.info("b/bert.0.et")["collectives"]["all_reduce"]["bytes"])
        self.assertEqual(len(sums), 1)

    def test_overlap_and_waiting(self):
        times = {}
        for how in [(), ("--no-overlap",), ("--async",)]:
            self.weft("generate", "resnet50", "--ranks", 4, "--steps", 3, *how, "--out", "r")
            times[how] = self.run_traces(4, "r/resnet50", rate="20 GB/s")["time_ns"]
        self.assertLess(times[()], times[("--no-overlap",)])
        self.assertLess(times[("--async",)], times[()])

    def test_collectives_in_order(self):
        # Late all-reduces add up where each waits for the one before; else they are late together.
        times = {}
        for how in [(), ("--in-order",)]:
            self.weft("generate", "bert", "--layers", 4, "--ranks", 2, "--bucket", "10 MB", *how, "--out", "o")
            count = self.info("o/bert.0.et")["collectives"]["all_reduce"]["count"]
            for delay in ("0 s", "10 s"):
                rules = f"--set=collectives.rules=[{{operation: all_reduce, delay: {delay}}}]"
                times[how, delay] = self.run_traces(2, "o/bert", rules)["time_ns"]
        self.assertGreater(count, 4)
        late = {how: times[how, "10 s"] - times[how, "0 s"] for how in [(), ("--in-order",)]}
        self.assertLess(late[()], 1.5 * 10e9)
        self.assertGreater(late[("--in-order",)], (count - 1) * 10e9)

    def test_systolic_npu_takes_the_texts_cycles(self):
        # Without communication, stalls and updates the traces' matrix products take the text's cycles.
        self.weft("generate", "resnet50", "--batch", 2, "--ranks", 1, "--out", "t")
        arguments = [f"--set=npu.{key}" for key in ["model=systolic", "rows=256", "cols=256", "dataflow=ws_tpu"]]
        compute = self.run_traces(1, "t/resnet50", *arguments)["categories"]["compute_ns"]["max"]
        optimizer = 25557032 * 12 / 100e12 * 1e9
        self.assertAlmostEqual((compute - optimizer) / 1e6, 1.492, delta=6e-4)
        self.assertIn("no clock", self.weft("run", "m.yaml", "--trace", "t/resnet50", "--set", "npu.clock=fast",
                                            status=2))

    def test_transformer_presets(self):
        out = self.weft("generate", "llm", "--preset", "gpt3", "--tp", 8, "--pp", 16, "--dp", 1, "--batch", 1536,
                        "--microbatches", 1536, "--describe")
        self.assertIn("175,204,466,688 parameters", out)
        self.assertIn("3.386e+18", out)
        out = self.weft("generate", "llm", "--preset", "gpt3", "--tp", 8, "--pp", 16, "--batch", 1536, "--microbatches",
                        1536, "--recompute", "full", "--describe")
        self.assertIn("4.511e+18", out)
        out = self.weft("generate", "llm", "--preset", "t-1t", "--tp", 8, "--pp", 64, "--batch", 3072, "--microbatches",
                        3072, "--recompute", "full", "--describe")
        self.assertIn("1,009,254,400,000 parameters", out)
        self.assertIn("5.139e+19", out)
        self.assertIn("there is no preset", self.weft("generate", "llm", "--preset", "gpt9", "--describe", status=2))

    def llm(self, **options):
        arguments = []
        for name, value in {**dict(layers=8, hidden=256, heads=8, seq=64, vocab=512), **options}.items():
            arguments += [f"--{name.replace('_', '-')}"] + ([] if value is True else [value])
        shutil.rmtree(self.path / "llm", ignore_errors=True)
        out = self.weft("generate", "llm", *arguments, "--out", "llm")
        return out, self.weft("generate", "llm", *arguments, "--describe")

    def test_bubble_is_the_formula(self):
        # Without communication, stages that are alike: the ends' embedding and loss are made small.
        for pp, m, v in [(2, 4, 1), (4, 8, 1), (4, 4, 1), (2, 4, 2), (4, 8, 2), (2, 6, 4), (4, 4, 2)]:
            self.llm(pp=pp, batch=m, microbatches=m, virtual_stages=v, vocab=8, seq=512)
            result = self.run_traces(pp, "llm/llm", groups="llm/llm.groups.json", rate="1000 PB/s")
            busy = result["categories"]["compute_ns"]["max"]
            # All stages compute as long but for the vocabulary and the optimizer.
            mean = result["categories"]["compute_ns"]["mean"]
            self.assertAlmostEqual(busy / mean, 1, delta=0.02)
            bubble = result["time_ns"] / busy - 1
            self.assertAlmostEqual(bubble, (pp - 1) / (v * m), delta=0.03 * (pp - 1) / (v * m) + 0.004,
                                   msg=f"pp {pp}, m {m}, v {v}")

    def test_backward_follows_its_forward(self):
        # On every stage, for every microbatch and layer once each; and never more microbatches in flight than the
        # schedule needs.
        for pp, m, v in [(4, 8, 1), (2, 4, 2), (4, 8, 2), (3, 6, 4), (4, 4, 2)]:
            self.llm(pp=pp, batch=m, microbatches=m, virtual_stages=v, layers=pp * v)
            seen = []
            for rank in range(pp):
                at = {}
                for position, node in enumerate(weft.Trace(self.path / f"llm/llm.{rank}.et")):
                    match = re.match(r"mb(\d+)\.(forward|backward)\.layer(\d+)\.qkv(\.data_gradient)?$", node.name)
                    if match:
                        at[(int(match[1]), int(match[3]), match[2])] = position
                layers = {layer for _, layer, _ in at}
                self.assertEqual(layers, {c * pp + rank for c in range(v)})
                for microbatch in range(m):
                    for layer in layers:
                        self.assertLess(at[(microbatch, layer, "forward")], at[(microbatch, layer, "backward")],
                                        f"pp {pp}, m {m}, v {v}, rank {rank}")
                order = sorted((p, 1 if way == "forward" else -1) for (_, _, way), p in at.items())
                most = max(sum(step for _, step in order[:i + 1]) for i in range(len(order)))
                warmup = pp - 1 - rank if v == 1 else 2 * (pp - 1 - rank) + (v - 1) * pp
                self.assertEqual(most, min(warmup + 1, m * v))
                seen.append(len(at))
            self.assertEqual(seen, [2 * m * v] * pp)

    def test_bytes_are_the_tables(self):
        drawn = random.Random(5)
        for _ in range(14):
            tp, dp, pp, v = drawn.choice([1, 2, 4]), drawn.choice([1, 2]), drawn.choice([1, 2]), 1
            m = drawn.choice([2, 4])
            if pp == 2:
                v = drawn.choice([1, 2])
            zero = drawn.choice([0, 1, 2, 3])
            recompute = drawn.choice(["none", "full"])
            options = dict(tp=tp, dp=dp, pp=pp, microbatches=m, batch=dp * m * 2, zero=zero, recompute=recompute,
                           virtual_stages=v)
            if tp > 1 and drawn.random() < 0.5:
                options["sequence_parallel"] = True
            _, described = self.llm(**options)
            numbers = [int(w.replace(",", "")) for w in described.split("network")[1].split("\n")[0].split()
                       if w.replace(",", "").isdigit()]
            tensor, stages, data = numbers
            ranks = tp * dp * pp
            most = 0
            sent = 0
            for r in range(ranks):
                total = self.info(f"llm/llm.{r}.et")
                collectives = sum(total["collectives"].get(op, {}).get("bytes", 0)
                                  for op in ("all_reduce", "all_gather", "reduce_scatter"))
                most = max(most, collectives)
                sent = max(sent, total["sends"]["bytes"])
            self.assertEqual(sent, stages, options)
            # The rank that has most of both need not be one rank: the sum is a bound that one rank reaches with
            # one stage.
            self.assertLessEqual(most, tensor + data, options)
            if pp == 1:
                self.assertEqual(most, tensor + data, options)

    def test_buckets_and_overlap_of_transformers(self):
        counts, sums, times = [], set(), []
        for options in [dict(), dict(bucket="1 MiB"), dict(bucket="all"), dict(no_overlap=True)]:
            self.llm(dp=4, batch=8, microbatches=2, **options)
            total = self.info("llm/llm.0.et")["collectives"]["all_reduce"]
            counts.append(total["count"])
            sums.add(total["bytes"])
            times.append(self.run_traces(4, "llm/llm", groups="llm/llm.groups.json", rate="2 GB/s")["time_ns"])
        self.assertEqual(len(sums), 1)
        self.assertGreater(counts[0], counts[1])
        self.assertEqual(counts[2], 1)
        self.assertLess(times[0], times[3])

    def test_steps_are_iterations(self):
        one = self.llm(tp=2, pp=2, dp=2, zero=1, batch=8, microbatches=2) and self.run_traces(
            8, "llm/llm", groups="llm/llm.groups.json")["time_ns"]
        self.llm(tp=2, pp=2, dp=2, zero=1, batch=8, microbatches=2, steps=3)
        three = self.run_traces(8, "llm/llm", groups="llm/llm.groups.json")["time_ns"]
        self.assertGreater(three, 2 * one)
        self.assertLessEqual(three, 3.001 * one)

    def test_mistakes(self):
        for arguments, message in [
            (["resnet50"], "--out is missing"),
            (["resnet50", "--text", "--describe"], "exclude each other"),
            (["resnet50", "--bucket", "some", "--describe"], "--bucket"),
            (["resnet50", "--text", "--array", "256"], "--array '256'"),
            (["resnet50", "--text", "--dataflow", "xs"], "one of os, ws, is, ws_tpu"),
            (["dlrm", "--preset", "none", "--describe"], "there is no preset 'none'"),
            (["dlrm", "--bottom", "13-x", "--describe"], "--bottom"),
            (["bert", "--seq", "600", "--describe"], "512 positions"),
            (["layers", "--describe"], "give one table"),
            (["layers", "--mnk", "none.csv", "--describe"], "none.csv: cannot be read"),
            (["micro", "--op", "broadcast", "--text"], "a text workload has no broadcast"),
            (["llm", "--pp", "2", "--virtual-stages", "2", "--layers", "8", "--microbatches", "3", "--batch", "3",
              "--describe"], "multiple of pp"),
            (["llm", "--virtual-stages", "2", "--describe"], "raise pp"),
        ]:
            self.assertIn(message, self.weft("generate", *arguments, status=2), arguments)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
