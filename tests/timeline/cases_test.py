#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Copyright the Weft authors
"""Timelines of runs that are cut short, too large, shared, or go wrong.

    cases_test.py WEFT [TEST ...]
"""

import json
import os
import pathlib
import re
import resource
import signal
import subprocess
import sys
import tempfile
import time
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import perfetto_reader  # noqa: E402
import results_check as check  # noqa: E402

WEFT = ""
QUICKSTART = HERE.parent.parent / "configs" / "examples" / "quickstart.yaml"


# A trace of its own, as docs/guide/traces.md says: messages of protobuf after their lengths.
def varint(value):
    out = b""
    while value >= 0x80:
        out, value = out + bytes([value & 0x7F | 0x80]), value >> 7
    return out + bytes([value])


def field(number, value):
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    data = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(data)) + data


def attribute(name, kind, value):
    return field(10, field(1, name) + field(kind, value))


def node(number, kind, name="", after=(), micros=0, **attributes):
    body = field(1, number) + field(2, name) + field(3, kind)
    body += b"".join(field(5, d) for d in after)
    if micros:
        body += field(7, micros)
    for key, value in attributes.items():
        body += attribute(key, 27, int(value)) if isinstance(value, bool) else attribute(key, 13, value)
    return body


COMP, SEND, RECV, LOAD = 4, 5, 6, 2


def write_trace(prefix, ranks):
    for rank, nodes in enumerate(ranks):
        head = field(1, "0.0.4")
        data = b"".join(varint(len(m)) + m for m in [head, *nodes])
        pathlib.Path(f"{prefix}.{rank}.et").write_bytes(data)


