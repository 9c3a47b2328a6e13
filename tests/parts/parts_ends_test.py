#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Copyright the Weft authors
"""How runs in parts end: refusals, parts that die, signals. Nothing hangs, and nothing is left behind.

    tests/parts/parts_ends_test.py WEFT
"""

import json
import os
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time
import unittest

WEFT = ""
LONG = ["--topology", "Ring(16)_Ring(16)_Ring(16)", "--bandwidth", "50 GB/s", "--size", "16MiB", "--chunks", "64",
        "--no-fold"]


def weft(*arguments):
    return subprocess.run([WEFT, *arguments], capture_output=True, text=True, timeout=120)


def children(pid):
    """The processes of a run, by their parent."""
    found = []
    for entry in os.listdir("/proc"):
        if not entry.isdigit():
            continue
        try:
            with open(f"/proc/{entry}/stat") as file:
                text = file.read()
        except OSError:
            continue
        if int(text.rsplit(")", 1)[1].split()[1]) == pid:
            found.append(int(entry))
    return sorted(found)


def alive(pid):
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


class Ends(unittest.TestCase):
    def start(self, parts, *more, **how):
        run = subprocess.Popen([WEFT, "collective", *LONG, "--parts", str(parts), *more], stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True, **how)
        end = time.time() + 60
        while len(children(run.pid)) < parts and run.poll() is None and time.time() < end:
            time.sleep(0.02)
        time.sleep(0.5)
        return run, children(run.pid)

    def gone(self, processes):
        end = time.time() + 20
        while any(alive(p) for p in processes) and time.time() < end:
            time.sleep(0.05)
        self.assertFalse([p for p in processes if alive(p)])

    def test_a_part_that_dies_is_named(self):
        run, others = self.start(3)
        os.kill(others[1], signal.SIGKILL)  # the first one is in reserve
        out, err = run.communicate(timeout=60)
        self.assertEqual(run.returncode, 1, err)
        self.assertIn("part 1 of 3 was ended by signal 9", err)
        self.assertIn("window", err)
        self.gone(others)

    def test_the_others_end_with_part_0(self):
        run, others = self.start(3)
        run.kill()
        run.communicate(timeout=60)
        self.gone(others)

    def test_a_signal_ends_all_parts(self):
        for number, code in ((signal.SIGINT, 130), (signal.SIGTERM, 143)):
            run, others = self.start(2)
            run.send_signal(number)
            out, err = run.communicate(timeout=60)
            self.assertEqual(run.returncode, code, err)
            self.assertIn("interrupted by", err)
            self.gone(others)

    def test_a_signal_to_all_processes_leaves_results(self):
        # timeout, srun and a terminal signal the whole group.
        with tempfile.TemporaryDirectory() as above:
            folder = os.path.join(above, "out")
            for number, code in ((signal.SIGINT, 130), (signal.SIGTERM, 143)):
                run, others = self.start(3, "--out", folder, "--force", start_new_session=True)
                os.killpg(run.pid, number)
                out, err = run.communicate(timeout=60)
                self.assertEqual(run.returncode, code, err)
                self.assertIn("interrupted by", err)
                self.assertIn("0 of 1 sizes are finished", err)
                self.assertTrue(os.path.exists(os.path.join(folder, "collectives.csv")))
                shutil.rmtree(folder)
                self.gone(others)

    def test_a_dimension_without_latency_that_is_not_cut(self):
        for topology, latency, fidelity, cut in (
                ("Ring(2)_Switch(4)", "0 ns,100 ns", "analytical", "rank / 2 % 4"),
                ("Switch(3)_FullyConnected(3)", "300 ns,0 ns", "message", "rank / 1 % 3")):
            machine = ["--topology", topology, "--bandwidth", "50 GB/s", "--latency", latency, "--fidelity", fidelity,
                       "--no-fold", "--size", "1KiB", "--json"]
            for operation in ("all_reduce", "all_to_all"):
                one, parts = (weft("collective", *machine, "--op", operation, *more)
                              for more in ((), ("--parts", "2", "--parts-cut", cut)))
                for done in (one, parts):
                    self.assertEqual(done.returncode, 0, done.stderr)
                self.assertEqual(json.loads(one.stdout)["results"][0]["time_ns"],
                                 json.loads(parts.stdout)["results"][0]["time_ns"])

    def test_ranks_that_are_not_their_own_places(self):
        machine = ["--topology", "Switch(4)", "--bandwidth", "50 GB/s", "--latency", "500 ns", "--fidelity",
                   "analytical", "--size", "1 MiB", "--no-fold"]
        for places in ("[1,2,3,0]", "[1,0,3,2]"):
            one, two = (weft("collective", *machine, "--set", f"topology.mapping={places}", "--json", *parts)
                        for parts in ([], ["--parts", "2"]))
            self.assertEqual(two.returncode, 0, two.stderr)
            time_of = [json.loads(ran.stdout)["results"][0]["time_ns"] for ran in (one, two)]
            self.assertEqual(*time_of)

    def test_a_circle_that_a_part_undoes_when_it_closes(self):
        with tempfile.TemporaryDirectory() as folder:
            machine = os.path.join(folder, "m.yaml")
            with open(machine, "w") as file:
                file.write("weft: 1\ntopology:\n  notation: Clos(hosts=1,leaves=8,spines=1)\n"
                           "  dimensions: [{bandwidth: 100 GB/s, latency: 300 ns}]\nnpu: {peak: 1 TFLOPS}\n")
            job = ("--tp 4 --cp 2 --order tp,pp,dp,cp --layers 1 --hidden 64 --heads 4 --seq 128 --batch 2 "
                   "--microbatches 2 --vocab 4096 --zero 3 --slow 2=1.5").split()
            self.assertEqual(weft("generate", "llm", *job, "--out", folder).returncode, 0)
            ranks = []
            for parts in ("1", "2"):
                out = os.path.join(folder, parts)
                ran = weft("run", machine, "--trace", os.path.join(folder, "llm"), "--groups",
                           os.path.join(folder, "llm.groups.json"), "--no-fold", "--parts", parts, "--out", out)
                self.assertEqual(ran.returncode, 0, ran.stderr)
                with open(os.path.join(out, "ranks.csv")) as file:
                    ranks.append(file.read())
            self.assertEqual(*ranks)

    def test_refusals_name_the_key(self):
        machine = ["--topology", "Ring(4)", "--bandwidth", "50 GB/s", "--size", "1MiB", "--no-fold"]
        for more, text in (
                (["--parts", "0"], "--parts 0: give a number from 1"),
                (["--parts", "two"], "--parts two: give a number from 1"),
                (["--parts", "5"], "the machine has 4 NPUs"),
                (["--parts", "2", "--latency", "0 ns"], "without latency"),
                (["--parts", "2", "--fidelity", "packet", "--latency", "90 ps"], "packet network"),
                (["--parts", "2", "--data", "int32"], "`run.data`"),
                (["--parts-cut", "rank / 1 % 2"], "it needs --parts"),
                (["--parts", "1", "--parts-cut", "rank / 1 % 2"], "one part is not cut"),
                (["--parts", "2", "--parts-cut", "rank / 3 % 2"], "no cut of 4 NPUs into 2 parts"),
                (["--parts", "auto", "--parts-cut", "rank / 1 % 2"], "auto chooses the cut itself"),
                (["--parts", "2", "--set", "output.waves=npu*"], "are of one process; leave them out"),
                (["--parts", "2", "--critical-path"], "--critical-path")):
            done = weft("collective", *machine, *more)
            self.assertEqual(done.returncode, 2, (more, done.stderr))
            self.assertIn(text, done.stderr)

    def test_what_folds_runs_in_one_process(self):
        done = weft("collective", "--topology", "Ring(4)", "--bandwidth", "50 GB/s", "--size", "1MiB", "--fidelity",
                    "analytical", "--parts", "2")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("parts    1: the collective is folded", done.stdout)

    def test_a_pipeline_in_parts_finishes(self):
        with tempfile.TemporaryDirectory() as folder:
            config = os.path.join(folder, "machine.yaml")
            with open(config, "w") as file:
                file.write("weft: 1\ntopology:\n  notation: Ring(4)\n  dimensions:\n"
                           "    - {bandwidth: 50 GB/s, latency: 500 ns}\n")
            prefix = os.path.join(folder, "job")
            done = weft("generate", "llm", "--tp", "1", "--dp", "1", "--pp", "4", "--layers", "4", "--hidden", "64",
                        "--heads", "4", "--seq", "16", "--microbatches", "1", "--batch", "1", "--out", prefix)
            self.assertEqual(done.returncode, 0, done.stderr)
            trace = os.path.join(prefix, "llm")
            out = os.path.join(folder, "out")
            done = weft("run", config, "--trace", trace, "--groups", trace + ".groups.json", "--no-fold", "--parts", "2",
                        "--out", out)
            self.assertEqual(done.returncode, 0, done.stderr)
            with open(os.path.join(out, "summary.json")) as file:
                summary = json.load(file)
            self.assertIn("parts", summary)
            self.assertTrue(summary["finished"])


