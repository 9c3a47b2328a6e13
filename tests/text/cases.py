# SPDX-License-Identifier: Apache-2.0
# Copyright the Weft authors
"""What the scripts of this folder share: the program (their first argument), checks that go on after a failure, files."""

import json
import os
import subprocess
import sys

WEFT = os.path.abspath(sys.argv[1])
failures = []


def weft(*arguments, cwd):
    return subprocess.run([WEFT, *arguments], cwd=cwd, capture_output=True, text=True)


def check(good, what):
    if not good:
        failures.append(what)
        print("FAILED:", what)


def write(folder, name, text):
    with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
        file.write(text if isinstance(text, str) else json.dumps(text))


def finish():
    """Ends the script: status 1 if anything failed."""
    print(f"{len(failures)} failures")
    sys.exit(1 if failures else 0)
