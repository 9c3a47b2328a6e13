#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Copyright the Weft authors
"""Draws one iteration of examples/emulation/c/training.c: the real rank, as `weft emulate` tells of it, beside emulated
ones, as the replay of its capture does.

    bench/emulation/iteration.py WEFT TRAINING docs/guide/emulated_iteration.svg
    bench/emulation/iteration.py WEFT TRAINING --check docs/guide/emulated_iteration.svg

TRAINING is the example, built. --check runs it again and compares the figures with those that the picture keeps.
"""

import csv
import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "memory"))
import chart  # noqa: E402

MACHINE = """weft: 1
topology:
  notation: FullyConnected(8)_Switch(8)
  dimensions:
    - {bandwidth: 50 GB/s, latency: 500 ns}
    - {bandwidth: 25 GB/s, latency: 2 us}
"""
EMULATED = [1, 8, 63]
ITERATION = 1
WIDTH, LEFT, RIGHT, TOP, ROW = 760, 118, 16, 44, 24
STATES = ["idle", "communicate", "remote_memory", "memory", "compute"]  # docs/signals.md
SHOWN = {"compute": "#2ca02c", "communicate": "#ff7f0e", "gradients": "#1f77b4"}


def states_of(path):
    """rank -> [(ns, state)], of a VCD file with the signals npu*.state."""
    scope, rank_of, changes, now = [], {}, {}, 0
    for line in path.read_text(encoding="utf-8").splitlines():
        words = line.split()
        if not words:
            continue
        if words[0] == "$scope":
            scope.append(words[2])
        elif words[0] == "$upscope":
            scope.pop()
        elif words[0] == "$var" and words[4] == "state" and scope[-1].startswith("npu"):
            rank_of[words[3]] = int(scope[-1][3:])
            changes[rank_of[words[3]]] = []
        elif words[0].startswith("#"):
            now = int(words[0][1:])
        elif words[0].startswith("b") and len(words) == 2 and words[1] in rank_of:
            value = int(words[0][1:], 2) if set(words[0][1:]) <= {"0", "1"} else 0
            changes[rank_of[words[1]]].append((now / 1000, STATES[value]))
    return changes


def spans(changes, begin, end):
    """[ns since begin, ns, state] within an iteration."""
    found = []
    for (at, state), (until, _) in zip(changes, changes[1:] + [(end, "")]):
        if state in SHOWN and min(until, end) > max(at, begin):
            found.append([round(max(at, begin) - begin, 3), round(min(until, end) - begin, 3), state])
    return found


def real_states(calls, begin, end):
    """The example computes but for its last wait: from its last call on."""
    last = max(float(row["issued_ns"]) for row in calls)
    return [[0, round(last - begin, 3), "compute"], [round(last - begin, 3), round(end - begin, 3), "communicate"]]


def measure(weft, training):
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        (folder / "machine.yaml").write_text(MACHINE, encoding="utf-8")
        chart.weft(weft, "emulate", folder / "machine.yaml", "--real", "0", "--compute", "fixed:0", "--capture", folder / "traces/job",
                   "--out", folder / "real", "--", training, "3")
        chart.weft(weft, "run", folder / "machine.yaml", "--trace", folder / "traces/job", "--no-fold", "--out", folder / "replay",
                   "--waves", ",".join(f"npu{rank}.state" for rank in EMULATED))
        rows = list(csv.DictReader((folder / "real/iterations.csv").open(encoding="utf-8")))
        own = next(row for row in rows if int(row["number"]) == ITERATION)
        begin, end = float(own["begin_ns"]), float(own["end_ns"])
        calls = [row for row in csv.DictReader((folder / "real/calls.csv").open(encoding="utf-8"))
                 if begin <= float(row["issued_ns"]) < end]
        emulated = states_of(next((folder / "replay").glob("*.vcd")))
    return {"iteration_ns": round(end - begin, 3), "real": real_states(calls, begin, end),
            "gradients": [[round(float(row["issued_ns"]) - begin, 3), round(float(row["finished_ns"]) - begin, 3), "gradients"]
                          for row in calls],
            "emulated": {str(rank): spans(emulated[rank], begin, end) for rank in EMULATED}}


def draw(data, path):
    rows = [("rank 0, a process", data["real"])]
    rows += [(f"its gradients {i}", [span]) for i, span in enumerate(data["gradients"])]
    rows += [(f"rank {rank}, emulated", found) for rank, found in data["emulated"].items()]
    height = TOP + ROW * len(rows) + 40
    picture = chart.Svg(WIDTH, height, data)

    def x(ns):
        return LEFT + ns / data["iteration_ns"] * (WIDTH - LEFT - RIGHT)

    names = {"compute": "computes", "communicate": "waits", "gradients": "all-reduce of a layer's gradients"}
    at = LEFT
    for kind, name in names.items():
        picture.box(at, 14, 12, 12, SHOWN[kind])
        picture.text(at + 17, 24, name)
        at += 36 + 7 * len(name)
    for number, (name, found) in enumerate(rows):
        y = TOP + ROW * number
        picture.text(LEFT - 6, y + 15, name, "end")
        for begin, end, state in found:
            picture.box(x(begin), y + 4, max(0.8, x(end) - x(begin)), ROW - 8, SHOWN[state])
    bottom = TOP + ROW * len(rows)
    step = 100000 if data["iteration_ns"] < 1.2e6 else 500000
    for ns in range(0, int(data["iteration_ns"]) + 1, step):
        picture.line(x(ns), TOP, x(ns), bottom, "#ddd")
        picture.text(x(ns), bottom + 15, str(ns // 1000), "middle")
    picture.text((LEFT + WIDTH - RIGHT) / 2, bottom + 32, "us since the iteration began", "middle")
    picture.write(path)


def main():
    if len(sys.argv) not in (4, 5) or (len(sys.argv) == 5 and sys.argv[3] != "--check"):
        sys.exit(__doc__)
    data = measure(sys.argv[1], sys.argv[2])
    if len(sys.argv) == 5:
        chart.check(sys.argv[4], data)
        return
    draw(data, sys.argv[3])
    print(f"an iteration takes {data['iteration_ns'] / 1000:.3f} us")


if __name__ == "__main__":
    main()