class Joined(unittest.TestCase):
    """Parts that are started one by one and join over TCP."""

    MACHINE = ["--topology", "Ring(8)", "--bandwidth", "50 GB/s", "--no-fold"]

    def setUp(self):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.at = f"127.0.0.1:{free.getsockname()[1]}"
        self.started = []

    def tearDown(self):
        for process in self.started:
            process.kill()
            if not process.stdout.closed:
                process.communicate()

    def part(self, which, *more, size="1MiB", machine=None, wait=60, **options):
        process = subprocess.Popen(
            [WEFT, "collective", *(machine or self.MACHINE), "--size", size, "--part-of", which, "--join", self.at,
             "--join-wait", str(wait), *more], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options)
        self.started.append(process)
        return process

    def ended(self, process, code, *texts):
        out, err = process.communicate(timeout=60)
        self.assertEqual(process.returncode, code, out + err)
        for text in texts:
            self.assertIn(text, err)
        return out

    def test_another_configuration_is_named_by_its_first_line(self):
        other = self.part("1/2", "--latency", "600 ns")
        first = self.part("0/2")
        for process in (first, other):
            self.ended(process, 2, "part 1 at 127.0.0.1 cannot join", "another configuration: line", "600 ns")
        other = self.part("1/2", size="2MiB")
        first = self.part("0/2")
        self.ended(first, 2, "another configuration", "bytes 2097152", "bytes 1048576")
        self.ended(other, 2, "another configuration")

    def test_numbers_of_parts(self):
        other = self.part("1/3")
        first = self.part("0/2")
        for process in (first, other):
            self.ended(process, 2, "it is one of 3 parts, and part 0 one of 2")
        one = self.part("1/3")
        two = self.part("1/3")
        self.ended(self.part("0/3"), 2, "there is a part 1 already")
        for process in (one, two):
            self.ended(process, 2, "there is a part 1 already")

    def test_another_version(self):
        """A part of the future, as far as its first words go."""
        first = self.part("0/2")
        for program, version, text in ((b"weft 99.0, build abc", 1, "it is weft 99.0, build abc, and part 0 is weft"),
                                       (b"?", 2, "it joins as version 2 does")):
            if first.poll() is not None:
                first = self.part("0/2")
            hello = struct.pack("<IQ", version, len(program)) + program + struct.pack("<II", 1, 2) + bytes(64)
            with self.connected() as to:
                to.sendall(b"WEFT" + struct.pack("<IQ", 1, len(hello)) + hello)
                self.assertIn(text.encode(), to.recv(4096))
            self.ended(first, 2, text)

    def connected(self):
        host, port = self.at.split(":")
        for _ in range(3000):
            to = socket.socket()
            try:
                to.connect((host, int(port)))
                return to
            except ConnectionRefusedError:
                to.close()
                time.sleep(0.01)
        self.fail("nobody listens")

    def test_strangers_change_nothing(self):
        first = self.part("0/2")
        with self.connected() as to:
            to.sendall(b"GET / HTTP/1.1\r\n\r\n" + bytes(100))
        with self.connected():
            pass
        other = self.part("1/2")
        self.assertIn("parts    2", self.ended(first, 0, "it is no part of a run"))
        self.ended(other, 0)

    def test_nobody_comes(self):
        self.ended(self.part("0/3", wait=1), 2, "after 1 s there is no part 1, 2 of 3", "--part-of 1/3")
        self.ended(self.part("1/3", wait=1), 2, self.at + ": nobody listens there", "start part 0")

    def long(self, which):
        return self.part(which, machine=LONG[:4] + ["--chunks", "64", "--no-fold"], size="16MiB")

    def windows_pass(self, *processes):
        """Until all have used a second of their processor: by then they are beyond the first window."""
        for process in processes:
            while process.poll() is None:
                with open(f"/proc/{process.pid}/stat") as file:
                    times = file.read().rsplit(")", 1)[1].split()[11:13]
                if sum(map(int, times)) > os.sysconf("SC_CLK_TCK"):
                    break
                time.sleep(0.02)
            self.assertIsNone(process.poll())

    def test_a_lost_connection_ends_all(self):
        for lost in (2, 0):
            parts = [self.long(f"{k}/3") for k in range(3)]
            self.windows_pass(*parts)
            parts[lost].kill()
            for k in range(3):
                if k != lost:
                    self.ended(parts[k], 1, f"the connection to part {lost} ended in window", "its ranks are those with")

    def test_a_signal_at_any_part_ends_all_with_results(self):
        for hit in (1, 0):
            parts = [self.long(f"{k}/2") for k in range(2)]
            self.windows_pass(*parts)
            parts[hit].send_signal(signal.SIGINT)
            self.ended(parts[0], 130, "interrupted by SIGINT", *(["to another part"] if hit == 1 else []))
            self.ended(parts[1], 0)

    def test_a_launcher_says_which_part_this_is(self):
        environment = {key: value for key, value in os.environ.items() if "OMPI" not in key and "PMI" not in key}
        variables = [("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"), ("PMI_RANK", "PMI_SIZE"),
                     ("SLURM_PROCID", "SLURM_NTASKS")]
        for number, count in variables:
            parts = [self.part("auto", env=dict(environment, **{number: str(k), count: "2"})) for k in (0, 1)]
            self.assertIn("parts    2", self.ended(parts[0], 0))
            self.ended(parts[1], 0)
        self.ended(self.part("auto", env=environment), 2, "no launcher says", "SLURM_PROCID")

    def test_real_launchers(self):
        """Open MPI's and MPICH's mpirun, as far as they are installed."""
        line = [WEFT, "collective", *self.MACHINE, "--size", "1MiB", "--part-of", "auto", "--join", self.at]
        allowed = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
        for launcher in (["mpirun.openmpi", "--oversubscribe", "-np", "3"], ["mpirun.mpich", "-np", "3"]):
            if shutil.which(launcher[0]) is None:
                continue
            done = subprocess.run([*launcher, *line], capture_output=True, text=True, timeout=120, env=allowed)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            self.assertIn("parts    3", done.stdout)
            self.assertEqual(done.stdout.count("# all_reduce on"), 1)

    def test_what_folds_is_done_by_part_0(self):
        machine = ["--topology", "Ring(8)", "--bandwidth", "50 GB/s", "--fidelity", "analytical"]
        self.ended(self.part("1/2", machine=machine), 0, "part 0 runs everything")
        self.assertIn("parts    1: the collective is folded", self.ended(self.part("0/2", machine=machine), 0))

    def test_options(self):
        base = ["collective", *self.MACHINE, "--size", "1MiB"]
        for more, text in (
                (["--part-of", "2/2", "--join", "h:1"], "--part-of 2/2: give K/N"),
                (["--part-of", "1", "--join", "h:1"], "--part-of 1: give K/N"),
                (["--part-of", "0/2"], "give --join HOST:PORT"),
                (["--join", "h:1"], "--join: it needs --part-of"),
                (["--part-of", "0/2", "--parts", "2", "--join", "h:1"], "leave one of them out"),
                (["--part-of", "0/2", "--join", "h"], "there is no port"),
                (["--part-of", "0/2", "--join", "h:0"], "the port is no number"),
                (["--part-of", "0/2", "--join", "::1:5"], "in brackets"),
                (["--part-of", "0/2", "--join", "no.such.host.invalid:5"], "the host no.such.host.invalid is not known"),
                (["--part-of", "0/2", "--join", "192.0.2.1:5000"], "part 0 cannot listen there"),
                (["--part-of", "0/2", "--join", "h:1", "--join-wait", "soon"], "give whole seconds"),
                (["--part-of", "0/9", "--join", "h:1"], "the machine has 8 NPUs")):
            done = weft(*base, *more)
            self.assertEqual(done.returncode, 2, (more, done.stderr))
            self.assertIn(text, done.stderr)


if __name__ == "__main__":
    WEFT = sys.argv.pop(1)
    unittest.main()
