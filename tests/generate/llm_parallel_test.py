#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""weft generate llm: context, Ulysses and expert parallelism, hybrid shard, units, asynchronous gradients.

    tests/generate/llm_parallel_test.py WEFT
"""

import json
import math
import random
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "python"))
import weft  # noqa: E402

WEFT = sys.argv[1]
SMALL = dict(layers=8, hidden=256, heads=8, seq=64, vocab=512)
MACHINE = """weft: 1
topology: {{notation: Ring({n}), dimensions: [{{bandwidth: 100 GB/s, latency: 10 ns, fidelity: analytical}}]}}
npu: {{peak: 100 TFLOPS, memory_bandwidth: none}}
"""


class Parallel(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.path = Path(self.folder.name)

    def weft(self, *arguments, status=0):
        done = subprocess.run([WEFT, *map(str, arguments)], capture_output=True, text=True, cwd=self.path)
        self.assertEqual(done.returncode, status, f"{arguments}: {done.stdout}{done.stderr}")
        return done.stdout if status == 0 else done.stderr

    def llm(self, *how, name="llm", **options):
        arguments = list(how)
        for key, value in {**SMALL, **options}.items():
            arguments += [f"--{key.replace('_', '-')}"] + ([] if value is True else [value])
        shutil.rmtree(self.path / name, ignore_errors=True)
        out = self.weft("generate", "llm", *arguments, "--out", name)
        self.described = self.weft("generate", "llm", *[a for a in arguments if a != "--classes"], "--describe")
        self.ranks = int(re.search(r"(\d+) ranks", out)[1])
        self.flop = int(re.search(r"([\d,]+) FLOP a step", out)[1].replace(",", ""))
        self.parameters = int(re.search(r"([\d,]+) parameters", out)[1].replace(",", ""))
        return out

    def figure(self, what):
        found = re.search(what + r" ([\d,]+) B", self.described)
        return int(found[1].replace(",", "")) if found else 0

    def traces(self, name="llm"):
        return [list(weft.Trace(self.path / f"{name}/llm.{r}.et")) for r in range(self.ranks)]

    def time(self, name="llm", groups=True):
        (self.path / "m.yaml").write_text(MACHINE.format(n=self.ranks))
        more = ["--groups", f"{name}/llm.groups.json"] if groups else []
        return json.loads(self.weft("run", "m.yaml", "--trace", f"{name}/llm", "--out", "out", "--json", *more))["time_ns"]

    @staticmethod
    def kind(node):
        """Which figure of --describe a node's bytes belong to."""
        name = node.name
        if "keys_values" in name:
            return "context parallel"
        if "attention." in name and "all_to_all" in name:
            return "Ulysses"
        if "dispatch" in name or "combine" in name:
            return "expert parallel"
        if "gradients." in name or "weights." in name:
            return "data parallel"
        return "between stages" if name.endswith((".send", ".receive")) else "tensor parallel"

    def sums(self, nodes):
        total = Counter()
        for node in nodes:
            if "comm_size" in node and not node.name.endswith(".receive"):
                total[self.kind(node)] += node["comm_size"]
        return total

    def test_totals_are_the_traces(self):
        drawn = random.Random(11)
        seen = Counter()
        for _ in range(40):
            tp, cp, ulysses, pp = (drawn.choice([1, 1, 2]) for _ in range(4))
            dp, v, m = drawn.choice([1, 2, 4]), drawn.choice([1, 2]) if pp == 2 else 1, drawn.choice([2, 4])
            options = dict(tp=tp, cp=cp, ulysses=ulysses, pp=pp, dp=dp, virtual_stages=v, microbatches=m,
                           batch=dp * m * 2, zero=drawn.choice([0, 1, 2, 3]), steps=1,
                           recompute=drawn.choice(["none", "selective", "full"]),
                           cp_exchange=drawn.choice(["ring", "all_gather"]),
                           bucket=drawn.choice(["layer", "1 MiB", "all"]), vocab=drawn.choice([512, 520]))
            if drawn.random() < 0.5:
                options.update(experts=8, ep=drawn.choice([e for e in (1, 2, 4) if dp % e == 0]),
                               top_k=drawn.choice([1, 2]), capacity=drawn.choice([1, 1.25, 0.7]),
                               moe_every=drawn.choice([1, 2, 3]))
            elif dp == 4 and options["zero"] > 0 and drawn.random() < 0.7:
                options["shard_group"] = drawn.choice([2, 4])
            if options["zero"] == 3:
                options["fsdp_unit"] = drawn.choice(["layer", "stage", 3])
                if drawn.random() < 0.5:
                    options["keep_weights"] = True
            if tp == 2 and drawn.random() < 0.5:
                options["sequence_parallel"] = True
            if drawn.random() < 0.3:
                options["no_overlap"] = True
            self.llm(**options)
            most = Counter()
            gemms = 0
            for nodes in self.traces():
                for kind, size in self.sums(nodes).items():
                    most[kind] = max(most[kind], size)
                gemms += sum(n["num_ops"] for n in nodes if n.get("op_type") == "GEMM"
                             and "recompute" not in n.name)
            for kind in ["tensor parallel", "between stages", "data parallel", "context parallel", "Ulysses",
                         "expert parallel"]:
                self.assertEqual(most[kind], self.figure(kind), f"{kind}: {options}")
                seen[kind] += most[kind] > 0
            flop = float(re.search(r"compute +(\S+) FLOP", self.described)[1])
            self.assertAlmostEqual(self.flop / flop, 1, delta=6e-4, msg=options)
            self.assertLess(gemms, self.flop)  # attention is the rest
            self.assertEqual(self.parameters, int(re.search(r"model +([\d,]+)", self.described)[1].replace(",", "")))
            # The job ends, and the programs of a class manifest take the same time.
            time = self.time()
            self.llm("--classes", name="classes", **options)
            self.assertEqual(self.time("classes", groups=False), time, options)
        self.assertGreater(min(seen.values()), 5, seen)

    def test_degree_one_is_without(self):
        self.llm(tp=2, dp=2, pp=2, batch=8, microbatches=2, zero=3)
        plain = [(self.path / f"llm/llm.{r}.et").read_bytes() for r in range(8)]
        self.llm(tp=2, dp=2, pp=2, batch=8, microbatches=2, zero=3, cp=1, cp_exchange="all_gather", ulysses=1, ep=1,
                 fsdp_unit=1, shard_group=2, order="tp,ulysses,dp,cp,pp")
        self.assertEqual([(self.path / f"llm/llm.{r}.et").read_bytes() for r in range(8)], plain)

    def test_flop_and_parameters_are_conserved(self):
        for experts in (0, 8):
            model = dict(batch=32, microbatches=2, **(dict(experts=experts, top_k=2) if experts else {}))
            seen = set()
            for degrees in [dict(), dict(tp=2), dict(cp=4), dict(ulysses=4), dict(dp=4), dict(pp=2),
                            dict(cp=2, ulysses=2, tp=2), dict(cp=2, cp_exchange="all_gather", dp=2),
                            dict(tp=2, sequence_parallel=True, cp=2)] + (
                                [dict(dp=4, ep=4), dict(dp=4, ep=2, tp=2, cp=2)] if experts else []):
                self.llm(**model, **degrees)
                seen.add((self.flop, self.parameters))
            self.assertEqual(len(seen), 1, seen)

    def test_closed_forms(self):
        # 16 sequences of 64 tokens in 2 microbatches, width 256, fp16, 8 layers; by hand.
        tokens = 8 * 64
        self.llm(cp=4, batch=16, microbatches=2)
        block = 2 * tokens // 4 * 256 * 2  # keys and values of a rank
        self.assertEqual(self.figure("context parallel"), 2 * 8 * (3 + 3 + 4) * block)
        self.llm(cp=4, batch=16, microbatches=2, cp_exchange="all_gather")
        self.assertEqual(self.figure("context parallel"), 2 * 8 * (1 + 1 + 4) * block)
        self.llm(ulysses=4, batch=16, microbatches=2)
        self.assertEqual(self.figure("Ulysses"), 2 * 8 * 8 * tokens * 256 * 2 // 4)
        self.assertEqual(Counter(n["comm_type"] for n in self.traces()[0] if "attention." in n.name
                                 and "comm_type" in n).most_common(1)[0][1], 2 * 8 * 8)
        self.llm(dp=4, ep=4, experts=8, top_k=2, capacity=1.5, moe_every=2, batch=16, microbatches=2)
        capacity = math.ceil(2 * (2 * 64) * 1.5 / 8)
        self.assertEqual(self.figure("expert parallel"), 2 * 4 * 4 * 8 * capacity * 256 * 2)
        # Experts' gradients stay: only the ranks with other experts have others.
        dense = 8 * 4 * 256 * 256 + 4 * 2 * 256 * 1024 + 4 * 256 * 8 + 2 * 512 * 256
        self.assertEqual(self.figure("data parallel"), 2 * dense)
        self.llm(dp=4, ep=2, experts=8, batch=16, microbatches=2)
        dense = 8 * (4 * 256 * 256 + 256 * 8) + 2 * 512 * 256
        self.assertEqual(self.figure("data parallel"), 2 * (dense + 8 * 4 * 2 * 256 * 1024))

    def test_hybrid_shard(self):
        weights = 2 * (8 * 12 * 256 * 256 + 2 * 512 * 256)
        self.llm(dp=8, zero=2, shard_group=4, batch=16, microbatches=2)
        self.assertEqual(self.figure("data parallel"), 2 * weights + weights // 4 + weights // 4)
        for nodes in self.traces():
            copies = [n for n in nodes if "copies" in n.name]
            scatters = {n.id for n in nodes if "reduce_scatter" in n.name}
            self.assertEqual(len(copies), 10)  # after the last microbatch only
            self.assertEqual(sum(n["comm_size"] for n in copies), weights // 4)
            for node in copies:
                self.assertTrue(set(node.data_deps) <= scatters)
            # The optimizer waits for the copies' sums.
            update = next(n for n in nodes if n.get("op_type") == "OPTIMIZER")
            self.assertTrue({n.id for n in copies} <= set(update.data_deps))
        groups = json.loads((self.path / "llm/llm.groups.json").read_text())
        self.assertEqual(sorted(groups.values()), sorted([[0, 1, 2, 3], [4, 5, 6, 7]] + [[i, i + 4] for i in range(4)]))

    def test_units(self):
        counts = {}
        for unit in ("layer", 3, "stage"):
            for keep in (False, True):
                self.llm(dp=2, zero=3, fsdp_unit=unit, batch=4, microbatches=1, **(dict(keep_weights=True) if keep else {}))
                gathers = [n for n in self.traces()[0] if "weights." in n.name]
                counts[unit, keep] = len(gathers)
                scatters = [n for n in self.traces()[0] if "reduce_scatter" in n.name]
                self.assertEqual(len(scatters), {"layer": 8, 3: 3, "stage": 1}[unit] + 2)
        self.assertEqual(counts, {("layer", False): 19, ("layer", True): 10, (3, False): 9, (3, True): 5,
                                  ("stage", False): 5, ("stage", True): 3})
        # Recomputation uses what the backward pass has gathered.
        self.llm(dp=2, zero=3, recompute="full", batch=4, microbatches=1)
        self.assertEqual(len([n for n in self.traces()[0] if "weights." in n.name]), 19)

    def test_async(self):
        self.llm(dp=4, batch=8, microbatches=2, steps=3)
        waiting = self.time()
        self.llm(dp=4, batch=8, microbatches=2, steps=3, **{"async": True})
        self.assertLess(self.time(), waiting)
        nodes = self.traces()[0]
        reductions = {n.id: n["iteration"] for n in nodes if "gradients." in n.name}
        for node in nodes:
            if node.get("op_type") == "OPTIMIZER":
                step = node["iteration"]
                self.assertEqual({d for d in node.data_deps if d in reductions},
                                 {i for i, s in reductions.items() if s == step - 1})

    def test_rings(self):
        self.llm(cp=4, dp=2, tp=2, batch=8, microbatches=2, order="tp,dp,cp,pp")
        for rank, nodes in enumerate(self.traces()):
            to, source = (rank + 4) % 16, (rank + 12) % 16
            for n in nodes:
                if "comm_dst" in n:
                    self.assertEqual((n["comm_src"], n["comm_dst"]),
                                     (rank, to) if n.name.endswith("send") else (source, rank))
        # A part of the attention needs only the keys that have come so far.
        first = next(n for n in nodes if n.name.endswith("forward.layer0.attention.part0"))
        second = next(n for n in nodes if n.name.endswith("forward.layer0.attention.part1"))
        receive = next(n for n in nodes if n.name.endswith("forward.layer0.attention.keys_values0.receive"))
        self.assertNotIn(receive.id, first.data_deps)
        self.assertIn(receive.id, second.data_deps)

    def test_mistakes(self):
        for arguments, message in [
            (["--cp", "3", "--seq", "64"], "seq is 64, which is not a multiple of cp x ulysses (3)"),
            (["--ulysses", "3", "--hidden", "256"], "not a multiple of tp x ulysses (3)"),
            (["--ulysses", "16", "--hidden", "256", "--heads", "8"], "heads is 8"),
            (["--ep", "2", "--dp", "2"], "the model has no experts"),
            (["--top-k", "2"], "give experts"),
            (["--experts", "8", "--top-k", "9"], "top_k is 9"),
            (["--experts", "8", "--ep", "4", "--dp", "2"], "dp is 2, which is not a multiple of ep (4)"),
            (["--experts", "6", "--ep", "4", "--dp", "4"], "experts is 6, which is not a multiple of ep (4)"),
            (["--experts", "8", "--capacity", "0"], "capacity is 0"),
            (["--experts", "8", "--capacity", "nan"], "capacity is nan"),
            (["--experts", "8", "--capacity", "inf"], "capacity is inf"),
            (["--experts", "8", "--moe-every", "9"], "moe_every is 9"),
            (["--experts", "8", "--moe-every", "0"], "moe_every is 0; give 1"),
            (["--experts", "8", "--layers", "1", "--moe-every", "2"],
             "moe_every is 2, but the model has 1 layer, so none would have experts; give layers 2 or more, or a "
             "moe_every of 1"),
            (["--dp", "4", "--shard-group", "2"], "give zero 1, 2 or 3"),
            (["--dp", "4", "--shard-group", "3", "--zero", "3"], "not a multiple of shard_group (3)"),
            (["--dp", "4", "--shard-group", "1", "--zero", "3"], "shard_group is 1"),
            (["--dp", "4", "--shard-group", "2", "--zero", "3", "--experts", "4", "--ep", "2"], "leave one of them out"),
            (["--fsdp-unit", "2"], "fsdp_unit is about weights that are gathered"),
            (["--keep-weights", "--zero", "2"], "keep_weights is about"),
            (["--fsdp-unit", "some", "--zero", "3"], "--fsdp-unit"),
            (["--fsdp-unit", "0", "--zero", "3"], "fsdp_unit is 0"),
            (["--async"], "give steps 2 or more"),
            (["--async", "--steps", "2", "--no-overlap"], "leave one of them out"),
            (["--cp-exchange", "star"], "--cp-exchange"),
            (["--order", "tp,cp,dp"], "may name ulysses and cp"),
            (["--order", "tp,cp,cp,dp,pp"], "order is"),
            (["--cp", "1024", "--dp", "1024", "--ulysses", "2", "--seq", "2048", "--batch", "1024"], "ranks"),
        ]:
            text = self.weft("generate", "llm", *arguments, "--describe", status=2)
            self.assertIn(message, text, arguments)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
