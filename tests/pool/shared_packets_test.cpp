// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Memory pools that share links of the machine (`share`, `design: graph`) at packet fidelity: one packet
// network carries collectives, loads and stores.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "configs/loader.h"
#include "sc_models/packet_region.h"
#include "tests/support/shared_pool.h"
#include "workload/pool/closed_form.h"

namespace weft {
namespace {

using namespace test;

constexpr uint64_t kMiB = 1 << 20;

/// A pool on the switches of dimension 0, fast behind them.
std::string shared(const std::string& fidelity, const std::string& notation = "Switch(4)_Switch(2)",
                   uint32_t nodes = 2, const std::string& links = "share: 0",
                   const std::string& split = "whole") {
  const std::string dimension =
      fmt::format("{{bandwidth: 100 GB/s, latency: 10 ns, fidelity: {}}}", fidelity);
  return fmt::format(
      "weft: 1\n"
      "topology:\n"
      "  notation: {}\n"
      "  dimensions: [{}]\n"
      "collectives: {{chunks: 16}}\n"
      "memory:\n"
      "  pool: {{nodes: {}, out_switches: 2, groups: 4, group_bandwidth: 400 GB/s, latency: 10 ns, "
      "out_node_bandwidth: 400 GB/s, {}, chunk: 64 KiB, split: {}, fidelity: {}}}\n",
      notation, notation == "Switch(8)" ? dimension : dimension + ", " + dimension, nodes, links, split,
      fidelity);
}

TEST(SharedPackets, WhatSharesLinksSlowsBoth) {
  for (const PoolOperation operation : {PoolOperation::load, PoolOperation::store}) {
    for (const std::string& machine : {shared("packet", "Switch(8)", 1), graph_machine("sw0", "packet")}) {
      const uint64_t shard = kMiB / 4;
      const Outcome access = sound(machine, {operation, 2 * kMiB, 0});
      const Outcome gather = sound(machine, {operation, 0, shard});
      const Outcome both = sound(machine, {operation, 2 * kMiB, shard});
      const uint64_t npus = parse_config(machine, "").npus();
      const double bytes = static_cast<double>(2 * kMiB + (npus - 1) * shard);
      const double time = static_cast<double>(std::max(both.access, both.collective)) / (bytes * 10);
      // Eight NPUs load from four groups: packets for busy links stand in front of others, alone too.
      const bool alone_slower = npus == 8 && operation == PoolOperation::load;
      EXPECT_GE(time, 1) << to_string(operation) << npus;
      EXPECT_LE(time, alone_slower ? 1.2 : 1.03)
          << to_string(operation) << npus << " alone " << access.access << " " << gather.collective
          << ", together " << both.access << " " << both.collective;
      EXPECT_GT(both.access, access.access + access.access / 5);
      EXPECT_GT(both.collective, gather.collective + gather.collective / 5);
    }
  }
}

TEST(SharedPackets, WhatSharesNoLinkChangesNothing) {
  const std::string machine = graph_machine("swm", "packet");
  for (const PoolOperation operation : kOperations) {
    const Outcome access = sound(machine, {operation, kMiB / 4, 0});
    const Outcome gather = sound(machine, {operation, 0, kMiB / 4});
    const Outcome both = sound(machine, {operation, kMiB / 4, kMiB / 4});
    EXPECT_EQ(both.access, access.access) << to_string(operation);
    EXPECT_EQ(both.collective, gather.collective) << to_string(operation);
  }
}

TEST(SharedPackets, AloneItIsAPoolWithLinksOfItsOwn) {
  // NPUs begin at the switch, so the networks are alike.
  for (const char* const split : {"whole", "fluid"}) {
    const std::string joined = shared("packet", "Switch(8)", 1, "share: 0", split);
    const std::string own = shared("packet", "Switch(8)", 1, "in_node_bandwidth: 100 GB/s", split);
    for (const PoolOperation operation : kOperations) {
      const Outcome a = sound(joined, {operation, 100001, 0});
      const Outcome b = sound(own, {operation, 100001, 0});
      EXPECT_EQ(a.access, b.access) << to_string(operation) << split;
      EXPECT_EQ(a.loads, b.loads) << to_string(operation) << split;
    }
  }
}

TEST(SharedPackets, ASmallAccessTakesWhatAMessageTakes) {
  const auto check = [&](const std::string& packets, const std::string& messages) {
    for (const PoolOperation operation : {PoolOperation::load, PoolOperation::store}) {
      const double more = static_cast<double>(sound(packets, {operation, 64, 0}).access) -
                          static_cast<double>(sound(messages, {operation, 64, 0}).access);
      EXPECT_NEAR(more, 0, 5000) << to_string(operation);  // routers' cycles; flits do not wait for the last
    }
  };
  check(shared("packet"), shared("message"));
  check(graph_machine("sw0", "packet"), graph_machine("sw0", "message"));
  check(ring_machine("packet"), ring_machine("message"));
}

TEST(SharedPackets, EveryOperationBringsItsData) {
  const std::string data = "run: {data: functional}\n";
  for (const char* const split : {"whole", "fluid"}) {
    const std::map<std::string, std::string> machines = {
        {shared("packet", "Switch(4)_Switch(2)", 2, "share: 0", split),
         shared("message", "Switch(4)_Switch(2)", 2, "share: 0", split)},
        {shared("packet", "Ring(2)_Switch(3)", 2, "share: 1", split),
         shared("message", "Ring(2)_Switch(3)", 2, "share: 1", split)},
        {graph_machine("sw0", "packet", split), graph_machine("sw0", "message", split)},
        {ring_machine("packet", {}, split), ring_machine("message", {}, split)}};
    for (const auto& [packets, messages] : machines) {
      for (const PoolOperation operation : kOperations) {
        const Outcome a = sound(packets + data, {operation, 10007, 0});
        const Outcome b = sound(messages + data, {operation, 10007, 0});
        EXPECT_GT(a.verified, 0u);
        EXPECT_EQ(a.verified, b.verified) << to_string(operation) << split;
        if (split == std::string("whole")) {
          EXPECT_EQ(a.loads, b.loads) << to_string(operation);
        }
      }
    }
  }
}

TEST(SharedPackets, ARingOfSwitchesDoesNotLock) {
  // Deep buffers would hide a cycle.
  const std::string machine = ring_machine("packet", "packet: {buffer_flits: 16, packet_size: 256 B}\n");
  for (const PoolOperation operation : kOperations) sound(machine, {operation, 300000, 0});
  sound(machine, {PoolOperation::store, 300000, 100000});
}

TEST(SharedPackets, LinksAreInTheResultsOnce) {
  const Outcome o = sound(shared("packet"), {PoolOperation::load, kMiB, 0});
  const auto bytes = [&](const std::string& name) {
    const size_t at = o.links.find(name + "=");
    EXPECT_EQ(o.links.find(name + "=", at + 1), std::string::npos) << name;
    return at == std::string::npos ? 0 : std::stoull(o.links.substr(at + name.size() + 1));
  };
  EXPECT_EQ(bytes("job.packet0_0.switch0_0.to1"), kMiB) << o.links;
  EXPECT_EQ(bytes("job.pool.group0.to_out0") + bytes("job.pool.group0.to_out1"), 2 * kMiB) << o.links;
  EXPECT_EQ(o.links.find("job.pool.npu"), std::string::npos) << o.links;
}

TEST(SharedPackets, WhatCannotBeSharedIsAnError) {
  const auto refused = [](const std::string& yaml, const std::vector<std::string>& parts) {
    std::string what;
    try {
      const Config config = parse_config(yaml, "");
      packet_regions_of(config);
    } catch (const UserError& error) {
      what = error.what();
    }
    for (const std::string& part : parts)
      EXPECT_NE(what.find(part), std::string::npos) << part << ": " << what;
  };
  const auto with = [](std::string yaml, const std::string& from, const std::string& to) {
    const size_t at = yaml.rfind(from);
    if (at == std::string::npos) throw std::logic_error("no " + from);
    return yaml.replace(at, from.size(), to);
  };
  const std::string packets = shared("packet");
  refused(with(packets, "fidelity: packet", "fidelity: analytical"),
          {"`memory.pool.fidelity`", "'analytical'", "`message` or `packet`"});
  refused(with(packets, "fidelity: packet", "fidelity: message"),
          {"`memory.pool.share`", "packet fidelity", "a pool at message fidelity", "memory.pool.fidelity"});
  refused(with(packets, "fidelity: packet}]", "fidelity: message}]"),
          {"`memory.pool.share`", "dimension 1", "message fidelity", "all dimensions", "`packet`"});
  refused(packets + "packet: {routing: shortest_path}\n",
          {"`memory.pool.share`", "`packet.routing: shortest_path`", "allowed with `share`"});
  refused(packets + "packet: {vcs: 40}\n",
          {"`packet.vcs`", "the memory pool adds a virtual network", "write 32 or less"});
  refused(with(graph_machine("sw0", "message"), "fidelity: message", "fidelity: packet"),
          {"`memory.pool.design`", "at `message` fidelity", "`memory.pool.fidelity` is `packet`"});
  refused(ring_machine("packet", "packet: {vcs: 1}\n"),
          {"`packet`", "the ways of the memory pool", "virtual channels", "`packet.vcs`"});
}

}  // namespace
}  // namespace weft
