// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Machines whose links are an explicit graph, or are not what the collectives plan on: every collective ends,
// nothing is lost, nothing is faster than physics, and messages take the ways and times they should.

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "configs/graph.h"
#include "configs/loader.h"
#include "tests/support/isolated.h"
#include "tests/support/machine.h"
#include "tests/support/paths.h"

namespace weft {
namespace {

using test::BareMachine;

Config example(const std::string& name, const std::vector<std::string>& overrides = {}) {
  return load_config(weft::test::source_dir() + "/configs/examples/" + name + ".yaml", overrides);
}

Config text(const std::string& topology, const std::string& more = "") {
  return parse_config("weft: 1\ntopology:\n" + topology + more, "");
}

#define EXPECT_RUNS(function)                     \
  do {                                            \
    const auto result = test::isolated(function); \
    EXPECT_EQ(result.status, 0) << result.text;   \
    EXPECT_EQ(result.text, "");                   \
  } while (false)

TEST(GraphSystem, EveryCollectiveEndsOnEveryMachine) {
  for (const char* name :
       {"hybrid_cube_mesh", "group_4_and_6", "paper1_alltoall", "paper1_torus", "fat_tree"}) {
    for (const char* fidelity : {"message", "analytical", "packet"}) {
      for (const char* switching : {"cut_through", "store_and_forward"}) {
        EXPECT_RUNS(([&]() -> std::string {
          const bool packets = std::string(fidelity) == "packet";
          if (packets && std::string(switching) == "cut_through") return "";  // has no meaning there
          const std::string where = std::string(name) == "paper1_torus" || std::string(name) == "fat_tree"
                                        ? "topology.dimensions[*]."
                                        : "topology.graph.";
          const std::vector<std::string> common = {
              where + "fidelity=" + fidelity, where + "switching=" + switching, "nmu.endpoint_delay=10 ns"};
          std::vector<std::unique_ptr<BareMachine>> machines;
          machines.push_back(std::make_unique<BareMachine>(name, example(name, common)));
          auto direct = common;
          for (const CollectiveOp op : test::kEveryOp)
            direct.push_back(std::string("collectives.") + to_string(op) + "=direct");
          direct.push_back("nmu.injection_queue=2");
          machines.push_back(
              std::make_unique<BareMachine>(std::string(name) + "_direct", example(name, direct)));
          std::string failures;
          for (const auto& machine : machines) {
            for (const CollectiveOp op : test::kEveryOp)
              for (const uint64_t bytes : {uint64_t{1}, uint64_t{packets ? 100003u : 1000003u}})
                failures += machine->run(op, bytes, machine->system.npus() - 3);
            collectives::Group group{1, "some", {5, 0, 7, 2, 3}};
            for (const CollectiveOp op : test::kEveryOp) failures += machine->run(op, 65536, 7, &group);
          }
          return failures;
        }));
      }
    }
  }
}

TEST(GraphSystem, EveryMessagePaysItsShortestPathExactlyWhenAlone) {
  for (const char* name : {"hybrid_cube_mesh", "group_4_and_6", "paper1_alltoall"}) {
    for (const char* fidelity : {"message", "analytical"}) {
      for (const char* switching : {"cut_through", "store_and_forward"}) {
        EXPECT_RUNS(([&]() -> std::string {
          std::string failures;
          BareMachine m(name, example(name, {std::string("topology.graph.fidelity=") + fidelity,
                                             std::string("topology.graph.switching=") + switching,
                                             "nmu.endpoint_delay=7 ns"}));
          const Graph& graph = *m.config.graph;
          const bool stored =
              std::string(fidelity) == "message" && std::string(switching) == "store_and_forward";
          const auto place = [&](uint32_t r) { return m.config.mapping.empty() ? r : m.config.mapping[r]; };
          uint32_t ordinal = 0;
          for (uint32_t s = 0; s < m.system.npus(); ++s) {
            for (uint32_t d = 0; d < m.system.npus(); ++d) {
              if (s == d) continue;
              const uint64_t bytes = 999 + 13 * ordinal++;
              // All ways of one pair have the same hops, latencies and rates in these machines.
              Picoseconds want = 2 * 7000;
              Picoseconds most = 0;
              for (uint32_t node = place(s); node != place(d);) {
                const Graph::Port& port = graph.ports(node)[graph.next_port(node, place(d), 0)];
                const Picoseconds serialise = transfer_time(bytes, graph.link(port).rate());
                want += graph.link(port).latency + (stored ? serialise : 0);
                most = std::max(most, serialise);
                node = port.peer;
              }
              if (!stored) want += most;
              const Picoseconds time = m.send(s, d, bytes);
              if (time != want)
                failures += std::to_string(s) + " to " + std::to_string(d) + ": " + std::to_string(time) +
                            ", wanted " + std::to_string(want) + "\n";
              if (stored && time != collectives::message_time(m.config, s, d, bytes))
                failures += "message_time\n";
            }
          }
          for (const std::string& broken : m.system.check_conservation()) failures += broken + "\n";
          return failures;
        }));
      }
    }
  }
}

// A graph that is what a notation says behaves as the notation does, to the picosecond.
TEST(GraphSystem, GraphsEqualTheirNotations) {
  EXPECT_RUNS(([]() -> std::string {
    std::string failures;
    int number = 0;
    std::vector<std::pair<std::unique_ptr<BareMachine>, std::unique_ptr<BareMachine>>> twins;
    for (const char* switching : {"cut_through", "store_and_forward"}) {
      for (const char* queues : {"1", "2"}) {
        const std::string more =
            std::string("collectives: {chunks: 3, queues_per_dimension: ") + queues + "}\n";
        const std::string link = "bandwidth: 70/3 GB/s, latency: 123 ns";
        const auto notation = [&](const char* n) {
          return text(std::string("  notation: ") + n + "\n  dimensions: [{" + link +
                          ", switching: " + switching + "}]\n",
                      more);
        };
        const auto graph = [&](const std::string& links, const std::string& logical) {
          return text("  graph:\n    npus: 5\n    switches: 1\n    switching: " + std::string(switching) +
                          "\n    npus_forward: true\n    links:\n" + links + "  logical: " + logical + "\n",
                      more);
        };
        const std::string to_switch = "      - {from: npu0..npu4, to: sw0, " + link + "}\n";
        const std::string ring = "      - {from: npu0..npu3, to: npu1..npu4, pattern: one_to_one, " + link +
                                 "}\n      - {from: npu4, to: npu0, " + link +
                                 "}\n      - {from: npu0, to: sw0, " + link + "}\n";  // sw0 lies idle
        const std::string full = "      - {from: npu0..npu4, to: npu0..npu4, " + link +
                                 "}\n      - {from: npu0, to: sw0, " + link + "}\n";
        const std::pair<Config, Config> pairs[] = {
            {notation("Switch(5)"), graph(to_switch, "Switch(5)")},
            {notation("Ring(5)"), graph(ring, "Ring(5)")},
            {notation("FullyConnected(5)"), graph(full, "FullyConnected(5)")},
        };
        for (const auto& [a, b] : pairs) {
          ++number;
          twins.emplace_back(std::make_unique<BareMachine>("n" + std::to_string(number), a),
                             std::make_unique<BareMachine>("g" + std::to_string(number), b));
        }
      }
    }
    for (const auto& [one, two] : twins) {
      for (const CollectiveOp op : test::kEveryOp) {
        failures += one->run(op, 1000001, 2);
        failures += two->run(op, 1000001, 2);
        if (one->time != two->time)
          failures += one->config.notation + " " + to_string(op) + ": " + std::to_string(one->time) +
                      " as a notation, " + std::to_string(two->time) + " as a graph\n";
      }
    }
    return failures;
  }));
}

TEST(GraphSystem, LogicalAndPhysicalDiffer) {
  EXPECT_RUNS(([]() -> std::string {
    std::string failures;
    const std::string one =
        "  notation: Ring(8)\n  dimensions: [{bandwidth: 50 GB/s, latency: 200 ns, "
        "switching: store_and_forward}]\n";
    const std::string three =
        "  notation: R(2)_R(2)_R(2)\n  dimensions: [{bandwidth: 50 GB/s, latency: 200 ns, switching: "
        "store_and_forward}]\n";
    const std::string mixed =
        "  notation: FC(2)_SW(2)_M(2)\n  dimensions:\n    - {bandwidth: 50 GB/s}\n    - {bandwidth: 20 "
        "GB/s}\n    - "
        "{bandwidth: 30 GB/s, fidelity: analytical}\n";
    const struct {
      const char* name;
      std::string topology;
    } cases[] = {
        {"torus_on_ring", one + "  logical: R(2)_R(2)_R(2)\n"},
        {"ring_on_torus", three + "  logical: R(8)\n"},
        {"snake_on_torus", three + "  logical: R(8)\n  mapping: [0, 1, 3, 2, 6, 7, 5, 4]\n"},
        {"shuffled_ring", one + "  mapping: [5, 0, 3, 1, 7, 2, 6, 4]\n"},
        {"shuffled_mixture", mixed + "  mapping: [5, 0, 3, 1, 7, 2, 6, 4]\n"},
        {"mixture_as_switches", mixed + "  logical: SW(4)_FC(2)\n  mapping: [7..0]\n"},
        {"analytical",
         "  notation: Ring(8)\n  dimensions: [{bandwidth: 50 GB/s, fidelity: analytical}]\n  logical: "
         "FC(8)\n  mapping: [7..0]\n"},
    };
    std::map<std::string, Picoseconds> times;
    std::vector<std::unique_ptr<BareMachine>> machines;
    for (const auto& c : cases)
      machines.push_back(std::make_unique<BareMachine>(
          c.name, text(c.topology, "collectives: {chunks: 4, queues_per_dimension: 2}\n")));
    for (const auto& machine : machines) {
      BareMachine& m = *machine;
      const std::string name = m.system.name();
      for (const CollectiveOp op : test::kEveryOp) {
        failures += m.run(op, 800000, 3);
        if (op == CollectiveOp::all_reduce) times[name] = m.time;
      }
      for (uint32_t s = 0; s < 8; ++s) {
        for (uint32_t d = 0; d < 8; ++d) {
          if (s != d && m.send(s, d, 1000) != collectives::message_time(m.config, s, d, 1000) &&
              m.config.dimensions[0].fidelity == Fidelity::message && name.find("mix") == std::string::npos)
            failures += name + ": " + std::to_string(s) + " to " + std::to_string(d) + "\n";
        }
      }
      for (const std::string& broken : m.system.check_conservation()) failures += broken + "\n";
    }
    // A ring that follows the torus' links beats one in the order of the numbers.
    if (times["snake_on_torus"] >= times["ring_on_torus"]) failures += "the snake is no faster\n";
    return failures;
  }));
}

TEST(GraphSystem, MappedRingsTakeTheirClosedForm) {
  EXPECT_RUNS(([]() -> std::string {
    std::string failures;
    const std::string ring =
        "  notation: Ring(8)\n  dimensions: [{bandwidth: 100 GB/s, latency: 300 ns, switching: "
        "store_and_forward}]\n";
    const std::string one_chunk = "collectives: {chunks: 1}\n";
    const auto closed = [](uint32_t hops) {
      return 14 * hops * (300000 + transfer_time(100000, {100000000000ull, 1}));
    };
    const struct {
      const char* mapping;
      uint32_t hops;
    } cases[] = {{"[3..7, 0..2]", 1},               // turned
                 {"[7..0]", 1},                     // the other way round
                 {"[0, 3, 6, 1, 4, 7, 2, 5]", 3}};  // three links a step, no two messages on one at once
    std::vector<std::unique_ptr<BareMachine>> machines;
    for (const auto& c : cases)
      machines.push_back(std::make_unique<BareMachine>(
          "m" + std::to_string(machines.size()), text(ring + "  mapping: " + c.mapping + "\n", one_chunk)));
    for (size_t i = 0; i < machines.size(); ++i) {
      BareMachine& m = *machines[i];
      failures += m.run(CollectiveOp::all_reduce, 800000);
      if (m.time != closed(cases[i].hops))
        failures += std::string(cases[i].mapping) + ": " + std::to_string(m.time) + ", closed form " +
                    std::to_string(closed(cases[i].hops)) + "\n";
    }
    return failures;
  }));
}

TEST(GraphSystem, EcmpSpreadsAndShortestPathDoesNot) {
  for (const char* routing : {"ecmp", "shortest_path"}) {
    EXPECT_RUNS(([&]() -> std::string {
      std::string failures;
      BareMachine m(routing, example("group_4_and_6",
                                     {std::string("topology.routing=") + routing, "collectives.chunks=64"}));
      failures += m.run(CollectiveOp::all_to_all, 1 << 20);
      std::vector<double> up;
      m.system.for_each_link([&](const LinkReport& link) {
        if (link.name.find("switch_small.to_switch_large") != std::string::npos)
          up.push_back(static_cast<double>(link.link->bytes()));
      });
      if (up.size() != 2) return "uplinks: " + std::to_string(up.size());
      const double share = up[0] / (up[0] + up[1]);
      if (up[0] + up[1] == 0) failures += "no bytes\n";
      const bool even = std::string(routing) == "ecmp";
      if (even ? share < 0.4 || share > 0.6 : share != 1.0)
        failures += std::string(routing) + ": share " + std::to_string(share) + "\n";
      return failures;
    }));
  }
}

TEST(GraphSystem, TablesAreFollowed) {
  EXPECT_RUNS(([]() -> std::string {
    // A square that is driven round in one direction only: 1 to 0 is three hops.
    BareMachine m("square",
                  text("  graph:\n    npus: 4\n    switching: store_and_forward\n    links:\n"
                       "      - {from: npu0..npu2, to: npu1..npu3, pattern: one_to_one, bandwidth: 1 "
                       "GB/s, latency: 1 us}\n"
                       "      - {from: npu3, to: npu0, bandwidth: 1 GB/s, latency: 1 us}\n"
                       "  routing: table\n"
                       "  routes: [{at: npu0, via: npu1}, {at: npu1, via: npu2}, {at: npu2, via: "
                       "npu3}, {at: npu3, via: npu0}]\n"));
    std::string failures;
    if (m.send(1, 0, 1000) != 3 * (1000000 + 1000000)) failures += "three hops\n";
    if (m.send(0, 1, 1000) != 1000000 + 1000000) failures += "one hop\n";
    for (const CollectiveOp op : test::kEveryOp) failures += m.run(op, 4000, 1);
    uint32_t used = 0;
    m.system.for_each_link([&](const LinkReport& link) { used += link.link->bytes() != 0 ? 1 : 0; });
    if (used != 4) failures += "links used: " + std::to_string(used) + "\n";
    return failures;
  }));
}

TEST(GraphSystem, OneWayLinksAndOneNpu) {
  EXPECT_RUNS(([]() -> std::string {
    BareMachine ring("ring",
                     text("  graph:\n    npus: 3\n    links:\n"
                          "      - {from: [npu0, npu1, npu2], to: [npu1, npu2, npu0], pattern: one_to_one, "
                          "bandwidth: 1 GB/s, latency: 1 us, bidirectional: false}\n"));
    BareMachine alone("alone", text("  graph: {npus: 1}\n"));
    std::string failures;
    for (const CollectiveOp op : test::kEveryOp) failures += ring.run(op, 3000, 1);
    uint32_t links = 0;
    ring.system.for_each_link([&](const LinkReport&) { ++links; });
    if (links != 3) failures += "links: " + std::to_string(links) + "\n";
    alone.system.nmu(0);
    if (alone.run(CollectiveOp::all_reduce, 3000).find("done") != std::string::npos) failures += "alone\n";
    return failures;
  }));
}

}  // namespace
}  // namespace weft
