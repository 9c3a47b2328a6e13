#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Copyright the Weft authors
"""Builds examples/rtl/reduction_unit against the installed package, as a user would, and runs it in a switch.

The sums are bit-exact (the program compares each with its own), and the times are compared with the model's, chunk by
chunk. Then what is wrong on purpose: a block without its adapter, a switch with more ports, elements that it cannot sum.
"""

import csv
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from installed_weft import InstalledWeft, check, command, finish, parser  # noqa: E402


class Example(InstalledWeft):
    """An installed Weft and the example that was built against it."""

    def __init__(self, args):
        super().__init__(args)
        self.source = self.example_source("rtl/reduction_unit", self.work / "source")
        folder = self.build(self.source, self.work / "build")
        self.plugin = folder / "reduction_unit.so"

    def run(self, *args):
        """(exit code, output, errors) of the installed weft on the example's machine."""
        return self.call(self.weft, "collective", self.source / "machine.yaml", "--set", f"plugins={self.plugin}", *args)

    def results(self, *args):
        """The rows of a run that must succeed."""
        code, out, err = self.run("--json", *args)
        check(code == 0, f"{args}: exit {code}: {err}")
        return json.loads(out)["results"] if code == 0 else []


IMPLEMENTATION = "topology.dimensions[0].collective_unit.implementation"
UNIT = "topology.dimensions[0].collective_unit"
#: The RTL's figures for the model: a beat of 32 B of one port a nanosecond, a few edges from beat to result.
MODEL = ["--set", f"{UNIT}.reduction_bandwidth=32 GB/s", "--set", f"{UNIT}.latency=2 ns"]


#: 64 NPUs whose all-reduces do not use the units that their switches have.
IDLE = """\
weft: 1
topology:
  notation: Switch(8)_Switch(8)
  dimensions:
    - {bandwidth: 50 GB/s, latency: 200 ns}
    - {bandwidth: 50 GB/s, latency: 500 ns}
collectives: {all_reduce: direct, broadcast: in_switch, chunks: 32}
"""


def sums(example):
    """All operations, both kinds of elements, and sizes that do not divide."""
    for element in ("bf16", "int32"):
        for op in ("all_reduce", "reduce_scatter", "all_gather", "broadcast"):
            rows = example.results("--op", op, "--sizes", "32 B, 1000 B, 100 KiB", "--set", f"run.element={element}")
            check(len(rows) == 3, f"{op} of {element}: {len(rows)} results")
    # Without elements a pattern goes through the RTL, and the times are the same.
    with_data = example.results("--size", "100 KiB", "--set", "run.element=int32")
    without = example.results("--size", "100 KiB", "--set", "run.data=none")
    check([r["time_ns"] for r in with_data] == [r["time_ns"] for r in without], f"{with_data} and {without}")


def times(example):
    """Each chunk's time in RTL and in the model, and a gated clock against a free one."""

    def blocks(name, clock):
        path = example.work / f"{name}.csv"
        code, _, err = example.run("--size", "256 KiB", "--set", "collectives.chunks=4", *MODEL, "--set",
                                   f"{IMPLEMENTATION}=rtl:reduction_unit(clock={clock}, times={path})")
        check(code == 0, f"{name}: exit {code}: {err}")
        with open(path, encoding="utf-8") as file:
            return list(csv.DictReader(file))

    rows = blocks("times", "automatic")
    check(sum(int(row["bytes"]) for row in rows) == 256 * 1024, f"{len(rows)} blocks")
    for chunk in range(4):
        of_chunk = [row for row in rows if int(row["chunk"]) == chunk]
        check(len(of_chunk) == 16, f"chunk {chunk}: {len(of_chunk)} blocks")
        rtl = max(int(row["rtl_ps"]) for row in of_chunk)
        model = max(int(row["model_ps"]) for row in of_chunk)
        begin = min(int(row["complete_ps"]) for row in of_chunk)
        print(f"chunk {chunk}: the last result after {rtl - begin} ps in RTL, after {model - begin} ps in the model")
        # A block takes 1,024 edges in both. The model begins with a contribution, the RTL with a block.
        check(abs(rtl - model) <= 0.05 * (model - begin), f"chunk {chunk}: RTL {rtl} ps, model {model} ps")
        check(all(int(row["rtl_ps"]) > int(row["complete_ps"]) for row in of_chunk), f"chunk {chunk}: too early")
    for clock in ("free", "gated(1)", "gated(8)"):
        check(blocks(clock.replace("(", "").replace(")", ""), clock) == rows, f"clock={clock} changes times")


