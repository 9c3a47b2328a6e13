#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Copyright the Weft authors
"""Installs Weft, builds examples/rtl and skeletons of `weft rtl new` against the package as a user would, and runs
them: an RTL switch, NMU datapath and router in the place of one module of a machine, a recording of a 64-NPU job
replayed into the RTL alone, and a seeded fault of the RTL that the replay points at."""

import csv
import json
import pathlib
import random
import re
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from installed_weft import InstalledWeft, check, command, finish, parser  # noqa: E402


class Package(InstalledWeft):
    """An installed Weft and the blocks that were built against it."""

    def __init__(self, args):
        super().__init__(args, empty=not args.keep)
        self.source = self.example_source("rtl", self.work / "rtl")
        sys.path.insert(0, str(pathlib.Path(args.source) / "tests" / "oracle"))

    def example(self, name):
        """The machine of an example, with its plugin."""
        folder = self.build(self.source / name, self.source / name / "build")
        return [self.source / name / "machine.yaml", "--set", f"plugins={folder / name}.so"]

    def run(self, *args):
        """(exit code, output, errors) of the installed weft."""
        return self.call(self.weft, *args)


MODEL = ["--set", "implementations=[]"]


def job(package):
    """Traces of a training step on 64 ranks."""
    if not (package.work / "trace").exists():
        command([package.weft, "generate", "llm", "--tp", "8", "--dp", "8", "--layers", "2", "--hidden", "256",
                 "--seq", "128", "--batch", "8", "--out", package.work / "trace"])
    return ["--trace", "trace/llm", "--groups", "trace/llm.groups.json"]


def run_time(package, machine, out, *more):
    code, _, err = package.run("run", *machine, *job(package), "--out", out, *more)
    check(code == 0, f"{out} {more}: exit {code}: {err}")
    return json.loads((package.work / out / "summary.json").read_text())["time_ns"] if code == 0 else float("nan")


