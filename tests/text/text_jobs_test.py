#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Copyright the Weft authors
"""Text workloads among `jobs`: on links of its own a job takes as long as alone; it shares links with jobs of traces;
a group that splits the ranks of a part of the machine; what cannot be is refused with file and key."""

import json
import os
import tempfile

from cases import check, finish, weft, write

MACHINE = "weft: 1\ntopology:\n  notation: Ring(4)_Switch(2)\n  dimensions:\n" \
          "    - {bandwidth: 50 GB/s, latency: 500 ns}\n    - {bandwidth: 20 GB/s, latency: 1 us}\n"
DATA = "DATA 2 a -1 1000 NONE 0 1000 NONE 0 1000 ALLREDUCE 262144 10 b -1 2000 NONE 0 2000 NONE 0 2000 ALLREDUCE 524288 10\n"
GROUPS = "HYBRID_TRANSFORMER model_parallel_NPU_group: 2\n2\n" \
         "a -1 1000 ALLREDUCE 65536 1000 ALLREDUCE 65536 1000 ALLREDUCE 262144 0\n" \
         "b -1 2000 ALLREDUCE 65536 2000 ALLREDUCE 65536 2000 ALLREDUCE 262144 0\n"


def run(folder, *arguments):
    ran = weft("run", *arguments, "--json", cwd=folder)
    check(ran.returncode == 0, f"{arguments}: {ran.stderr}")
    return json.loads(ran.stdout) if ran.returncode == 0 else {"time_ns": -1, "jobs": [{"time_ns": -2}] * 2}


def rows(folder, name):
    with open(os.path.join(folder, name), encoding="utf-8") as file:
        return file.read()


