#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Copyright the Weft authors
"""Frames that `weft emulate` must refuse, and ranks that go in every state: frames_test.py WEFT PATTERN. The ranks are
programs/frames.py, which writes frames itself. After each job nothing is left."""

import os
import re
import sys
import unittest

sys.dont_write_bytecode = True
from emulated_job import EmulatedJob  # noqa: E402

FRAMES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "programs", "frames.py")
HELLO = ["hello", "answer", "all"]
# Rank 0 is far ahead, so that what rank 4 says is done, and its answers come; or it stays where nothing can be done.
AHEAD = ["0:mark:t=1000000000000", "0:stay"]
BEHIND = ["0:stay"]
RECEIVE = ["4:recv"]  # of what rank 0 never sends; its request is 2
BROKE = "broke the protocol weft-comm/1: "


class Frames(EmulatedJob):
    def frames(self, *steps, real="0,4", code=4, options=()):
        self.emulate(self.machine(), real, *steps, command=[sys.executable, "-I", "-S", FRAMES], options=options, code=code)
        self.nothing_is_left()

    def refused(self, text, *steps):
        """Rank 4's last frame is refused: Weft says so, tells it, and ends the other rank."""
        with self.subTest(steps=steps):
            self.frames(*steps, "stay")
            self.assertIn("rank 4 " + BROKE + text + "\n", self.error)
            self.assertTrue(any(line.startswith("[4] ERROR of ") and line.endswith(text) for line in self.lines), self.lines)
            self.assertTrue(any(line.startswith("[0] SHUTDOWN of ") and line.endswith(text) for line in self.lines),
                            self.lines)

    # -- HELLO

    def hello_refused(self, text, step):
        """Before HELLO a connection has no name but that it gives itself."""
        with self.subTest(step=step):
            self.frames("0:hello", "4:" + step, "stay")
            self.assertIn("a process that has not said HELLO " + BROKE + text, self.error)
            self.assertTrue(any(line.startswith("[4] ERROR of ") and text in line for line in self.lines), self.lines)

    def test_versions(self):
        for first, last in ((2, 3), (0, 0), (2, 4294967295)):
            self.hello_refused(f"rank 4 speaks the versions {first} to {last} of weft-comm, and this Weft version 1; install a "
                               "libweft_comm of the same version", f"hello:min={first}:max={last}")
        for first, last in ((0, 1), (1, 7), (0, 4294967295)):  # this one is among them
            self.frames(f"hello:min={first}:max={last}", "answer", "bye", "answer", code=0)
            self.assertEqual(sorted(line for line in self.lines if "WELCOME" in line),
                             [f"[{rank}] WELCOME of 1 at 0 ps" for rank in (0, 4)])

    def test_hello_that_does_not_fit_the_job(self):
        self.hello_refused('HELLO does not begin with "WEFT"', "hello:magic=7")
        self.hello_refused("rank 4 says that the job has 9 ranks, and it has 8", "hello:world=9")
        self.hello_refused("it says that it is rank 3, which is not real (real: 0, 4)", "hello:rank=3")
        self.hello_refused("the first frame is BYE, and must be HELLO", "bye")

    def test_a_second_hello(self):
        says = "a second HELLO; its last good request was "
        self.refused(says + "2 (MARK)", *HELLO, *AHEAD, "4:mark", "4:hello")
        self.refused(says + "3 (WAIT)", *HELLO, *AHEAD, *RECEIVE, "4:wait:requests=2", "4:hello")
        self.refused(says + "2 (BYE)", *HELLO, *AHEAD, "4:bye", "4:answer", "4:hello")
        # Who it says to be, and which versions it speaks, is not read again.
        self.refused(says + "2 (MARK)", *HELLO, *AHEAD, "4:mark", "4:hello:rank=0:min=9:max=9")

    # -- order

    def test_a_frame_of_a_blocked_rank(self):
        blocked = {
            "3 (WAIT)": [*RECEIVE, "4:wait:requests=2"],
            "3 (TEST)": [*RECEIVE, "4:test:requests=2"],  # which is answered when rank 0 is as far
            "2 (PROBE)": ["4:probe"],
            "2 (COMM_NEW)": ["4:comm_new:how=1:color=1"],
            "2 (COMPUTE)": ["4:compute:flops=1000"],
            "2 (BYE)": ["4:bye"],
        }
        for last, steps in blocked.items():
            for late in ("mark", "coll", "send", "recv", "wait", "test", "probe", "compute", "comm_new", "comm_free", "bye"):
                if late == "mark" or last == "3 (WAIT)":
                    self.refused(f"{late.upper()} while it waits for an answer; its last good request was {last}", *HELLO,
                                 *BEHIND, *steps, "4:" + late)
        # Those that wait for other ranks wait on when simulated time has come.
        for last in ("3 (WAIT)", "2 (PROBE)", "2 (COMM_NEW)"):
            self.refused(f"MARK while it waits for an answer; its last good request was {last}", *HELLO, *AHEAD,
                         *blocked[last], "4:sleep:100", "4:mark")
        # After the answer it may go on.
        self.frames(*HELLO, "0:send:peer=4", "4:recv", "wait:requests=2", "answer", "mark:t=1000000000", "bye:t=1000000000",
                    "answer", code=0)

    def test_a_time_stamp_in_the_past(self):
        for late in ("mark", "coll", "probe", "bye"):
            self.refused(f"{late.upper()} at 999 ps, and the rank was at 1000 ps before; its last good request was 2 (MARK)",
                         *HELLO, *AHEAD, "4:mark:t=1000", f"4:{late}:t=999")
        self.refused("MARK at -1 ps, and the rank was at 0 ps before; its last good request was 2 (MARK)", *HELLO, *AHEAD,
                     "4:mark", "4:mark:t=-1")
        # Before the answer's time: the poll took the rank's time on.
        self.refused("MARK at 99999 ps, and the rank was at 100000 ps before; its last good request was 2 (PROBE)", *HELLO,
                     *AHEAD, "4:probe:blocking=0", "4:answer", "4:mark:t=99999")
        self.frames(*HELLO, "mark:t=1000", "mark:t=1000", "bye:t=1000", "answer", code=0)
        # With the wall clock the server's time counts.
        self.frames(*HELLO, "mark:t=1000", "mark:t=999", "bye", "answer", options=["--clock", "wall"], code=0)

    def test_a_frame_after_bye(self):
        for late in ("mark", "coll", "wait", "compute", "comm_free", "bye"):
            self.refused(f"{late.upper()} after BYE; its last good request was 2 (BYE)", *HELLO, *AHEAD, "4:bye", "4:answer",
                         "4:" + late)
        # All ranks have ended, and the process has, too.
        self.frames(*HELLO, "bye", "answer", "mark", "exit:0", real="4")
        self.assertIn("rank 4 " + BROKE + "MARK after BYE; its last good request was 2 (BYE)", self.error)

    # -- what does not fit to the other rank's

    def test_both_sides_are_told(self):
        for what, given, call in (("types", "type=5", "64 int32 (sum)"), ("types", "type=12:element=8", "64 float64 (sum)"),
                                  ("types", "type=0:element=8", "64 byte x 8 B (sum)"),
                                  ("reductions", "reduction=3", "64 float32 (max)"), ("counts", "count=65", "65 float32 (sum)"),
                                  ("operations", "operation=1", "64 float32")):
            text = (f"collective number 0 on communicator 0 has different {what}: rank 0 calls all_reduce of 64 float32 (sum), "
                    f"rank 4 calls {'all_gather' if what == 'operations' else 'all_reduce'} of {call}")
            for wait in ([], ["wait:requests=2"]):  # told while it runs, or as the answer
                with self.subTest(given=given, wait=wait):
                    self.frames(*HELLO, "0:coll", f"4:coll:{given}", *(wait or ["mark:t=1000"]), "stay")
                    self.assertIn(text + "\n", self.error)
                    for rank in (0, 4):
                        self.assertTrue(any(line.startswith(f"[{rank}] ERROR of ") and line.endswith(text)
                                            for line in self.lines), self.lines)

    # -- types

    def test_frames_that_no_client_sends(self):
        self.refused("WELCOME is no frame of a client; its last good request was 2 (MARK)", *HELLO, *AHEAD, "4:mark",
                     "4:32:flags=0")
        self.refused("frame type 99 is no frame of a client; its last good request was 2 (MARK)", *HELLO, *AHEAD, "4:mark",
                     "4:99:flags=0")
        self.refused("a frame says that it has 28 bytes: it must be a multiple of 8 from 24 to 1048576", *HELLO, *AHEAD,
                     "4:mark:bytes=28")
        self.refused("WAIT for request 77, which does not exist, or is over", *HELLO, *AHEAD, "4:wait:requests=77")
        # A later version's, which says that it may be skipped.
        self.frames(*HELLO, "99:flags=1", "bye", "answer", code=0)


