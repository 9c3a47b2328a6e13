#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Copyright the Weft authors
"""How jobs under `weft emulate` end: ranks and Weft killed in every state, strangers, time limits. After each nothing is
left. ends_test.py WEFT PATTERN."""

import glob
import os
import pathlib
import signal
import socket
import subprocess
import sys
import time
import unittest

sys.dont_write_bytecode = True
from emulated_job import PATTERN, WEFT, EmulatedJob  # noqa: E402


class Ends(EmulatedJob):
    def test_the_exit_status_is_that_of_the_first_failure(self):
        self.emulate(self.machine(), "0,4", "coll:barrier:0", "4:exit:7", "coll:barrier:0", code=7)
        self.assertIn("rank 4 has exited with status 7", self.error)

    def test_a_rank_is_killed_in_every_state(self):
        # Rank 0 stays where simulated time cannot pass it, or goes on to where what rank 4 asks before is answered. The
        # library keeps frames until it waits: `work` is such a wait. frames_test.py sends each at once.
        on = "0:work:1000000:0"
        states = {
            "runs": ["4:hang"],
            "runs, with a collective under way": [on, "4:icoll:all_reduce:1024", "4:work:1000:0", "4:hang"],
            "runs, with a receive under way": [on, "4:irecv:0:1:8", "4:work:1000:0", "4:hang"],
            "runs, in an iteration": [on, "4:mark:1", "4:work:1000:0", "4:hang"],
            "waits for a collective": ["4:coll:all_reduce:1024"],
            "waits for a receive": ["4:recv:0:1:8"],
            "waits for any of several": ["4:irecv:0:1:8", "4:irecv:0:2:8", "4:waitany"],
            "waits for a synchronous send": ["4:ssend:0:1:8"],
            "waits for a message": [on, "4:probe:0:1"],
            "waits for a test": ["4:irecv:0:1:8", "4:testall"],
            "tests again and again": ["0:work:1000000000000:0", "4:irecv:0:1:8", "4:testall"],
            "waits in an iteration": [on, "4:mark:1", "4:recv:0:1:8"],
            "makes a communicator": ["4:split:%2:0"],
            "makes one of an id": ["4:unique:2:%2:/2"],
            "waits for its work": ["4:work:1000:0"],
            "has work timed": [on, "4:work:1000:0", "4:hang"],
            "has ended a collective": ["coll:barrier:0", "4:hang"],
        }
        for state, steps in states.items():
            with self.subTest(state=state):
                running = self.start("0,4", *steps, "0:hang")
                pid = self.process_of(running, 4)
                time.sleep(0.2)
                self.assertIsNone(running.poll())
                self.ends_by(running, lambda pid=pid: os.kill(pid, signal.SIGKILL), 137, "rank 4 was killed by signal 9")

    def test_a_rank_is_killed_before_and_within_hello(self):
        connects = ("import os, signal, socket, time\ns = socket.socket(socket.AF_UNIX)\ns.connect(os.environ['WEFT_SOCKET'])\n"
                    "s.send(%s)\ntime.sleep(0.2)\nos.kill(os.getpid(), signal.SIGKILL)\n")
        for script in ("import os, signal\nos.kill(os.getpid(), signal.SIGKILL)\n", connects % "b''",
                       connects % "b'\\x40\\0\\0\\0\\1'"):
            self.emulate(self.machine(), "0,4", command=[sys.executable, "-c", script], code=137)
            self.assertIn("killed by signal 9", self.error)

    def test_weft_is_killed(self):
        for number in (signal.SIGKILL, signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
            running = self.start("0,4", "0:hang", "4:coll:barrier:0")
            self.process_of(running, 4)
            time.sleep(0.2)
            os.kill(running.pid, number)
            running.communicate(timeout=20)
            self.assertNotEqual(running.returncode, 0)
            self.nothing_is_left()

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

    def test_a_time_limit_and_a_scale_that_would_do_nothing(self):
        for options, words in ((["--time-limit", "0 s"], "--time-limit 0"),
                               (["--compute", "fixed:1us", "--compute-scale", "2"], "measures none"),
                               (["--compute", "cpu", "--compute-scale", "1e30"], "0 to 1e9")):
            self.emulate(self.machine(), "0", command=["true"], options=options, code=2)
            self.assertIn(words, self.error)

    def start(self, real, *steps, command=None):
        """A job that runs; the test ends it."""
        line = [WEFT, "emulate", str(self.machine()), "--real", real, "--out", str(self.tmp / "out"), "--compute", "fixed:0",
                "--time-limit", "30 s", "--", *(command or [PATTERN]), *steps]
        return subprocess.Popen(line, env=self.env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def process_of(self, running, rank):
        """The process of a rank that runs PATTERN, when it has said HELLO: then the socket's folder is gone."""
        for _ in range(500):
            found = [p for p in glob.glob("/proc/[0-9]*/environ") if self.of_us(p) and self.is_rank(p, rank)]
            if found and not os.listdir(self.tmp / "sockets"):
                return int(found[0].split("/")[2])
            time.sleep(0.01)
        running.kill()
        self.fail(f"rank {rank} does not come: {running.communicate()}")

    def is_rank(self, path, rank):
        try:
            return f"\0WEFT_RANK={rank}\0".encode() in b"\0" + pathlib.Path(path).read_bytes() + b"\0"
        except OSError:
            return False

    def ends_by(self, running, action, code, text):
        action()
        _, error = running.communicate(timeout=20)  # less than the job's time limit
        self.assertEqual(running.returncode, code, error)
        self.assertIn(text, error)
        self.nothing_is_left()

    def socket_of(self):
        for _ in range(500):
            found = glob.glob(str(self.tmp / "sockets" / "*" / "socket"))
            if found:
                return found[0]
            time.sleep(0.01)
        self.fail("there is no socket")

    @unittest.skipIf(os.geteuid() != 0, "only root can be another user")
    def test_another_user_cannot_join(self):
        join = ("import os, socket, sys\nos.setgid(65534)\nos.setuid(65534)\ns = socket.socket(socket.AF_UNIX)\n"
                "try:\n s.connect(sys.argv[1])\nexcept PermissionError:\n sys.exit(3)\n"
                "try:\n s.send(bytes(64))\n sys.exit(4 if s.recv(1) == b'' else 5)\n"
                "except (ConnectionResetError, BrokenPipeError):\n sys.exit(4)\n")
        running = self.start("0", command=["sleep", "20"])
        path = self.socket_of()
        os.chmod(self.tmp, 0o755)  # the test's own folder; the socket's is private
        os.chmod(self.tmp / "sockets", 0o755)
        self.assertEqual(os.stat(os.path.dirname(path)).st_mode & 0o777, 0o700)
        self.assertEqual(os.stat(path).st_mode & 0o777, 0o600)
        self.assertEqual(subprocess.run([sys.executable, "-c", join, path]).returncode, 3)
        # With every permission it gets through to Weft, which asks the kernel who it is.
        os.chmod(os.path.dirname(path), 0o777)
        os.chmod(path, 0o666)
        self.assertEqual(subprocess.run([sys.executable, "-c", join, path]).returncode, 4)
        self.assertIsNone(running.poll())
        running.send_signal(signal.SIGINT)
        _, error = running.communicate(timeout=20)
        self.assertEqual(running.returncode, 130, error)
        self.assertIn("a connection of user 65534", error)

    def test_a_second_process_of_one_rank(self):
        # Rank 4 stays away: once all ranks are there, the socket is gone and nobody else can connect.
        two = f"if [ $WEFT_RANK = 4 ]; then exec sleep 30; fi; {PATTERN} 0:hang & {PATTERN} 0:hang; wait"
        self.emulate(self.machine(), "0,4", command=["sh", "-c", two], code=4)
        self.assertIn("a second process says that it is rank 0", self.error)

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


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=1)
