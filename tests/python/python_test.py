#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Copyright the Weft authors
"""The Python package: traces against Weft's own reader, results against its files, runs and sweeps.

    python_test.py WEFT
"""

import os
import pathlib
import random
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "python"))

import weft  # noqa: E402
from weft import wire  # noqa: E402
from weft.chakra import COLLECTIVES, _KINDS  # noqa: E402

MACHINE = {"topology": {"notation": "Ring(4)", "dimensions": [{"bandwidth": "50 GB/s", "latency": "500 ns"}]},
           "npu": {"peak": "100 TFLOPS", "memory_bandwidth": "2 TB/s"}}
WEFT = None


def drawn_attribute(rng):
    kind = rng.choice(sorted(_KINDS))

    def value():
        how = _KINDS[kind][1]
        low, high = {"int": (-2**63, 2**63 - 1), "zigzag": (-2**63, 2**63 - 1), "uint": (0, 2**64 - 1),
                     "I": (0, 2**32 - 1), "Q": (0, 2**64 - 1), "i": (-2**31, 2**31 - 1),
                     "q": (-2**63, 2**63 - 1)}.get(how, (0, 0))
        if how == "bool":
            return rng.random() < 0.5
        if how == "text":
            return "".join(rng.choice("abc \u00e9\u4e2d\n") for _ in range(rng.randrange(9)))
        if how == "bytes":
            return rng.randbytes(rng.randrange(9))
        if how in "df":
            return rng.randrange(-1000, 1000) / 8  # exact in both
        return rng.choice([low, high, rng.randint(low, high), 0, 1])

    if rng.random() < 0.4:
        return weft.Attribute(kind, [value() for _ in range(rng.randrange(5))], True)
    return weft.Attribute(kind, value(), False, "why" if rng.random() < 0.2 else "")


