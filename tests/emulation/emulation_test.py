#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Copyright the Weft authors
"""`weft emulate` from end to end: emulation_test.py WEFT PATTERN. PATTERN is programs/pattern.c."""

import csv
import glob
import json
import os
import pathlib
import re
import signal
import socket
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


class Emulation(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.tmp = pathlib.Path(self.folder.name)
        (self.tmp / "sockets").mkdir()
        self.env = dict(os.environ, TMPDIR=str(self.tmp / "sockets"))

    def tearDown(self):
        self.assertEqual(os.listdir(self.tmp / "sockets"), [], "sockets are left behind")
        left = [p for p in glob.glob("/proc/[0-9]*/environ") if self.of_us(p)]
        self.assertEqual(left, [], "processes are left behind")
        self.folder.cleanup()

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
        line = [WEFT, "emulate", str(machine), "--real", real, "--compute", "fixed:0", "--out", str(out), "--json",
                *([] if "--time-limit" in options else ["--time-limit", "20 s"]), *options, "--", *(command or [PATTERN]), *steps]
        begin = time.monotonic()
        done = subprocess.run(line, env=self.env, capture_output=True, text=True, timeout=60)
        self.seconds = time.monotonic() - begin
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

    # -- times

    def test_a_collective_takes_as_long_as_weft_collective_says(self):
        for notation in ("Ring(8)", "Switch(16)", "Ring(4)_Switch(4)"):
            machine = self.machine(notation)
            done = subprocess.run([WEFT, "collective", str(machine), "--size", "1 MiB", "--json"], capture_output=True,
                                  text=True, check=True)
            wanted = round(float(json.loads(done.stdout)["results"][0]["time_ns"]) * 1000)
            for detail in ("full", "restricted"):
                times = self.emulate(machine, "0,3", "coll:all_reduce:262144",
                                     options=["--set", f"environment.detail={detail}"])
                self.assertEqual(times, {0: wanted, 3: wanted}, (notation, detail))

    def test_the_replay_of_a_capture_is_equal_to_the_picosecond(self):
        steps = ["repeat:3", "coll:all_reduce:65536", "compute:7000001", "icoll:all_gather:1024", "icoll:all_to_all:512",
                 "wait", "sendrecv:1:5:100000", "coll:barrier:0", "end"]
        for notation in ("Ring(4)", "Switch(8)", "Ring(2)_Switch(4)"):
            for detail in ("full", "restricted"):
                machine = self.machine(notation)
                prefix = str(self.tmp / f"{detail}_{notation}" / "job")
                times = self.emulate(machine, "0", *steps,
                                     options=["--capture", prefix, "--set", f"environment.detail={detail}"])
                replay = self.replay(machine, prefix)
                if "_" in notation:  # collectives that begin at one instant take other turns in several dimensions
                    self.assertLess(abs(replay - times[0]) / replay, 0.01, (notation, detail))
                else:
                    self.assertEqual(replay, times[0], (notation, detail))

    def test_two_runs_are_equal(self):
        machine = self.machine("Switch(16)")
        steps = ["0:compute:5000000", "coll:all_reduce:4096", "sendrecv:1:1:4096", "coll:broadcast:100:3", "testall"]
        self.assertEqual(self.emulate(machine, "0,5,9", *steps), self.emulate(machine, "0,5,9", *steps))

    def test_overlap_costs_what_is_longer(self):
        machine = self.machine("Ring(8)")
        alone = self.emulate(machine, "0", "coll:all_reduce:1048576")[0]
        for part in (0, 0.5, 1, 1.5):
            work = int(alone * part)
            time = self.emulate(machine, "0", "icoll:all_reduce:1048576", f"compute:{work}", "wait")[0]
            self.assertEqual(time, max(alone, work))

    def test_a_straggler_is_waited_for(self):
        machine = self.machine("Ring(8)")
        alone = self.emulate(machine, "0,4", "coll:all_reduce:1048576")[0]
        late = self.emulate(machine, "0,4", "4:compute:1000000000", "coll:all_reduce:1048576",
                            options=["--set", "environment.detail=full"])
        self.assertGreater(late[0], 1000000000)
        self.assertLess(late[0], 1000000000 + alone + 1)
        restricted = self.emulate(machine, "0,4", "4:compute:1000000000", "coll:all_reduce:1048576")
        self.assertLess(abs(restricted[0] - late[0]) / late[0], 0.01)

    def test_polls_cost_time_and_end(self):
        machine = self.machine("Ring(8)")
        alone = self.emulate(machine, "0", "coll:all_reduce:1024")[0]
        polled = self.emulate(machine, "0", "icoll:all_reduce:1024", "testall")[0]
        self.assertGreaterEqual(polled, alone)
        self.assertLessEqual(polled, alone + 2 * 100000)

    def test_work_is_timed_by_the_npu(self):
        self.assertEqual(self.emulate(self.machine(), "0", "work:1000000:0")[0], 1000000)

    def test_iterations_are_reported(self):
        self.emulate(self.machine(), "0", *[s for i in range(4) for s in
                                            (f"mark:{i}", "compute:1000", "coll:barrier:0", f"endmark:{i}")])
        self.assertEqual(self.summary["iterations"][0]["count"], 3)
        self.assertEqual(self.summary["iterations"][0]["deviation_ns"], 0)

    # -- messages

    def test_ping_pong_by_echo_is_a_ping_pong_of_two_real_ranks(self):
        steps = ["repeat:5", "0:send:1:3:4096", "1:recv:0:3:4096", "1:send:0:3:4096", "0:recv:1:3:4096", "end"]
        both = self.emulate(self.machine("Ring(2)"), "0,1", *steps)
        echo = self.emulate(self.machine("Ring(2)", more="environment: {peers: [{rank: 1, when: echo}]}"), "0", *steps)
        self.assertEqual(echo[0], both[0])

    def test_ready_and_delay(self):
        ready = self.emulate(self.machine("Ring(2)", more="environment: {peers: [{rank: 1}]}"), "0", "recv:1:3:4096")
        late = self.emulate(self.machine("Ring(2)", more="environment: {peers: [{tag: 3, when: delay, delay: 5 us}]}"),
                            "0", "recv:1:3:4096")
        self.assertEqual(late[0] - ready[0], 5000000)

    def test_any_source_and_synchronous_sends(self):
        self.emulate(self.machine("Ring(4)"), "0,2", "0:ssend:2:1:100", "0:send:2:2:100", "2:recv:any:2:100",
                     "2:recv:any:1:100", code=4)
        self.assertIn("deadlock", self.error)
        self.emulate(self.machine("Ring(4)"), "0,2", "0:isend:2:1:100", "0:send:2:2:100", "0:wait", "2:recv:any:2:100",
                     "2:recv:any:1:100")

    # -- communicators

    def test_communicators(self):
        machine = self.machine("Ring(4)_Switch(4)")
        self.emulate(machine, "0,4", "0:comm:0,1,2,3", "4:comm:4,5,6,7", "on:1", "coll:all_reduce:4096", "size:4")
        self.emulate(machine, "0,4", "split:/4:%16", "on:1", "size:4", "coll:all_reduce:4096")
        # Three grids have rank 0 first in one part and rank 5 second in another one; a rule says which it is.
        self.emulate(machine, "0,5", "split:%4:/4", "on:1", "size:4", "coll:all_reduce:4096", code=4)
        self.assertIn("3 regular grids fit", self.error)
        self.emulate(machine, "0,5", "split:%4:/4", "on:1", "size:4", "coll:all_reduce:4096",
                     options=["--set", "environment.detail=full", "--set",
                              "environment.communicators=[{call: 1, stride: 4, count: 4}]"])
        self.emulate(machine, "0,4", "unique:4:%4:/4", "on:1", "size:4", "coll:all_reduce:4096")
        self.emulate(machine, "0", "cart:4,4", "on:1", "size:16", "sendrecv:4:1:1000")
        rule = self.machine("Ring(4)_Switch(4)", more="environment: {communicators: [{call: 1, stride: 4, count: 4}]}")
        self.emulate(rule, "0", "split:%4:/4", "on:1", "size:4", "coll:all_reduce:4096")

    def test_a_split_that_cannot_be_known(self):
        self.emulate(self.machine("Ring(4)_Switch(4)"), "0", "split:%4:0", code=4)
        self.assertIn("split number 1", self.error)
        self.assertIn("environment.communicators", self.error)

    # -- errors name both sides

    def wrong(self, *steps, says=(), real="0,4", more="", code=4):
        for detail in ("full", "restricted"):
            self.emulate(self.machine(more=more), real, *steps, options=["--set", f"environment.detail={detail}"], code=code)
            for text in says:
                self.assertIn(text, self.error)
            self.assertLess(self.seconds, 10)

    def test_different_operations(self):
        self.wrong("0:coll:all_reduce:10", "4:coll:all_gather:10", says=["different operations", "rank 0", "rank 4"])

    def test_different_counts(self):
        self.wrong("0:coll:all_reduce:10", "4:coll:all_reduce:11", says=["different counts", "rank 0 calls all_reduce of 10"])

    def test_different_roots(self):
        self.wrong("0:coll:broadcast:10:0", "4:coll:broadcast:10:1", says=["different roots"])

    def test_a_rank_that_never_joins(self):
        self.wrong("0:coll:all_reduce:10", says=["rank 4 never did", "deadlock"])

    def test_a_receive_that_is_too_short(self):
        self.wrong("0:send:4:1:100", "4:recv:0:1:99", says=["at most 99 B", "100 B"])

    def test_requests_at_the_end(self):
        self.wrong("0:irecv:4:1:100", says=["BYE", "receive"])

    def test_no_message_from_an_emulated_rank(self):
        self.wrong("0:recv:1:1:100", says=["environment.peers", "rank 1"])

    def test_deadlock_of_real_ranks(self):
        self.wrong("0:recv:4:1:8", "4:recv:0:1:8", says=["deadlock", "rank 0 waits", "rank 4 waits"])

    def test_no_member(self):
        self.wrong("0:send:9:1:8", says=["no member 9"], code=9)

    # -- processes

    def test_the_exit_status_is_that_of_the_first_failure(self):
        self.emulate(self.machine(), "0,4", "coll:barrier:0", "4:exit:7", "coll:barrier:0", code=7)
        self.assertIn("rank 4 has exited with status 7", self.error)

    def test_a_killed_rank(self):
        for before in ([], ["coll:barrier:0"], ["0:icoll:all_reduce:10"], ["0:irecv:4:1:8"]):
            self.emulate(self.machine(), "0,4", *before, "4:kill", "coll:barrier:0", code=137)
            self.assertIn("killed by signal 9", self.error)
            self.assertLess(self.seconds, 10)

    def test_a_rank_that_closes(self):
        self.emulate(self.machine(), "0,4", "4:close", "coll:barrier:0", code=4)
        self.assertIn("rank 4 has closed its connection", self.error)

    def test_a_program_without_the_library(self):
        self.emulate(self.machine(), "0", command=["true"], code=4)
        self.assertIn("never said HELLO", self.error)

    def test_a_command_that_is_not_there(self):
        self.emulate(self.machine(), "0", command=["/no/such/program"], code=2)
        self.assertIn("cannot be started", self.error)

    def test_the_time_limit(self):
        self.emulate(self.machine(), "0,4", "4:hang", "coll:barrier:0", options=["--time-limit", "1 s"], code=4)
        self.assertIn("time limit", self.error)

    def test_children_of_ranks_end_too(self):
        self.emulate(self.machine(), "0", command=["sh", "-c", f"sleep 1000 & {PATTERN} coll:barrier:0"])

    def test_an_interrupt(self):
        line = [WEFT, "emulate", str(self.machine()), "--real", "0,4", "--out", str(self.tmp / "out"), "--", PATTERN,
                "4:hang", "coll:barrier:0"]
        running = subprocess.Popen(line, env=self.env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        time.sleep(1)
        running.send_signal(signal.SIGINT)
        _, error = running.communicate(timeout=20)
        self.assertEqual(running.returncode, 130, error)

    def test_strangers_and_broken_frames(self):
        for data, text in ((b"\xff" * 64, "multiple of 8"), (b"\x20\0\0\0\x07\0\0\0" + bytes(24), "must be HELLO")):
            line = [WEFT, "emulate", str(self.machine()), "--real", "0,4", "--out", str(self.tmp / "out"), "--", PATTERN,
                    "4:hang", "coll:barrier:0"]
            # Rank 4's process connects only after the stranger has: it sleeps first.
            line = line[:line.index("--") + 1] + ["sh", "-c", "sleep 30"]
            running = subprocess.Popen(line, env=self.env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            path = None
            for _ in range(200):
                found = glob.glob(str(self.tmp / "sockets" / "*" / "socket"))
                if found:
                    path = found[0]
                    break
                time.sleep(0.02)
            self.assertEqual(os.stat(os.path.dirname(path)).st_mode & 0o777, 0o700)
            with socket.socket(socket.AF_UNIX) as stranger:
                stranger.connect(path)
                stranger.send(data)
                _, error = running.communicate(timeout=20)
            self.assertEqual(running.returncode, 4, error)
            self.assertIn(text, error)

    def test_usage(self):
        for options, text in ((["--world", "9"], "--world 9"), (["--real", "8"], "--real"), (["--clock", "x"], "--clock"),
                              (["--compute", "x"], "--compute"), (["--data", "x"], "--data")):
            self.emulate(self.machine(), "0", "coll:barrier:0", options=options, code=2)
            self.assertIn(text, self.error)

    # -- the wall clock

    def test_the_wall_clock(self):
        self.emulate(self.machine(), "0,4", "repeat:20", "coll:all_reduce:65536", "end", options=["--clock", "wall"])
        self.assertIn("lateness", self.summary)
        self.assertEqual(self.summary["collectives"], 20)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=1)