def switch(package):
    """One of eight switches is RTL; its recording, replayed into the RTL alone."""
    machine = package.example("axis_switch")
    plugin = machine[2].split("=", 1)[1]
    code, out, err = package.run("describe", "--models", *machine)
    check(code == 0 and "rtl:axis_switch" in out, f"describe --models does not tell the RTL: {out}{err}")
    model = run_time(package, machine, "switch_model", *MODEL, "--record", "switch1_3")
    rtl = run_time(package, machine, "switch_rtl", "--record", "switch1_3")
    check(model <= rtl < 1.2 * model, f"job with an RTL switch: {rtl} ns, with the model {model} ns")
    plain = run_time(package, machine, "switch_plain")
    check(plain == rtl, f"recording changes the time: {plain} and {rtl} ns")
    free = run_time(package, machine, "switch_free", "--set",
                    'implementations=[{modules: switch1_3, implementation: "rtl:axis_switch(clock=free)"}]')
    check(free == rtl, f"a free clock changes the time: {free} and {rtl} ns")

    def replay(recording, implementation, *more):
        return package.run("replay", recording, "--plugin", plugin, "--implementation", implementation, *more)

    code, out, err = replay("switch_rtl/switch1_3.rec", "rtl:axis_switch(clock=gated)")
    check(code == 0 and "first difference" not in out, f"the RTL alone does something else: exit {code}: {out}{err}")
    code, out, err = replay("switch_model/switch1_3.rec", "rtl:axis_switch(clock=gated)", "--tolerance", "1 ms")
    check(code == 0, f"the RTL answers other messages than the model: exit {code}: {out}{err}")
    code, out, err = replay("switch_model/switch1_3.rec", "rtl:axis_switch(clock=gated)")
    check(code == 1 and "later than recorded" in out, f"the RTL is as fast as the model: exit {code}: {out}{err}")
    for bug, words in [(1, ["byte ", "comes out as 0x", "went in as 0x"]), (2, ["was to come out by port"])]:
        code, out, err = replay("switch_rtl/switch1_3.rec", f"rtl:axis_switch(clock=gated, bug={bug})")
        check(code == 1, f"bug {bug}: exit {code}: {out}{err}")
        found = re.search(r"first difference at [\d.]+ us \(\d+ ps\), link job\.switch1_3\.to\d+: message \d+ of rank \d+ "
                          r"to NPU \d+, \d+ B, collective \d+ \(.*\), chunk \d+, phase \d+, round \d+", out)
        check(found is not None, f"bug {bug}: time, link, collective, chunk and packet are not told: {out}{err}")
        for word in words:
            check(word in out, f"bug {bug}: '{word}' is not told: {out}")
        code, _, err = package.run("run", *machine, *job(package), "--out", "switch_bug", "--set",
                                   'implementations=[{modules: switch1_3, implementation: '
                                   f'"rtl:axis_switch(clock=gated, bug={bug})"' '}]')
        check(code in (1, 4) and "fault of the" in err, f"bug {bug} in the job: exit {code}: {err}")
    # Its pins are in the waveform, by names that tell the port, and beats can be counted there.
    code, _, err = package.run("run", *machine, *job(package), "--out", "switch_waves", "--waves",
                               "*switch1_3*.{s,m}_axis_*_{tvalid,tready}")
    check(code == 0, f"waveforms of pins: exit {code}: {err}")
    pins = re.findall(r"\$var wire 1 \S+ ([sm]_axis_\d_t(?:valid|ready)) \$end",
                      (package.work / "switch_waves/waves.vcd").read_text())
    check(len(set(pins)) == 32, f"handshakes of eight ports are 32 pins, recorded are {sorted(pins)}")
    # A TREADY that never comes ends the job with a report that names the block and the pin.
    code, _, err = package.run("run", *machine, *job(package), "--out", "switch_stuck", "--set",
                               'implementations=[{modules: switch1_3, implementation: "rtl:axis_switch(clock=gated, bug=3)"}]')
    handshake = r"switch1_3\S*, pins s_axis\[\d\]: TVALID \S+ is high since .* and waits for TREADY \S+, which is low"
    check(code == 4 and re.search(handshake, err) is not None, f"TREADY never comes: exit {code}: {err}")
    code, _, err = package.run("collective", *machine, "--size", "4 KiB", "--set",
                               'implementations=[{modules: switch1_3, implementation: "rtl:axis_swich"}]')
    check(code == 2 and "did you mean `axis_switch`" in err, f"a misspelt block: exit {code}: {err}")
    code, _, err = package.run("collective", *machine, "--size", "4 KiB", "--set",
                               'implementations=[{modules: switch1_3, implementation: "rtl:crossbar"}]')
    check(code == 2 and "is no RTL" in err, f"rtl: of a model: exit {code}: {err}")
    code, _, err = package.run("collective", *machine, "--size", "4 KiB", "--set",
                               'implementations=[{modules: nmu3, implementation: "rtl:axis_switch"}]')
    check(code == 2 and "applies to no module" in err, f"a switch for an NMU: exit {code}: {err}")
    code, _, err = package.run("collective", *machine, "--size", "4 KiB", "--set", "topology.notation=Ring(4)_Switch(16)",
                               "--set", 'implementations=[{modules: switch1_3, implementation: "rtl:axis_switch"}]')
    check(code == 2 and "the block has 8 ports, and the switch needs 16" in err, f"too few ports: exit {code}: {err}")


