// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Drawn pools that share the machine's packet network: every design, with priority flow control and marked
// packets, and links that stand for several.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "configs/loader.h"
#include "sc_models/router_model.h"
#include "tests/support/shared_pool.h"

namespace weft {
namespace {

using namespace test;

const char* const kData = "run: {data: functional}\n";

/// Keys of a pool's design, for so many nodes.
struct Design {
  uint32_t nodes = 1;
  std::string keys;
};

Design draw_design(uint32_t nodes, std::mt19937_64& random) {
  switch (random() % 5) {
    case 0:
      return {nodes, fmt::format("design: hierarchical, out_switches: {}, groups: {}", 1 + random() % 3,
                                 1 + random() % 5)};
    case 1:
      return {nodes, fmt::format("design: multi_level, levels: \"{}, {}\", groups: {}", 1 + random() % 3,
                                 1 + random() % 3, 1 + random() % 5)};
    case 2:
      return {nodes, fmt::format("design: ring, groups: {}", nodes)};
    case 3:
      return {nodes, fmt::format("design: mesh, groups: {}, shape: 2x{}{}", nodes, nodes,
                                 random() % 2 == 0 ? ", wraparound: true" : "")};
    default:
      return {nodes,
              fmt::format("design: mesh, placement: edge, groups: {}, shape: {}x{}", 2 * nodes, 1, nodes)};
  }
}

struct Drawn {
  std::string notation;
  uint32_t dimensions = 1;
  uint32_t nodes = 1;
};
const std::vector<Drawn> kMachines = {{"Switch(4)", 1, 1},
                                      {"Switch(8)", 1, 1},
                                      {"Switch(2)_Switch(3)", 2, 3},
                                      {"Switch(3)_Ring(4)", 2, 4},
                                      {"Switch(4)_Switch(2)", 2, 2}};

/// `links`: how the pool is joined to the NPUs.
std::string machine(const Drawn& of, const std::string& design, const std::string& links,
                    const std::string& fidelity, const std::string& split, uint32_t chunk,
                    const std::string& more) {
  const std::string dimension =
      fmt::format("{{bandwidth: 100 GB/s, latency: 10 ns, fidelity: {}}}", fidelity);
  return fmt::format(
      "weft: 1\n"
      "topology:\n"
      "  notation: {}\n"
      "  dimensions: [{}{}]\n"
      "collectives: {{chunks: 4}}\n"
      "memory:\n"
      "  pool: {{nodes: {}, {}, group_bandwidth: 200 GB/s, latency: 10 ns, out_node_bandwidth: 150 GB/s, {}, "
      "chunk: {} B, split: {}, fidelity: {}}}\n{}",
      of.notation, dimension, of.dimensions == 2 ? ", " + dimension : "", of.nodes, design, links, chunk,
      split, fidelity, more);
}

std::string packet_keys(const std::string& keys) {
  return "packet:\n  vcs: auto\n" + keys;
}

/// Flow control and congestion control, as machines have them.
const std::vector<std::string> kControls = {
    "", "  flow_control: pfc\n", "  flow_control: pfc\n  pfc_networks: [0]\n",
    "  ecn: {enabled: true, k_min: 1 kB, k_max: 4 kB}\n",
    "  flow_control: pfc\n  ecn: {enabled: true, k_min: 1 kB, k_max: 4 kB}\n  dcqcn: {enabled: true}\n"};

/// A block in the place of a router: all packets are there whole before they go on, one after the other by a
/// port, while nothing is held back.
class StoreAndForward final : public RouterModel {
 public:
  StoreAndForward(sc_core::sc_module_name name, RouterPlace of)
      : RouterModel(name, std::move(of)),
        free_(ports(), 0),
        comes_(size_t{ports()} * place().config.total_vcs()) {}
  size_t in_flight() const override { return 0; }

