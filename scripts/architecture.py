#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Copyright the Weft authors
"""Draws the picture of docs/architecture.md, checks it against the tree, and measures the structure.

    scripts/architecture.py             write docs/architecture.svg
    scripts/architecture.py --check     say whether picture and page fit the tree; exit 1 and name what does not
    scripts/architecture.py --figures   print the figures of structure that docs/architecture.md quotes
    --root DIR                          another tree

`--check` compares: the rooms with the folders that CMakeLists.txt adds; the arrows with the includes of the sources;
every class of the picture with the header beside it; docs/architecture.svg with what this script writes; and in
docs/architecture.md every path in backticks with the tree (NAME stands for a new file), and every name of the ten
steps with the files of its row.
"""

import argparse
import pathlib
import re
import sys
from xml.sax.saxutils import escape

ROOT = pathlib.Path(__file__).resolve().parent.parent
PICTURE = "docs/architecture.svg"
PAGE = "docs/architecture.md"
STEPS_HEADING = "## The way of the data in ten steps"

#: Room: what it is for, the rooms that it may include, and its groups of classes. A class is (name, header, steps).
ROOMS = {
    "sc_main": ("command line, run control, results", ["emulation", "parts", "cosim", "sc_models", "workload", "tlm_interconnect", "insight", "vcd", "configs"], {
        "before the run": [("Workload", "sc_main/workload.h", [1]), ("MemoryRoom", "sc_main/memory_check.h", [])],
        "during the run": [("Progress", "sc_main/progress.h", []), ("Timeline", "sc_main/timeline/timeline.h", []),
                           ("TraceFile", "sc_main/timeline/trace_file.h", [])],
        "results": [("RunRecord", "sc_main/results.h", [10]), ("OutputFolder", "sc_main/output_folder.h", [10])],
    }),
    "emulation": ("real programs against simulated ranks", ["sc_models", "workload", "insight", "configs"], {
        "job": [("Job", "emulation/job/job.h", []), ("Communicators", "emulation/job/communicators.h", []),
                ("Capture", "emulation/job/capture.h", [])],
        "environment": [("Fabric", "emulation/environment/fabric.h", []),
                        ("FullFabric", "emulation/environment/full_fabric.h", []),
                        ("RestrictedFabric", "emulation/environment/restricted_fabric.h", []),
                        ("IdleTimes", "emulation/environment/idle_times.h", [])],
        "processes": [("Server", "emulation/server/server.h", []), ("Process", "emulation/server/process.h", []),
                      ("Session", "emulation/client/session.h", []), ("FrameReader", "emulation/protocol/frame.h", [])],
    }),
    "cosim": ("RTL and SystemC IP of others", ["sc_models", "workload", "tlm_interconnect", "vcd", "configs"], {
        "RTL": [("BlockClock", "cosim/clock/block_clock.h", []), ("StreamMaster", "cosim/axis/stream_master.h", []),
                ("StreamSlave", "cosim/axis/stream_slave.h", []), ("StreamChecker", "cosim/axis/stream_checker.h", []),
                ("AxiMaster", "cosim/axi/axi_master.h", []), ("AxiSlave", "cosim/axi/axi_slave.h", [])],
        "blocks": [("RtlSwitch", "cosim/blocks/rtl_switch.h", []), ("RtlNmu", "cosim/blocks/rtl_nmu.h", []),
                   ("RtlRouter", "cosim/blocks/rtl_router.h", []), ("RtlLink", "cosim/blocks/rtl_link.h", []),
                   ("RtlUnit", "cosim/blocks/rtl_unit.h", []), ("AxiMemory", "cosim/blocks/axi_memory.h", []),
                   ("TlmMemory", "cosim/blocks/tlm_memory.h", [])],
        "record": [("TraceFront", "cosim/trace/trace_front.h", []), ("BlockRecorder", "cosim/record/block_recorder.h", []),
                   ("Recording", "cosim/record/recording.h", []), ("SwitchReplay", "cosim/record/switch_replay.h", [])],
        "TLM-2.0": [("BaseProtocolChecker", "cosim/tlm/base_protocol_checker.h", []),
                    ("FuzzInitiator", "cosim/tlm/fuzz_initiator.h", []),
                    ("FuzzTarget", "cosim/tlm/fuzz_target.h", []),
                    ("TlmAdapter", "cosim/tlm/tlm_adapter.h", []),
                    ("MmToLink", "cosim/tlm/mm_to_link.h", [])],
    }),
    "parts": ("one machine in several processes", ["sc_models", "configs"], {
        "windows": [("Parts", "parts/parts.h", []), ("ProcessParts", "parts/process_parts.h", []), ("RemoteParts", "parts/remote_parts.h", []), ("Cut", "parts/cut.h", [])],
    }),
    "network_interface": ("the network of another simulator", ["sc_models", "configs"], {
        "door": [("Network", "network_interface/network.h", []), ("Caller", "network_interface/network.h", []),
                 ("MatchTable", "network_interface/match_table.h", [])],
        "other processes": [("RemoteHosts", "network_interface/remote/remote_hosts.h", []),
                            ("Channel", "network_interface/remote/channel.h", [])],
    }),
    "sc_models": ("the hardware as sc_modules, and the job on it", ["workload", "tlm_interconnect", "insight", "vcd", "configs"], {
        "machine and jobs": [("Machine", "sc_models/machine.h", []), ("TraceJob", "sc_models/trace_job.h", [5, 10]),
                             ("CollectiveJob", "sc_models/collective_job.h", []),
                             ("MirroredStarts", "sc_models/mirrored_starts.h", []),
                             ("RunResult", "sc_models/run_result.h", [10]),
                             ("Component", "sc_models/component.h", [])],
        "NPU and NMU": [("FabricService", "sc_models/fabric_service.h", [5]), ("Npu", "sc_models/npu.h", [4, 10]), ("Nmu", "sc_models/nmu.h", [7, 9]),
                        ("MemoryDma", "sc_models/memory_dma.h", [4]),
                        ("FullExchanges", "sc_models/full_exchanges.h", [])],
        "switches": [("SwitchModel", "sc_models/switch_model.h", []), ("Crossbar", "sc_models/crossbar.h", [8]),
                     ("UnitModel", "sc_models/unit_model.h", []),
                     ("UnitBlocks", "sc_models/unit_blocks.h", []), ("SwitchUnit", "sc_models/switch_unit.h", [8])],
        "packet fidelity": [("PacketFabric", "sc_models/packet_fabric.h", [8]),
                            ("PacketRegion", "sc_models/packet_region.h", []),
                            ("PacketSwitch", "sc_models/packet_switch.h", [])],
        "memories": [("MemoryTarget", "sc_models/memory_target.h", [4]), ("Hbm", "sc_models/hbm.h", []),
                     ("BankedHbm", "sc_models/banked_hbm.h", []), ("DramChannel", "sc_models/dram_channel.h", [])],
        "order and plugins": [("ActivationWheel", "sc_models/activation_wheel.h", []),
                              ("SettledCall", "sc_models/settled_call.h", []),
                              ("PluginRegistry", "sc_models/plugin.h", [])],
    }),
    "workload": ("traces, graph, collectives; no SystemC", ["insight", "configs"], {
        "trace": [("JobTrace", "workload/trace/workload_check.h", [1]),
                  ("TraceIndex", "workload/trace/trace_index.h", [1]),
                  ("TraceFeeder", "workload/trace/trace_feeder.h", [2]),
                  ("CollectiveNumbers", "workload/trace/collective_numbers.h", [])],
        "job": [("CollectiveBook", "workload/job/collective_book.h", [10]), ("RankMap", "workload/job/rank_map.h", [])],
        "graph": [("CheckedJob", "workload/graph/checked_job.h", [1]), ("Folding", "workload/graph/folding.h", [1]),
                  ("RankEngine", "workload/graph/rank_engine.h", [3]),
                  ("RankServices", "workload/graph/rank_services.h", [3])],
        "collectives": [("PlanBuilder", "workload/collectives/plan.h", [5]),
                        ("CollectivePlan", "workload/collectives/plan.h", [5]),
                        ("Algorithm", "workload/collectives/algorithm.h", [6]),
                        ("CollectiveEngine", "workload/collectives/engine.h", [6, 9])],
        "seam to the machine": [("MessagePort", "workload/seam.h", [6]), ("MessageSink", "workload/seam.h", [9]),
                                ("Completion", "workload/seam.h", [9])],
    }),
    "tlm_interconnect": ("protocol, ports, packet networks, policies", ["vcd", "configs"], {
        "protocol": [("Transfer", "tlm_interconnect/protocol/fabric_protocol.h", [8]),
                     ("PacketPool", "tlm_interconnect/protocol/packet_pool.h", [7])],
        "ports": [("Link", "tlm_interconnect/ports/link.h", [8]),
                  ("LastLink", "tlm_interconnect/ports/last_link.h", [8]),
                  ("TimedQueue", "tlm_interconnect/ports/timed_queue.h", [9])],
        "border": [("Border", "tlm_interconnect/border/border.h", []), ("Crossing", "tlm_interconnect/border/crossing.h", [])],
        "without a switch": [("DirectFabric", "tlm_interconnect/fabric/direct_fabric.h", [8]),
                             ("MirrorFabric", "tlm_interconnect/fabric/mirror_fabric.h", [])],
        "packet networks": [("PacketNetwork", "tlm_interconnect/packet/packet_network.h", [8]),
                            ("NetworkInterface", "tlm_interconnect/packet/network_interface.h", [8]),
                            ("Router", "tlm_interconnect/packet/router.h", [8]),
                            ("PacketTrains", "tlm_interconnect/packet/packet_trains.h", [])],
        "policies, in-switch": [("RoutingPolicy", "tlm_interconnect/policies/routing/routing_policy.h", [8]),
                                ("SelectionPolicy", "tlm_interconnect/policies/selection/selection_policy.h", []),
                                ("CollectiveUnit", "tlm_interconnect/collective/collective_unit.h", [8])],
    }),
    "configs": ("YAML, keys, schema, loader, topology", [], {
        "keys": [("Config", "configs/config.h", []), ("KeySpec", "configs/keys.h", []),
                 ("NamedRegistry", "configs/named_registry.h", [])],
        "blueprint": [("Shape", "configs/blueprint/shape.h", []), ("Geometry", "configs/blueprint/geometry.h", []),
                      ("Blueprint", "configs/blueprint/blueprint.h", [])],
        "graphs and trees": [("Graph", "configs/graph.h", []), ("Tree", "configs/tree.h", [])],
    }),
    "insight": ("what caused what", ["configs"], {
        "critical path": [("CausalLog", "insight/causal_log.h", []), ("PathLength", "insight/what_if.h", []),
                          ("ActivityListener", "insight/activity_listener.h", [])],
    }),
    "vcd": ("waveforms in integer picoseconds", [], {
        "waveforms": [("ProbeHub", "vcd/probe_hub.h", []), ("Probe", "vcd/probe.h", []),
                      ("Waves", "vcd/waves.h", []), ("VcdWriter", "vcd/vcd_writer.h", [])],
    }),
}
#: Rows of the picture, and how many columns of groups each room has there.
ROWS = [[("sc_main", 3), ("cosim", 3)], [("emulation", 5), ("parts", 1)], [("sc_models", 6)], [("workload", 3), ("tlm_interconnect", 3)], [("configs", 3), ("insight", 1), ("vcd", 2)]]
COLORS = {"sc_main": "#f3e8d2", "cosim": "#f6dfdc", "emulation": "#f9edc8", "parts": "#e6f4f1", "sc_models": "#dbe9f6", "workload": "#e0f0dc", "tlm_interconnect": "#eadff2",
          "configs": "#eeeeee", "insight": "#eeeeee", "vcd": "#eeeeee"}