def npu(package):
    """What one of 64 NPUs computes is run by an RTL command unit."""
    machine = package.example("npu_timer")

    def block(parameters):
        return ["--set", 'implementations=[{modules: npu19, implementation: "rtl:npu_timer' + parameters + '"}]']

    code, out, err = package.run("describe", "--models", *machine)
    check(code == 0 and "rtl:npu_timer" in out, f"describe --models does not tell the RTL: {out}{err}")
    model = run_time(package, machine, "npu_model", *MODEL)
    rtl = run_time(package, machine, "npu_rtl")
    check(model < rtl < 1.2 * model, f"job with an RTL NPU: {rtl} ns, with the model {model} ns")
    free = run_time(package, machine, "npu_free", *block("(clock=free)"))
    check(free == rtl, f"a free clock changes the time: {free} and {rtl} ns")
    slow = run_time(package, machine, "npu_slow", *block("(period=100 ns)"))
    check(slow > rtl, f"a slower clock changes nothing: {slow} and {rtl} ns")
    replay_npu(package, machine, rtl)
    code, _, err = package.run("run", *machine, *job(package), "--out", "npu_stuck", *block("(bug=2)"))
    check(code == 4 and re.search(r"npu19: its RTL has not answered \d+ commands.*\n +tag \d+: rank 19, node", err),
          f"a block that answers nothing: exit {code}: {err}")


def replay_npu(package, machine, time):
    """The RTL command unit alone, on its recording of the 64-NPU job: as recorded, or the seeded fault with its time and
    node."""
    plugin = machine[2].split("=", 1)[1]
    recorded = run_time(package, machine, "npu_recorded", "--record", "npu19")
    check(time == recorded, f"recording changes the time: {time} and {recorded} ns")
    run_time(package, machine, "npu_recorded_model", *MODEL, "--record", "npu19")

    def replay(implementation, recording="npu_recorded", *more):
        return package.run("replay", f"{recording}/npu19.rec", "--plugin", plugin, "--implementation", implementation,
                           *more)

    for clock in ("gated", "free"):
        code, out, err = replay(f"rtl:npu_timer(clock={clock})")
        counts = re.search(r": ([\d,]+) nodes in, ([\d,]+) of ([\d,]+) answers", out)
        check(code == 0 and counts is not None and counts[1] == counts[2] == counts[3] != "0",
              f"the command unit alone ({clock}): exit {code}: {out}{err}")
    code, out, err = replay("rtl:npu_timer", "npu_recorded_model", "--tolerance", "1 us")
    check(code == 0, f"a recording of the model cannot drive the RTL: exit {code}: {out}{err}")
    code, out, err = replay("rtl:npu_timer(period=100 ns)")
    check(code == 1 and re.search(r"first difference at .*npu19: start 0: node \d+ .*later than recorded", out),
          f"a slower clock: exit {code}: {out}{err}")
    code, out, err = replay("rtl:npu_timer(bug=1)")
    check(code == 1 and "answers tag" in out, f"the seeded fault: exit {code}: {out}{err}")
    code, out, err = replay("rtl:npu_timer(bug=2)")
    check(code == 1 and "is never answered" in out and "has not answered" in err,
          f"a block that answers nothing: exit {code}: {out}{err}")
    code, _, err = package.run("replay", "npu_recorded/npu19.rec", "--plugin", plugin, "--implementation",
                               "rtl:npu_timr")
    check(code == 2 and "there is no NPU model 'npu_timr'" in err, f"a misspelt block: exit {code}: {err}")