with tempfile.TemporaryDirectory() as place:
    write(place, "machine.yaml", MACHINE)
    write(place, "data.txt", DATA)
    write(place, "groups.txt", GROUPS)
    alone = {}
    for name, npus in (("data", "[0..3]"), ("groups", "[4..7]")):
        alone[name] = run(place, "machine.yaml", "--text", f"{name}.txt", "--passes", "2", "--set", f"workload.npus={npus}",
                          "--out", f"alone_{name}")
        check(weft("trace", "convert", "--from", "text", f"{name}.txt", "--topology", "Ring(4)", "--passes", "2", "--out", "t",
                   cwd=place).returncode == 0, name)
    entries = "jobs:\n  - {name: d, text: data.txt, passes: 2, npus: [0..3]}\n" \
              "  - {name: g, text: groups.txt, passes: 2, npus: [4..7]}\n"
    write(place, "jobs.yaml", MACHINE + entries)
    both = run(place, "jobs.yaml", "--out", "both")
    # Lines of the inner dimension have links of their own.
    check(both["jobs"][0]["time_ns"] == alone["data"]["time_ns"], f"data: {both['jobs']} {alone['data']['time_ns']}")
    check(both["jobs"][1]["time_ns"] == alone["groups"]["time_ns"], f"groups: {both['jobs']} {alone['groups']['time_ns']}")
    check(both["jobs"][0]["text"].endswith("data.txt"), str(both["jobs"][0]))
    for job, name in (("d", "data"), ("g", "groups")):
        check(rows(place, f"both/{job}/text_layers.csv") == rows(place, f"alone_{name}/text_layers.csv"), f"layers of {job}")
    # The converted traces, on the same NPUs, take as long.
    traced = run(place, "machine.yaml", "--trace", "t/groups", "--groups", "t/groups.groups.json", "--set",
                 "workload.npus=[4..7]", "--out", "traced")
    check(traced["time_ns"] == alone["groups"]["time_ns"], f"{traced['time_ns']} {alone['groups']['time_ns']}")
    # One of traces beside one of text.
    write(place, "mixed.yaml", MACHINE + "jobs:\n  - {name: d, text: data.txt, passes: 2, npus: [0, 2, 4, 6]}\n"
          "  - {name: g, trace: t/groups, groups: t/groups.groups.json, npus: [1, 3, 5, 7]}\n")
    mixed = run(place, "mixed.yaml", "--out", "mixed")
    spread = run(place, "machine.yaml", "--text", "data.txt", "--passes", "2", "--set", "workload.npus=[0, 2, 4, 6]", "--out",
                 "spread")
    # Two that send over the same links at the same time are both later than one alone.
    write(place, "shared.yaml", MACHINE + "jobs:\n  - {name: d, text: data.txt, passes: 2, npus: [0, 2, 4, 6]}\n"
          "  - {name: e, text: data.txt, passes: 2, npus: [1, 3, 5, 7]}\n")
    shared = run(place, "shared.yaml", "--out", "shared")
    check(all(job["time_ns"] > spread["time_ns"] > 0 for job in shared["jobs"]), f"{shared['jobs']} {spread['time_ns']}")
    # A job on all NPUs is the only workload, to the picosecond and to the byte of its layers.
    write(place, "hybrid.txt", GROUPS.replace("HYBRID_TRANSFORMER model_parallel_NPU_group: 2", "HYBRID_DATA_MODEL"))
    for fidelity in ("analytical", "message", "packet"):
        more = ("--set", f"topology.dimensions[0].fidelity={fidelity}", "--set", f"topology.dimensions[1].fidelity={fidelity}")
        for name in ("data", "groups", "hybrid"):
            write(place, "one.yaml", MACHINE + f"jobs: [{{name: one, text: {name}.txt, passes: 2, npus: [0..7]}}]\n")
            one = run(place, "one.yaml", *more, "--out", "one")
            plain = run(place, "machine.yaml", "--text", f"{name}.txt", "--passes", "2", *more, "--out", "plain")
            check(one["jobs"][0]["time_ns"] == plain["time_ns"] > 0, f"{name}, {fidelity}: {one['jobs']} {plain['time_ns']}")
            check(rows(place, "one/one/text_layers.csv") == rows(place, "plain/text_layers.csv"), f"{name}, {fidelity}: layers")
    write(place, "part.yaml", MACHINE + "jobs: [{text: hybrid.txt, npus: [0..3]}]\n")
    ran = weft("run", "part.yaml", "--out", "bad", cwd=place)
    check(ran.returncode == 2 and "hybrid.txt" in ran.stderr and "whole machine" in ran.stderr, ran.stderr)
    check(not os.path.exists(os.path.join(place, "mixed/g/text_layers.csv")), "a report of layers of traces")
    again = run(place, "mixed/effective.yaml", "--out", "again")
    check(again["jobs"][0]["time_ns"] == mixed["jobs"][0]["time_ns"], "effective.yaml of jobs")
    own = run(place, "mixed/d/effective.yaml", "--out", "own")
    check(own["time_ns"] == spread["time_ns"], "effective.yaml of one job")
    # The jobs' files.
    write(place, "a.yaml", "weft: 1\nworkload: {text: data.txt, passes: 2, npus: [0..3]}\n")
    write(place, "b.yaml", "weft: 1\nworkload: {text: groups.txt, passes: 2, npus: [4..7]}\n")
    files = run(place, "machine.yaml", "--job", "a.yaml", "--job", "b.yaml", "--out", "files")
    check([job["time_ns"] for job in files["jobs"]] == [job["time_ns"] for job in both["jobs"]], "jobs' files")
    scaled = run(place, "jobs.yaml", "--set", "jobs=[{text: data.txt, npus: [0..3], compute_scale: 3, comm_scale: 0}]", "--out", "s")
    check(scaled["jobs"][0]["time_ns"] >= 3 * 8000, str(scaled["jobs"][0]))
    for entry, words in (("{npus: [0..3]}", ("jobs[0].trace", "`text`")),
                         ("{text: data.txt, trace: t/groups, npus: [0..3]}", ("jobs[0].trace", "beside `text`")),
                         ("{text: data.txt, groups: g.json, npus: [0..3]}", ("jobs[0].groups", "beside `text`")),
                         ("{trace: t/groups, passes: 2, npus: [0..3]}", ("jobs[0].passes", "with `text`")),
                         ("{text: none.txt, npus: [0..3]}", ("none.txt",)),
                         ("{text: data.txt}", ("jobs[0].npus",))):
        write(place, "bad.yaml", MACHINE + f"jobs:\n  - {entry}\n")
        ran = weft("run", "bad.yaml", "--out", "bad", cwd=place)
        check(ran.returncode != 0 and all(w in ran.stderr for w in words), f"{entry}: {ran.returncode} {ran.stderr}")
    write(place, "odd.txt", GROUPS.replace("group: 2", "group: 3"))
    ran = weft("run", "machine.yaml", "--text", "odd.txt", "--set", "workload.npus=[4..7]", "--out", "bad", cwd=place)
    check(ran.returncode == 2 and "odd.txt" in ran.stderr, ran.stderr)
finish()
