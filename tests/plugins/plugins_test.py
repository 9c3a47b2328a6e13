#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Copyright the Weft authors
"""Installs Weft, builds examples/plugins against the package as a user would, and uses each plugin by name.

Then it builds what is wrong on purpose (another interface version, a symbol that is missing, a name that is
taken, a constructor that throws, rounds that do not gather) and looks at the message and the exit code.
"""

import json
import pathlib
import re
import shutil
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from installed_weft import InstalledWeft, check, command, finish, parser  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]


WRONG = {
    # An older interface: the number is all that is looked at.
    "old_interface": """
#include <cstdint>
extern "C" uint32_t weft_plugin_interface() { return 99; }
extern "C" const char* weft_plugin_build() { return "SystemC"; }
extern "C" void weft_plugin_register(void*) {}
""",
    "other_build": """
#include "sc_models/plugin.h"
extern "C" uint32_t weft_plugin_interface() { return weft::kPluginInterface; }
extern "C" const char* weft_plugin_build() { return "SystemC 9.8.7"; }
extern "C" void weft_plugin_register(void*) {}
""",
    "no_plugin": "int nothing() { return 0; }\n",
    "missing_symbol": """
#include <cstdint>
extern void nobody_has_this();
extern "C" uint32_t weft_plugin_interface() { nobody_has_this(); return 1; }
""",
    "empty": '#include "sc_models/plugin.h"\nWEFT_PLUGIN(registry) { (void)registry; }\n',
    "taken": """
#include "sc_models/plugin.h"
WEFT_PLUGIN(registry) {
  registry.add_switch("crossbar", "again", [](sc_core::sc_module_name, weft::SwitchContext, weft::Parameters&) {
    return std::unique_ptr<weft::SwitchModel>();
  });
}
""",
    "throws": """
#include <stdexcept>
#include "sc_models/plugin.h"
WEFT_PLUGIN(registry) {
  registry.add_switch("throwing", "its constructor throws",
                      [](sc_core::sc_module_name, weft::SwitchContext, weft::Parameters&)
                          -> std::unique_ptr<weft::SwitchModel> { throw std::runtime_error("no more cells"); });
  registry.add_switch("absent", "its maker makes nothing",
                      [](sc_core::sc_module_name, weft::SwitchContext, weft::Parameters&) {
                        return std::unique_ptr<weft::SwitchModel>();
                      });
}
""",
    "modules": """
#include <stdexcept>
#include "sc_models/plugin.h"
WEFT_PLUGIN(registry) {
  registry.add_nmu("throwing_nmu", "its constructor throws",
                   [](sc_core::sc_module_name, weft::NpuId, const weft::NmuContext&, weft::Parameters&)
                       -> std::unique_ptr<weft::NmuModel> { throw std::runtime_error("no more queues"); });
  registry.add_npu("absent_npu", "its maker makes nothing",
                   [](sc_core::sc_module_name, const weft::NpuContext&, weft::Parameters&) {
                     return std::unique_ptr<weft::NpuModel>();
                   });
}
""",
    "taken_nmu": """
#include "sc_models/plugin.h"
WEFT_PLUGIN(registry) {
  registry.add_nmu("model", "again",
                   [](sc_core::sc_module_name, weft::NpuId, const weft::NmuContext&, weft::Parameters&) {
                     return std::unique_ptr<weft::NmuModel>();
                   });
}
""",
    "lazy": """
#include "sc_models/plugin.h"
using namespace weft::collectives;
class Lazy final : public Algorithm {
  const char* name() const override { return "lazy"; }
  std::string refuses(weft::CollectiveOp, uint32_t) const override { return ""; }
  uint32_t rounds(const PhaseShape&) const override { return 1; }
  void round(const PhaseShape& s, uint32_t, Round& out) const override {
    out.clear();
    out.sends.push_back({plus_mod(s.me, 1, s.n), 0, {s.me, 1, 1}, false});
    out.receives = 1;
  }
  bool expects(const PhaseShape& s, uint32_t, uint32_t from) const override {
    return from == minus_mod(s.me, 1, s.n);
  }
};
const Lazy lazy;
WEFT_PLUGIN(registry) { registry.add_algorithm(lazy, "one round, whatever n"); }
""",
    "exits": """
#include <cstdlib>
#include "sc_models/plugin.h"
struct Exits final : weft::MemoryTarget {
  Exits(sc_core::sc_module_name name, const weft::MemoryContext& c, bool at_once)
      : MemoryTarget(name, c.figures.capacity, c.sockets, c.probes) {
    if (at_once) std::exit(0);
  }
  weft::Picoseconds busy() const override { return 0; }
  void begin(Ticket, const Access&, weft::Picoseconds) override { std::exit(0); }
};
WEFT_PLUGIN(registry) {
  registry.add_memory("exits", "ends the program",
                      [](sc_core::sc_module_name name, const weft::MemoryContext& context, weft::Parameters& parameters) {
                        return std::make_unique<Exits>(name, context, parameters.integer("at_once", "0") != 0);
                      });
}
""",
    "twice": """
#include "sc_models/plugin.h"
struct Twice final : weft::MemoryTarget {
  Twice(sc_core::sc_module_name name, const weft::MemoryContext& c)
      : MemoryTarget(name, c.figures.capacity, c.sockets, c.probes) {}
  weft::Picoseconds busy() const override { return 0; }
  void begin(Ticket ticket, const Access&, weft::Picoseconds at) override {
    finish(ticket, at + 1000);
    finish(ticket, at + 2000);
  }
};
WEFT_PLUGIN(registry) {
  registry.add_memory("twice", "answers twice",
                      [](sc_core::sc_module_name name, const weft::MemoryContext& context, weft::Parameters&) {
                        return std::make_unique<Twice>(name, context);
                      });
}
""",
    "beyond": """
#include "sc_models/plugin.h"
struct Beyond final : weft::pool::StripingPolicy {
  explicit Beyond(const weft::pool::StripingContext& c) : groups(c.groups) {}
  weft::pool::Place place(uint32_t, uint64_t) const override { return {groups, 0}; }
  uint32_t groups;
};
WEFT_PLUGIN(registry) {
  registry.add_striping("beyond", "one group too far", [](const weft::pool::StripingContext& c) {
    return std::unique_ptr<weft::pool::StripingPolicy>(std::make_unique<Beyond>(c));
  });
}
""",
}