 private:
  using Crossing = fabric::FlitCrossing;
  void arrive(uint32_t port, const Crossing& in) override {
    if (in.kind != Crossing::Kind::flits) return;
    Crossing credits;
    credits.kind = Crossing::Kind::credits;
    credits.vc = in.vc;
    credits.count = in.count;
    credits.stride = in.stride;
    credits.first = in.first + place().ports[port].terms.latency;
    send(port, credits);
    fabric::PacketHead& head = comes_[port * place().config.total_vcs() + in.vc];
    if (in.has_head()) head = in.head;
    if (!in.has_tail()) return;
    const packet::RouteCandidate way = place().way(port, in.vc, head);
    const RouterPlace::Port& to = place().ports[way.port];
    Crossing out = in;
    out.head = head;
    out.first_flit = 0;
    out.count = in.packet_flits;
    out.stride = to.flit_time;
    out.vc = static_cast<uint8_t>(__builtin_ctzll(way.vc_mask));
    out.first = std::max(in.last(), free_[way.port]) + to.terms.latency;
    free_[way.port] = out.last() + to.flit_time - to.terms.latency;
    send(way.port, out);
  }

  std::vector<Ticks> free_;  ///< by port
  std::vector<fabric::PacketHead> comes_;
};

TEST(SharedDesigns, ABlockInThePlaceOfARouterCarriesThePool) {
  router_models().add({"store_and_forward", "of this test", "test",
                       [](sc_core::sc_module_name name, RouterPlace place, Parameters&) {
                         return std::make_unique<StoreAndForward>(name, std::move(place));
                       },
                       false});
  const std::string deep = "packet: {buffer_flits: 4096, vcs: 2}\n";
  const std::string block =
      "implementations: [{modules: \"packet0_0.switch0_*\", implementation: \"plugin:store_and_forward\"}]\n";
  for (const uint32_t m : {0u, 4u}) {
    const std::string yaml = machine(kMachines[m], "out_switches: 2, groups: 2", "share: 0", "packet",
                                     "whole", 1000, deep + kData);
    for (const PoolOperation operation : kOperations) {
      const Outcome a = sound(yaml + block, {operation, 5003, 0});
      const Outcome b = sound(yaml, {operation, 5003, 0});
      EXPECT_GT(a.verified, 0u);
      EXPECT_EQ(a.verified, b.verified);
      EXPECT_EQ(a.loads, b.loads) << to_string(operation);
      EXPECT_GT(a.access, b.access) << to_string(operation);
    }
  }
}

TEST(SharedDesigns, EveryDrawnPoolFinishesWithItsData) {
  std::mt19937_64 random(23);
  for (uint32_t i = 0; i < 60; ++i) {
    const Drawn& of = kMachines[random() % kMachines.size()];
    const Design design = draw_design(of.nodes, random);
    const std::string split = random() % 3 == 0 ? "fluid" : "whole";
    const auto chunk = static_cast<uint32_t>(256 + random() % 8000);
    const std::string controls = packet_keys(kControls[i % kControls.size()]);
    const PoolOperation operation = kOperations[random() % 4];
    const uint64_t bytes = 1 + random() % 40000;
    const uint64_t gather = random() % 2 == 0 ? 0 : 4 + random() % 5000 * 4;
    const std::string packets =
        machine(of, design.keys, "share: 0", "packet", split, chunk, controls + kData);
    SCOPED_TRACE(
        fmt::format("{}: {} of {} B beside {} B\n{}", i, to_string(operation), bytes, gather, packets));
    const Outcome a = sound(packets, {operation, bytes, gather});
    const Outcome b =
        sound(machine(of, design.keys, "share: 0", "message", split, chunk, kData), {operation, bytes, 0});
    EXPECT_GT(a.verified, 0u);
    EXPECT_EQ(a.verified, b.verified);
    if (split == "whole" && gather == 0) {
      EXPECT_EQ(a.loads, b.loads);
    }
  }
}

// NPUs begin at the switch where there is one dimension: then the networks are alike.
TEST(SharedDesigns, AloneItIsAPoolWithLinksOfItsOwn) {
  std::mt19937_64 random(29);
  for (uint32_t i = 0; i < 30; ++i) {
    const Drawn& of = kMachines[random() % 2];
    const Design design = draw_design(1, random);
    const std::string split = random() % 2 == 0 ? "fluid" : "whole";
    const std::string controls = packet_keys(kControls[i % 2]);
    const Work work{kOperations[random() % 4], 1 + random() % 100000, 0};
    const std::string joined = machine(of, design.keys, "share: 0", "packet", split, 4096, controls);
    const std::string own =
        machine(of, design.keys, "in_node_bandwidth: 100 GB/s", "packet", split, 4096, controls);
    SCOPED_TRACE(fmt::format("{}: {} of {} B\n{}", i, to_string(work.operation), work.bytes, joined));
    const Outcome a = sound(joined, work);
    const Outcome b = sound(own, work);
    // A pause holds up whoever comes next, and that depends on the order of a switch's ports.
    const double tolerance = i % 2 == 0 ? 0 : 0.02;
    EXPECT_NEAR(static_cast<double>(a.access), static_cast<double>(b.access),
                tolerance * static_cast<double>(b.access));
    EXPECT_EQ(a.loads, b.loads);
  }
}

TEST(SharedDesigns, WhatSharesNoLinkChangesNothingWithAnyControl) {
  for (const std::string& control : kControls) {
    const std::string yaml = graph_machine("swm", "packet") + packet_keys(control);
    SCOPED_TRACE(yaml);
    for (const PoolOperation operation : kOperations) {
      const Outcome access = sound(yaml, {operation, 65536, 0});
      const Outcome gather = sound(yaml, {operation, 0, 65536});
      const Outcome both = sound(yaml, {operation, 65536, 65536});
      EXPECT_EQ(both.access, access.access) << to_string(operation);
      EXPECT_EQ(both.collective, gather.collective) << to_string(operation);
    }
  }
}

TEST(SharedDesigns, ARingOfSwitchesEndsWithAnyControl) {
  for (const std::string& control : kControls) {
    const std::string yaml = ring_machine("packet", packet_keys(control)) + kData;
    SCOPED_TRACE(yaml);
    for (const PoolOperation operation : kOperations) {
      const Outcome o = sound(yaml, {operation, 20001, operation == PoolOperation::store ? 20000u : 0u});
      EXPECT_GT(o.verified, 0u);
    }
  }
}

/// Four NPUs and two groups at a switch, by links that stand for `count`, or one of so many times the rate.
std::string counted(uint32_t count, bool one, const std::string& fidelity) {
  const auto link = [&](const std::string& from, uint32_t rate) {
    return one ? fmt::format("      - {{from: {}, to: sw0, bandwidth: {} GB/s, latency: 10 ns}}\n", from,
                             rate * count)
               : fmt::format("      - {{from: {}, to: sw0, bandwidth: {} GB/s, latency: 10 ns, count: {}}}\n",
                             from, rate, count);
  };
  return fmt::format(
      "weft: 1\n"
      "topology:\n"
      "  graph:\n"
      "    npus: 4\n"
      "    npus_forward: false\n"
      "    fidelity: {}\n"
      "    switches: [sw0, memory0, memory1]\n"
      "    links:\n{}{}"
      "memory: {{pool: {{design: graph, group_bandwidth: 100 GB/s, chunk: 4 KiB, split: whole, fidelity: "
      "{}}}}}\n",
      fidelity, link("npu0..npu3", 25), link("memory0..memory1", 20), fidelity);
}

TEST(SharedDesigns, ALinkOfSeveralIsOneOfTheirBandwidth) {
  for (const char* const fidelity : {"packet", "message"}) {
    for (const uint32_t count : {2u, 3u}) {
      for (const PoolOperation operation : kOperations) {
        const Outcome a = sound(counted(count, false, fidelity) + kData, {operation, 30001, 0});
        const Outcome b = sound(counted(count, true, fidelity) + kData, {operation, 30001, 0});
        EXPECT_GT(a.verified, 0u);
        EXPECT_EQ(a.access, b.access) << fidelity << count << to_string(operation);
        EXPECT_EQ(a.verified, b.verified);
      }
    }
  }
}

}  // namespace
}  // namespace weft