class Cases(unittest.TestCase):
    def setUp(self):
        self._folder = tempfile.TemporaryDirectory()
        self.work = pathlib.Path(self._folder.name)
        self.out = self.work / "out"

    def tearDown(self):
        self._folder.cleanup()

    def weft(self, *arguments, expect=0, **options):
        done = subprocess.run([WEFT, *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              timeout=300, check=False, text=True, **options)
        if expect is not None:
            self.assertEqual(done.returncode, expect, done.stderr)
        return done

    def traces(self):
        self.weft("generate", "llm", "--tp", "2", "--dp", "2", "--pp", "2", "--layers", "4", "--hidden", "512",
                  "--seq", "256", "--batch", "8", "--microbatches", "2", "--out", self.work, "--name", "llm")
        return ["run", QUICKSTART, "--trace", self.work / "llm", "--groups", self.work / "llm.groups.json",
                "--out", self.out]

    def ring(self, *more, size="256KiB", **options):
        return self.weft("collective", "--topology", "Ring(4)_Ring(4)", "--bandwidth", "50 GB/s", "--size", size,
                         "--chunks", "4", "--timeline", "--out", self.out, *more, **options)

    def timeline(self):
        return check.open_timeline(self.out)

    # What is in it

    def test_a_message_and_its_arrow(self):
        """One NPU sends 1000 bytes to the next: 20 ns on the link of 50 GB/s, 500 ns of latency."""
        write_trace(self.work / "t", [[node(1, COMP, "work", micros=3), node(2, SEND, "away", [1], comm_dst=1,
                                                                             comm_size=1000, comm_tag=7)],
                                      [node(5, RECV, "here", comm_src=0, comm_size=1000, comm_tag=7)]])
        (self.work / "m.yaml").write_text(
            "weft: 1\ntopology: {notation: Ring(2), dimensions: [{bandwidth: 50 GB/s, latency: 500 ns}]}\n"
            "npu: {peak: 1 TFLOPS, memory_bandwidth: 1 TB/s}\nhbm: {bandwidth: 1 TB/s, latency: 100 ns}\n")
        self.weft("run", self.work / "m.yaml", "--trace", self.work / "t", "--timeline", "--out", self.out)
        timeline = self.timeline()
        self.assertEqual([(s.name, s.begin, s.end, s.args) for s in timeline.of("NPUs/npu0/compute")],
                         [("work", 0, 3_000_000, {"node": 1})])
        (sent,) = timeline.of("NPUs/npu0/link d0_plus")
        (received,) = timeline.of("NPUs/npu1/received")
        self.assertEqual((sent.name, sent.begin, sent.end), ("point to point", 3_000_000, 3_020_000))
        self.assertEqual(received.begin, 3_520_000)
        self.assertEqual((received.args["from"], received.args["bytes"]), (0, 1000))
        self.assertEqual(sent.flows, received.ends)
        self.assertEqual([(s.name, s.begin, s.end) for s in timeline.of("NPUs/npu1/communication")],
                         [("here", 0, 3_520_000)])
        self.assertEqual(timeline.counters["NPUs/npu0/outstanding messages"], [(3000, 1), (3520, 0)])
        self.assertEqual(timeline.notes(), [])

    def test_accesses_of_memories(self):
        """Two loads of 1 MB at 1 TB/s, one after the other: the memory's queue, and when it is busy."""
        write_trace(self.work / "t", [[node(1, LOAD, "a", tensor_size=1_000_000),
                                       node(2, LOAD, "b", [1], tensor_size=1_000_000)], [node(1, COMP, "c", micros=1)]])
        (self.work / "m.yaml").write_text(
            "weft: 1\ntopology: {notation: Ring(2), dimensions: [{bandwidth: 50 GB/s, latency: 500 ns}]}\n"
            "npu: {peak: 1 TFLOPS, memory_bandwidth: 1 TB/s}\nhbm: {bandwidth: 1 TB/s, latency: 100 ns}\n")
        self.weft("run", self.work / "m.yaml", "--trace", self.work / "t", "--timeline", "--out", self.out)
        timeline = self.timeline()
        self.assertEqual([(s.name, s.begin, s.end) for s in timeline.of("NPUs/npu0/memory")],
                         [("a", 0, 1_100_000), ("b", 1_100_000, 2_200_000)])
        check.check_ranks(timeline, self.out)
        moved = timeline.counters["memory/hbm0/bytes moved"]
        self.assertEqual(moved[-1][1], 2_000_000)
        busy = timeline.of("memory/hbm0/busy")
        self.assertEqual(sum(s.end - s.begin for s in busy), 2_200_000)
        self.assertEqual(timeline.counters["memory/hbm0/accesses waiting or served"][-1][1], 0)

    def test_queues_and_bandwidth_of_the_machine(self):
        self.ring("--no-fold", size="1MiB")
        timeline = self.timeline()
        for npu in range(16):
            values = timeline.counters[f"NPUs/npu{npu}/outstanding messages"]
            self.assertEqual(values[-1][1], 0)
            self.assertGreater(max(v for _, v in values), 0)
        # What the bins hold is what the links have carried.
        total = sum(s.args["bytes"] for s in timeline.slices if "/link " in s.track)
        shown = 0
        for dimension in (0, 1):
            values = timeline.counters[f"machine/dimension {dimension}: bandwidth of all links"]
            shown += sum(v * (values[i + 1][0] - t) for i, (t, v) in enumerate(values[:-1]))
            busy = timeline.counters[f"machine/dimension {dimension}: links that are busy"]
            self.assertLessEqual(max(v for _, v in busy), 100.000001)
        self.assertAlmostEqual(shown / total, 1, places=6)

    def test_chunks_and_phases(self):
        self.ring()
        timeline = self.timeline()
        for npu in range(16):
            (whole,) = timeline.of(f"NPUs/npu{npu}/collectives")
            phases = timeline.of(f"NPUs/npu{npu}/phases of chunks")
            self.assertEqual({(s.args["chunk"], s.args["phase"]) for s in phases},
                             {(c, p) for c in range(4) for p in range(len(phases) // 4)})
            self.assertEqual(min(s.begin for s in phases), whole.begin)
            self.assertEqual(max(s.end for s in phases), whole.end)

    def test_several_jobs(self):
        self.traces()
        for job, npus in (("a", "[0..7]"), ("b", "[8..15]")):
            (self.work / f"{job}.yaml").write_text(
                f"weft: 1\nworkload: {{trace: {self.work}/llm, groups: {self.work}/llm.groups.json, npus: {npus}}}\n")
        machine = self.work / "m.yaml"
        machine.write_text("weft: 1\ntopology: {notation: FullyConnected(4)_Switch(4), dimensions: "
                           "[{bandwidth: 100 GB/s, latency: 300 ns}, {bandwidth: 50 GB/s, latency: 1 us}]}\n"
                           "npu: {peak: 312 TFLOPS, memory_bandwidth: 2 TB/s}\n"
                           "hbm: {bandwidth: 2 TB/s, latency: 120 ns}\n")
        self.weft("run", machine, "--job", self.work / "a.yaml", "--job", self.work / "b.yaml", "--timeline",
                  "--out", self.out)
        timeline = self.timeline()
        self.assertGreater(check.check_links(timeline, self.out), 0)
        for job, first in (("a", 0), ("b", 8)):
            check.check_ranks(timeline, self.out / job, lambda rank, first=first: rank + first)
            self.assertGreater(check.check_collectives(timeline, self.out / job, f"{job}: "), 0)
            self.assertFalse((self.out / job / "timeline.pftrace").exists())
        self.assertTrue(any(row.startswith("NPUs/npu8 (b rank 0)/") for row in timeline.rows()))

    # How much of it

    def test_a_small_budget_is_kept_and_the_sums_stay_exact(self):
        run = self.traces()
        self.weft(*run, "--timeline")
        whole = self.timeline()
        detail = []
        for budget in (256, 384, 512, 768):
            done = self.weft(*run, "--timeline", "--timeline-budget", f"{budget} KiB")
            timeline = self.timeline()
            self.assertLessEqual(timeline.bytes, budget << 10)
            self.assertIn("is kept within its budget", done.stderr)
            self.assertTrue(any("summed up" in n for n in timeline.notes()), timeline.notes())
            self.assertTrue(any("summed up" in w for w in json.loads((self.out / "summary.json").read_text())["warnings"]))
            self.assertNotIn("left out", done.stderr)
            check.check_links(timeline, self.out)
            check.check_ranks(timeline, self.out)
            detail.append(len(timeline.slices))
        self.assertEqual(detail, sorted(detail))
        self.assertLess(detail[-1], len(whole.slices))

    def test_rows_that_have_no_room_are_counted(self):
        done = self.weft("collective", "--topology", "Ring(8)_Ring(8)_Ring(4)", "--bandwidth", "50 GB/s", "--size",
                         "256KiB", "--timeline", "--timeline-budget", "64 KiB", "--out", self.out)
        timeline = self.timeline()
        self.assertLessEqual(timeline.bytes, 64 << 10)
        hidden = re.search(r"([\d,]+) rows with ([\d,]+) things had no room", done.stderr)
        self.assertIsNotNone(hidden, done.stderr)
        self.assertTrue(any("had no room and are left out" in n for n in timeline.notes()))
        self.assertGreater(len(timeline.slices), 0)

    def test_a_window(self):
        self.ring()
        whole = self.timeline()
        self.ring("--timeline-window", "5 us:9 us")
        part = self.timeline()
        touches = lambda s: s.begin <= 9_000_000 and s.end >= 5_000_000  # noqa: E731
        for row in (r for r in whole.rows() if "/link " in r or r.endswith(("/collectives", "/phases of chunks"))):
            self.assertEqual([(s.name, s.begin, s.end) for s in whole.of(row) if touches(s)],
                             [(s.name, s.begin, s.end) for s in part.of(row)], row)
        self.assertLess(len(part.slices), len(whole.slices))
        self.assertEqual([n for n in part.notes() if n.startswith("only what touches 5 us to 9 us")], part.notes())
        self.assertGreater(len(part.flows), 0)

    def test_a_folded_run_says_which_ranks_it_has(self):
        self.ring("--fidelity", "analytical")
        self.assertTrue(any(n.startswith("1 of 16 ranks are simulated") for n in self.timeline().notes()))

    # Runs that do not end well

    def test_a_stall(self):
        """Each waits for the other's message before it sends its own."""
        write_trace(self.work / "t", [[node(1, COMP, "work", micros=1), node(2, RECV, "wait", comm_src=1 - r,
                                                                            comm_size=1000, comm_tag=7),
                                       node(3, SEND, "send", [2], comm_dst=1 - r, comm_size=1000, comm_tag=7)]
                                      for r in range(2)])
        self.weft("run", QUICKSTART, "--set", "topology.notation=Ring(2)_Ring(1)", "--trace", self.work / "t",
                  "--timeline", "--no-fold", "--out", self.out, expect=4)
        timeline = self.timeline()
        for rank in range(2):
            (wait,) = timeline.of(f"NPUs/npu{rank}/communication")
            self.assertEqual((wait.name, wait.args.get("unfinished")), ("wait", 1))
            self.assertEqual(wait.end, 1_000_000)
        check.check_ranks(timeline, self.out)

    def interrupt(self, number):
        command = [WEFT, "collective", "--topology", "Ring(16)_Ring(16)", "--bandwidth", "50 GB/s", "--size", "1GiB",
                   "--fidelity", "packet", "--chunks", "64", "--timeline", "--timeline-budget", "8 MiB", "--out",
                   str(self.out)]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        part = self.out / "timeline.pftrace.part"
        while process.poll() is None and not (part.exists() and part.stat().st_size > 1 << 20):
            time.sleep(0.05)
        process.send_signal(number)
        _, error = process.communicate(timeout=120)
        self.assertEqual(process.returncode, 128 + number, error)
        timeline = self.timeline()
        self.assertLessEqual(timeline.bytes, 8 << 20)
        self.assertFalse(part.exists())
        parts = [s for row in timeline.rows() if row.endswith("/collectives") for s in timeline.of(row)]
        self.assertEqual(len(parts), 256)
        for slice_ in parts:
            self.assertEqual(slice_.args.get("unfinished"), 1)

    def test_sigint(self):
        self.interrupt(signal.SIGINT)

    def test_sigterm(self):
        self.interrupt(signal.SIGTERM)

    def test_a_killed_run_leaves_what_was_written(self):
        # A run of minutes, so that the signal comes in its midst on any host.
        command = [WEFT, "collective", "--topology", "Ring(16)_Ring(16)", "--bandwidth", "50 GB/s", "--size", "1GiB",
                   "--fidelity", "packet", "--chunks", "64", "--timeline", "--out", str(self.out)]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        part = self.out / "timeline.pftrace.part"
        while process.poll() is None and not (part.exists() and part.stat().st_size > 1 << 20):
            time.sleep(0.01)
        self.assertIsNone(process.poll(), "the run has ended by itself")
        process.kill()
        process.wait()
        # Whole packets, whose arrows may have one end.
        with open(part, "rb") as file:
            packets = sum(1 for _ in perfetto_reader.fields(file.read(), "Trace"))
        self.assertGreater(packets, 1000)

    def test_an_error_in_the_middle(self):
        """The third node would end after the last picosecond that there is, which shows when it begins."""
        half = 10 ** 13  # microseconds: of 213 days more than half
        write_trace(self.work / "t", [[node(1, COMP, "work", micros=1), node(2, COMP, "long", [1], micros=half),
                                       node(3, COMP, "longer", [2], micros=half)], [node(1, COMP, "work", micros=1)]])
        done = self.weft("run", QUICKSTART, "--set", "topology.notation=Ring(2)_Ring(1)", "--trace",
                         self.work / "t", "--timeline", "--out", self.out, expect=3)
        self.assertIn("213 days", done.stderr)
        timeline = self.timeline()
        self.assertEqual([(s.name, s.begin, s.end) for s in timeline.of("NPUs/npu0/compute")],
                         [("work", 0, 10 ** 6), ("long", 10 ** 6, 10 ** 6 + half * 10 ** 6)])

    def test_a_full_disk(self):
        """The results are all there, the error is clear, and what was written opens."""
        def limit():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (3 << 20, 3 << 20))

        plain = self.work / "plain"
        command = ["collective", "--topology", "Ring(8)_Ring(8)", "--bandwidth", "50 GB/s", "--size", "4MiB", "--chunks",
                   "16"]
        self.weft(*command, "--out", plain)
        done = self.weft(*command, "--timeline", "--out", self.out, expect=1, preexec_fn=limit)
        self.assertRegex(done.stderr, r"weft: error: .*timeline\.pftrace\.part: the timeline cannot be written: File too "
                                      r"large; free some space")
        self.assertEqual((self.out / "collectives.csv").read_text(), (plain / "collectives.csv").read_text())
        self.assertFalse((self.out / "timeline.pftrace").exists())
        with open(self.out / "timeline.pftrace.part", "rb") as file:
            packets = sum(1 for _ in perfetto_reader.fields(file.read(), "Trace"))
        self.assertGreater(packets, 1000)

    def test_a_file_that_cannot_be_made(self):
        (self.out / "timeline.pftrace.part").mkdir(parents=True)
        done = self.ring(expect=2)
        self.assertRegex(done.stderr, r"timeline\.pftrace\.part: the timeline cannot be written: Is a directory; check")

    def test_a_name_that_is_taken(self):
        (self.out / "timeline.pftrace").mkdir(parents=True)
        done = self.ring(expect=2)
        self.assertRegex(done.stderr, r"timeline\.pftrace: the timeline cannot get this name: .*; it is there as .*part")
        self.assertTrue((self.out / "collectives.csv").exists())
        perfetto_reader.Timeline(self.out / "timeline.pftrace.part")

    def test_options_that_are_wrong(self):
        for options, text in ((["--timeline-window", "1 us:2 us"], "--timeline-window is of --timeline"),
                              (["--timeline-budget", "1 MiB"], "--timeline-budget is of --timeline"),
                              (["--timeline"], "--timeline needs a folder"),
                              (["--timeline", "--out", self.out, "--timeline-window", "2 us"], "no colon"),
                              (["--timeline", "--out", self.out, "--timeline-window", "9 us:2 us"],
                               "would end at 2 us, before it begins at 9 us"),
                              (["--timeline", "--out", self.out, "--timeline-budget", "1 KiB"], "64 KiB")):
            done = self.weft("collective", "--topology", "Ring(4)", "--bandwidth", "50 GB/s", "--size", "1KiB", *options,
                             expect=2)
            self.assertIn(text, done.stderr)

    def test_an_old_timeline_goes(self):
        self.ring()
        self.weft("collective", "--topology", "Ring(4)", "--bandwidth", "50 GB/s", "--size", "1KiB", "--out", self.out)
        self.assertFalse((self.out / "timeline.pftrace").exists())

    def test_the_same_run_gives_the_same_bytes(self):
        run = self.traces()
        files = []
        for _ in range(2):
            self.weft(*run, "--timeline", "--timeline-budget", "512 KiB")
            files.append((self.out / "timeline.pftrace").read_bytes())
        self.assertEqual(files[0], files[1])

    def test_with_the_critical_path_and_waveforms(self):
        run = self.traces()
        self.weft(*run, "--critical-path", "--waves", "*")
        files = ("critical_path.json", "waves.vcd", "links.csv", "ranks.csv")
        plain = {f: (self.out / f).read_bytes() for f in files}
        self.weft(*run, "--timeline")
        alone = (self.out / "timeline.pftrace").read_bytes()
        self.weft(*run, "--critical-path", "--waves", "*", "--timeline")
        for f in files:
            self.assertEqual((self.out / f).read_bytes(), plain[f], f)
        self.assertEqual((self.out / "timeline.pftrace").read_bytes(), alone)


if __name__ == "__main__":
    WEFT = os.path.abspath(sys.argv.pop(1))
    unittest.main()