class Package(InstalledWeft):
    """An installed Weft and the plugins that were built against it."""

    def __init__(self, args):
        super().__init__(args)
        self.source = self.example_source("plugins", self.work / "source")
        wrong = self.work / "wrong"
        wrong.mkdir()
        listing = ["cmake_minimum_required(VERSION 3.25)", "project(wrong LANGUAGES CXX)",
                   "set(CMAKE_CXX_STANDARD 17)", "find_package(weft 0.1 REQUIRED)"]
        for name, text in WRONG.items():
            (wrong / f"{name}.cpp").write_text(text)
            listing.append(f"weft_add_plugin({name} SOURCES {name}.cpp)")
        (wrong / "CMakeLists.txt").write_text("\n".join(listing) + "\n")
        self.plugins = self.build(self.source, self.work / "plugins")
        self.wrong = self.build(wrong, self.work / "wrong_build")

    def run(self, *args):
        """(exit code, output, errors) of the installed weft."""
        return self.call(self.weft, *args)

    def example(self, name, *args, command_name="collective"):
        plugin = self.plugins / f"{name}.so"
        return self.run(command_name, self.source / name / "machine.yaml", "--set", f"plugins={plugin}", *args)


def microseconds(output):
    """The time of the one size of `weft collective --json`; nan when there is none, which no check passes."""
    try:
        return json.loads(output)["results"][0]["time_ns"] / 1000
    except (ValueError, KeyError, IndexError):
        return float("nan")


def used(package):
    """Each plugin by the name in its YAML file."""
    for name, op in [("input_queued_switch", "all_to_all"), ("paged_memory", "all_reduce"),
                     ("highest_first_routing", "all_to_all"), ("bruck_algorithm", "all_gather"),
                     ("paced_nmu", "all_gather"), ("scaled_npu", "all_gather")]:
        code, out, err = package.example(name, "--op", op, "--size", "1MiB")
        check(code == 0, f"{name}: exit {code}: {err}")
        code, _, err = package.example(name, command_name="validate")
        check(code == 0, f"{name}: validate: exit {code}: {err}")
        code, out, err = package.example(name, "--models", command_name="describe")
        check(code == 0 and f"{name}.so" in out, f"{name}: describe --models does not name its file: {out}{err}")
        code, out, err = package.example(name, "--op", op, "--size", "1MiB", "--data", "int32")
        check(code == 0, f"{name}: with data: exit {code}: {err}")


