// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Trees of switches as dimensions: the time of every way, uplinks that are shared, every mixture of
// fidelities, and what bounds and folding make of them.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "configs/describe.h"
#include "configs/loader.h"
#include "configs/packet_timing.h"
#include "configs/tree.h"
#include "tests/support/isolated.h"
#include "tests/support/machine.h"
#include "tests/support/solo_job.h"
#include "tlm_interconnect/packet/dependency_check.h"

namespace weft {
namespace {

using test::BareMachine;

constexpr Picoseconds kNs = 1000;

#define EXPECT_RUNS(function)                     \
  do {                                            \
    const auto result = test::isolated(function); \
    EXPECT_EQ(result.status, 0) << result.text;   \
    EXPECT_EQ(result.text, "");                   \
  } while (false)

Config machine(const std::string& notation, const std::vector<std::string>& dimensions,
               const std::vector<std::string>& overrides = {}) {
  std::string text = "weft: 1\ntopology:\n  notation: " + notation + "\n  dimensions:\n";
  for (const std::string& d : dimensions) text += "    - {" + d + "}\n";
  return parse_config(text, "machine.yaml", overrides);
}

std::string fidelity_of(Fidelity fidelity) {
  return fmt::format("topology.dimensions[*].fidelity={}", to_string(fidelity));
}

/// What a way crosses in each direction: rate in GB/s and latency in ns, both ends of a level.
struct Hop {
  uint64_t rate;
  Picoseconds latency;
};

Config three_dimensions(const std::vector<std::string>& overrides) {
  return machine("Ring(3)_FatTree(k=2,n=3)_Clos(hosts=2,leaves=2,spines=2)",
                 {"bandwidth: 100 GB/s, latency: 400 ns",
                  "bandwidth: 50 GB/s, latency: 300 ns, levels: [{bandwidth: 25 GB/s, latency: 500 ns}, "
                  "{bandwidth: 20 GB/s, latency: 700 ns, count: 2}]",
                  "bandwidth: 20 GB/s, latency: 200 ns, levels: [{bandwidth: 40 GB/s, latency: 900 ns}]"},
                 overrides);
}

/// The links between two of its NPUs, by hand.
std::vector<Hop> way(uint32_t a, uint32_t b) {
  std::vector<Hop> hops;
  if (a % 3 != b % 3) hops.push_back({100, 400 * kNs});
  const Hop tree[] = {{50, 300 * kNs}, {25, 500 * kNs}, {40, 700 * kNs}};
  const uint32_t c = a / 3 % 8;
  const uint32_t d = b / 3 % 8;
  std::vector<Hop> down;
  for (uint32_t l = 0; c >> l != d >> l; ++l) {
    hops.push_back(tree[l]);
    down.insert(down.begin(), tree[l]);
  }
  hops.insert(hops.end(), down.begin(), down.end());
  const uint32_t e = a / 24;
  const uint32_t f = b / 24;
  if (e == f) return hops;
  hops.push_back({20, 200 * kNs});
  if (e / 2 != f / 2) hops.insert(hops.end(), 2, {40, 900 * kNs});
  hops.push_back({20, 200 * kNs});
  return hops;
}

TEST(TreeDimensions, EveryWayTakesItsTime) {
  constexpr uint64_t kBytes = 100000;
  for (const char* fidelity : {"analytical", "message"}) {
    for (const char* switching : {"store_and_forward", "cut_through"}) {
      EXPECT_RUNS(([&]() -> std::string {
        BareMachine m("m", three_dimensions({std::string("topology.dimensions[*].fidelity=") + fidelity,
                                             std::string("topology.dimensions[*].switching=") + switching}));
        std::string wrong;
        for (uint32_t a = 0; a < 96; a += 5) {
          for (uint32_t b = 0; b < 96; ++b) {
            if (a == b) continue;
            Picoseconds latency = 0;
            Picoseconds longest = 0;
            Picoseconds all = 0;
            for (const Hop& hop : way(a, b)) {
              const Picoseconds one = kBytes * kNs / hop.rate;  // GB/s are bytes a ns
              latency += hop.latency;
              longest = std::max(longest, one);
              all += one;
            }
            const bool stored =
                std::string(fidelity) == "message" && std::string(switching) == "store_and_forward";
            const Picoseconds want = latency + (stored ? all : longest);
            const Picoseconds time = m.send(a, b, kBytes);
            if (time != want) wrong += fmt::format("{} to {}: {} ps, not {}\n", a, b, time, want);
            const TimeSplit& split = m.arrivals.back().split;
            if (split.latency != latency || split.queue != 0)
              wrong += fmt::format("{} to {}: {} ps of latency\n", a, b, split.latency);
            if (collectives::message_time(m.config, a, b, kBytes) < want)
              wrong += fmt::format("{} to {}: the bound above is less\n", a, b);
          }
        }
        return wrong;
      }));
    }
  }
}

/// At packet fidelity a tree's leaf is a Switch, and every further level costs two links and two routers.
TEST(TreeDimensions, PacketsPassTheRoutersOfTheTree) {
  constexpr uint64_t kBytes = 20000;
  for (const std::string& ring : {std::string(), std::string("Ring(2)_")}) {
    std::vector<std::string> links;
    if (!ring.empty()) links.emplace_back("bandwidth: 64 GB/s, latency: 400 ns");
    const std::vector<std::string> more = {fidelity_of(Fidelity::packet)};
    const uint32_t stride = ring.empty() ? 1 : 2;
    auto like = links;
    like.emplace_back("bandwidth: 64 GB/s, latency: 300 ns");
    if (ring.empty()) {  // a tree alone is a graph: give it a dimension of one NPU beside
      links.emplace_back("bandwidth: 64 GB/s");
    }
    links.emplace_back("bandwidth: 64 GB/s, latency: 300 ns, levels: [{latency: 500 ns}, {latency: 700 ns}]");
    EXPECT_RUNS(([&]() -> std::string {
      BareMachine crossbar("crossbar", machine(ring + "Switch(8)", like, more));
      BareMachine tree(
          "tree", machine((ring.empty() ? "Ring(1)_" : ring) + std::string("FatTree(k=2,n=3)"), links, more));
      const Picoseconds router =
          picoseconds(router_cycles(tree.config.packet) * flit_time(tree.config.packet, {64000000000, 1}));
      std::string wrong;
      for (uint32_t a = 0; a < 8; ++a) {
        for (uint32_t b = 0; b < 8; ++b) {
          for (uint32_t r = 0; r < stride; ++r) {
            if (a == b) continue;
            Picoseconds want = crossbar.send(a * stride, b * stride + r, kBytes);
            const uint32_t height = tree.config.dimensions.back().tree->height(a, b);
            want += (height - 1) * 2 * router + (height > 1 ? 1000 * kNs : 0) + (height > 2 ? 1400 * kNs : 0);
            const Picoseconds time = tree.send(a * stride, b * stride + r, kBytes);
            if (time != want) wrong += fmt::format("{} to {}: {} ps, not {}\n", a, b, time, want);
            const TimeSplit& split = tree.arrivals.back().split;
            const TimeSplit& other = crossbar.arrivals.back().split;
            if (split.queue != 0 || split.serialise != other.serialise)
              wrong +=
                  fmt::format("{} to {}: {} ps queued, {} on links\n", a, b, split.queue, split.serialise);
          }
        }
      }
      return wrong;
    }));
  }
}

/// One NPU a leaf and one spine: nothing is shared that a crossbar does not share, so that the tree is a
/// Switch whose links are longer.
TEST(TreeDimensions, ATreeWithoutSharedUplinksIsALongerSwitch) {
  for (const Fidelity fidelity : {Fidelity::analytical, Fidelity::message}) {
    const std::vector<std::string> more = {fidelity_of(fidelity),
                                           "topology.dimensions[*].switching=cut_through",
                                           "collectives.queues_per_dimension=2", "nmu.endpoint_delay=10 ns"};
    const std::string ring = "bandwidth: 100 GB/s, latency: 400 ns";
    EXPECT_RUNS(([&]() -> std::string {
      BareMachine tree(
          "tree", machine("Ring(2)_Clos(hosts=1,leaves=8,spines=1)",
                          {ring, "bandwidth: 50 GB/s, latency: 300 ns, levels: [{latency: 700 ns}]"}, more));
      BareMachine crossbar("crossbar",
                           machine("Ring(2)_Switch(8)", {ring, "bandwidth: 50 GB/s, latency: 1 us"}, more));
      std::string wrong;
      for (const CollectiveOp op : test::kEveryOp) {
        for (const uint64_t bytes : {uint64_t{16}, uint64_t{1} << 20}) {
          wrong += tree.run(op, bytes, 5);
          wrong += crossbar.run(op, bytes, 5);
          if (tree.time != crossbar.time)
            wrong += fmt::format("{} of {}: {} ps, not {}\n", to_string(op), bytes, tree.time, crossbar.time);
        }
      }
      return wrong;
    }));
  }
}

/// Rounds of halving-doubling between the first NPUs of four leaves: every message crosses four links.
TEST(TreeDimensions, StoredMessagesTakeEveryLink) {
  EXPECT_RUNS(([&]() -> std::string {
    BareMachine m(
        "m", machine("Clos(hosts=4,leaves=4,spines=1)_Ring(2)",
                     {"bandwidth: 50 GB/s, latency: 300 ns, levels: [{bandwidth: 25 GB/s, latency: 700 ns}]",
                      "bandwidth: 100 GB/s"},
                     {"collectives.chunks=1", "topology.dimensions[*].switching=store_and_forward"}));
    collectives::Group group;
    group.ranks = {0, 4, 8, 12};
    std::string wrong = m.run(CollectiveOp::all_gather, 100000, 0, &group);
    Picoseconds want = 0;
    for (const uint64_t bytes : {100000u, 200000u})
      want += 2000 * kNs + bytes * kNs / 50 * 2 + bytes * kNs / 25 * 2;
    if (m.time != want) wrong += fmt::format("{} ps, not {}\n", m.time, want);
    return wrong;
  }));
}

TEST(TreeDimensions, AnOversubscribedTreeSlowsByItsRatio) {
  // 12 of 16 shares leave a leaf, four NPUs' over one uplink: 48 / 16 of the buffer at the rate of a port,
  // where the port itself takes 15 / 16.
  const std::string link = "bandwidth: 64 GB/s, latency: 100 ns";
  const std::string one = "bandwidth: 64 GB/s";
  constexpr uint64_t kBytes = 1 << 20;
  for (const Fidelity fidelity : {Fidelity::message, Fidelity::packet}) {
    EXPECT_RUNS(([&]() -> std::string {
      const std::vector<std::string> more = {fidelity_of(fidelity), "collectives.chunks=1",
                                             "topology.dimensions[*].switching=cut_through"};
      BareMachine narrow("narrow", machine("Clos(hosts=4,leaves=4,spines=1)_Ring(1)", {link, one}, more));
      BareMachine crossbar("crossbar", machine("Switch(16)_Ring(1)", {link, one}, more));
      std::string wrong = narrow.run(CollectiveOp::all_to_all, kBytes);
      wrong += crossbar.run(CollectiveOp::all_to_all, kBytes);
      const double ratio = static_cast<double>(narrow.time) / static_cast<double>(crossbar.time);
      if (ratio < 3.1 || ratio > 3.5) wrong += fmt::format("{} times as long\n", ratio);
      collectives::CollectiveRequest request;
      request.op = CollectiveOp::all_to_all;
      request.bytes = kBytes;
      request.group = &narrow.world;
      const Picoseconds bound = collectives::lower_bound(narrow.config, *narrow.plans.plan(request));
      const Picoseconds want = 3 * kBytes * kNs / 64 + 400 * kNs;
      if (bound + 1 < want || bound > want) wrong += fmt::format("bound {}, not {}\n", bound, want);
      if (static_cast<double>(narrow.time) > 1.1 * static_cast<double>(bound))
        wrong += fmt::format("{} ps, far above the bound {}\n", narrow.time, bound);
      return wrong;
    }));
  }
}

/// The bound of what leaves and enters a leaf, with uplinks so slow that nothing else counts.
TEST(TreeDimensions, TheUplinksBoundEveryCollective) {
  const Config config =
      machine("Clos(hosts=4,leaves=4,spines=2)_Switch(2)",
              {"bandwidth: 64 GB/s, latency: 100 ns, levels: [{bandwidth: 1 GB/s, latency: 50 ns}]",
               "bandwidth: 64 GB/s, latency: 100 ns"});
  constexpr uint64_t kBytes = 1 << 20;
  const collectives::Group world;
  collectives::PlanBuilder plans(config);
  // Shares of the buffer over two uplinks on each of two lines.
  const std::map<CollectiveOp, double> wanted = {
      {CollectiveOp::all_reduce, 2 * 0.75}, {CollectiveOp::all_gather, 24},
      {CollectiveOp::reduce_scatter, 0.75}, {CollectiveOp::all_to_all, 8. * 24 / 32},
      {CollectiveOp::broadcast, 1},         {CollectiveOp::reduce, 1},
      {CollectiveOp::gather, 24},           {CollectiveOp::scatter, 24. / 32}};
  for (const auto& [op, share] : wanted) {
    collectives::CollectiveRequest request;
    request.op = op;
    request.bytes = kBytes;
    request.root = 3;
    request.group = &world;
    const Picoseconds bound = collectives::lower_bound(config, *plans.plan(request));
    const auto want = static_cast<Picoseconds>(share * kBytes * kNs / 4) + 300 * kNs;
    EXPECT_LE(bound, want) << to_string(op);
    EXPECT_GE(bound + 2, want) << to_string(op);
  }
}

TEST(TreeDimensions, EveryMixtureOfFidelities) {
  const struct {
    const char* notation;
    std::vector<std::string> dimensions;
  } machines[] = {
      {"Switch(4)_Clos(hosts=2,leaves=2,spines=2)",
       {"bandwidth: 200 GB/s, latency: 100 ns",
        "bandwidth: 50 GB/s, levels: [{bandwidth: 20 GB/s, count: 2}]"}},
      {"FatTree(k=2,n=2)_Ring(3)", {"bandwidth: 50 GB/s, latency: 300 ns", "bandwidth: 30 GB/s"}},
      {"FatTree(k=2,n=2)_Clos(hosts=1,leaves=3,spines=2)", {"bandwidth: 50 GB/s", "bandwidth: 30 GB/s"}},
  };
  const char* const names[] = {"analytical", "message", "packet"};
  for (const auto& m : machines) {
    for (int mix = 0; mix < 9; ++mix) {
      for (const char* switching : {"store_and_forward", "cut_through"}) {
        EXPECT_RUNS(([&]() -> std::string {
          BareMachine run("m", machine(m.notation, m.dimensions,
                                       {fmt::format("topology.dimensions[0].fidelity={}", names[mix % 3]),
                                        fmt::format("topology.dimensions[1].fidelity={}", names[mix / 3]),
                                        fmt::format("topology.dimensions[*].switching={}", switching)}));
          std::string wrong;
          for (const CollectiveOp op : test::kEveryOp)
            for (const uint64_t bytes : {uint64_t{97}, uint64_t{60000}}) wrong += run.run(op, bytes, 2);
          const uint32_t npus = run.config.npus();
          for (uint32_t a = 0; a < npus; ++a) {
            const uint32_t b = (a * 5 + 7) % npus;
            const Picoseconds time = a == b ? 1 : run.send(a, b, 5000);
            const Picoseconds most = a == b ? 1 : collectives::message_time(run.config, a, b, 5000);
            if (time > most) wrong += fmt::format("{} to {}: {} ps, at most {}\n", a, b, time, most);
          }
          for (const std::string& line : run.system.check_conservation()) wrong += line + "\n";
          return wrong.empty() ? wrong : fmt::format("{} {} {}: {}", m.notation, mix, switching, wrong);
        }));
      }
    }
  }
}

/// Every direction of every link is reported once, and what crosses the leaves is on the uplinks.
TEST(TreeDimensions, EveryLinkIsReported) {
  for (const Fidelity fidelity : {Fidelity::message, Fidelity::packet}) {
    EXPECT_RUNS(([&]() -> std::string {
      BareMachine m("m", machine("Ring(2)_Clos(hosts=4,leaves=4,spines=3)",
                                 {"bandwidth: 100 GB/s", "bandwidth: 50 GB/s"},
                                 {fidelity_of(fidelity), "topology.mapping=[1, 0, 2..31]"}));
      std::string wrong = m.run(CollectiveOp::all_to_all, 1 << 20);
      std::set<std::string> names;
      std::map<std::string, uint64_t> bytes;  // by the kinds of the ends
      uint32_t links = 0;
      m.system.for_each_link([&](const LinkReport& link) {
        if (!names.insert(link.name).second) wrong += link.name + " twice\n";
        if (link.fidelity != fidelity) wrong += link.name + " at another fidelity\n";
        if (link.dimension != 1) return;
        ++links;
        const std::string owner = link.name.substr(0, link.name.find(".to_"));
        const bool leaf = owner.find("_leaf") != std::string::npos;
        const bool spine = owner.find("_spine") != std::string::npos;
        const bool to_npu =
            link.to.find("nmu") != std::string::npos || link.to.find("router") != std::string::npos;
        if (link.bytes == 0) wrong += link.name + " was not used\n";
        if (leaf && !to_npu && link.name.find(".to_switch1_") == std::string::npos) wrong += link.name + "\n";
        bytes[leaf && to_npu ? "down" : leaf ? "leaf" : spine ? "spine" : "up"] += link.bytes;
      });
      if (links != dimension_links(m.config, 1)) wrong += fmt::format("{} links\n", links);
      // 15 of 16 shares move in the tree, 12 of them to other leaves.
      const uint64_t all = uint64_t{32} << 20;
      if (bytes["up"] != all / 16 * 15 || bytes["down"] != bytes["up"])
        wrong += fmt::format("{} B up, {} B down\n", bytes["up"], bytes["down"]);
      if (bytes["leaf"] != all / 16 * 12 || bytes["spine"] != bytes["leaf"])
        wrong += fmt::format("{} B to spines, {} B back\n", bytes["leaf"], bytes["spine"]);
      return wrong;
    }));
  }
}

TEST(TreeDimensions, SelectionsAndRoutingsOfPackets) {
  for (const char* routing : {"auto", "dimension_order", "up_down", "shortest_path"}) {
    for (const char* selection : {"auto", "random", "hash", "spray", "most_credits", "first"}) {
      EXPECT_RUNS(([&]() -> std::string {
        BareMachine m("m", machine("Ring(4)_FatTree(k=2,n=3)", {"bandwidth: 100 GB/s", "bandwidth: 50 GB/s"},
                                   {fidelity_of(Fidelity::packet), std::string("packet.routing=") + routing,
                                    std::string("packet.selection=") + selection}));
        if (std::string(routing) == "shortest_path") return "";  // may deadlock: it is only built
        std::string wrong = m.run(CollectiveOp::all_to_all, 20000);
        for (const std::string& warning : m.system.warnings()) wrong += warning + "\n";
        return wrong;
      }));
    }
  }
}

TEST(TreeDimensions, NoCycleOfBuffers) {
  packet::PacketConfig network;
  for (const char* notation :
       {"Ring(4)_FatTree(k=2,n=3)", "Clos(hosts=2,leaves=3,spines=2)_Ring(5)",
        "FatTree(k=3,n=2)_FatTree(k=2,n=2)", "Mesh(3)_Clos(hosts=2,leaves=2,spines=2)_FullyConnected(3)",
        "Clos(hosts=3,leaves=4,spines=2)"}) {
    const auto topology = packet::make_from_notation(notation, {1000, 0, 1000}, {});
    topology.check();
    EXPECT_EQ(topology.name, notation);
    EXPECT_EQ(packet::find_dependency_cycle(topology, network), "") << notation;
  }
  network.vc_classes = "none";
  EXPECT_NE(packet::find_dependency_cycle(
                packet::make_from_notation("Ring(5)_FatTree(k=2,n=2)", {1000, 0, 1000}, {}), network),
            "");
}

std::string time_of(const Config& config, CollectiveOp op, uint64_t bytes, bool folded = false) {
  const auto result = test::isolated([&] {
    test::SoloCollectiveJob job("job", config, folded);
    job.start(op, bytes);
    test::run_to_the_end(job);
    const RunResult run = job.result();
    std::string text = job.finished() ? std::to_string(run.time) + " ps" : job.stall_report();
    for (const auto& broken : run.broken_invariants) text += "; " + broken;
    return text;
  });
  return result.status == 0 ? result.text : "failed: " + result.text;
}

TEST(TreeDimensions, RulesLiftThem) {
  const auto with = [](Fidelity fidelity, const std::string& rule) {
    return parse_config(
        fmt::format("weft: 1\ntopology:\n  notation: Switch(2)_Clos(hosts=2,leaves=4,spines=1)\n"
                    "  dimensions:\n    - {{bandwidth: 100 GB/s, fidelity: analytical}}\n"
                    "    - {{bandwidth: 50 GB/s, fidelity: {}}}\n{}run: {{data: functional}}\n",
                    to_string(fidelity), rule),
        "");
  };
  for (const Fidelity fidelity : {Fidelity::message, Fidelity::packet}) {
    const Config lifted =
        with(Fidelity::analytical,
             fmt::format("  fidelity_rules: [{{operation: all_to_all, dimensions: [1], fidelity: {}}}]\n",
                         to_string(fidelity)));
    const Config plain = with(Fidelity::analytical, "");
    EXPECT_EQ(time_of(lifted, CollectiveOp::all_to_all, 1 << 18),
              time_of(with(fidelity, ""), CollectiveOp::all_to_all, 1 << 18));
    EXPECT_NE(time_of(lifted, CollectiveOp::all_to_all, 1 << 18),
              time_of(plain, CollectiveOp::all_to_all, 1 << 18));
    EXPECT_EQ(time_of(lifted, CollectiveOp::all_reduce, 1 << 18),
              time_of(plain, CollectiveOp::all_reduce, 1 << 18));
  }
}

/// Ranks fold where all leaves are equally near, and only there.
TEST(TreeDimensions, FoldOnlyWhereAllRanksAreAlike) {
  const auto of = [](const char* tree) {
    return machine(
        std::string("Ring(4)_") + tree,
        {"bandwidth: 100 GB/s", "bandwidth: 50 GB/s, levels: [{bandwidth: 30 GB/s, latency: 900 ns}]"},
        {fidelity_of(Fidelity::analytical)});
  };
  const Config uniform = of("Clos(hosts=1,leaves=8,spines=3)");
  const Config tree = of("Clos(hosts=2,leaves=4,spines=3)");
  for (const CollectiveOp op :
       {CollectiveOp::all_reduce, CollectiveOp::all_gather, CollectiveOp::all_to_all}) {
    collectives::PlanBuilder one(uniform);
    collectives::PlanBuilder two(tree);
    EXPECT_EQ(CollectiveJob::not_foldable(one, op, 1 << 20), "");
    EXPECT_EQ(CollectiveJob::not_foldable(two, op, 1 << 20),
              "dimension 1 is a tree of switches, in which some ranks are nearer than others");
    EXPECT_EQ(time_of(uniform, op, 1 << 20, true), time_of(uniform, op, 1 << 20, false));
  }
}

/// Another logical topology and other places: the tree is what messages travel on.
TEST(TreeDimensions, UnderAnotherLogicalTopology) {
  EXPECT_RUNS(([&]() -> std::string {
    const std::vector<std::string> links = {
        "bandwidth: 100 GB/s, latency: 100 ns",
        "bandwidth: 50 GB/s, latency: 200 ns, levels: [{latency: 300 ns}]"};
    BareMachine m("m", machine("Ring(2)_Clos(hosts=2,leaves=2,spines=2)", links,
                               {"topology.logical=Switch(8)", "topology.mapping=[7, 1..6, 0]",
                                "topology.dimensions[*].switching=store_and_forward"}));
    std::string wrong;
    if (m.send(0, 1, 50000) != 1000 * kNs + 4 * 1000 * kNs) wrong += "rank 0 is not at NPU 7\n";
    for (const CollectiveOp op : test::kEveryOp) wrong += m.run(op, 8000, 3);
    return wrong;
  }));
}

TEST(TreeDimensions, SwitchesOfATreeDoNotReduce) {
  Config config =
      machine("Ring(2)_Clos(hosts=2,leaves=2,spines=2)", {"bandwidth: 100 GB/s", "bandwidth: 50 GB/s"});
  config.collectives.algorithms[static_cast<size_t>(CollectiveOp::all_reduce)] = {"", "in_switch"};
  const collectives::Group world;
  collectives::CollectiveRequest request;
  request.bytes = 64;
  request.group = &world;
  try {
    collectives::PlanBuilder(config).plan(request);
    ADD_FAILURE() << "accepted";
  } catch (const UserError& error) {
    EXPECT_NE(
        std::string(error.what()).find("dimension 1 (Clos(hosts=2,leaves=2,spines=2)): in_switch needs"),
        std::string::npos)
        << error.what();
  }
}

}  // namespace
}  // namespace weft