CELL, GAP, LINE, HEAD, TITLE = 206, 12, 22, 28, 30  # pixels: group's width, space, line, room's and group's headings


def classes():
    for _, _, groups in ROOMS.values():
        for names in groups.values():
            yield from names


def group_height(names):
    return TITLE + LINE * len(names) + 6


def room_rows(room, columns):
    groups = list(ROOMS[room][2].items())
    return [groups[i:i + columns] for i in range(0, len(groups), columns)]


def room_height(room, columns):
    rows = room_rows(room, columns)
    return HEAD + 18 + sum(max(group_height(names) for _, names in row) + GAP for row in rows)


def text(x, y, content, size=13, more=""):
    return f'<text x="{x}" y="{y}" font-size="{size}" {more}>{escape(content)}</text>'


def draw_room(room, columns, x, y, height):
    what, includes, _ = ROOMS[room]
    width = columns * (CELL + GAP) + GAP
    out = [f'<rect x="{x}" y="{y}" width="{width}" height="{height}" rx="8" fill="{COLORS[room]}" stroke="#555"/>',
           text(x + GAP, y + 21, room, 17, 'font-weight="bold"'),
           text(x + GAP + 12 * len(room) + 8, y + 21, what, 13, 'fill="#333"'),
           text(x + GAP, y + 39, "may include: " + (", ".join(includes) or "nothing"), 11, 'fill="#555"')]
    top = y + HEAD + 18
    for row in room_rows(room, columns):
        for column, (title, names) in enumerate(row):
            left = x + GAP + column * (CELL + GAP)
            out.append(f'<rect x="{left}" y="{top}" width="{CELL}" height="{group_height(names)}" rx="5" '
                       f'fill="#fff" stroke="#aaa"/>')
            out.append(text(left + 8, top + 18, title, 12, 'fill="#666" font-style="italic"'))
            for i, (name, _, steps) in enumerate(names):
                line = top + TITLE + LINE * i + 10
                out.append(text(left + 8, line + 2, name, 14))
                for n, step in enumerate(reversed(steps)):
                    cx = left + CELL - 14 - 22 * n
                    out.append(f'<circle cx="{cx}" cy="{line - 3}" r="9.5" fill="#c0392b"/>')
                    out.append(text(cx, line + 1, str(step), 11, 'fill="#fff" text-anchor="middle"'))
        top += max(group_height(names) for _, names in row) + GAP
    return out


