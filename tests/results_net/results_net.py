#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Copyright the Weft authors
"""The results net: runs every case of cases.py and compares each result file's hash with hashes.json.

    results_net.py WEFT              compare; exit 1 and name the files that differ
    results_net.py WEFT --update     write hashes.json anew (a change of results is meant)
    results_net.py WEFT --keep DIR   also keep the result files, to compare two programs by `diff -r`
    results_net.py WEFT --only GLOB  only these cases

A change that restructures the code must not move any hash. What may differ between two runs of the same
program (wall time, memory) is left out of the hashes.
"""

import argparse
import concurrent.futures
import fnmatch
import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import cases as net

HERE = pathlib.Path(__file__).resolve().parent
CONFIGS = HERE.parent.parent / "configs"
HASHES = HERE / "hashes.json"
TIME_LIMIT = 240
#: Keys of JSON files that two runs of one program need not share.
VOLATILE = re.compile(rb'^\s*"(wall_s|peak_rss_MiB|weft_version|waves)":.*$', re.M)


def write_machines(folder):
    for name, notation, bandwidths, latencies in net.MACHINES:
        bandwidth, latency = bandwidths.split(","), latencies.split(",")
        count = max(len(bandwidth), len(latency))
        rows = [f"    - {{bandwidth: {bandwidth[min(i, len(bandwidth) - 1)]}, "
                f"latency: {latency[min(i, len(latency) - 1)]}}}" for i in range(count)]
        text = "weft: 1\ntopology:\n  notation: " + notation + "\n  dimensions:\n" + "\n".join(rows) + "\n"
        (folder / f"{name}.yaml").write_text(text)


def run(arguments, **options):
    return subprocess.run(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=TIME_LIMIT,
                          check=False, **options)


def hash_of(data, work):
    data = VOLATILE.sub(b"", data.replace(str(work).encode(), b"WORK").replace(str(CONFIGS).encode(), b"CONFIGS"))
    return hashlib.sha256(data).hexdigest()[:24]


def run_case(weft, work, name, arguments):
    """{file: hash} of one case; raises RuntimeError when weft fails."""
    out = work / "out" / name
    out.mkdir(parents=True)
    words = {"{traces}": work / "traces", "{machines}": work / "machines", "{configs}": CONFIGS}
    command = [weft]
    for word in arguments:
        for key, value in words.items():
            word = word.replace(key, str(value))
        command.append(word)
    if arguments[0] == "traffic":
        command += ["--json"]
    else:
        command += ["--out", str(out)]
        if arguments[0] == "collective":
            command += ["--json"]
    done = run(command)
    if done.returncode != 0:
        raise RuntimeError(f"exit {done.returncode}: {' '.join(command)}\n{done.stderr.decode(errors='replace')}")
    if "--json" in command:
        (out / "stdout.json").write_bytes(done.stdout)
    files = sorted(p for p in out.rglob("*") if p.is_file())
    return {str(p.relative_to(out)): hash_of(p.read_bytes(), work) for p in files if p.suffix != ".gtkw"}


def make_inputs(weft, work):
    """The machines and traces of the cases."""
    for folder in ("machines", "traces"):
        (work / folder).mkdir()
    write_machines(work / "machines")
    for name, arguments in net.TRACES.items():
        done = run([weft, "generate", *arguments, "--out", str(work / "traces"), "--name", name])
        if done.returncode != 0:
            sys.exit(f"results_net: generate {name}: {done.stderr.decode(errors='replace')}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("weft")
    parser.add_argument("--update", action="store_true")
    parser.add_argument("--keep", metavar="DIR")
    parser.add_argument("--only", metavar="GLOB", default="*")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    options = parser.parse_args()
    weft = str(pathlib.Path(options.weft).resolve())

    work = pathlib.Path(tempfile.mkdtemp(prefix="results_net."))
    try:
        make_inputs(weft, work)
        (work / "out").mkdir()
        chosen = [case for case in net.cases() if fnmatch.fnmatch(case[0], options.only)]
        found, failures = {}, []
        with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
            futures = {pool.submit(run_case, weft, work, *case): case[0] for case in chosen}
            for future in concurrent.futures.as_completed(futures):
                try:
                    found[futures[future]] = future.result()
                except (RuntimeError, subprocess.TimeoutExpired) as error:
                    failures.append(f"{futures[future]}: {error}")
        if options.keep:
            shutil.copytree(work / "out", options.keep, dirs_exist_ok=True)
    finally:
        shutil.rmtree(work, ignore_errors=True)

    expected = json.loads(HASHES.read_text()) if HASHES.exists() else {}
    if options.update:
        expected.update(found)
        names = {case[0] for case in net.cases()}
        expected = {name: expected[name] for name in sorted(expected) if name in names}
        HASHES.write_text(json.dumps(expected, indent=1) + "\n")
    differing = []
    for name, files in sorted(found.items()):
        before = expected.get(name, {})
        differing += [f"{name}/{file}" for file in sorted(before.keys() | files.keys())
                      if before.get(file) != files.get(file)]
    for line in failures:
        print("failed:", line)
    for line in differing:
        print("differs:", line)
    files = sum(len(f) for f in found.values())
    print(f"results_net: {len(found)} cases, {files} files, {len(differing)} differ, {len(failures)} failed")
    if differing:
        print("See what changed: run this with --keep DIR for both programs, then diff -r. "
              "If the change is meant, run it with --update and say why in the commit.")
    sys.exit(1 if differing or failures else 0)


if __name__ == "__main__":
    main()
