#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Copyright the Weft authors
"""Installs Weft, builds examples/own_main and examples/rtl/axi_memory against the package, and runs them."""

import json
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from installed_weft import InstalledWeft, check, command, finish, parser  # noqa: E402


class Package(InstalledWeft):
    """An installed Weft, and traces for two and four ranks."""

    def __init__(self, args):
        super().__init__(args)
        for ranks in (2, 4):
            command([self.weft, "generate", "llm", "--tp", ranks, "--layers", "2", "--hidden", "256", "--batch", "1",
                     "--out", self.work / f"trace{ranks}"])

    def build_example(self, example):
        """A copy of the example, built as a project of its own."""
        source = self.example_source(example, self.work / "source" / example)
        return source, self.build(source, self.work / "build" / example)

    def traces(self, ranks):
        return self.work / f"trace{ranks}" / "llm", self.work / f"trace{ranks}" / "llm.groups.json"


def own_main(package):
    """An sc_main of one's own with a memory of somebody else; and somebody else's sc_main."""
    _, folder = package.build_example("own_main")
    code, out, err = package.call(folder / "two_npus", *package.traces(2))
    check(code == 0, f"two_npus: exit {code}: {err}")
    moved = re.findall(r"machine\.hbm(\d)\.memory: (\d+) reads, (\d+) writes", out)
    check([m[0] for m in moved] == ["0", "1"] and all(int(m[1]) + int(m[2]) > 0 for m in moved),
          f"two_npus: its memories did nothing: {out}")
    check("Warning" not in out + err, f"two_npus: SystemC warns: {out}{err}")
    code, out, err = package.call(folder / "foreign_master", *package.traces(4))
    check(code == 0, f"foreign_master: exit {code}: {err}")
    check(re.search(r"the job finished at \d+ ps; the controller did 100 rounds", out), f"foreign_master: {out}")
    check("Warning" not in out + err, f"foreign_master: SystemC warns: {out}{err}")


def axi_memory(package):
    """An RTL memory controller in place of one HBM: it is used, it is right, and it is slower."""
    source, folder = package.build_example("rtl/axi_memory")
    plugin = ("--set", f"plugins={folder / 'axi_memory.so'}")
    trace, groups = package.traces(4)

    def job(name, *sets):
        code, _, err = package.call(package.weft, "run", source / "machine.yaml", *plugin, "--trace", trace, "--groups",
                                   groups, "--out", name, *[a for s in sets for a in ("--set", s)])
        check(code == 0, f"axi_memory {sets}: exit {code}: {err}")
        if code != 0:
            return float("nan"), ""
        return json.loads((package.work / name / "summary.json").read_text())["time_ns"], err

    rtl, _ = job("rtl")
    model, _ = job("model", "implementations=[]")
    check(rtl > model, f"an RTL controller that waits 12 cycles costs nothing: {rtl} and {model} ns")
    slower, _ = job("slower", "implementations=[{modules: hbm3, implementation: \"rtl:axi_memory(period=4 ns)\"}]")
    check(slower > rtl, f"a quarter of the clock costs nothing: {slower} and {rtl} ns")
    free, _ = job("free", "implementations=[{modules: hbm3, implementation: \"rtl:axi_memory(clock=free)\"}]")
    check(free == rtl, f"a clock that never stops changes the time: {free} and {rtl} ns")
    code, _, err = package.call(package.weft, "run", source / "machine.yaml", *plugin, "--trace", trace, "--groups",
                               groups, "--out", "large", "--set", "hbm.capacity=2 MiB")
    check(code == 2 and "the target has 1048576 B, and the configuration wants 2097152" in err,
          f"an HBM of 2 MiB in 1 MiB of RTL: exit {code}: {err}")
    other_memories(package, folder / "axi_memory.so")
    replay_memory(package, source / "machine.yaml", folder / "axi_memory.so", trace, groups)


OTHER = """weft: 1
topology: {notation: Switch(4), dimensions: [{bandwidth: 100 GB/s, latency: 0 ns}]}
run: {data: functional}
memory:
  pool: {nodes: 2, out_switches: 2, groups: 4, group_bandwidth: 64 GB/s, out_node_bandwidth: 64 GB/s,
         in_node_bandwidth: 64 GB/s, chunk: 4 KiB, split: whole, group_memory: bandwidth, capacity: 1 MiB}
  host: {per: node, nodes: 2, bandwidth: 64 GB/s, link_bandwidth: 64 GB/s, capacity: 1 MiB, chunk: 4 KiB}
  nvme: {bandwidth: 25 GB/s, latency: 1 us, capacity: 1 MiB, chunk: 4 KiB}
"""


def other_memories(package, plugin):
    """The same RTL in place of a memory group, a host's memory and its drives."""
    (package.work / "other.yaml").write_text(OTHER)
    for module, memory in [("pool.group1.memory", "pool"), ("host0.memory", "host"), ("host1.nvme", "nvme")]:
        def time(*sets):
            code, out, err = package.call(package.weft, "pool", "other.yaml", "--tensor", "40001 B", "--op", "store",
                                          "--memory", memory, "--json", "--set", f"plugins={plugin}",
                                          *[a for s in sets for a in ("--set", s)])
            check(code == 0, f"{module} {sets}: exit {code}: {err}")
            return json.loads(out)["time_ns"] if code == 0 else float("nan")

        slow = f'implementations=[{{modules: {module}, implementation: "rtl:axi_memory(period=16 ns)"}}]'
        check(time(slow) > time(), f"{module}: an RTL memory of 4 GB/s costs nothing")


def replay_memory(package, machine, plugin, trace, groups):
    """The RTL controller alone, on its recording of the job."""
    code, _, err = package.call(package.weft, "run", machine, "--set", f"plugins={plugin}", "--trace", trace, "--groups",
                               groups, "--out", "recorded", "--record", "npu[3].hbm")
    check(code == 0, f"--record of an HBM: exit {code}: {err}")

    def replay(implementation):
        return package.call(package.weft, "replay", "recorded/hbm3.rec", "--plugin", plugin, "--implementation",
                            implementation)

    code, out, err = replay("rtl:axi_memory")
    found = re.search(r"([\d,]+) accesses in, ([\d,]+) of ([\d,]+) answers as recorded", out)
    check(code == 0 and found is not None and found[1] == found[2] == found[3] != "0",
          f"the controller alone does something else: exit {code}: {out}{err}")
    code, out, err = replay("rtl:axi_memory(period=4 ns)")
    check(code == 1 and re.search(r"first difference at [\d.]+ us \(\d+ ps\), link job\.hbm3\.port\d: access 0: .* B at "
                                  r"address 0x[\da-f]+: is complete at \d+ ps, \d+ ps later than recorded", out),
          f"a slower controller: exit {code}: {out}{err}")


def main():
    options = parser(__doc__)
    options.add_argument("--rtl", action="store_true", help="Verilator is there")
    args = options.parse_args()
    package = Package(args)
    own_main(package)
    if args.rtl:
        axi_memory(package)
    finish()


if __name__ == "__main__":
    main()
