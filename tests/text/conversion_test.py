#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Copyright the Weft authors
"""A text workload run directly and its converted traces end at the same picosecond: every public file, one and two
passes, four machines. Also what the command line refuses."""

import json
import os
import sys
import tempfile

from cases import check, failures, finish, weft

DATA = os.environ.get("WEFT_DATA_DIR") or (sys.argv[2] if len(sys.argv) > 2 else "")


def dimension(bandwidth, **keys):
    text = f"bandwidth: {bandwidth} GB/s, latency: 500 ns"
    return "{" + text + "".join(f", {k}: {v}" for k, v in keys.items()) + "}"


# Notation, dimensions, other keys. A group of 4 is whole dimensions on the first two and a part of one on the others.
MACHINES = {
    "ring_switch": ("Ring(4)_Switch(2)", [dimension(100), dimension(25)], ""),
    "torus": ("Ring(2)_Ring(2)_Ring(2)", [dimension(50, fidelity="analytical")] * 3, "collectives: {scheduling: fifo, chunks: 4}\n"),
    "switch": ("Switch(8)", [dimension(50)], "collectives: {chunks: 2}\n"),
    "split": ("FullyConnected(2)_Ring(4)", [dimension(200, fidelity="analytical"), dimension(25)],
              "npu: {compute_slots: 2}\ncollectives: {active_chunks_per_dimension: 2, dispatch_threshold: 4}\n"),
}


def summary(folder):
    with open(os.path.join(folder, "summary.json"), encoding="utf-8") as file:
        return json.load(file)


def compare(folder, path, machine, passes):
    notation = MACHINES[machine][0]
    what = f"{os.path.basename(path)} on {notation}, {passes} passes"
    direct = weft("run", f"{machine}.yaml", "--text", path, "--passes", str(passes), "--out", "direct", cwd=folder)
    check(direct.returncode == 0, f"{what}: {direct.stderr}")
    made = weft("trace", "convert", "--from", "text", path, "--ranks", "8", "--topology", notation, "--passes",
                str(passes), "--out", f"traces_{machine}_{passes}", "--name", "w", cwd=folder)
    check(made.returncode == 0, f"{what}: {made.stderr}")
    arguments = ["run", f"{machine}.yaml", "--trace", f"traces_{machine}_{passes}/w", "--out", "converted"]
    groups = f"traces_{machine}_{passes}/w.groups.json"
    if os.path.exists(os.path.join(folder, groups)):
        arguments += ["--groups", groups]
    converted = weft(*arguments, cwd=folder)
    check(converted.returncode == 0, f"{what}: {converted.stderr}")
    if direct.returncode or converted.returncode:
        return
    layers(os.path.join(folder, "direct"), what)
    times = [summary(os.path.join(folder, run))["time_ns"] for run in ("direct", "converted")]
    check(times[0] == times[1] and float(times[0]) > 0, f"{what}: {times}")
    for name in ("ranks.csv", "collectives.csv", "layers.csv"):
        texts = [open(os.path.join(folder, run, name), encoding="utf-8").read() for run in ("direct", "converted")]
        check(texts[0] == texts[1], f"{what}: {name} differs")


def layers(folder, what):
    """The rows of text_layers.csv add up; what is exposed is never more than the communication."""
    with open(os.path.join(folder, "text_layers.csv"), encoding="utf-8") as file:
        rows = [line.strip().split(",") for line in file][1:]
    total = rows.pop()
    for column in (3, 4):
        check(abs(sum(float(row[column]) for row in rows) - float(total[column])) < 0.01, f"{what}: column {column}")
    for row in rows:
        check(float(row[5]) <= float(row[4]) + 0.001, f"{what}: {row} waits longer than it communicates")
    end = float(summary(folder)["time_ns"])
    check(abs(end - float(total[3]) - float(total[5])) < 0.01, f"{what}: {end} is not {total}")
    # Only the last pass's communication can be left when the program has come to its end.
    check(sum(float(row[5]) for row in rows) <= float(total[5]) + 0.01, f"{what}: more waits than exposed")


def refused(folder, arguments, *words):
    ran = weft(*arguments, cwd=folder)
    check(ran.returncode != 0 and all(w in ran.stderr for w in words), f"{arguments}: {ran.returncode} {ran.stderr}")