def striping(package):
    """A policy of a plugin is where `memory.pool.striping` names it; its places are checked."""
    def pool(*more):
        code, out, err = package.example("run_striping", "--tensor", "256 KiB", "--json", *more, command_name="pool")
        check(code == 0, f"run_striping {more}: exit {code}: {err}")
        return json.loads(out) if code == 0 else {"time_ns": float("nan"), "bytes": {"group": 0}}

    # Four chunks of eight NPUs: each NPU has its chunks in one group, and the next NPU in the next one.
    runs = pool()
    check(runs["bytes"]["group"] == 256 * 1024, f"bytes of a group: {runs['bytes']}")
    latin = pool("--set", "memory.pool.striping=latin")
    check(runs["time_ns"] > 0 and latin["time_ns"] > 0, f"runs {runs}, latin {latin}")
    for command_name in ("validate", "describe"):
        code, out, err = package.example("run_striping", *(["--models"] if command_name == "describe" else []),
                                         command_name=command_name)
        check(code == 0, f"run_striping: {command_name}: exit {code}: {err}")
    check("run_striping.so" in out, f"describe --models does not name its file: {out}")
    code, _, err = package.example("run_striping", "--tensor", "1 MiB", "--set", f"plugins={package.wrong}/beyond.so",
                                   "--set", "memory.pool.striping=beyond", command_name="pool")
    check(code == 2 and "'beyond' puts chunk 0 of NPU 0 in group 8" in err, f"beyond: exit {code}: {err}")


def times(package):
    """What the models do is what their source says."""
    def of(name, op, *more):
        code, out, err = package.example(name, "--op", op, "--size", "1MiB", "--json", *more)
        check(code == 0, f"{name} {more}: exit {code}: {err}")
        return microseconds(out)

    # `delay` is met once a step: halving-doubling on 8 has three steps.
    steps = ("--algorithm", "halving_doubling", "--set", "collectives.chunks=1")
    implementation = "topology.dimensions[0].implementation"
    none = of("input_queued_switch", "all_gather", "--set", f"{implementation}=input_queued(delay=0 ns)", *steps)
    delayed = of("input_queued_switch", "all_gather", "--set", f"{implementation}=input_queued(delay=250 ns)", *steps)
    crossbar = of("input_queued_switch", "all_gather", "--set", f"{implementation}=crossbar", *steps)
    check(abs(none - crossbar) < 1e-3, f"no delay and no conflict: {none} us, crossbar {crossbar} us")
    check(abs(delayed - none - 0.75) < 1e-3, f"three delays of 250 ns: {none} and {delayed} us")
    # The base class of switches has the collective unit: contributions do not come to the model.
    unit = ("--algorithm", "in_switch", "--data", "int32")
    reduced = of("input_queued_switch", "all_reduce", *unit)
    by_crossbar = of("input_queued_switch", "all_reduce", "--set", f"{implementation}=crossbar", *unit)
    check(reduced == by_crossbar, f"in_switch in a plugin's switch: {reduced} us, in a crossbar {by_crossbar} us")
    # A page that is missed costs 60 ns more than one that is hit: more in all three reductions of four ranks.
    hit = of("paged_memory", "reduce_scatter", "--set", "hbm.implementation=paged(hit=20 ns, miss=20 ns)")
    miss = of("paged_memory", "reduce_scatter", "--set", "hbm.implementation=paged(hit=20 ns, miss=5 us)")
    check(miss > hit, f"misses of 5 us cost nothing: {hit} and {miss} us")
    # XY and YX are mirror images of each other on a square mesh.
    yx = of("highest_first_routing", "all_to_all")
    xy = of("highest_first_routing", "all_to_all", "--set", "packet.routing=dimension_order")
    check(0.5 < yx / xy < 2, f"YX {yx} us, XY {xy} us")
    # Six members, three rounds of 1, 2 and 2 blocks against five rounds of one: both bring five blocks.
    bruck = of("bruck_algorithm", "all_gather", "--set", "collectives.chunks=1")
    ring = of("bruck_algorithm", "all_gather", "--set", "collectives.chunks=1", "--algorithm", "ring")
    check(bruck < ring, f"three rounds {bruck} us, five rounds {ring} us")
    code, _, err = package.example("bruck_algorithm", "--op", "all_reduce", "--size", "1MiB", "--algorithm", "bruck")
    check(code == 3 or code == 2, f"all_reduce by bruck: exit {code}: {err}")
    check("runs all-gather only" in err, f"the algorithm's refusal is not told: {err}")