def nmu(package):
    """The datapath of one of 64 NMUs is RTL."""
    machine = package.example("nmu_datapath")
    model = run_time(package, machine, "nmu_model", *MODEL)
    rtl = run_time(package, machine, "nmu_rtl")
    check(model <= rtl < 1.2 * model, f"job with an RTL NMU: {rtl} ns, with the model {model} ns")
    data = run_time(package, machine, "nmu_data", "--set", "run.data=functional")
    check(data == rtl, f"elements change the time: {data} and {rtl} ns")
    def collective(period):
        code, out, err = package.run("collective", *machine, "--size", "1 MiB", "--data", "int32", "--json", "--set",
                                     'implementations=[{modules: nmu19, implementation: '
                                     f'"rtl:nmu_datapath(period={period})"' '}]')
        check(code == 0 and json.loads(out)["results"][0]["elements_verified"] > 0, f"data: exit {code}: {err}")
        return json.loads(out)["results"][0]["time_ns"] if code == 0 else float("nan")

    # Back-pressure reaches the NMU: it sends no faster than the block takes beats of 64 bytes. In an all-reduce over
    # rings of 8 and switches of 8, 2 x 7/8 of 1 MiB leave an NMU in the first dimension, an eighth of that in the second.
    fast, slow = collective("500 ps"), collective("16 ns")
    beats = 2 * 7 / 8 * (1 + 1 / 8) * 2**20 / 64
    check(slow > beats * 16 > fast, f"a block of 16 ns a beat: {slow} ns, of 0.5 ns: {fast} ns, for {beats} beats")
    replay_nmu(package, machine)
    code, _, err = package.run("collective", *machine, "--size", "1 MiB", "--fidelity", "packet")
    check(code == 2 and "`message` fidelity" in err, f"at packet fidelity: exit {code}: {err}")