class Goes(EmulatedJob):
    """A rank that goes in every state: is killed, closes its connection, ends. That the state is reached is seen where it
    closes: Weft then names its last request."""

    STATES = {
        "nothing said": ("1 (HELLO)", AHEAD, []),
        "a collective under way": ("2 (COLL)", AHEAD, ["4:coll"]),
        "a receive under way": ("2 (RECV)", AHEAD, ["4:recv"]),
        "a send under way": ("2 (SEND)", AHEAD, ["4:send"]),
        "waits for a collective": ("3 (WAIT)", AHEAD, ["4:coll", "4:wait:requests=2"]),
        "waits for a receive": ("3 (WAIT)", AHEAD, ["4:recv", "4:wait:requests=2"]),
        "waits for any of two": ("4 (WAIT)", AHEAD, ["4:coll", "4:recv", "4:wait:how=1:requests=2,3"]),
        "TEST, not answered": ("3 (TEST)", BEHIND, ["4:coll", "4:test:requests=2"]),
        "TEST again and again": ("4 (TEST)", AHEAD, ["4:coll", "4:test:requests=2", "4:answer", "4:test:requests=2:t=100000",
                                                      "4:answer"]),
        "TEST of several": ("4 (TEST)", BEHIND, ["4:coll", "4:recv", "4:test:how=2:requests=2,3"]),
        "PROBE, not answered": ("2 (PROBE)", BEHIND, ["4:probe:blocking=0"]),
        "PROBE, answered": ("2 (PROBE)", AHEAD, ["4:probe:blocking=0", "4:answer"]),
        "waits in PROBE": ("2 (PROBE)", AHEAD, ["4:probe"]),
        "waits in PROBE of any": ("2 (PROBE)", AHEAD, ["4:probe:peer=-1:tag=-1"]),
        "MARK begun": ("2 (MARK)", AHEAD, ["4:mark"]),
        "MARK begun, not reached": ("2 (MARK)", BEHIND, ["4:mark"]),
        "MARK ended": ("3 (MARK)", AHEAD, ["4:mark", "4:mark:begin=0:t=5"]),
        "a region in an iteration": ("3 (MARK)", AHEAD, ["4:mark", "4:mark:kind=1:name=forward"]),
        "makes a communicator": ("2 (COMM_NEW)", AHEAD, ["4:comm_new:how=1:color=1"]),
        "COMPUTE, not answered": ("2 (COMPUTE)", BEHIND, ["4:compute:flops=1000"]),
        "BYE, not answered": ("2 (BYE)", BEHIND, ["4:bye"]),
    }

    def goes(self, how, code, says):
        """`says` is a pattern of what Weft says; LAST in it is the last request."""
        for state, (last, other, steps) in self.STATES.items():
            with self.subTest(state=state):
                self.emulate(self.machine(), "0,4", *HELLO, *steps, *other, "4:sleep:50", how, code=code,
                             command=[sys.executable, "-I", "-S", FRAMES])
                self.nothing_is_left()
                self.assertRegex(self.error, says.replace("LAST", re.escape(last)))
                self.assertTrue(any(line.startswith("[0] SHUTDOWN of ") for line in self.lines), self.lines)

    def test_killed(self):
        self.goes("4:kill", 137, "rank 4 was killed by signal 9")

    def test_closes(self):
        self.goes("4:close", 4,
                  r"rank 4 has closed its connection at \d+ ps without BYE; its last good request was (\d+ )?LAST\n")

    def test_ends_without_bye(self):
        self.goes("4:exit:3", 3, "rank 4 has exited with status 3")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=1)
