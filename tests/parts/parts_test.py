#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Copyright the Weft authors
"""A run in parts writes the same files as a run in one process.

    tests/parts/parts_test.py WEFT [--seed N] [--cases N] [--keep DIR]

Draws machines and jobs, runs each with --no-fold in one process and with --parts 1, 2, 3 and 5, and compares all
result files; of every fourth case also with parts that join over TCP. Of summary.json the keys `events`, `trains`,
`parts`, `wall_s` and `peak_rss_MiB` may differ. Draws collectives, too, and jobs with a straggler without --no-fold:
their collectives repeat (docs/folding.md) in one process and in parts, and `folding.repeated` may differ. The same jobs
with `run.split: always`: parts tell their ranks from others, too.
"""

import argparse
import json
import math
import os
import random
import socket
import subprocess
import sys
import tempfile

FILES = ["ranks.csv", "collectives.csv", "phases.csv", "layers.csv", "iterations.csv", "links.csv", "footprint.csv"]
MAY_DIFFER = ["events", "trains", "parts", "wall_s", "peak_rss_MiB"]
PARTS = [1, 2, 3, 5]
HOW = {}  # runs of jobs, by whether there were packet networks and whether they ended in parts


def dimension(draw, size, fidelity):
    kind = draw.choice(["Ring", "Mesh", "FullyConnected", "Switch", "Clos"])
    if kind == "Clos" and (fidelity == "analytical" or size % 2 or size < 4):
        kind = "Switch"
    notation = f"{kind}({size})" if kind != "Clos" else f"Clos(hosts=2,leaves={size // 2},spines=2)"
    return notation


def machine(draw, sizes):
    """The keys of topology and collectives, as `--set` takes them, and the notation."""
    packets = draw.random() < 0.4
    fidelities = [draw.choice(["packet", "packet", "message"] if packets else ["message", "message", "analytical"])
                  for _ in sizes]
    notation = "_".join(dimension(draw, s, f) for s, f in zip(sizes, fidelities))
    # Pauses can deadlock rings and meshes; trees have a key of their own.
    pfc = draw.random() < 0.3 and not any(kind in notation for kind in ("Ring", "Mesh", "Clos"))
    rows = [f"  - {{bandwidth: {draw.choice(['50 GB/s', '100 GB/s', '33 GB/s'])}, "
            f"latency: {draw.choice(['500 ns', '120 ns', '77 ns', '1 us'])}, fidelity: {f}"
            f"{', flow_control: pfc' if pfc and f == 'packet' else ''}}}" for f in fidelities]
    lines = ["weft: 1", "topology:", f"  notation: {notation}", "  dimensions:"] + ["  " + row for row in rows] + [
        f"collectives: {{chunks: {draw.choice([1, 2, 4, 7])}, active_chunks_per_dimension: {draw.choice([1, 2, 4])},",
        f"  scheduling: {draw.choice(['lifo', 'fifo'])}}}",
        "npu: {peak: 100 TFLOP/s, memory_bandwidth: 1 TB/s}",
    ]
    if packets:
        lines.append(f"packet: {{packet_size: {draw.choice(['256 B', '1 KiB', '4 KiB'])}, flit_size: 64 B, "
                     f"vcs: {draw.choice([2, 4])}}}")
    if draw.random() < 0.3:
        lines.append(f"nmu: {{endpoint_delay: {draw.choice([10, 33])} ns}}")
    if draw.random() < 0.2:
        places = list(range(math.prod(sizes)))
        draw.shuffle(places)
        lines.insert(2, f"  mapping: {places}")
    return notation, "\n".join(lines) + "\n"


def results(folder):
    files = {}
    for name in FILES:
        path = os.path.join(folder, name)
        if os.path.exists(path):
            with open(path) as file:
                files[name] = file.read()
    with open(os.path.join(folder, "summary.json")) as file:
        summary = json.load(file)
    for key in MAY_DIFFER:
        summary.pop(key, None)
    for key in ("not_folded", "repeated", "split"):  # --no-fold gives its own reason
        summary.get("folding", {}).pop(key, None)
    files["summary.json"] = json.dumps(summary, indent=1)
    return files


def run(command, case):
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    if done.returncode != 0:
        sys.exit(f"case {case}: {' '.join(command)} ended with {done.returncode}:\n{done.stderr}")
    return done.stdout


