# SPDX-License-Identifier: Apache-2.0
# Copyright the Weft authors
"""What the benches of communication libraries share: their options, their machines, a run."""

import argparse
import json
import pathlib
import re
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent


def parser(documentation):
    options = argparse.ArgumentParser(description=documentation.splitlines()[0])
    options.add_argument("weft", nargs="?", default=str(ROOT / "build/release/bin/weft"))
    options.add_argument("--fidelity", default="message")
    options.add_argument("--limit", type=float, default=2.0)
    options.add_argument("--machines", nargs="*")
    return options


def machines(names):
    """(path, text) of the machines of configs/machines that have a library; `names`: only those, None: all."""
    for machine in sorted((ROOT / "configs/machines").glob("*.yaml")):
        text = machine.read_text()
        if (not names or machine.stem in names) and re.search(r"library: *(nccl|rccl)", text):
            yield machine, text


def rows_of(command):
    """The results of a `weft collective --json`, or None, and why there are none."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        lines = done.stderr.strip().splitlines()
        return None, lines[-1] if lines else str(done.returncode)
    return json.loads(done.stdout)["results"], ""