def idle(example):
    """What a block that has nothing to do costs: instructions of a run of 64 NPUs with it and without it."""
    if not shutil.which("valgrind"):
        check(os.environ.get("CI") != "true", "valgrind was not found (scripts/setup.sh installs it)")
        print("valgrind was not found: the cost of an idle block is not measured")
        return

    def instructions(name, more):
        # Units are built for the broadcasts, which do not come.
        machine = example.work / f"{name}.yaml"
        machine.write_text(IDLE + more)
        done = subprocess.run(["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", str(example.weft),
                               "collective", str(machine), "--op", "all_reduce", "--sizes", "16MiB:2GiB:x2"],
                              capture_output=True, text=True, cwd=example.work)
        found = re.search(r"Collected : (\d+)", done.stderr)
        check(done.returncode == 0 and found, f"callgrind: exit {done.returncode}: {done.stderr[-2000:]}")
        return int(found.group(1)) if found else 0

    without = instructions("without", f"plugins: {example.plugin}\n")
    with_block = instructions("with", f"plugins: {example.plugin}\nimplementations:\n  - "
                              "{modules: switch0_0.unit, implementation: 'rtl:reduction_unit'}\n")
    cost = (with_block - without) / max(without, 1)
    print(f"an idle block: {with_block} instructions, without it {without}: {100 * cost:.3f} %")
    check(0 < cost <= 0.005, f"an idle block costs {100 * cost:.3f} %")


def traces(example):
    """The inside of the RTL goes to a file that other programs read."""
    path = example.work / "unit.fst"
    code, _, err = example.run("--size", "4 KiB", "--set", f"{IMPLEMENTATION}=rtl:reduction_unit(trace={path})")
    check(code == 0 and path.is_file() and path.stat().st_size > 1000, f"trace: exit {code}: {err}")
    if shutil.which("fst2vcd"):
        text = command(["fst2vcd", path])
        check("locked_mask" in text and text.count("\n#") > 100, "the trace has no changes of the inside")
    code, _, err = example.run("--size", "4 KiB", "--set", f"{IMPLEMENTATION}=rtl:reduction_unit(trace=/no/such/x.fst)")
    check(code == 2 and "/no/such/x.fst cannot be written" in err, f"exit {code}: {err}")


def errors(example):
    """Wrong use: exit code and message."""

    def fails(what, texts, *args):
        code, _, err = example.run("--size", "4 KiB", *args)
        check(code == 2, f"{what}: exit {code}: {err}")
        for text in texts:
            check(text in err, f"{what}: no '{text}' in: {err}")

    fails("too many ports", ["switch0_0.unit", "the RTL has 8 inputs, and its switch 16 ports", "PORTS = 16"], "--set",
          "topology.notation=Switch(16)")
    fails("other elements", ["sums int32 and bf16", "run.element"], "--set", "run.element=fp32")
    fails("another operation", ["sums", "run.reduce"], "--set", "run.reduce=max")
    fails("a policy of clocks", ["parameter `clock` of reduction_unit", "'sometimes' is no clock policy", "gated(N)"],
          "--set", f"{IMPLEMENTATION}=rtl:reduction_unit(clock=sometimes)")
    fails("an unknown parameter", ["has no parameter 'perriod'", "period"], "--set",
          f"{IMPLEMENTATION}=rtl:reduction_unit(perriod=1 ns)")


def build_errors(example):
    """What CMake says to a wrong weft_add_rtl_block."""
    wrong = example.work / "wrong"
    wrong.mkdir()
    shutil.copy(example.source / "reduction_unit.sv", wrong)
    (wrong / "adapter.cpp").write_text("int nothing() { return 0; }\n")

    def fails(what, arguments, texts, *options):
        (wrong / "CMakeLists.txt").write_text(
            "cmake_minimum_required(VERSION 3.25)\nproject(wrong LANGUAGES CXX)\nset(CMAKE_CXX_STANDARD 17)\n"
            f"find_package(weft 0.1 REQUIRED)\nweft_add_rtl_block({arguments})\n")
        done = subprocess.run(["cmake", "-S", str(wrong), "-B", str(example.work / "wrong_build"), "--fresh",
                               *example.options, *options], capture_output=True, text=True)
        message = " ".join((done.stdout + done.stderr).split())
        check(done.returncode != 0, f"{what}: CMake accepts it")
        for text in texts:
            check(text in message, f"{what}: no '{text}' in: {message}")

    rtl = "unit SOURCES reduction_unit.sv TOP reduction_unit"
    fails("no adapter", rtl, ["ADAPTER is missing", "WEFT_PLUGIN"])
    fails("no file", "unit SOURCES nothing.sv TOP x ADAPTER adapter.cpp", ["there is no file", "nothing.sv"])
    fails("another trace", rtl + " ADAPTER adapter.cpp TRACE lxt", ["TRACE lxt: it is vcd or fst"])
    fails("no Verilator", rtl + " ADAPTER adapter.cpp",
          ["weft_add_rtl_block(unit): Verilator was not found", "install the package verilator", "WEFT_VERILATOR_FOUND"],
          "-DWEFT_VERILATOR_BIN=")


def main():
    options = parser(__doc__)
    example = Example(options.parse_args())
    for part in (sums, times, idle, traces, errors, build_errors):
        part(example)
    finish()


if __name__ == "__main__":
    main()