def modules(package):
    """NMUs and NPUs of plugins: all of a kind, and single ones."""
    def gather(nmu, single="[]", *more):
        code, out, err = package.example("paced_nmu", "--op", "all_gather", "--size", "1MiB", "--json",
                                         "--algorithm", "ring", "--set", "collectives.chunks=1",
                                         "--set", f"nmu.implementation={nmu}", "--set", f"implementations={single}",
                                         *more)
        check(code == 0, f"paced_nmu, {nmu}, {single}: exit {code}: {err}")
        return microseconds(out)

    # Seven rounds, one after the other.
    plain = gather("model")
    check(abs(gather("paced(processing=0 ns)") - plain) < 1e-3, "no processing time costs time")
    check(abs(gather("paced(processing=50 ns)") - plain - 0.35) < 1e-3, "seven times 50 ns are not 350 ns")
    check(abs(gather("paced(processing=50 ns)", "[]", "--set", "run.cut_links=*") - plain - 0.35) < 1e-3,
          "a plugin's NMU and borders do not go together")
    single = gather("model", '[{modules: nmu3, implementation: "plugin:paced(processing=50 ns)"}]')
    check(plain + 0.04 < single < plain + 0.36, f"one NMU that waits: {plain} and {single} us")
    slow = gather("model", '[{modules: "nmu[23]", implementation: "paced(processing=0 ns, rate=10 GB/s)"}]')
    check(slow > plain, f"NMUs at a tenth of the links' rate: {plain} and {slow} us")
    for fidelity in ("analytical", "packet"):
        keys = ("--set", f"topology.dimensions[0].fidelity={fidelity}")
        wait = gather("paced(processing=50 ns)", "[]", *keys) - gather("model", "[]", *keys)
        check(abs(wait - 0.35) < 1e-3, f"{fidelity}: seven times 50 ns are {wait} us")

    # A straggler: its compute takes as much longer as the factor says, and the others wait.
    command([package.weft, "generate", "llm", "--tp", "4", "--layers", "2", "--hidden", "512", "--batch", "4",
             "--out", package.work / "trace"])

    def computes(name, *more):
        code, _, err = package.run("run", package.source / "scaled_npu" / "machine.yaml", "--set",
                                   f"plugins={package.plugins / 'scaled_npu.so'}", "--trace", "trace/llm", "--groups",
                                   "trace/llm.groups.json", "--out", name, *more)
        check(code == 0, f"scaled_npu {more}: exit {code}: {err}")
        rows = (package.work / name / "ranks.csv").read_text().splitlines()[1:]
        return [float(row.split(",")[2]) for row in rows], (package.work / name / "ranks.csv").read_bytes()

    same, _ = computes("out_same", "--set", "implementations=[]")
    straggler, _ = computes("out_straggler")
    check(all(abs(a - b) < 1e-6 for a, b in zip(same[:3], straggler[:3])), f"other NPUs: {same} and {straggler}")
    check(abs(straggler[3] / same[3] - 1.25) < 1e-6, f"a factor of 1.25: {same[3]} and {straggler[3]} ns")
    jitter = ("--set", "implementations=[]", "--set", "npu.implementation=scaled(jitter=0.2)")
    first, bytes_of_first = computes("out_jitter", *jitter)
    check(all(0.8 < a / b < 1.2 for a, b in zip(first, same)) and len(set(first)) == 4, f"jitter: {first}")
    check(computes("out_again", *jitter)[1] == bytes_of_first, "jitter differs from run to run")
    check(computes("out_seed", *jitter, "--set", "run.seed=2")[1] != bytes_of_first, "jitter ignores the seed")