class Traces(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="weft_python_")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def test_what_is_written_is_read(self):
        rng = random.Random(1)
        for _ in range(60):
            nodes = [weft.Node(rng.randrange(2**64), weft.NodeType(rng.randrange(1, 8)), "n" * rng.randrange(3),
                               [rng.randrange(2**40) for _ in range(rng.randrange(4))],
                               [rng.randrange(9) for _ in range(rng.randrange(3))], rng.randrange(2**50), rng.randrange(99),
                               {f"a{i}": drawn_attribute(rng) for i in range(rng.randrange(6))}) for _ in range(rng.randrange(9))]
            weft.write_trace(self.folder / "x.0.et", nodes)
            trace = weft.Trace(self.folder / "x.0.et")
            self.assertEqual(list(trace), nodes)
            self.assertEqual(list(trace), nodes, "a second time")
            self.assertEqual(trace.version, "0.0.4")

    def test_a_copy_of_generated_traces_runs_alike(self):
        weft.Program(WEFT).call("generate", "llm", "--tp", 2, "--dp", 2, "--layers", 2, "--hidden", 512, "--seq", 128,
                                "--batch", 4, "--out", self.folder, "--name", "t")
        written = weft.edit_traces(self.folder / "t", self.folder / "copy/t", lambda rank, node: None)
        self.assertEqual(sorted(written), [0, 1, 2, 3])
        program, groups = weft.Program(WEFT), self.folder / "t.groups.json"
        os.chdir(self.folder)
        first = program.run(MACHINE, out="a", trace=self.folder / "t", groups=groups)
        second = program.run(MACHINE, out="b", trace=self.folder / "copy/t", groups=groups)
        self.assertEqual(first.time_ns, second.time_ns)
        self.assertEqual(first.rows("collectives"), second.rows("collectives"))

        def slower(rank, node):
            if rank == 1 and node.type == weft.NodeType.COMP and "num_ops" in node:
                node["num_ops"] = 2 * node["num_ops"]
                node["tensor_size"] = 2 * node["tensor_size"]

        weft.edit_traces(self.folder / "t", self.folder / "slow/t", slower)
        slow = program.run(MACHINE, out="c", trace=self.folder / "slow/t", groups=groups)
        self.assertGreater(slow.time_ns, first.time_ns)
        left_out = weft.edit_traces(self.folder / "t", self.folder / "half/t", lambda rank, node: node.id % 2 == 0 and None)
        self.assertLess(left_out[0], written[0])

    def test_a_job_of_its_own(self):
        for rank in range(4):
            weft.write_trace(self.folder / f"j.{rank}.et", [
                weft.Node.make(1, weft.NodeType.COMP, "work", duration_micros=10, is_cpu_op=False),
                weft.Node.make(2, weft.NodeType.COMM_COLL, "sum", [1], comm_type=COLLECTIVES["all_reduce"],
                               comm_size=1 << 20, is_cpu_op=False, involved_dim=[True])])
        os.chdir(self.folder)
        result = weft.Program(WEFT).run(MACHINE, trace=self.folder / "j", out="j")
        row, = weft.Program(WEFT).collective(MACHINE, size="1 MiB")
        self.assertAlmostEqual(result.time_ns, 10000 + row["time_ns"], places=3)

    def test_fields_that_are_not_known_are_kept(self):
        node = weft.Node.make(7, weft.NodeType.COMP, "x", a=1)
        node.unknown = wire.number(99, 5) + wire.blob(77, b"later")
        weft.write_trace(self.folder / "u.0.et", [node], wire.blob(1, b"9.9") + wire.blob(50, b"new"))
        trace = weft.Trace(self.folder / "u.0.et")
        self.assertEqual(trace.version, "9.9")
        again, = trace
        self.assertEqual(again, node)
        weft.write_trace(self.folder / "v.0.et", trace, trace.metadata)
        self.assertEqual((self.folder / "u.0.et").read_bytes(), (self.folder / "v.0.et").read_bytes())

    def test_attributes(self):
        node = weft.Node.make(1, weft.NodeType.COMM_COLL, comm_size=5)
        node.attributes["big"] = weft.Attribute("uint64", 1)
        node["big"] = 2**64 - 1
        self.assertEqual(node.attributes["big"].kind, "uint64")
        node["big"] = "text"
        self.assertEqual(node.attributes["big"].kind, "string")
        self.assertEqual(node.get("none", 3), 3)
        self.assertNotIn("none", node)
        with self.assertRaises(TypeError):
            node["what"] = object()
        node["large"] = 2**63
        self.assertEqual(node.attributes["large"], weft.Attribute("uint64", 2**63))
        for wrong in (2**64, -2**63 - 1, [1, 2**64], [-1, 2**63]):
            with self.assertRaises(ValueError):
                node["what"] = wrong

    def test_bad_files(self):
        path = self.folder / "bad.0.et"
        weft.write_trace(path, [weft.Node.make(1, weft.NodeType.COMP, "name", a=1, b="two")])
        whole = path.read_bytes()
        for size in range(len(whole)):
            path.write_bytes(whole[:size])
            if size in (0, 8):  # after the metadata there is a whole trace without nodes
                continue
            with self.assertRaises(ValueError) as caught:
                list(weft.Trace(path))
            self.assertIn("bad.0.et", str(caught.exception))
        path.write_bytes(b"")
        with self.assertRaises(ValueError):
            weft.Trace(path)
        rng = random.Random(2)
        for _ in range(500):
            data = bytearray(whole)
            data[rng.randrange(len(data))] = rng.randrange(256)
            path.write_bytes(data)
            try:
                list(weft.Trace(path))
            except ValueError:
                pass
        with self.assertRaises(FileNotFoundError):
            weft.edit_traces(self.folder / "nobody", self.folder / "x", lambda rank, node: None)
        self.assertEqual([p.name for p in self.folder.iterdir() if p.name.endswith(".part")], [])


