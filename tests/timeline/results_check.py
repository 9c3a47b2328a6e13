# SPDX-License-Identifier: Apache-2.0
# Copyright the Weft authors
"""Counts the results of a run again from its timeline and compares them with its result files: every link's bytes and
busy time, every rank's time by category, the begin and end of every collective."""

import csv
import decimal
import pathlib

import perfetto_reader


def read_csv(path):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def picoseconds(text):
    return int(decimal.Decimal(text) * 1000)


class Differs(Exception):
    pass


def equal(what, timeline, results):
    if timeline != results:
        raise Differs(f"{what}: {timeline} in the timeline, {results} in the results")


def path_of_link(name):
    """As the page docs/guide/timeline.md says: links of an NMU are in its NPU's folder."""
    owner, link = name[len("job."):].rsplit(".", 1)
    npu = owner[len("nmu"):]
    if owner.startswith("nmu") and npu.isdigit():
        return f"NPUs/npu{npu}", f"link {link}"
    return f"fabric/{owner}", f"link {link}"


class Folders:
    """Folders of NPUs may say more than "npu3"."""

    def __init__(self, timeline):
        self.rows = {}
        for row in timeline.rows():
            parts = row.split("/")
            if parts[0] == "NPUs":
                parts[1] = parts[1].split(" ")[0]
            self.rows.setdefault("/".join(parts), []).append(row)

    def of(self, timeline, path):
        return [s for row in self.rows.get(path, []) for s in timeline.of(row)]


def check_links(timeline, folder, unseen=()):
    """Returns how many links have carried something. `unseen(name)`: links that are not in the timeline."""
    folders, used, seen = Folders(timeline), 0, set()
    for row in read_csv(folder / "links.csv"):
        path = "/".join(path_of_link(row["name"]))
        slices = folders.of(timeline, path)
        seen.add(path)
        if unseen and unseen(row["name"]):
            continue
        equal(f"{row['name']}, bytes", sum(s.args["bytes"] for s in slices), int(row["bytes"]))
        busy = sum(s.args.get("busy_ps", s.end - s.begin) for s in slices)
        equal(f"{row['name']}, busy", busy, picoseconds(row["busy_ns"]))
        if row["fidelity"] != "packet":
            equal(f"{row['name']}, messages", sum(s.args.get("count", 1) for s in slices), int(row["messages"]))
        used += 1 if slices else 0
    for path in folders.rows:
        last = path.rsplit("/", 1)[-1]
        if last.startswith("link ") and path not in seen and last not in ("link dma",):
            raise Differs(f"{path} is no link of links.csv")
    return used


CATEGORIES = {"compute": "compute", "local memory": "local_memory", "remote memory": "remote_memory",
              "communication": "communication"}


def check_ranks(timeline, folder, npu_of_rank=lambda rank: rank):
    folders = Folders(timeline)
    for row in read_csv(folder / "ranks.csv"):
        slices = folders.of(timeline, f"NPUs/npu{npu_of_rank(int(row['rank']))}/state")
        for name, column in CATEGORIES.items():
            time = sum(s.end - s.begin for s in slices if s.name == name)
            time += sum(s.args.get(f"{column}_ps", 0) for s in slices if s.name == "states")
            equal(f"rank {row['rank']}, {column}", time, picoseconds(row[f"{column}_ns"]))


def check_collectives(timeline, folder, prefix="", ranks=None):
    """Of every rank's part: the first begins, and the last ends, when collectives.csv says."""
    parts = {}
    for row, slices in ((row, timeline.of(row)) for row in timeline.rows()):
        if not row.endswith("/collectives"):
            continue
        for slice_ in slices:
            parts.setdefault(slice_.name, []).append(slice_)
    rows = read_csv(folder / "collectives.csv")
    for row in rows:
        name = f"{prefix}{row['op']} {row['stream']}"
        own = parts.pop(name, [])
        if ranks is None:
            equal(f"{name}, ranks", len(own), int(row["ranks"]))
        equal(f"{name}, begin", min(s.begin for s in own), picoseconds(row["start_ns"]))
        equal(f"{name}, end", max(s.end for s in own), picoseconds(row["end_ns"]))
        equal(f"{name}, bytes", {s.args["bytes"] for s in own}, {int(row["bytes"])})
    if not prefix and parts:
        raise Differs(f"collectives that are not in collectives.csv: {sorted(parts)}")
    return len(rows)


def open_timeline(folder):
    return perfetto_reader.Timeline(pathlib.Path(folder) / "timeline.pftrace")
