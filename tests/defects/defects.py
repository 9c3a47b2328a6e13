#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Copyright the Weft authors
"""Known defects stay mended: every file of the data folder's `defects`, and the commands that showed a defect.

    defects.py WEFT                every case; exit 1 and the failures if one does not hold
    defects.py WEFT --only NAME    cases whose name begins so
    defects.py --list              the cases

The data folder is $WEFT_DATA_DIR, or what --data says. Without it the exit code is 77 (skipped), with CI=true 1.
A command that uses more processor time than its limit is killed, which fails the case.
"""

import argparse
import csv
import json
import os
import pathlib
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
#: Files of the folder that only show what was wrong: results and outputs of the old program.
EVIDENCE = {"waves_closed/out.txt", "waves_closed/err.txt", "waves_closed/cmd.txt", "dot/f.dot", "dot/g.svg"}
CASES = []
#: Cases that are known not to hold yet, with the reason.
OPEN = {}


def case(function):
    CASES.append(function)
    return function


def still_open(reason):
    """A case that does not hold yet. Take the mark away when it does."""
    def mark(function):
        OPEN[function.__name__] = reason
        return case(function)
    return mark


class Failure(Exception):
    pass


def check(good, text):
    if not good:
        raise Failure(text)


class Ran:
    def __init__(self, command, status, out, err):
        self.command, self.status, self.out, self.err = command, status, out, err

    def ends(self, status, *parts):
        """The exit code, and what the standard error must say."""
        shown = f"{self.command}\n  exit code {self.status}\n  {self.err[-1500:]}"
        check(self.status == status, f"exit code {status} is expected: {shown}")
        for part in parts:
            check(part in self.err, f"no '{part}' in what it says: {shown}")
        check("internal error" not in self.err and "please report" not in self.err, shown)
        return self

    def shows(self, *parts):
        for part in parts:
            check(part in self.out, f"no '{part}' in the output of {self.command}:\n{self.out[-1500:]}")
        return self