def mistakes(folder):
    with open(os.path.join(folder, "w.txt"), "w", encoding="utf-8", newline="") as file:
        file.write("DATA\r\n1\r\nfc -1 10 NONE 0 20 NONE 0 30 ALLREDUCE 1048576 5\r\n")
    with open(os.path.join(folder, "bad.txt"), "w", encoding="utf-8") as file:
        file.write("DATA\n1\nfc -1 10 NONE 0 20 NONE 0 30 ALLREDUC 1048576 5\n")
    with open(os.path.join(folder, "large.txt"), "w", encoding="utf-8") as file:
        file.write("HYBRID_TRANSFORMER model_parallel_NPU_group: 16\n1\nfc -1 10 NONE 0 2 NONE 0 3 NONE 0 5\n")
    ran = weft("run", "switch.yaml", "--text", "w.txt", "--out", "o", cwd=folder)
    check(ran.returncode == 0, "Windows line ends: " + ran.stderr)
    refused(folder, ["run", "switch.yaml", "--text", "bad.txt"], "bad.txt:3: token 12", "layer 0 `fc`", "ALLREDUC")
    refused(folder, ["run", "switch.yaml", "--text", "nothing.txt"], "no such text workload file")
    refused(folder, ["run", "switch.yaml", "--text", "large.txt"], "has 8 NPUs")
    refused(folder, ["run", "switch.yaml", "--text", "w.txt", "--trace", "t"], "--trace and --text")
    refused(folder, ["run", "switch.yaml", "--text", "w.txt", "--groups", "g.json"], "workload.text", "workload.groups")
    refused(folder, ["run", "switch.yaml", "--trace", "t", "--passes", "2"], "--passes is for text workloads")
    refused(folder, ["run", "switch.yaml", "--text", "w.txt", "--set", "workload.clock=1"], "workload.clock", "GHz")
    refused(folder, ["run", "switch.yaml", "--text", "w.txt", "--set", "workload.model_parallel_dimensions=[3]"],
            "model_parallel_dimensions", "dimension 3")
    refused(folder, ["run", "switch.yaml", "--set", "workload.text=w.txt", "--set", "workload.trace=t"],
            "workload.text", "workload.trace")
    refused(folder, ["trace", "convert", "--from", "text", "w.txt", "--ranks", "4", "--topology", "Ring(8)", "--out", "x"],
            "--ranks is 4", "8 NPUs")
    refused(folder, ["trace", "convert", "--from", "text", "w.txt", "--out", "x"], "--topology and --ranks")
    refused(folder, ["trace", "convert", "--from", "json", "w.txt", "--ranks", "4", "--out", "x"], "--from")
    with open(os.path.join(folder, "long.txt"), "w", encoding="utf-8") as file:
        file.write("DATA\n1\nfc -1 18446744073709551615 NONE 0 2 NONE 0 3 NONE 0 5\n")
    ran = weft("run", "switch.yaml", "--text", "long.txt", cwd=folder)  # as of any time that cannot be held
    check(ran.returncode == 3 and "layer 0 `fc`" in ran.stderr and "213 days" in ran.stderr, ran.stderr)
    ran = weft("validate", "switch.yaml", "--text", "w.txt", cwd=folder)
    check(ran.returncode == 0 and "w.txt agree" in ran.stdout, "validate: " + ran.stdout + ran.stderr)
    refused(folder, ["validate", "switch.yaml", "--text", "bad.txt"], "ALLREDUC")
    with open(os.path.join(folder, "job.yaml"), "w", encoding="utf-8") as file:
        file.write("workload: {text: w.txt, npus: [0..3]}\n")
    refused(folder, ["run", "switch.yaml", "--job", "job.yaml", "--text", "w.txt"], "--text")
    ran = weft("run", "switch.yaml", "--job", "job.yaml", "--out", "job", cwd=folder)
    check(ran.returncode == 0 and os.path.exists(os.path.join(folder, "job", "job", "text_layers.csv")), "job: " + ran.stderr)
    with open(os.path.join(folder, "job.yaml"), "w", encoding="utf-8") as file:
        file.write("workload: {text: w.txt, trace: t/w, npus: [0..3]}\n")
    refused(folder, ["run", "switch.yaml", "--job", "job.yaml"], "`workload.text`", "`workload.trace`", "leave one")
    # Folded and not, the same.
    for fold, out in (([], "folded"), (["--no-fold"], "whole")):
        weft("run", "torus.yaml", "--text", "w.txt", "--passes", "3", "--out", out, *fold, cwd=folder)
    check(summary(os.path.join(folder, "folded"))["time_ns"] == summary(os.path.join(folder, "whole"))["time_ns"],
          "folding changes the time")
    # A fixed time: 10 + 30 ns of compute, 1 MiB all-reduced on Switch(8) over 7 + 7 rounds, 5 ns of update.
    check(float(summary(os.path.join(folder, "o"))["time_ns"]) > 45, "no time for the collective")


with tempfile.TemporaryDirectory() as folder:
    for name, (notation, dimensions, rest) in MACHINES.items():
        with open(os.path.join(folder, name + ".yaml"), "w", encoding="utf-8") as file:
            file.write(f"weft: 1\ntopology:\n  notation: {notation}\n  dimensions:\n")
            file.writelines(f"    - {d}\n" for d in dimensions)
            file.write(rest)
    mistakes(folder)
    texts = os.path.join(DATA, "text_workloads")
    if not os.path.isdir(texts):
        print("no data folder: the public files were not compared")
        sys.exit(1 if failures or os.environ.get("CI") == "true" else 0)
    files = sorted(f for f in os.listdir(texts) if f.endswith(".txt"))
    check(len(files) == 10, f"{len(files)} text workloads")
    for file in files:
        for machine in MACHINES:
            for passes in (1, 2):
                compare(folder, os.path.join(texts, file), machine, passes)
finish()
