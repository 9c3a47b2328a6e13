#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Copyright the Weft authors
"""`weft emulate` from end to end: emulation_test.py WEFT PATTERN DELAY TRAINING. PATTERN is programs/pattern.c, DELAY
programs/delay.c, TRAINING examples/emulation/c/training.c."""

import glob
import json
import subprocess
import sys
import unittest

sys.dont_write_bytecode = True
from emulated_job import PATTERN, WEFT, EmulatedJob  # noqa: E402

DELAY, TRAINING = sys.argv[3:5]


class Emulation(EmulatedJob):
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

    def test_the_documented_example(self):
        machine = self.machine("FullyConnected(8)_Switch(8)")
        prefix = str(self.tmp / "training" / "job")
        self.emulate(machine, "0", "5", command=[TRAINING], options=["--capture", prefix])
        self.assertEqual(len(self.lines), 1)
        self.assertRegex(self.lines[0], r"^\[0\] [0-9.]+ us$")
        self.assertEqual(float(self.lines[0].split()[1]), round(self.summary["time_ns"] / 1000, 3))
        self.assertEqual(self.summary["iterations"][0]["count"], 4)
        self.assertEqual(self.summary["iterations"][0]["deviation_ns"], 0)
        self.assertEqual(self.summary["collectives"], 20)
        replay = self.replay(machine, prefix)
        self.assertLess(abs(replay / 1000 - self.summary["time_ns"]) / self.summary["time_ns"], 0.01)

    def test_skew_is_drawn_again_for_each_rank_and_collective(self):
        options = ["--set", "environment.detail=full"]
        alone = self.emulate(self.machine("Ring(8)"), "0", "coll:all_reduce:65536", options=options)[0]
        for distribution, most in (("uniform", 50e6), ("exponential", 50e6 * 20)):
            more = f"environment: {{skew: 50 us, skew_distribution: {distribution}}}\n"
            times = []
            for seed in (1, 2, 1):
                machine = self.machine("Ring(8)", more=more + f"run: {{seed: {seed}}}")
                times.append(self.emulate(machine, "0", "repeat:4", "coll:all_reduce:65536", "end", options=options)[0])
            self.assertEqual(times[0], times[2])
            self.assertNotEqual(times[0], times[1])
            for took in times:
                # The last of seven joins half of `skew` late in nearly all draws, and never more than all of it (uniform).
                self.assertGreater(took, 4 * alone + 4 * 25e6 * 0.5)
                self.assertLessEqual(took, 4 * (alone + most))

    def test_classes_follow_their_real_rank(self):
        # Two stages that compute for different times: who follows rank 4 joins with it.
        steps = ["0:compute:1000000", "4:compute:900000000", "0:comm:0,1,2,3", "4:comm:4,5,6,7", "on:1", "coll:all_reduce:65536"]
        classes = "environment: {classes: [{real: 0, ranks: [1..3]}, {real: 4, ranks: [5..7]}]}"
        for detail in ("full", "restricted"):
            options = ["--set", f"environment.detail={detail}"]
            apart = self.emulate(self.machine("Ring(8)", more=classes), "0,4", *steps, options=options)
            self.assertEqual(apart[4] - apart[0], 899000000)
            # The other way round: ranks of a stage wait for the real rank of the other one.
            crossed = "environment: {classes: [{real: 4, ranks: [1..3]}]}"
            whole = ["0:compute:1000000", "4:compute:900000000", "coll:all_reduce:65536"]
            late = self.emulate(self.machine("Ring(8)", more=crossed), "0,4", *whole, options=options)
            self.assertGreater(min(late.values()), 900000000)

    def test_cost_follows_the_real_rank(self):
        two = "Ring(64)_Switch(1024)"
        for notation, fidelity in (("Switch(8)", "analytical"), ("Switch(512)", "analytical"), ("Switch(65536)", "analytical"),
                                   (two, "analytical"), (two, "message")):
            machine = self.machine(notation, fidelity=fidelity)
            if "_" in notation:
                machine.write_text(machine.read_text().replace(
                    f"fidelity: {fidelity}}}", f"fidelity: {fidelity}}}\n    - {{bandwidth: 25 GB/s, latency: 2 us, fidelity: {fidelity}}}"))
            self.emulate(machine, "0", "repeat:1000", "coll:all_reduce:262144", "end", options=["--time-limit", "60 s"])
            self.assertEqual(self.summary["collectives"], 1000)
            self.assertLess(self.summary["peak_rss_MiB"], 200 * 1e6 / 2**20)

    # -- delays

    def test_what_if_delays_cost_what_is_exposed(self):
        for count in (13, 37):
            backward = ["compute:1000000000", "icoll:all_reduce:1024"]
            hidden = [f"repeat:{count}", *backward, "end", "compute:3000000000", "wait"]
            exposed = [f"repeat:{count}", "compute:1000000000", "coll:all_reduce:1024", "end"]
            alone = self.emulate(self.machine("Ring(8)"), "0", "coll:all_reduce:1024")[0]
            for ms in (0, 1, 2, 4, 8):
                rules = f"collectives: {{rules: [{{operation: all_reduce, delay: {ms} ms}}]}}"
                for detail in ("full", "restricted"):
                    machine = self.machine("Ring(8)", more=rules)
                    options = ["--set", f"environment.detail={detail}"]
                    # All wait at once: the last one, behind 3 ms of work. Flat, then a line with the slope 1.
                    took = self.emulate(machine, "0", *hidden, options=options)[0]
                    wanted = max((count + 3) * 10**9, count * 10**9 + ms * 10**9 + alone)
                    self.assertLess(abs(took - wanted) / wanted, 0.01, (count, ms, detail))
                    # One after the other: each of them.
                    took = self.emulate(machine, "0", *exposed, options=options)[0]
                    wanted = count * ((1 + ms) * 10**9 + alone)
                    self.assertLess(abs(took - wanted) / wanted, 0.01, (count, ms, detail))

    def test_what_if_delays_behind_a_backward_pass(self):
        """All-reduces one after the other, as on a stream of NCCL, each behind the next layer's backward pass; the next forward
        pass hides the last one. Flat until the shortest slack is used; then the slope is the number of those without slack."""
        ms = 10**9
        for count in (13, 37):
            alone = self.emulate(self.machine("Ring(8)"), "0", "coll:all_reduce:1024")[0]
            # What a layer computes while the all-reduce before it runs: 3, 6 or 20 ms more than that takes.
            slack = [(3, 6, 20)[layer * layer % 3 if layer % 2 else layer % 3] for layer in range(count)]
            steps = []
            for layer in range(count):
                steps += [f"compute:{alone + slack[layer] * ms}", "wait", "icoll:all_reduce:1024"]
            steps += [f"compute:{alone + 6 * ms}", "wait"]

            def formula(delay):
                time = over = 0
                for layer in range(count):
                    time = max(time + alone + slack[layer] * ms, over)  # the backward pass, then the wait
                    over = time + delay * ms + alone
                return max(time + alone + 6 * ms, over)

            def exposed(delay):
                return sum(1 for own in slack[1:] if own < delay) + (1 if delay > 6 else 0)

            self.assertEqual({exposed(d) for d in (1, 2, 3)}, {0})
            self.assertGreater(exposed(8), exposed(5))
            self.assertGreater(exposed(5), 3)
            for detail in ("full", "restricted"):
                took = {}
                for delay in range(9):
                    rules = f"collectives: {{rules: [{{operation: all_reduce, delay: {delay} ms}}]}}"
                    machine = self.machine("Ring(8)", more=rules)
                    prefix = str(self.tmp / f"behind_{detail}_{count}_{delay}" / "job")
                    took[delay] = self.emulate(machine, "0", *steps, options=[
                        "--set", f"environment.detail={detail}", *(["--capture", prefix] if delay in (2, 8) else [])])[0]
                    self.assertLess(abs(took[delay] - formula(delay)), 1e-4 * formula(delay), (count, delay, detail))
                    if delay in (2, 8):
                        self.assertLess(abs(self.replay(machine, prefix) - took[delay]), 1e-4 * took[delay])
                for delay in (0, 1, 2):
                    self.assertEqual(took[delay], took[0], (count, delay, detail))
                for delay in range(8):
                    self.assertLess(abs((took[delay + 1] - took[delay]) / ms - exposed(delay + 0.5)), 0.01 * count,
                                    (count, delay, detail))

    def test_measured_compute_is_replayed(self):
        steps = ["repeat:30", "spin:2000", "coll:all_reduce:65536", "spin:1000", "icoll:all_gather:65536", "wait", "end"]
        times = []
        for run in range(2):
            prefix = str(self.tmp / f"measured{run}" / "job")
            machine = self.machine("Ring(8)")
            took = self.emulate(machine, "0", *steps, options=["--compute", "cpu", "--capture", prefix])[0]
            self.assertGreaterEqual(took, 30 * 3000 * 10**6)
            self.assertLess(abs(self.replay(machine, prefix) - took) / took, 0.01)
            times.append(took)
        self.assertLess(abs(times[0] - times[1]) / times[0], 0.25)

    def test_compute_of_a_table_and_scale(self):
        table = self.tmp / "compute.csv"
        table.write_text("".join(f"0,{call},{ps}\n" for call, ps in enumerate([1000000, 2000000, 5000000])))
        fixed = self.emulate(self.machine("Ring(8)"), "0", "repeat:4", "coll:barrier:0", "end")[0]
        took = self.emulate(self.machine("Ring(8)"), "0", "repeat:4", "coll:barrier:0", "end",
                            options=["--compute", f"table:{table}"])[0]
        # A blocking collective is two calls, its issue and its wait; compute before the wait is hidden. The last line is for
        # all calls that follow.
        self.assertEqual(took - fixed, 1000000 + 3 * 5000000)
        scaled = self.emulate(self.machine("Ring(8)"), "0", "repeat:10", "spin:1000", "coll:barrier:0", "end",
                              options=["--compute", "cpu", "--compute-scale", "10"])[0]
        self.assertGreaterEqual(scaled, 10 * 10 * 10**9)

    def test_a_plugin_says_how_long_steps_take(self):
        more = f"collectives: {{chunks: 1}}\nenvironment: {{delay: plugin, delay_plugin: {DELAY}}}"
        for world in (2, 8):
            for real in ("0", f"0,{world - 1}"):
                # A ring's all-reduce of 4 x 65536 B: 2 (n - 1) messages of an n-th.
                took = self.emulate(self.machine(f"Ring({world})", more=more), real, "coll:all_reduce:65536")
                self.assertEqual(set(took.values()), {2 * (world - 1) * (3000000 + 4 * 65536 // world)})
        # Stragglers are waited for, and what follows is as long as the source says.
        machine = self.machine("Ring(8)", more=more)
        alone = 14 * (3000000 + 4 * 65536 // 8)
        late = self.emulate(machine, "0,4", "4:compute:1000000000", "coll:all_reduce:65536")
        self.assertGreater(late[0], 1000000000)
        self.assertLessEqual(max(late.values()), 1000000000 + alone + 1)
        # Two dimensions, chunks that overlap, and an operation in one round.
        chunks = f"collectives: {{chunks: 3}}\nenvironment: {{delay: plugin, delay_plugin: {DELAY}}}"
        took = self.emulate(self.machine("Ring(4)_Switch(4)", more=chunks), "0", "coll:all_reduce:65536")[0]
        self.assertGreater(took, 10 * 3000000)
        took = self.emulate(self.machine("FullyConnected(8)", more=more), "0", "coll:all_to_all:1024")[0]
        self.assertGreaterEqual(took, 3000000 + 4 * 1024)
        # Its errors, and files that are none.
        self.emulate(machine, "0", "coll:all_reduce:14", code=2)
        self.assertIn("weft_delay() says -1 ps for step 0 of 14 of all_reduce of 56 B", self.error)
        self.emulate(machine, "0", "coll:barrier:0", options=["--set", "environment.detail=full"], code=2)
        self.assertIn("environment.delay: plugin", self.error)
        for path, text in (("/no/such/file.so", "cannot be loaded"), (TRAINING, "cannot be loaded"),
                           (glob.glob("/lib/*/libm.so.6")[0], "has no function `weft_delay`")):
            self.emulate(machine, "0", "coll:barrier:0", options=["--set", f"environment.delay_plugin={path}"], code=2)
            self.assertIn(text, self.error)

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

    def test_discovery_runs_every_rank_for_a_moment(self):
        machine = self.machine("Ring(4)_Switch(4)")
        columns = ["split:%4:/4", "on:1", "size:4", "coll:all_reduce:4096", "sendrecv:1:3:512"]
        # One real rank fits many grids. With all ranks' colours there is one answer, and the times are a rule's.
        self.emulate(machine, "0", *columns, code=4)
        found = self.emulate(machine, "0", *columns, options=["--discover"])
        rule = ["--set", "environment.communicators=[{call: 1, stride: 4, count: 4}]"]
        self.assertEqual(found, self.emulate(machine, "0", *columns, options=rule))
        self.assertEqual(len(self.lines), 1, "the short run's output is not shown")
        # Keys that turn the order round, colours in no grid (ranks 0, 1, 2 and 3 .. 15), ids, a second level.
        self.emulate(machine, "0", "split:%4:-1", "on:1", "size:4", "0:member:3", "coll:all_gather:64", options=["--discover"])
        self.emulate(machine, "1", "split:/3:0", "on:1", "1:size:3", "coll:barrier:0", options=["--discover=1"])
        self.emulate(machine, "0", "unique:4:/4:%4", "on:1", "size:4", "coll:all_reduce:64", options=["--discover"])
        self.emulate(machine, "0,5", "split:/8:0", "on:1", "size:8", "split:%2:0", "on:2", "size:4", "coll:all_reduce:64",
                     options=["--discover"])
        # A program that goes on for long is not run to its end; one that fails says so.
        self.emulate(machine, "0", "split:%4:0", "on:1", "repeat:30", "coll:barrier:0", "end", "9:hang", options=["--discover=20"])
        self.emulate(machine, "0", "split:%4:0", "9:exit:7", options=["--discover"], code=7)
        self.assertIn("--discover, which runs every rank for a moment: rank 9 has exited with status 7", self.error)
        self.emulate(machine, "0", "coll:barrier:0", options=["--discover=0"], code=2)

    # -- few processes for many real ranks

    def test_ranks_that_run_one_after_another_are_as_those_that_run_together(self):
        machine = self.machine("Ring(4)_Switch(4)", more="environment: {classes: [{real: 5, ranks: [4, 6, 7]}]}")
        jobs = {
            "stragglers": ["repeat:3", "0:compute:5000000", "5:compute:9000000", "9:compute:2000000", "coll:all_reduce:65536",
                           "icoll:all_gather:1024", "compute:3000000", "icoll:broadcast:4096:5", "wait", "end"],
            "communicators": ["cart:4,4", "on:1", "coll:all_reduce:4096", "on:0", "comm:0,5,9", "on:2", "0:compute:7000000",
                              "coll:all_to_all:512", "on:0", "sendrecv:4:1:4096"],
            "polls": ["5:compute:40000000", "icoll:all_reduce:65536", "testall", "icoll:all_gather:64", "icoll:barrier:0", "waitany",
                      "wait"],
        }
        for name, steps in jobs.items():
            for detail in ("full", "restricted"):
                options = ["--set", f"environment.detail={detail}"]
                prefix = str(self.tmp / f"one_{name}_{detail}" / "job")
                together = self.emulate(machine, "0,5,9", *steps, options=options)
                time, calls = self.summary["time_ns"], self.calls
                for at_once in (1, 2):
                    self.emulate(machine, "0,5,9", *steps, options=[*options, "--at-once", str(at_once), "--capture", prefix])
                    self.assertIn("an approximation (--at-once", self.error)
                    if name == "polls":  # a poll in vain costs time, and how many there are depends on the machine
                        self.assertLess(abs(self.summary["time_ns"] - time), 2 * 100, (name, detail))
                    else:
                        self.assertEqual((self.summary["time_ns"], self.calls), (time, calls), (name, detail, at_once))
                        self.assertEqual(self.summary["time_ns"] * 1000, max(together.values()))
        # Not less than it takes: nothing to do.
        self.emulate(machine, "0,5", "coll:barrier:0", options=["--at-once", "2"])
        self.assertNotIn("approximation", self.error)

    def test_ranks_that_cannot_run_one_after_another(self):
        for options, text in ((["--at-once", "0"], "--at-once"), (["--at-once", "1", "--clock", "wall"], "--clock virtual")):
            self.emulate(self.machine(), "0,4", "coll:barrier:0", options=options, code=2)
            self.assertIn(text, self.error)
        # What fails alone, and what does not fit together afterwards.
        self.emulate(self.machine(), "0,4", "4:exit:7", "coll:barrier:0", options=["--at-once", "1"], code=7)
        self.assertIn("while rank 4 ran alone: rank 4 has exited with status 7", self.error)
        self.emulate(self.machine(), "0,4", "0:coll:all_reduce:10", "4:coll:all_reduce:11", options=["--at-once", "1"], code=4)
        self.assertIn("different counts", self.error)

    # -- errors name both sides

    def wrong(self, *steps, says=(), real="0,4", more="", code=4):
        for detail in ("full", "restricted"):
            self.emulate(self.machine(more=more), real, *steps, options=["--set", f"environment.detail={detail}"], code=code)
            for text in says:
                self.assertIn(text, self.error)

    def test_different_operations(self):
        self.wrong("0:coll:all_reduce:10", "4:coll:all_gather:10", says=["different operations", "rank 0", "rank 4"])

    def test_different_counts(self):
        self.wrong("0:coll:all_reduce:10", "4:coll:all_reduce:11", says=["different counts", "rank 0 calls all_reduce of 10"])

    def test_different_roots(self):
        self.wrong("0:coll:broadcast:10:0", "4:coll:broadcast:10:1", says=["different roots"])

    def test_different_types(self):
        one = "rank 0 calls all_reduce of 10 float32 (sum) \"all_reduce\", rank 4 calls "
        for type_and_reduction, call in (("5:0", "all_reduce of 10 int32 (sum)"), ("12:0", "all_reduce of 10 float64 (sum)"),
                                         ("5:3", "all_reduce of 10 int32 (max)")):
            self.wrong(f"4:as:{type_and_reduction}", "coll:all_reduce:10",
                       says=[f"collective number 0 on communicator 0 has different types: {one}{call} \"all_reduce\""])
        # The second one of a communicator, where rank 4 comes later; elements without a type are of one size.
        self.wrong("comm:0,2,4,6", "on:1", "as:0:0:8", "coll:broadcast:10:1", "4:as:0:0:4", "4:compute:1000000000",
                   "coll:broadcast:10:1",
                   says=["collective number 1 on communicator 1 has different types: rank 0 calls broadcast of 10 byte x 8 B, "
                         "root 1 \"broadcast\", rank 4 calls broadcast of 10 byte x 4 B, root 1 \"broadcast\""])
        self.wrong("4:as:5:0", "coll:barrier:0", code=0)

    def test_different_reductions(self):
        for operation, root in (("all_reduce", ""), ("reduce_scatter", ""), ("reduce", ", root 3")):
            self.wrong("4:as:11:3", f"coll:{operation}:10:3",
                       says=[f"collective number 0 on communicator 0 has different reductions: rank 0 calls {operation} of 10 "
                             f"float32 (sum){root} \"{operation}\", rank 4 calls {operation} of 10 float32 (max){root} "
                             f"\"{operation}\""])
        self.wrong("4:as:11:3", "coll:all_gather:10", code=0)

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

    # -- the command line

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