def draw():
    space, margin = 34, 16
    width = 6 * (CELL + GAP) + 5 * GAP + 2 * margin
    y, out, boxes = 60, [], {}
    for row in ROWS:
        height = max(room_height(room, columns) for room, columns in row)
        x = margin
        for room, columns in row:
            room_width = columns * (CELL + GAP) + GAP
            if len(row) == 1:
                room_width += 2 * GAP  # as wide as two rooms and the space between them
            boxes[room] = (x, y, room_width, height)
            drawn = draw_room(room, columns, x, y, height)
            drawn[0] = drawn[0].replace(f'width="{columns * (CELL + GAP) + GAP}"', f'width="{room_width}"', 1)
            out += drawn
            x += room_width + GAP
        y += height + space
    # Arrows between a room and those in the next row; the line "may include" has the others.
    for upper, lower in zip(ROWS, ROWS[1:]):
        for room, _ in upper:
            for n, other in enumerate([o for o, _ in lower if o in ROOMS[room][1]]):
                ax, ay, aw, ah = boxes[room]
                bx, by, bw, _ = boxes[other]
                centre = bx + bw / 2 if ax <= bx + bw / 2 <= ax + aw else ax + 60 + 40 * n
                end = centre if bx <= centre <= bx + bw else bx + bw - 60
                out.append(f'<line x1="{centre:g}" y1="{ay + ah}" x2="{end:g}" y2="{by - 3}" stroke="#333" '
                           f'stroke-width="1.6" marker-end="url(#tip)"/>')
    head = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{y}" viewBox="0 0 {width} {y}" '
            'font-family="DejaVu Sans, Verdana, Arial, sans-serif">',
            '<!-- SPDX-License-Identifier: Apache-2.0 -->', '<!-- Copyright the Weft authors -->',
            '<!-- Made by scripts/architecture.py. -->',
            '<defs><marker id="tip" markerWidth="9" markerHeight="9" refX="7" refY="4" orient="auto">'
            '<path d="M0,0 L8,4 L0,8 z" fill="#333"/></marker></defs>',
            f'<rect width="{width}" height="{y}" fill="#fff"/>',
            text(margin, 28, "Weft: rooms and main classes", 20, 'font-weight="bold"'),
            text(margin, 48, "An arrow leads from a room to one that it includes. A red number is a step of the way of "
                 "the data (docs/architecture.md).", 12, 'fill="#444"')]
    return "\n".join(head + out + ["</svg>", ""])