def replay_nmu(package, machine):
    """The RTL datapath alone, on its recording of the 64-NPU job: as recorded, or the seeded fault with its time,
    collective, chunk and message."""
    plugin = machine[2].split("=", 1)[1]
    plain = run_time(package, machine, "nmu_plain")
    recorded = run_time(package, machine, "nmu_recorded", "--record", "npu[19].nmu")
    check(plain == recorded, f"recording changes the time: {plain} and {recorded} ns")
    run_time(package, machine, "nmu_recorded_model", *MODEL, "--record", "nmu19")

    def replay(implementation, recording="nmu_recorded", *more):
        return package.run("replay", f"{recording}/nmu19.rec", "--plugin", plugin, "--implementation", implementation,
                           *more)

    code, out, err = replay("rtl:nmu_datapath(period=500 ps)")
    check(code == 0 and "first difference" not in out, f"the datapath alone does something else: {code}: {out}{err}")
    check("object already exists" not in err, f"warnings: {err}")
    counts = re.search(r": ([\d,]+) messages in, ([\d,]+) of ([\d,]+) answers", out)
    check(counts is not None and counts[2] == counts[3] != "0", f"answers are missing: {out}")
    code, out, err = replay("rtl:nmu_datapath(period=500 ps, clock=free)")
    check(code == 0, f"a free clock changes the replay: exit {code}: {out}{err}")
    code, out, err = replay("rtl:nmu_datapath(period=500 ps)", "nmu_recorded_model", "--tolerance", "10 us")
    check(code == 0, f"a recording of the model cannot drive the RTL: exit {code}: {out}{err}")
    code, out, err = replay("model")
    check(code == 1 and "earlier than recorded" in out, f"the model is as slow as the RTL: exit {code}: {out}{err}")
    where = (r"first difference at [\d.]+ us \(\d+ ps\), link \S+: message \d+ of rank \d+ to NPU \d+, \d+ B, collective \d+ "
             r"\([a-z_]+ of \d+ B, node '.*'\), chunk \d+, phase \d+, round \d+: ")
    for bug, words in [(1, "its segments have \\d+ B that are not those"), (2, "its head is there at \\d+ ps, 4000 ps later"),
                       (3, "does not come")]:
        code, out, err = replay(f"rtl:nmu_datapath(period=500 ps, bug={bug})")
        check(code == 1 and re.search(where + words, out) is not None, f"bug {bug}: exit {code}: {out}{err}")
    check(re.search(r"pins s_msg: TVALID .* waits for TREADY", err) is not None, f"bug 3 names no handshake: {err}")
    code, _, err = package.run("replay", "nmu_recorded/nmu19.rec", "--implementation", "model", "--block", "nmu18")
    check(code == 2 and "a recording of the nmu 'nmu19', not of 'nmu18'" in err, f"another block: exit {code}: {err}")
    bytes_of = (package.work / "nmu_recorded/nmu19.rec").read_bytes()
    (package.work / "cut.rec").write_bytes(bytes_of[:len(bytes_of) * 2 // 3])
    (package.work / "old.rec").write_bytes(bytes_of[:8] + (1).to_bytes(8, "little") + bytes_of[16:])
    for name, words in [("cut", "is cut short after"), ("old", "is of version 1 of the format")]:
        code, _, err = package.run("replay", f"{name}.rec", "--implementation", "model")
        check(code == 2 and words in err, f"{name}: exit {code}: {err}")


def router(package):
    """One router of a mesh is RTL: as fast as the model when nothing else is under way, and a curve beside it."""
    import chakra
    machine = package.example("mesh_router")

    def write(name, sends):
        """sends: (source, destination, bytes, microsecond)."""
        for rank in range(16):
            nodes, last, clock = [], None, 0
            for i, (source, destination, size, at) in enumerate(sends):
                if rank not in (source, destination):
                    continue
                if rank == source:
                    if at > clock:
                        nodes.append(chakra.Node(1000 + i, chakra.COMP, "wait", [last] if last else [], at - clock))
                        clock, last = at, 1000 + i
                    nodes.append(chakra.Node(100000 + i, chakra.SEND, "send", [last] if last else [], comm_src=source,
                                             comm_dst=destination, comm_tag=i, comm_size=size))
                else:
                    nodes.append(chakra.Node(200000 + i, chakra.RECV, "receive", [], comm_src=source,
                                             comm_dst=destination, comm_tag=i, comm_size=size))
            if not nodes:
                nodes = [chakra.Node(1, chakra.COMP, "nothing", [], 1)]
            chakra.write(package.work / f"{name}.{rank}.et", nodes)

    def run(name, *more):
        """When each rank ends, and what each link has carried."""
        code, _, err = package.run("run", *machine, "--trace", name, "--out", f"out_{name}", *more)
        check(code == 0, f"{name} {more}: exit {code}: {err}")
        if code != 0:
            return {}
        return {file: (package.work / f"out_{name}" / file).read_text() for file in ("ranks.csv", "links.csv")}

    def latency(name, *more):
        """Mean time of a packet's head from its arrival at router 5 to its arrival behind the next link, ns."""
        run(name, "--record", "packet0_0.router5", *more)
        shown = command([package.weft, "record", "show", f"out_{name}/packet0_0.router5.rec", "--limit", "10000000"],
                        cwd=package.work)
        came, sum_ps, count = {}, 0, 0
        for way, at, tag in re.findall(r"ps  (in |out) port \d+ +(\d+) ps  flits 0\.\.\d+ .* tag (\d+), ", shown):
            packets = came.setdefault(tag, [])
            if way == "in ":
                packets.append(int(at))
            elif packets:
                sum_ps += int(at) - packets.pop(0)
                count += 1
        check(count > 0, f"{name} {more}: no packet passes router 5")
        return sum_ps / max(1, count) / 1000

    # Router 5 is at (1, 1): ways along both dimensions, turns, and messages of itself; one packet and several.
    for source, destination in [(4, 6), (6, 4), (1, 9), (4, 9), (5, 0), (0, 5), (5, 10), (4, 5)]:
        for size in (1, 64, 256, 4096):
            name = f"one_{source}_{destination}_{size}"
            write(name, [(source, destination, size, 0)])
            rtl, model = run(name), run(name, *MODEL)
            check(rtl and rtl == model, f"{size} B from {source} to {destination}, alone: RTL and model differ")
    router_waves(package, run, write)
    curve = []
    draw = random.Random(7)
    for load in (1, 4, 8, 16, 24):  # KiB a microsecond and rank
        sends = []
        for at in range(1, 9):
            for source in range(16):
                for _ in range(load):
                    sends.append((source, draw.choice([d for d in range(16) if d != source]), 1024, at))
        name = f"load_{load}"
        write(name, sends)
        curve.append((load, round(latency(name), 2), round(latency(name, *MODEL), 2)))
    print("KiB a microsecond and rank; mean latency at router 5 in ns, RTL and model:", curve, flush=True)
    for load, rtl, model in curve:
        check(0.8 * model < rtl < 1.25 * model, f"load {load}: RTL {rtl} ns, model {model} ns")
    check(curve[-1][1] > curve[0][1], f"load makes no packet wait: {curve}")
    replay_router(package, machine)
    code, _, err = package.run("collective", *machine, "--size", "4 KiB", "--set",
                               'implementations=[{modules: packet0_0.router99, implementation: "rtl:mesh_router"}]')
    check(code == 2 and "applies to no router" in err, f"no such router: exit {code}: {err}")
    code, _, err = package.run("collective", *machine, "--size", "4 KiB", "--set", "packet.buffer_flits=64")
    check(code == 2 and "the block has buffers of 16 flits" in err, f"larger buffers: exit {code}: {err}")


def read_waves(path):
    """Name -> [(time, value)] of the numbers in a waveform, and the time at its end."""
    names, scopes, changes, now = {}, [], {}, 0
    for line in path.read_text().splitlines():
        words = line.split()
        if not words:
            continue
        if words[0] == "$scope":
            scopes.append(words[2])
        elif words[0] == "$upscope":
            scopes.pop()
        elif words[0] == "$var":
            names[words[3]] = ".".join([*scopes, words[4]])
        elif words[0][0] == "#":
            now = int(words[0][1:])
        elif words[0][0] in "01x":
            changes.setdefault(names[words[0][1:]], []).append((now, words[0][0]))
        elif words[0][0] in "br":
            changes.setdefault(names[words[1]], []).append((now, words[0][1:]))
    return changes, now


def router_waves(package, run, write):
    """The signals of the RTL router's links say what links.csv says; its credits and flits come to rest."""
    draw = random.Random(3)
    write("waves", [(source, draw.choice([d for d in range(16) if d != source]), draw.randrange(1, 3000), at)
                    for at in range(1, 4) for source in range(16)])
    files = run("waves", "--waves", "*")
    if not files:
        return
    waves, end = read_waves(package.work / "out_waves/waves.vcd")
    own = [row for row in csv.DictReader(files["links.csv"].splitlines()) if ".router5." in row["name"]]
    check(len(own) == 4, f"router 5 has 4 links: {own}")
    for row in own:
        name = row["name"]
        told = int(waves[name + ".bytes"][-1][1], 2)
        check(told == int(row["bytes"]) > 0, f"{name}.bytes is {told}, links.csv {row['bytes']}")
        busy, edges = 0, waves[name + ".busy"] + [(end, "0")]
        for (at, value), (until, _) in zip(edges, edges[1:]):
            busy += until - at if value == "1" else 0
        check(busy == round(float(row["busy_ns"]) * 1000), f"{name}.busy: {busy} ps, links.csv {row['busy_ns']} ns")
        check(len({value for _, value in waves[name + ".flow"]}) > 1, f"{name}.flow tells no messages")
        check(name + ".stall" not in waves, f"{name}.stall: only the block knows")
    resting = 0
    for name, changes in waves.items():
        if not re.search(r"\.router5\.(out\d+\.vc\d+_credits|in\d+\.vc\d+_flits)$", name):
            continue
        values = [int(value, 2) for _, value in changes]
        depth = values[0]
        check(values[-1] == depth, f"{name} is {values[-1]} in the end, {depth} at first")
        check(all(0 <= v <= 16 for v in values), f"{name} leaves its buffer: {values}")
        resting += len(values) > 1
    check(resting >= 8, f"{resting} of router 5's credits and buffers change")


def replay_router(package, machine):
    """The RTL router alone, on its recording of an all-reduce: as recorded, or the seeded fault with its packet."""
    code, _, err = package.run("collective", *machine, "--size", "64 KiB", "--record", "packet0_0.router5", "--out", "router_rtl")
    check(code == 0, f"the job that is recorded: exit {code}: {err}")
    plugin = machine[2].split("=", 1)[1]

    def replay(implementation):
        return package.run("replay", "router_rtl/packet0_0.router5.rec", "--plugin", plugin, "--implementation",
                           implementation)

    code, out, err = replay("rtl:mesh_router")
    check(code == 0 and "first difference" not in out and "packets in" in out,
          f"the router alone does something else: exit {code}: {out}{err}")
    packet = r"rank \d+ to \d+, (\d+ B, )?collective \d+( \(.*\))?, chunk \d+, phase \d+, round \d+"
    code, out, err = replay("rtl:mesh_router(bug=1)")
    found = re.search(r"first difference at [\d.]+ us \(\d+ ps\), link \S+: flits .*, " + packet + r".*later than recorded",
                      out)
    check(code == 1 and found is not None, f"bug 1: time, link and packet are not told: exit {code}: {out}{err}")
    code, out, err = replay("rtl:mesh_router(bug=2)")
    found = re.search(r"fault of the RTL block: at \d+ ps, port \d+: it sends flit \d+ of a packet of \d+ B from " + packet,
                      err)
    check(code == 1 and found is not None, f"bug 2: time, port and packet are not told: exit {code}: {out}{err}")


def skeletons(package):
    """`weft rtl new` makes projects that build and run at once."""
    for kind in ("switch", "nmu", "npu", "memory", "axi_memory", "link", "unit"):
        folder = package.work / f"new_{kind}"
        shutil.rmtree(folder, ignore_errors=True)
        code, out, err = package.run("rtl", "new", f"my_{kind}", "--kind", kind, "--out", folder)
        check(code == 0, f"rtl new --kind {kind}: exit {code}: {err}")
        if code != 0:
            continue
        build = package.build(folder, folder / "build")
        done = subprocess.run(["ctest", "--test-dir", str(build), "--output-on-failure"], capture_output=True, text=True)
        check(done.returncode == 0, f"rtl new --kind {kind}: {done.stdout}{done.stderr}")
        code, _, err = package.run("rtl", "new", f"my_{kind}", "--kind", kind, "--out", folder)
        check(code == 2 and "is there already" in err, f"rtl new over a project: exit {code}: {err}")
        if kind == "axi_memory":
            wrong_memory(package, folder)


def wrong_memory(package, folder):
    """The tests of that project fail when the memory stores a wrong bit."""
    rtl = folder / "my_axi_memory.sv"
    right, stored = rtl.read_text(), "memory[row][8*i+:8] <= s_axi_wdata[8*i+:8]"
    check(right.count(stored) == 1, f"where my_axi_memory.sv stores bytes: {right}")
    rtl.write_text(right.replace(stored, f"{stored} ^ 8'(i == 4)"))
    build = package.build(folder, folder / "build")
    for data in ("none", "int32"):
        done = subprocess.run(["ctest", "--test-dir", str(build), "--output-on-failure", "-R", f"_{data}$"],
                              capture_output=True, text=True)
        check(done.returncode != 0 and "byte 4 came back as" in done.stdout,
              f"a memory that stores a wrong bit, {data}: {done.stdout}{done.stderr}")
        check("a block that is not Weft's own may have broken them: hbm1 (rtl:my_axi_memory" in done.stdout
              and "please report" not in done.stdout, f"whose fault it may be, {data}: {done.stdout}")


def main():
    options = parser(__doc__)
    options.add_argument("--keep", action="store_true", help="do not empty it")
    options.add_argument("--only", help="one of the parts")
    args = options.parse_args()
    package = Package(args)
    for part in (switch, npu, nmu, router, skeletons):
        if args.only in (None, part.__name__):
            part(package)
    finish()


if __name__ == "__main__":
    main()