def errors(package):
    """Every mistake with the exit code 2, what is wrong, where, and what to do."""
    machine = package.source / "input_queued_switch" / "machine.yaml"

    def fails(what, words, *sets, code=2, op="all_gather"):
        args = [a for s in sets for a in ("--set", s)]
        got, _, err = package.run("collective", machine, "--op", op, "--size", "1MiB", *args)
        check(got == code, f"{what}: exit {got}: {err}")
        for word in words:
            check(word in err, f"{what}: the message lacks '{word}': {err}")
        check("internal error" not in err, f"{what}: {err}")

    def wrong(name):
        return f"plugins={package.wrong / name}.so"

    crossbar = "topology.dimensions[0].implementation=crossbar"
    fails("a file that is not there", ["machine.yaml:3", "input_queued_switch.so", "cannot be loaded"])
    own = re.search(r"kPluginInterface = (\d+);", (ROOT / "sc_models" / "plugin.h").read_text())[1]
    fails("another interface", ["was built for version 99", f"has version {own}"], wrong("old_interface"), crossbar)
    fails("another SystemC", ["was built with SystemC 9.8.7", "this program with SystemC"], wrong("other_build"), crossbar)
    fails("no plugin", ["is no Weft plugin", "weft_plugin_interface"], wrong("no_plugin"), crossbar)
    fails("a missing symbol", ["cannot be loaded", "nobody_has_this", "build it against"], wrong("missing_symbol"), crossbar)
    fails("nothing registered", ["registers nothing"], wrong("empty"), crossbar)
    fails("a name that is taken", ["two of the switch model 'crossbar'", "one of weft", "taken.so"], wrong("taken"), crossbar)
    good = package.plugins / "input_queued_switch.so"
    twin = package.work / "twin.so"
    shutil.copy(good, twin)
    fails("two plugins of one name", ["two of the switch model 'input_queued'", "twin.so"], f"plugins=[{good}, {twin}]")
    implementation = "topology.dimensions[0].implementation"
    fails("a constructor that throws", ["throwing", "throws.so", "switch0_0", "no more cells"], wrong("throws"),
          f"{implementation}=throwing")
    fails("a maker that makes nothing", ["absent", "made nothing"], wrong("throws"), f"{implementation}=absent")
    fails("an unknown model", ["there is no model 'input_cued'", "did you mean `input_queued`", "crossbar"],
          f"plugins={good}", f"{implementation}=input_cued")
    fails("an unknown parameter", ["has no parameter 'delya'", "it has delay"], f"plugins={good}",
          f"{implementation}=input_queued(delya=1 ns)")
    fails("a bad value", ["parameter `delay` of input_queued", "5"], f"plugins={good}",
          f"{implementation}=input_queued(delay=5)")
    fails("a model without switches", ["has no switches"], f"plugins={good}", "topology.notation=Ring(8)")
    nmu = "nmu.implementation"
    fails("an NMU's constructor that throws",
          ["nmu.implementation", "NMU model 'throwing_nmu'", "modules.so", "nmu0", "no more queues"], wrong("modules"),
          crossbar, f"{nmu}=throwing_nmu")
    fails("an unknown NMU", ["there is no model 'throwing_nm'", "did you mean `throwing_nmu`", "model"], wrong("modules"),
          crossbar, f"{nmu}=throwing_nm")
    fails("an NMU's name that is taken", ["two of the NMU model 'model'", "taken_nmu.so"], wrong("taken_nmu"), crossbar)
    fails("an entry for no module", ["implementations[0]", "'nmu77' applies to no module", "nmu0 .. nmu7"],
          wrong("modules"), crossbar, "implementations=[{modules: nmu77, implementation: throwing_nmu}]")
    fails("an entry with an unknown model", ["implementations[0]", "no model 'absent_np'", "did you mean `absent_npu`"],
          wrong("modules"), crossbar, "implementations=[{modules: npu0, implementation: absent_np}]")
    fails("an entry without a model", ["implementations[0].implementation", "missing"], wrong("modules"), crossbar,
          "implementations=[{modules: npu0}]")
    fails("plugin: of our own", ["`plugin:model`", "this library's own"], wrong("modules"), crossbar,
          "implementations=[{modules: nmu0, implementation: 'plugin:model'}]")
    code, _, err = package.run("validate", machine, "--set", wrong("modules"), "--set", crossbar, "--set",
                               "implementations=[{modules: nmu77, implementation: throwing_nmu}]")
    check(code == 2 and "applies to no module" in err, f"validate accepts an entry for no module: exit {code}: {err}")
    fails("a memory that answers twice", ["job.hbm", "it calls finish() for ticket", "is finished already"], wrong("twice"),
          crossbar, "hbm.implementation=twice", "collectives.reduction=hbm", code=1, op="all_reduce")
    for exits in ("exits", "exits(at_once=1)"):
        fails("a memory that calls exit()", ["weft: error: at ", "a module called exit()", "there are no results"],
              wrong("exits"), crossbar, f"hbm.implementation={exits}", "collectives.reduction=hbm", code=1, op="all_reduce")
    fails("rounds that do not gather", ["'lazy' does not do what all_gather"], wrong("lazy"), crossbar,
          "collectives.all_gather=lazy", code=3)


def main():
    options = parser(__doc__)
    package = Package(options.parse_args())
    for part in (used, striping, times, modules, errors):
        part(package)
    finish()


if __name__ == "__main__":
    main()