# -- the check

def defines(header, name):
    """Whether the text of a header defines the class, struct or enumeration (a declaration alone is none)."""
    return bool(re.search(rf"\b(?:class|struct)\s+(?:alignas\([^)]*\)\s+)?{name}\b(?:\s+final)?\s*[:{{]", header))


def sources(root, room):
    return sorted(p for p in (root / room).rglob("*") if p.suffix in (".h", ".cpp"))


def check_rooms(root):
    wrong = []
    added = re.findall(r"^add_subdirectory\((\w+)\)", (root / "CMakeLists.txt").read_text(), re.M)
    for room in added:
        if room not in ROOMS:
            wrong.append(f"the picture lacks the room {room}, which CMakeLists.txt adds")
    for room, (_, allowed, _) in ROOMS.items():
        if room not in added:
            wrong.append(f"the picture has a room {room}, which CMakeLists.txt does not add")
            continue
        used = {}
        for path in sources(root, room):
            for other in re.findall(r'^#include "(\w+)/', path.read_text(), re.M):
                used.setdefault(other, path.relative_to(root))
        for other, path in sorted(used.items()):
            if other in ROOMS and other != room and other not in allowed:
                wrong.append(f"{path} includes {other}, and the picture does not allow {room} that")
        wrong += [f"no file of {room} includes {other}, which the picture allows" for other in allowed
                  if other not in used]
    return wrong


