#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Copyright the Weft authors
"""`weft emulate` and ranks that send wrong frames: fuzzed_test.py WEFT FUZZED_RANK. Each job ends with its status, a
message and nothing left. WEFT_FUZZ_SESSIONS=1000: so many jobs; WEFT_FUZZ_SEED: others."""

import collections
import os
import re
import sys
import time
import unittest

sys.dont_write_bytecode = True
from emulated_job import PATTERN, EmulatedJob  # noqa: E402  (the second argument: fuzzed_rank)

SESSIONS = int(os.environ.get("WEFT_FUZZ_SESSIONS", "60"))
FIRST = int(os.environ.get("WEFT_FUZZ_SEED", "1")) * 100000
# 0: the session was right; 2: what the machine cannot do; 4: the job cannot be, or the protocol is broken.
STATUS = (0, 2, 4)


class Fuzzed(EmulatedJob):
    def session(self, machine, seed, every, detail):
        began = time.monotonic()
        self.emulate(machine, "0,4", str(seed), "0,4", "8", str(every), code=STATUS,
                     options=["--set", f"environment.detail={detail}", "--time-limit", "5 s"])
        took = time.monotonic() - began
        self.nothing_is_left()
        if self.status != 0:
            self.assertRegex(self.error, r"(?m)^weft: error: \S.*\S$", f"seed {seed}")
            self.assertNotRegex(self.error, r"std::|terminate|Sanitizer|runtime error|vector|basic_string|E5\d\d", f"seed {seed}")
        return took

    def test_sessions_that_are_right_end_well(self):
        machine = self.machine()
        for seed in range(10):
            self.session(machine, FIRST + seed, 0, ("restricted", "full")[seed % 2])
            self.assertEqual(self.status, 0, self.error)

    def test_sessions_that_are_wrong_end_with_a_message(self):
        machine = self.machine()
        ends, slowest = collections.Counter(), 0
        for seed in range(FIRST, FIRST + SESSIONS):
            slowest = max(slowest, self.session(machine, seed, 3 + seed % 20, ("restricted", "full")[seed % 2]))
            last = re.findall(r"(?m)^weft: error: (.*)$", self.error)
            ends[re.sub(r"\d+", "N", last[-1])[:60] if last else "ended"] += 1
        print(f"{SESSIONS} sessions, the slowest {slowest:.2f} s; their ends:", file=sys.stderr)
        for end, count in ends.most_common(12):
            print(f"{count:6} {end}", file=sys.stderr)
        self.assertGreater(len(ends), 3)
        # Only one whose rank hangs on purpose would wait for the time limit.
        self.assertLess(slowest, 5 * float(os.environ.get("WEFT_FUZZ_SLOWNESS", "1")))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=1)