class Runs(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="weft_python_")
        self.addCleanup(folder.cleanup)
        os.chdir(folder.name)
        self.program = weft.Program(WEFT)

    def test_collectives_and_sets(self):
        rows = self.program.collective(MACHINE, sizes="1MiB:4MiB:x2")
        self.assertEqual([row["bytes"] for row in rows], [1 << 20, 2 << 20, 4 << 20])
        fast = self.program.collective(MACHINE, sets={"topology.dimensions[0].bandwidth": "100 GB/s"}, size="4 MiB")
        self.assertLess(fast[0]["time_ns"], rows[2]["time_ns"])
        self.assertEqual(self.program.collective(topology="Ring(4)", bandwidth="50 GB/s", latency="500 ns",
                                                 size="1 MiB")[0]["time_ns"], rows[0]["time_ns"])

    def test_a_sweep_is_its_runs(self):
        rows = self.program.sweep(MACHINE, {"collectives.chunks": [1, 4], "--size": ["1 MiB", "4 MiB"]},
                                  command="collective", out="s.csv")
        self.assertEqual(len(rows), 4)
        for row in rows:
            one, = self.program.collective(MACHINE, sets={"collectives.chunks": row["collectives.chunks"]},
                                           size=row["--size"])
            self.assertEqual(row["results[0].time_ns"], one["time_ns"])

    def test_errors_say_what_the_program_said(self):
        with self.assertRaises(weft.WeftError) as caught:
            self.program.collective({"topology": {"notation": "Rink(4)"}}, size="1 MiB")
        self.assertEqual(caught.exception.exit_code, 2)
        self.assertIn("Rink", caught.exception.message)
        self.assertEqual([name for name in os.listdir(".") if name.startswith(".weft_")], [], "left behind")
        with self.assertRaises(FileNotFoundError):
            weft.Program("/nowhere/weft")
        with self.assertRaises(FileNotFoundError):
            weft.Result(".")

    def test_results(self):
        self.program.call("generate", "llm", "--tp", 4, "--layers", 1, "--hidden", 256, "--seq", 64, "--batch", 1, "--out",
                          ".", "--name", "t")
        result = self.program.run(MACHINE, trace="t", groups="t.groups.json")
        self.assertTrue(result.finished)
        self.assertIn("links", result.tables())
        self.assertEqual(len(result.column("ranks", "rank")), 4)
        self.assertEqual(max(result.column("ranks", "rank")), 3)
        with self.assertRaises(KeyError):
            result.rows("nothing")
        with self.assertRaises(KeyError):
            result.column("ranks", "nothing")
        try:
            import pandas
        except ImportError:
            with self.assertRaises(ImportError) as caught:
                result.frame("links")
            self.assertIn("rows()", str(caught.exception))
        else:
            self.assertIsInstance(result.frame("links"), pandas.DataFrame)

    def test_the_wheel_has_the_package(self):
        sys.path.insert(0, str(ROOT / "python"))
        import build_backend
        wheel = pathlib.Path(build_backend.build_wheel(".")).resolve()
        done = subprocess.run([sys.executable, "-c", "import weft; print(weft.__file__, weft.Program, weft.__version__)"],
                              capture_output=True, text=True, check=False,
                              env={**os.environ, "PYTHONPATH": str(wheel)})
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(str(wheel), done.stdout)
        self.assertTrue(done.stdout.strip().endswith(wheel.name.split("-")[1]), "the versions differ")

    def test_the_examples_run(self):
        for script in sorted((ROOT / "examples/python").glob("*.py")):
            done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, check=False,
                                  env={**os.environ, "WEFT": WEFT, "PYTHONPATH": str(ROOT / "python")})
            self.assertEqual(done.returncode, 0, f"{script.name}: {done.stderr}")
            self.assertGreater(len(done.stdout.splitlines()), 4, script.name)


if __name__ == "__main__":
    WEFT = str(pathlib.Path(sys.argv.pop(1)).resolve())
    unittest.main()