class Weft:
    """The program, a folder for its results, and the files of the data folder that were used."""

    def __init__(self, program, data, work):
        self.program, self.data, self.work = program, data, work
        self.used = set()
        self.count = 0

    def __call__(self, *arguments, cpu=60):
        def limit():
            resource.setrlimit(resource.RLIMIT_CPU, (cpu, cpu + 5))
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

        words = [str(a) for a in arguments]
        ran = subprocess.run([self.program, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False,
                             preexec_fn=limit, cwd=self.work, encoding="utf-8", errors="replace")
        command = "weft " + " ".join(words)
        if ran.returncode in (-signal.SIGXCPU, -signal.SIGKILL):
            raise Failure(f"more than {cpu} s of processor time: {command}")
        return Ran(command, ran.returncode, ran.stdout, ran.stderr)

    def file(self, name):
        """A file of the folder, or the prefix of traces."""
        for path in [self.data / name, *self.data.glob(name + ".*.et")]:
            if path.is_file():
                self.used.add(str(path.relative_to(self.data)))
        return self.data / name

    def out(self):
        self.count += 1
        return self.work / f"out{self.count}"

    def job(self, machine, trace, *more, cpu=60):
        """Runs a job of the folder; the folder of its results."""
        out = self.out()
        self("run", self.file(machine), "--trace", self.file(trace), "--out", out, *more, cpu=cpu).ends(0)
        return out

    def collective(self, *arguments):
        """The results of `weft collective --json`."""
        return json.loads(self("collective", *arguments, "--json").ends(0).out)["results"]

    def time(self, *arguments):
        return self.collective(*arguments)[0]["time_ns"]


def rows(path):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def summary(out):
    return json.loads((out / "summary.json").read_text())


def near(value, expected, share, what):
    check(abs(value - expected) <= share * abs(expected), f"{what}: {value}, expected {expected}")


# ---- wrong results


@case
def p01_unrelated_compute_changes_no_collective(weft):
    groups = weft.file("collective_waits/groups.json")
    # docs/collective_waits.md works the first two out.
    ends = {"lifo": {"A": 1104000, "B": 1140000}, "fifo": {"A": 1140000, "B": 1104000}}
    for scheduling, expected in ends.items():
        more = ["--groups", groups, "--set", f"collectives.scheduling={scheduling}"]
        alone = weft.job("collective_waits/ring4.yaml", "collective_waits/alone", *more)
        beside = weft.job("collective_waits/ring4.yaml", "collective_waits/beside_100ms", *more)
        check(rows(alone / "collectives.csv") == rows(beside / "collectives.csv"), f"{scheduling}: times differ")
        found = {row["name"]: float(row["end_ns"]) for row in rows(alone / "collectives.csv")}
        check(found == expected, f"{scheduling}: {found}, expected {expected}")
        check(summary(beside)["time_ns"] == 100e6, "the job takes its 100 ms of compute")
    alone = weft.job("collective_waits/round_robin.yaml", "collective_waits/rr_alone")
    beside = weft.job("collective_waits/round_robin.yaml", "collective_waits/rr_beside_1s")
    check(rows(alone / "collectives.csv") == rows(beside / "collectives.csv"), "round robin: times differ")
    near(float(rows(alone / "collectives.csv")[0]["end_ns"]), 254658, 0.001, "round robin")
    for out in (alone, beside):
        check("nothing in the machine moved" not in json.dumps(summary(out)["warnings"]), "the last resort was used")


@case
def p01_the_last_resort_is_told(weft):
    # Packets that wait in a circle: a true deadlock, which starting more chunks does not end.
    ran = weft("collective", "--topology", "Ring(8)", "--bandwidth", "100 GB/s", "--fidelity", "packet", "--set",
               "packet.vcs=1", "--set", "packet.vc_classes=none", "--set", "packet.packet_size=256B", "--set",
               "packet.flit_size=64B", "--set", "packet.buffer_flits=8", "--op", "all_to_all", "--algorithm",
               "direct", "--chunks", "8", "--size", "256KiB")
    ran.ends(4, "weft: warning: nothing in the machine moved any more (7 times, first at ",
             "56 chunks that waited for a slot were then started beyond collectives.active_chunks_per_dimension",
             "Deadlock: a cycle of 16 buffers")
    check("had chosen different chunks" not in ran.err, "chunks of the last resort are told as of a circle of slots")


@case
def p02_analytical_is_no_slower_than_messages(weft):
    machine = ["--bandwidth", "100 GB/s", "--latency", "500 ns", "--size", "1 MiB"]
    draws = [("Mesh(4)", "all_reduce", "ring"), ("Mesh(16)", "all_reduce", "ring"),
             ("Mesh(16)", "all_gather", "ring"), ("Ring(8)", "broadcast", "direct"),
             ("Ring(16)", "broadcast", "direct"), ("Ring(8)", "scatter", "direct"),
             ("Ring(16)", "scatter", "direct"), ("Ring(8)", "all_reduce", "double_binary_tree"),
             ("Ring(16)", "all_reduce", "double_binary_tree"), ("Ring(16)", "broadcast", "halving_doubling")]
    for topology, op, algorithm in draws:
        command = ["--topology", topology, *machine, "--op", op, "--algorithm", algorithm]
        analytical = weft.time(*command, "--fidelity", "analytical")
        message = weft.time(*command, "--fidelity", "message", "--switching", "cut_through")
        check(analytical <= 1.01 * message, f"{topology} {op} {algorithm}: {analytical} ns, messages {message} ns")


@case
def p02_a_collective_leaves_nothing_behind(weft):
    small = {}
    for fidelity in ("analytical", "message"):
        out = weft.job("analytical_leftover/m.yaml", "analytical_leftover/x", "--set",
                       f"topology.dimensions[0].fidelity={fidelity}")
        small[fidelity] = next(r for r in rows(out / "collectives.csv") if r["name"] == "small")
        alone = weft.time(weft.file("analytical_leftover/m.yaml"), "--op", "all_gather", "--size", "64 B",
                          "--fidelity", fidelity)
        found = float(small[fidelity]["time_ns"])
        check(found == alone, f"{fidelity}: 64 B after 1 MiB {found} ns, alone {alone} ns")
    for topology in ("Mesh(4)", "Ring(4)", "Switch(4)", "Ring(2)_Switch(2)"):
        for fidelity in ("analytical", "message"):
            command = ["--topology", topology, "--bandwidth", "100 GB/s", "--op", "all_gather", "--fidelity", fidelity]
            after = weft.collective(*command, "--sizes", "1MiB,64KiB")[1]["time_ns"]
            alone = weft.time(*command, "--size", "64KiB")
            check(after == alone, f"{topology} {fidelity}: 64 KiB after 1 MiB {after} ns, alone {alone} ns")


@case
def p03_folding_is_exact(weft):
    command = ["--topology", "Ring(4)", "--bandwidth", "100 GB/s", "--op", "reduce_scatter", "--size", "64 MiB",
               "--algorithm", "halving_doubling", "--fidelity", "analytical", "--reduction", "2 TB/s"]
    folded, whole = weft.time(*command), weft.time(*command, "--no-fold")
    check(folded == whole, f"{folded} ns folded, {whole} ns not")


@case
def p04_bounds_hold(weft):
    for trace in ("a2a", "ag", "ar"):
        out = weft.job("upper/m.yaml", f"upper/{trace}")
        found = summary(out)
        check(found["lower_bound_ns"] <= found["time_ns"] <= found["upper_bound_ns"],
              f"upper/{trace}: {found['lower_bound_ns']} <= {found['time_ns']} <= {found['upper_bound_ns']}")
        check("contention" not in json.dumps(found["warnings"]), "contention is blamed")
    for topology in ("Mesh(4)", "Mesh(16)"):
        for row in weft.collective("--topology", topology, "--bandwidth", "100 GB/s", "--op", "all_reduce",
                                   "--sizes", "8B,64KiB,1MiB"):
            check(row["efficiency"] <= 1, f"{topology}: efficiency {row['efficiency']}")


@case
def p05_custom_programs_that_reduce_what_is_only_moved(weft):
    operations = {"a2a": "all_to_all", "ag": "all_gather", "bc": "broadcast", "ga": "gather", "sc": "scatter"}
    for trace, op in operations.items():
        for data in ("none", "int32"):
            programs = weft.file(f"custom_reduce/{trace}")
            weft("collective", "--topology", "Ring(2)", "--bandwidth", "1 GB/s", "--op", op, "--size", "1MiB",
                 "--algorithm", f"custom:{programs}", "--data", data).ends(3, f"{op} reduces nothing", trace)


@case
def p06_slow_links_are_no_deadlock(weft):
    machine = weft.file("traffic_false_hang.yaml")
    ran = weft("traffic", machine, "--warmup", "500", "--measure", "2000", "--seeds", "1", "--json")
    check(ran.ends(0).out != "" and "deadlock" not in (ran.out + ran.err).lower(), ran.out + ran.err)


@case
def p07_time_that_overflows_is_an_error(weft):
    ring = ["collective", "--topology", "Ring(4)", "--op", "all_reduce"]
    weft(*ring, "--bandwidth", "1 MB/s", "--size", "20 TB").ends(3, "213 days", "smaller size")
    weft(*ring, "--bandwidth", "100 GB/s", "--size", "9223372036854775807 B").ends(3, "213 days")
    fits = weft.time("--topology", "Ring(4)", "--op", "all_reduce", "--bandwidth", "1 MB/s", "--size", "10 TB",
                     "--chunks", "1")
    near(fits, 15e15, 0.001, "10 TB at 1 MB/s")
    for machine, trace, word in (("m1", "mem", "memory"), ("m2", "p2p", "rank 0 to rank 1"),
                                 ("m2", "coll", "all_reduce")):
        weft("run", weft.file(f"overflow/{machine}.yaml"), "--trace", weft.file(f"overflow/{trace}"), "--out",
             weft.out()).ends(3, "213 days", word)


@case
def p09_barriers_have_no_bandwidth_and_links_are_counted_once(weft):
    row = weft.collective("--topology", "Ring(4)", "--bandwidth", "1 GB/s", "--op", "barrier", "--size", "1GiB")[0]
    check(row["algbw_GBps"] == 0 and row["busbw_GBps"] == 0, f"a barrier has a bandwidth: {row}")
    machine = ROOT / "configs/examples/conv_4d.yaml"
    words = re.search(r"machine: (\d+) directed links", weft("describe", machine).ends(0).out)
    trace, out = weft.work / "all_reduce", weft.out()
    for rank in range(512):
        shutil.copy(weft.file("upper/ar.0.et"), f"{trace}.{rank}.et")
    weft("run", machine, "--trace", trace, "--out", out).ends(0)
    check(words and int(words[1]) == summary(out)["links"]["count"],
          f"describe: {words and words[1]} links, run: {summary(out)['links']['count']}")


# ---- lost results, endless or expensive runs


@case
def p10_waveforms_change_nothing_and_cost_little(weft):
    def results(out):
        found = summary(out)
        for key in ("wall_s", "peak_rss_MiB", "waves", "events", "trains", "folding"):
            found.pop(key, None)
        return found, {name: (out / name).read_bytes() for name in ("ranks.csv", "collectives.csv", "links.csv")}

    def compare(machine, trace, *more):
        plain = weft.job(machine, trace, *more, cpu=20)
        waves = weft.job(machine, trace, "--waves", "*", *more, cpu=20)
        check(results(plain) == results(waves), f"{machine} {trace} {more}: --waves changes results")
        size = (waves / "waves.vcd").stat().st_size
        check(1000 < size, f"{machine} {trace}: waves.vcd has {size} bytes")
        return size

    compare("waves_closed/m.yaml", "waves_closed/p")
    compare("waves_closed/k.yaml", "waves_closed/r")
    for machine, traces in {"m": ("ar", "ag", "a2a", "in"), "m2": ("p",), "m3": ("q",), "m4": ("q",)}.items():
        for trace in traces:
            compare(f"waves_pfc/{machine}.yaml", f"waves_pfc/{trace}")
    # Bytes in proportion to changes: a longer link only delays them.
    size = {latency: compare("waves_pfc/m.yaml", "waves_pfc/ag", "--set", f"topology.dimensions[0].latency={latency}")
            for latency in ("600 ns", "5 us", "20 us")}
    check(max(size.values()) < 3 * size["600 ns"], f"bytes of waveforms by latency: {size}")


@case
def p12_idle_time_costs_nothing(weft):
    out = weft.job("perbank/m.yaml", "perbank/x", cpu=5)
    check(summary(out)["events"] < 10000, f"{summary(out)['events']} events")


@case
def p13_readers_have_limits(weft):
    machine, trace = weft.file("collective_waits/ring4.yaml"), weft.file("collective_waits/alone")
    groups = weft.work / "groups.json"
    groups.write_text(json.dumps({**{f"g{i}": [0, 1] for i in range(100000)}, "a": [0, 1, 2, 3], "b": [0, 1, 2, 3]}))
    weft("run", machine, "--trace", trace, "--groups", groups, "--out", weft.out(), cpu=8).ends(0)
    for text in ("[" * 100000, '{"a": ' + "[" * 100000, '{"a": ' * 100000):
        groups.write_text(text)
        weft("run", machine, "--trace", trace, "--groups", groups, "--out", weft.out(), cpu=8).ends(3, "groups.json")
    zero = "/dev/zero"
    weft("run", machine, "--trace", trace, "--groups", zero, "--out", weft.out(), cpu=8).ends(3, zero, "device")
    for command in (["validate", zero], ["collective", "--config", zero, "--op", "all_reduce", "--size", "8B"]):
        weft(*command, cpu=8).ends(2, zero, "device")
    routes = weft.work / "routes.yaml"
    routes.write_text("weft: 1\ntopology:\n  graph: {npus: 2, links: [{from: npu0, to: npu1, bandwidth: 1 GB/s}]}\n"
                      "  routing: table\n  routes_file: /dev/zero\n")
    weft("validate", routes, cpu=8).ends(2, zero, "device")


@case
def p14_names_that_no_file_can_have(weft):
    machine, trace = weft.file("collective_waits/ring4.yaml"), weft.file("collective_waits/alone")
    job = ["run", machine, "--trace", trace, "--groups", weft.file("collective_waits/groups.json")]
    loop = weft.work / "loop"
    loop.symlink_to(loop)
    for name in (weft.work / ("n" * 300), loop / "out"):
        weft(*job, "--out", name).ends(2)
    for name in ("n" * 300, loop):
        weft("traffic", "--topology", "Ring(4)", "--pattern", name).ends(2, "--pattern")
    out, other = weft.out(), weft.work / "other"
    out.mkdir()
    other.write_text("precious")
    (out / "summary.json").symlink_to(other)
    weft(*job, "--out", out).ends(2, "summary.json", "symlink")
    check(other.read_text() == "precious", "a file outside the folder was written")


# ---- misleading


@case
def p15_patterns_of_the_guide_match(weft):
    for pattern in ("*", "npu[0-3].*", "npu0.*"):
        out = weft.job("analytical_leftover/m.yaml", "analytical_leftover/x", "--waves", pattern, "--no-fold",
                       "--waves-window", ":100 us", "--waves-budget", "1 MiB")
        check("$var" in (out / "waves.vcd").read_text(), f"'{pattern}' matches nothing")


@case
def p16_validate_refuses_what_always_fails(weft):
    trace = weft.file("invalid/x")
    machine = weft.file("invalid/m1.yaml")
    for command in (["validate", machine, "--set", f"workload.trace={trace}"],
                    ["run", machine, "--trace", trace, "--out", weft.out()]):
        weft(*command).ends(3, "x.0.et", "rank 0", "node 1", "INVALID")
    custom = weft.work / "custom.yaml"
    custom.write_text("weft: 1\ntopology: {notation: Ring(2), dimensions: [{bandwidth: 1 GB/s}]}\n"
                      "collectives: {all_reduce: 'custom:nowhere'}\n")
    weft("validate", custom).ends(3, "custom.yaml", "nowhere")


@case
def p16_validate_knows_algorithms_traces_and_groups(weft):
    weft("validate", weft.file("gather.yaml")).ends(2, "gather.yaml", "collectives.gather",
                                                    "double_binary_tree has no gather")
    weft("validate", weft.file("collective_waits/ring4.yaml"), "--trace", weft.file("collective_waits/alone"),
         "--groups", weft.file("collective_waits/groups.json")).ends(0)
    weft("validate", weft.file("collective_waits/ring4.yaml"), "--trace", weft.file("collective_waits/alone")).ends(
        3, "alone.0.et", '"a"')


@case
def p17_messages_name_what_is_wrong(weft):
    ring = ["--topology", "Ring(4)", "--bandwidth", "1 GB/s"]
    ran = weft("foo").ends(2, "foo")
    check("A subcommand is required" not in ran.err, ran.err)
    ran = weft("collective", *ring, "--op", "all_reduce", "--size", "1MiB", "--algorithm", "custom:").ends(2, "custom:")
    check("is a mapping" not in ran.err, ran.err)
    machine = weft.file("collective_waits/ring4.yaml")
    ran = weft("run", machine, "--trace", weft.data, "--out", weft.out()).ends(3, "is a folder")
    check("no trace at all" not in ran.err, ran.err)
    ran = weft("collective", "--topology", "Clos(hosts=2,leaves=2,spines=4294967297)", "--bandwidth", "1 GB/s",
               "--op", "all_reduce", "--size", "8B").ends(2, "4294967297")
    check("is not a number" not in ran.err, ran.err)
    weft("traffic", machine, "--link-latency", "1 us").ends(2, "--link-latency")
    weft("traffic", "--topology", "Ring(4)", "--flit-size", "32 B").ends(2, "--flit-size")


@case
def p18_bandwidths_with_many_digits_are_rounded(weft):
    machine = weft.work / "digits.yaml"
    machine.write_text("weft: 1\ntopology: {notation: Ring(2), dimensions: [{bandwidth: 28.571428571428573 GiB/s}]}\n")
    weft("validate", machine).ends(0)
    text = weft("describe", machine).ends(0).out
    check("30.68 GB/s" in text, text)


@case
def p19_drawings_are_dot(weft):
    for name in ("fat_tree", "ring8", "rails_clos", "hybrid_cube_mesh"):
        text = weft("describe", ROOT / f"configs/examples/{name}.yaml", "--dot").ends(0).out
        keywords = re.findall(r"^\s*(node|edge|graph|digraph|subgraph|strict)\s*(?:--|;|\[label)", text, re.M)
        check(not keywords, f"{name}: a node is called {keywords}")
        if shutil.which("dot"):
            drawn = subprocess.run(["dot", "-Tplain", "-o", os.devnull], input=text, text=True, check=False,
                                   stderr=subprocess.PIPE)
            check(drawn.returncode == 0, f"{name}: dot says {drawn.stderr}")


@case
def p21_merge_keys_and_documentation(weft):
    machine = weft.work / "merge.yaml"
    machine.write_text("weft: 1\ntopology:\n  notation: Ring(4)_Ring(4)\n  dimensions:\n"
                       "    - &link {bandwidth: 100 GB/s, latency: 500 ns}\n    - {<<: *link, latency: 1 us}\n")
    text = weft("describe", machine).ends(0).out
    check("500 ns a hop" in text and "1 us a hop" in text, text)
    check("layers.csv" in (ROOT / "README.md").read_text(), "README.md omits layers.csv")
    check("2 L + N + 3" in (ROOT / "docs/packet_fabric.md").read_text(),
          "docs/packet_fabric.md does not say what a Switch alone takes")


# ---- defaults


@case
def p22_messages_are_cut_through(weft):
    switch = ["--topology", "Switch(8)", "--bandwidth", "50 GB/s", "--latency", "500 ns", "--op", "all_gather",
              "--size", "8 MiB"]
    message, analytical = weft.time(*switch), weft.time(*switch, "--fidelity", "analytical")
    near(message, analytical, 0.01, "message against analytical")
    check(weft.time(*switch, "--switching", "store_and_forward") > 1.2 * message, "store and forward is no slower")


@case
def p23_small_collectives_have_one_chunk(weft):
    switch = ["--topology", "Switch(8)", "--bandwidth", "50 GB/s", "--latency", "500 ns", "--op", "all_reduce"]
    chosen, one = weft.time(*switch, "--size", "8B"), weft.time(*switch, "--size", "8B", "--chunks", "1")
    check(chosen == one, f"8 B: {chosen} ns, with one chunk {one} ns")
    large = weft("collective", *switch, "--size", "1GiB").ends(0).out
    check("# chunks (auto): 4" in large, large)


@case
def p24_the_share_of_the_links_is_told(weft):
    ring = ["collective", "--topology", "Ring(8)", "--bandwidth", "100 GB/s", "--op", "all_reduce", "--size", "1GiB"]
    told = weft(*ring).ends(0).out
    check("1 of 2 links" in told and "`collectives.queues_per_dimension: 2` lifts it to 100 %" in told, told)
    one = weft.time(*ring[1:])
    two = weft.time(*ring[1:], "--queues", "2")
    near(one / two, 2, 0.01, "two directions against one")


@case
def p25_memory_is_estimated(weft):
    machine = weft.work / "huge.yaml"
    machine.write_text("weft: 1\ntopology: {notation: Ring(16777216), dimensions: [{bandwidth: 100 GB/s}]}\n")
    for command in (["validate", machine], ["collective", machine, "--size", "1MiB", "--no-fold"]):
        ran = weft(*command).ends(3, "memory", "--force")
        check(re.search(r"\d+(\.\d+)? [GT]iB", ran.out + ran.err), ran.out + ran.err)


@case
def p26_sizes_and_configurations_in_either_form(weft):
    machine = weft.file("collective_waits/ring4.yaml")
    for form in ([machine], ["--config", machine]):
        found = weft.collective(*form, "--op", "all_reduce", "-b", "1M", "-e", "4M", "-f", "2")
        check([row["bytes"] for row in found] == [1 << 20, 1 << 21, 1 << 22], str(found))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("weft", nargs="?", help="the program")
    parser.add_argument("--data", help="the data folder")
    parser.add_argument("--only", default="", help="cases whose name begins so")
    parser.add_argument("--list", action="store_true", help="print the cases")
    options = parser.parse_args()
    chosen = [c for c in CASES if c.__name__.startswith(options.only)]
    if options.list:
        print("\n".join(c.__name__ for c in chosen))
        return 0
    if options.weft is None:
        parser.error("the program is missing")
    data = pathlib.Path(os.environ.get("WEFT_DATA_DIR") or options.data or ROOT.parent / "shared/data").resolve()
    if not (data / "defects").is_dir():
        print(f"no folder {data}/defects")
        return 1 if os.environ.get("CI") == "true" else 77
    failed = 0
    with tempfile.TemporaryDirectory(prefix="weft_defects_") as work:
        weft = Weft(str(pathlib.Path(options.weft).resolve()), data / "defects", pathlib.Path(work))
        for c in chosen:
            try:
                c(weft)
                mark = "; take away its mark `still_open`" if c.__name__ in OPEN else ""
                print(f"holds   {c.__name__}{mark}", flush=True)
            except Failure as e:
                if c.__name__ in OPEN:
                    print(f"open    {c.__name__}: {OPEN[c.__name__]}", flush=True)
                else:
                    failed += 1
                    print(f"FAILED  {c.__name__}: {e}", flush=True)
        if not options.only:
            there = {str(p.relative_to(weft.data)) for p in weft.data.rglob("*") if p.is_file()}
            for name in sorted(there - weft.used - EVIDENCE):
                failed += 1
                print(f"FAILED  no case uses {name}")
    print(f"{len(chosen)} cases, {failed} failures")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