def check_classes(root):
    wrong = []
    for name, header, _ in classes():
        if not (root / header).exists():
            wrong.append(f"the picture names {name} of {header}: there is no such file")
        elif not defines((root / header).read_text(), name):
            wrong.append(f"the picture names {name}: {header} does not define it")
    for room, (_, _, groups) in ROOMS.items():
        wrong += [f"the picture shows {name} in {room}, and its header is {header}" for names in groups.values()
                  for name, header, _ in names if not header.startswith(room + "/")]
    return wrong


PATH = re.compile(r"`([\w.*]+(?:/[\w.*]+)+/?|[\w]+\.(?:md|txt|yaml))`")


def check_page(root):
    """Paths of the page exist; names of the ten steps occur in the files of their rows, and their numbers in the
    picture."""
    wrong = []
    page = (root / PAGE).read_text()
    for number, line in enumerate(page.split("\n"), 1):
        for path in PATH.findall(line):
            if "NAME" not in path and not (any(root.glob(path)) or (root / "docs" / path).exists()):
                wrong.append(f"{PAGE}:{number}: there is no {path}")
    if STEPS_HEADING not in page:
        return wrong + [f"{PAGE} has no heading '{STEPS_HEADING}'"]
    section = page.split(STEPS_HEADING, 1)[1].split("\n## ", 1)[0]
    rows = [line for line in section.split("\n") if re.match(r"\| *\d+ *\|", line)]
    shown = {step for _, _, steps in classes() for step in steps}
    if [int(re.match(r"\| *(\d+)", row)[1]) for row in rows] != list(range(1, 11)) or shown != set(range(1, 11)):
        wrong.append(f"{PAGE}: the steps of page and picture are not 1 to 10")
    for row in rows:
        step = int(re.match(r"\| *(\d+)", row)[1])
        files = [root / p for p in PATH.findall(row) if (root / p).is_file()]
        words = set(re.findall(r"\w+", " ".join(f.read_text() for f in files)))
        names = re.findall(r"`([A-Za-z_:]+)(?:\(\))?`", row)
        wrong += [f"{PAGE}: step {step} names {name}, which is not in the files of its row" for name in names
                  if not set(name.split("::")) <= words]
        wrong += [f"{PAGE}: step {step} of the picture shows {name}, which the page does not name there"
                  for name, _, steps in classes() if step in steps and not re.search(rf"\b{name}\b", row)]
    return wrong


