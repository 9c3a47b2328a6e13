// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

// A collective planned in two ways: by a notation and by a graph of the same links, by a built-in algorithm
// and by the programs that weft writes of it.

#include <fmt/format.h>

#include <algorithm>

#include "tests/relations/relation.h"

namespace weft::relations {
namespace {

Case draw_graph(Random& random) {
  Case c;
  MachineLimits machine;
  machine.kinds = {"Ring", "FullyConnected", "Switch"};
  machine.dimensions = 1;
  machine.smallest = 3;  // the two links of Ring(2) are one pair of nodes
  machine.fidelities = {"message", "message", "packet"};
  c.machine = draw_machine(random, machine);
  c.machine.dimensions[0].keys.erase("links_per_npu");
  CollectiveLimits limits;
  limits.algorithms = false;
  limits.in_switch = false;
  draw_collective_keys(random, c.machine, limits);
  c.collective = draw_collective(random, c.machine, 128 << 10);
  return c;
}

std::string links_of(const Dimension& d, const std::string& values) {
  std::string out;
  const auto link = [&](const std::string& from, const std::string& to) {
    out += fmt::format("\n      - {{from: {}, to: {}, {}}}", from, to, values);
  };
  if (d.kind == "Switch") link(fmt::format("npu0..npu{}", d.size - 1), "sw0");
  if (d.kind == "FullyConnected")
    link(fmt::format("npu0..npu{}", d.size - 1), fmt::format("npu0..npu{}", d.size - 1));
  for (uint32_t i = 0; d.kind == "Ring" && i < d.size; ++i)
    link(fmt::format("npu{}", i), fmt::format("npu{}", (i + 1) % d.size));
  return out;
}

void check_graph(const Case& c, Bench& bench) {
  const Dimension& d = c.machine.dimensions[0];
  if (c.machine.dimensions.size() != 1 || d.size < 3 || d.tree() || d.kind == "Mesh")
    throw Skipped{"no such graph"};
  Machine graph = c.machine;
  std::string values, keys;
  for (const auto& [key, value] : d.keys) {
    if (key == "bandwidth" || key == "latency")
      values += fmt::format("{}{}: {}", values.empty() ? "" : ", ", key, value);
    if (key == "fidelity" || key == "switching") graph.keys["topology.graph." + key] = value;
  }
  graph.keys["topology.logical"] = c.machine.notation();
  graph.keys["topology.graph.npus"] = std::to_string(d.size);
  if (d.kind == "Switch") graph.keys["topology.graph.switches"] = "1";
  graph.keys["topology.graph.links"] = links_of(d, values);
  std::string yaml = graph.yaml();
  for (const char* line : {"  notation:", "  dimensions:"}) {  // a graph has none
    const size_t at = yaml.find(line);
    size_t end = yaml.find('\n', at) + 1;
    while (yaml.compare(end, 6, "    - ") == 0) end = yaml.find('\n', end) + 1;
    yaml.erase(at, end - at);
  }
  bench.write("graph.yaml", yaml);
  const CollectiveResult notation = bench.collective(c.machine, *c.collective);
  const CollectiveResult by_graph = bench.collective_file("graph.yaml", *c.collective);
  require_same_time(notation.time, by_graph.time, "a graph of the same links takes another time",
                    "notation and graph");
}

Case draw_custom(Random& random) {
  Case c;
  MachineLimits machine;
  machine.npus = 12;
  c.machine = draw_machine(random, machine);
  CollectiveLimits limits;
  limits.algorithms = false;
  limits.chunks = 1;
  draw_collective_keys(random, c.machine, limits);
  c.collective = draw_collective(random, c.machine);
  c.collective->root = 0;
  c.choices["algorithm"] = random.below(c.collective->op == "all_to_all" ? 2 : 3);
  return c;
}

void check_custom(const Case& c, Bench& bench) {
  const char* const names[] = {"ring", "direct", "halving_doubling"};
  const std::string name = names[c.choice("algorithm") % 3];
  const std::string key = "collectives." + c.collective->op;
  Machine built_in = c.machine, custom = c.machine;
  built_in.keys["collectives.chunks"] = custom.keys["collectives.chunks"] = "1";
  built_in.keys[key] = "one_" + name;
  custom.keys[key] = "custom:programs/p";
  built_in.keys.erase("collectives.direct_window");  // of the algorithm, not of programs
  std::vector<std::string> words = {
      "generate", "collective", name, std::to_string(c.machine.npus()), "--op", c.collective->op, "--out",
      "programs", "--name",     "p"};
  const Ran made = bench.weft(words);
  if (made.status != 0) throw Skipped{made.error()};
  const CollectiveResult a = bench.collective(built_in, *c.collective);
  const CollectiveResult b = bench.collective(custom, *c.collective, "custom");
  require_same_time(a.time, b.time, "the programs of a built-in algorithm take another time",
                    "one_" + name + " and custom");
  require(a.messages == b.messages, "the programs of a built-in algorithm have other messages",
          fmt::format("{} and {}", a.messages, b.messages));
}

}  // namespace

Relation graphs() {
  return {"graphs", "a graph of a notation's links takes the notation's time", draw_graph, check_graph};
}
Relation custom_programs() {
  return {"custom_programs", "the programs of a built-in algorithm take its time", draw_custom, check_custom};
}

}  // namespace weft::relations