def joined(command, parts, case):
    """The output of part 0 of parts that are started one by one, as on several hosts."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        at = f"127.0.0.1:{free.getsockname()[1]}"
    others = [subprocess.Popen(command + ["--part-of", f"{part}/{parts}", "--join", at], stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT, text=True) for part in range(1, parts)]
    answer = run(command + ["--part-of", f"0/{parts}", "--join", at], case)
    for part, other in enumerate(others, 1):
        text, _ = other.communicate(timeout=60)
        if other.returncode != 0:
            sys.exit(f"case {case}: part {part} of {parts} ended with {other.returncode}:\n{text}")
    return answer


def compare(case, command, one, other):
    for name, text in one.items():
        if other.get(name) == text:
            continue
        mine, theirs = text.splitlines(), other.get(name, "").splitlines()
        for number, (a, b) in enumerate(zip(mine + [""], theirs + [""]), 1):
            if a != b:
                sys.exit(f"case {case}: {name}, line {number}, differs:\n  one process: {a}\n  in parts:    {b}\n"
                         f"  {' '.join(command)}")
        sys.exit(f"case {case}: {name} differs in length: {' '.join(command)}")


def drawn_cut(seed, ranks):
    """Any cut that there is, also those that Weft would not choose."""
    draw = random.Random(seed)
    stride = draw.choice([s for s in range(1, ranks) if ranks % s == 0])
    size = draw.choice([s for s in range(2, ranks // stride + 1) if ranks // stride % s == 0])
    return f"rank / {stride} % {size}", draw.randint(2, min(size, 4))


def job(weft, draw, folder, case):
    tp, dp, pp = draw.choice([(2, 4, 2), (4, 2, 2), (2, 3, 2), (1, 4, 3), (2, 2, 4), (4, 4, 1), (1, 8, 1), (2, 6, 1)])
    ranks = tp * dp * pp
    splits = [[ranks]] + [[a, ranks // a] for a in range(2, ranks) if ranks % a == 0]
    splits += [[a, b, ranks // a // b] for a in (2, 3) for b in (2, 3) if ranks % (a * b) == 0 and ranks // a // b > 1]
    notation, text = machine(draw, draw.choice(splits))
    config = os.path.join(folder, "machine.yaml")
    prefix = os.path.join(folder, "llm")
    with open(config, "w") as file:
        file.write(text)
    microbatches = draw.choice([1, 2, 3])
    run([weft, "generate", "llm", "--tp", str(tp), "--dp", str(dp), "--pp", str(pp), "--layers", str(2 * pp),
         "--hidden", "256", "--heads", "8", "--seq", "64", "--microbatches", str(microbatches),
         "--batch", str(dp * microbatches), "--out", prefix], case)
    base = [weft, "run", config, "--trace", os.path.join(prefix, "llm"), "--groups", os.path.join(prefix, "llm.groups.json"), "--no-fold"]
    print(f"case {case}: {notation}, tp {tp}, dp {dp}, pp {pp}", flush=True)
    out = os.path.join(folder, "one")
    run(base + ["--out", out], case)
    one = results(out)
    for parts in PARTS:
        if parts > ranks:
            continue
        out = os.path.join(folder, f"parts{parts}")
        command = base + ["--out", out, "--parts", str(parts)]
        run(command, case)
        compare(case, command, one, results(out))
        if parts > 1:
            with open(os.path.join(out, "summary.json")) as file:
                again = json.load(file)["parts"]["parts"] == 1
            how = ("packets" if "packet: {" in text else "messages") + (", started again" if again else "")
            HOW[how] = HOW.get(how, 0) + 1
    cut, parts = drawn_cut(f"{case} {notation} {tp}", ranks)
    out = os.path.join(folder, "cut")
    command = base + ["--out", out, "--parts", str(parts), "--parts-cut", cut]
    run(command, case)
    compare(case, command, one, results(out))
    with open(os.path.join(out, "summary.json")) as file:
        told = json.load(file)["parts"]
    if told["parts"] > 1 and told["cut"] != cut:
        sys.exit(f"case {case}: cut by {told['cut']}: {' '.join(command)}")
    parts = draw.choice([2, 3, 5])
    if draw.random() < 0.25 and parts <= ranks:
        out = os.path.join(folder, "joined")
        command = base + ["--out", out]
        joined(command, parts, case)
        compare(case, command, one, results(out))


def straggler(weft, draw, folder, case):
    tp, dp, pp = draw.choice([(2, 4, 2), (4, 2, 2), (4, 3, 2), (8, 2, 1), (2, 2, 4), (4, 4, 1), (2, 6, 1)])
    ranks = tp * dp * pp
    latencies = [draw.choice(["500 ns", "120 ns", "1 us"]) for _ in range(2)]
    config = os.path.join(folder, "machine.yaml")
    with open(config, "w") as file:
        file.write(f"weft: 1\ntopology:\n  notation: Switch({tp})_Switch({dp * pp})\n  dimensions:\n"
                   f"    - {{bandwidth: 100 GB/s, latency: {latencies[0]}, fidelity: message}}\n"
                   f"    - {{bandwidth: 33 GB/s, latency: {latencies[1]}, fidelity: message}}\n"
                   f"collectives: {{chunks: {draw.choice([1, 4])}}}\nnpu: {{peak: 100 TFLOP/s, memory_bandwidth: 1 TB/s}}\n")
    prefix = os.path.join(folder, "llm")
    slow = draw.randrange(ranks)
    run([weft, "generate", "llm", "--tp", str(tp), "--dp", str(dp), "--pp", str(pp), "--layers", str(2 * pp),
         "--hidden", "256", "--heads", "8", "--seq", "64", "--microbatches", "2", "--batch", str(2 * dp), "--classes",
         "--slow", f"{slow}=1.5", "--order", draw.choice(["tp,dp,pp", "tp,pp,dp"]), "--out", prefix], case)
    base = [weft, "run", config, "--trace", os.path.join(prefix, "llm")]
    print(f"case {case}: straggler {slow}, tp {tp}, dp {dp}, pp {pp}", flush=True)

    def outcome(name, *options):
        out = os.path.join(folder, name)
        run(base + ["--out", out, *options], case)
        with open(os.path.join(out, "summary.json")) as file:
            return results(out), json.load(file)

    one, told = outcome("one")
    if "repeated" not in told["folding"]:
        sys.exit(f"case {case}: no collective repeats in one process")
    for parts in (2, 3):
        again, told = outcome(f"parts{parts}", "--parts", str(parts))
        compare(case, base + ["--parts", str(parts)], one, again)
        how = "stragglers" + (", started again" if told["parts"]["parts"] == 1 else "")
        how += ", repeating" if "repeated" in told["folding"] else ""
        HOW[how] = HOW.get(how, 0) + 1
    always = ["--set", "run.split=always"]
    for parts in (2, 3):
        if parts > ranks:
            continue
        again, told = outcome(f"split{parts}", "--parts", str(parts), *always)
        compare(case, base + ["--parts", str(parts), *always], one, again)
        how = "stragglers, split" if "split" in told["folding"] else "stragglers, not split"
        why = told["parts"].get("one_process_because", "")
        how += ", started again because of the split" if "run.split" in why else ", started again" if why else " in parts"
        HOW[how] = HOW.get(how, 0) + 1
    cut, parts = drawn_cut(f"{case} {slow}", ranks)
    for name, options in (("cut", []), ("split_cut", always)):
        again, _ = outcome(name, "--parts", str(parts), "--parts-cut", cut, *options)
        compare(case, base + ["--parts", str(parts), "--parts-cut", cut, *options], one, again)
    split, told = outcome("auto", "--parts", "auto", "--set", "run.split=always")
    compare(case, base + ["--parts", "auto"], one, split)
    if (os.cpu_count() or 1) > 1 and "split" in told["folding"] and "run.split" not in told["parts"].get("one_process_because", ""):
        sys.exit(f"case {case}: --parts auto has not left a job that splits to one process: {told['parts']}")


def collective(weft, draw, folder, case):
    sizes = draw.choice([[16], [4, 4], [2, 3, 4], [8, 3], [5, 5], [12]])
    notation, text = machine(draw, sizes)
    config = os.path.join(folder, "machine.yaml")
    with open(config, "w") as file:
        file.write(text)
    op = draw.choice(["all_reduce", "all_gather", "reduce_scatter", "all_to_all", "broadcast"])
    base = [weft, "collective", config, "--op", op, "--sizes", draw.choice(["64KiB,1MiB", "1000003 B", "4KiB:1MiB:x16"]),
            "--no-fold", "--json"]
    print(f"case {case}: {notation}, {op}", flush=True)

    def rows(output):
        answer = json.loads(output)
        for row in answer["results"]:
            row.pop("wall_s")
            row.pop("events")
        return json.dumps(answer, indent=1)

    one = rows(run(base, case))
    for parts in PARTS:
        command = base + ["--parts", str(parts)]
        compare(case, command, {"answer": one}, {"answer": rows(run(command, case))})
    if draw.random() < 0.25:
        compare(case, base, {"answer": one}, {"answer": rows(joined(base, draw.choice([2, 3, 5]), case))})


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("weft")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--cases", type=int, default=30)
    parser.add_argument("--keep", help="folder for the files of all cases")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        for number in range(arguments.cases):
            draw = random.Random(arguments.seed * 100003 + number)
            folder = os.path.join(arguments.keep or scratch, f"case{number}")
            os.makedirs(folder, exist_ok=True)
            case = f"{number} of seed {arguments.seed}"
            kind = straggler if number % 6 == 4 else collective if number % 3 == 2 else job
            kind(arguments.weft, draw, folder, case)
    print(f"{arguments.cases} cases: all files are the same; jobs in parts: {HOW}")


if __name__ == "__main__":
    main()