def check(root):
    wrong = check_rooms(root) + check_classes(root)
    picture = root / PICTURE
    if not picture.exists() or picture.read_text() != draw():
        wrong.append(f"{PICTURE} is not what scripts/architecture.py draws: run it")
    return wrong + check_page(root)


# -- figures

def functions(path):
    """(lines, name, first line) of the functions at the left margin: the style of .clang-format indents no others."""
    lines = path.read_text().split("\n")
    start = None
    for i, line in enumerate(lines):
        if line == "}" and start is not None:
            head = " ".join(lines[start:i])
            name = re.search(r"([\w:~<>]+)\(", head)
            yield i - start + 1, name[1] if name else "?", start + 1
            start = None
        elif re.match(r"[A-Za-z_\[]", line) and not re.match(
                r"(namespace|class|struct|enum|using|typedef|extern|template)\b", line) and "(" in line:
            if start is None:
                start = i
        if start is not None and line.endswith(";") and not line.startswith(" "):
            start = None


def constructors(path):
    """(arguments, class) of the constructors that a header declares."""
    content = re.sub(r"//[^\n]*", "", path.read_text())
    for name in set(re.findall(r"\b(?:class|struct)\s+(?:alignas\([^)]*\)\s+)?(\w+)(?:\s+final)?\s*[:{]", content)):
        for match in re.finditer(rf"^ +(?:explicit )?{name}\(", content, re.M):
            depth, count, i, some = 1, 1, match.end(), False
            while depth and i < len(content):
                c = content[i]
                depth += (c in "(<{") - (c in ")>}")
                count += c == "," and depth == 1
                some = some or (depth and not c.isspace())
                i += 1
            if some:
                yield count, name


def figures(root):
    paths = [p for room in ROOMS for p in sources(root, room)]
    contents = {p: p.read_text() for p in paths}

    def files_with(word):
        return [p for p, content in contents.items() if re.search(rf"\b{word}::", content)]

    def short(p):
        return p.relative_to(root).as_posix()
    print(f"rooms: {len(paths)} files, {sum(c.count(chr(10)) for c in contents.values())} lines")
    for word in ("DimensionKind", "Fidelity"):
        found = files_with(word)
        outside = [p for p in found if not short(p).startswith("configs/")]
        print(f"files that name {word}::  {len(found)}, of them outside configs {len(outside)}")
    made = sorted({(n, name, short(p)) for p in paths if p.suffix == ".h" for n, name in constructors(p)}, reverse=True)
    print(f"constructors with more than six arguments: {sum(n > 6 for n, _, _ in made)}")
    for n, name, path in made:
        if n > 6:
            print(f"  {n:3} {name}  {path}")
    long = sorted(((n, name, f"{short(p)}:{line}") for p in paths for n, name, line in functions(p)), reverse=True)
    print(f"functions with more than 80 lines: {sum(n > 80 for n, _, _ in long)}; the 15 longest:")
    for n, name, where in long[:15]:
        print(f"  {n:3} {name}  {where}")
    large = sorted(((c.count("\n"), short(p)) for p, c in contents.items() if c.count("\n") > 600), reverse=True)
    print(f"files with more than 600 lines: {len(large)}")
    for n, path in large:
        print(f"  {n:4} {path}")


def main():
    parser = argparse.ArgumentParser(description="Draw and check the picture of the architecture.")
    parser.add_argument("--root", type=pathlib.Path, default=ROOT)
    parser.add_argument("--check", action="store_true", help="compare picture and page with the tree")
    parser.add_argument("--figures", action="store_true", help="print the figures of structure")
    options = parser.parse_args()
    root = options.root.resolve()
    if options.figures:
        figures(root)
        return 0
    if options.check:
        wrong = check(root)
        for line in wrong:
            print(line, file=sys.stderr)
        print(f"{sum(1 for _ in classes())} classes in {len(ROOMS)} rooms, {len(wrong)} mistakes")
        return 1 if wrong else 0
    (root / PICTURE).write_text(draw())
    return 0


if __name__ == "__main__":
    sys.exit(main())
