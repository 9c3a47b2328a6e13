// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// The memory pool at `packet` fidelity against `message` fidelity, accesses of a part of the NPUs, and memory
// models behind groups.

#include <gtest/gtest.h>

#include <memory>

#include "tests/support/drawn_cases.h"
#include "tests/support/pool_bench.h"
#include "tests/support/pool_draw.h"
#include "workload/pool/closed_form.h"

namespace weft {
namespace {

using test::isolated;
using test::pool_config;
using test::pool_time;
using test::PoolBench;

constexpr PoolOperation kOperations[] = {PoolOperation::load, PoolOperation::store,
                                         PoolOperation::gather_load, PoolOperation::scatter_store};

using Keys = std::vector<std::string>;

Keys small(const Keys& more = {}) {
  Keys keys = {"nodes: 4",
               "groups: 16",
               "out_switches: 4",
               "group_bandwidth: 100 GB/s",
               "out_node_bandwidth: 64 GB/s",
               "in_node_bandwidth: 50 GB/s",
               "chunk: 4 KiB"};
  keys.insert(keys.end(), more.begin(), more.end());
  return keys;
}

double time_of(const Keys& keys, PoolOperation operation, uint64_t bytes, const std::string& more = {}) {
  return static_cast<double>(pool_time(pool_config(16, keys, more), operation, bytes));
}

TEST(PoolPackets, TakeWhatMessagesTake) {
  // Where the NPUs' links are the bottleneck, packets for a busy NPU stand in front of others.
  const std::string packets = "packet: {buffer_flits: 1024, vcs: 16}\n";
  for (const char* const split : {"whole", "fluid"}) {
    for (const char* const rates : {"in_node_bandwidth: 50 GB/s", "in_node_bandwidth: 500 GB/s"}) {
      Keys keys = small({std::string("split: ") + split});
      keys[5] = rates;
      Keys with_packets = keys;
      with_packets.emplace_back("fidelity: packet");
      for (const PoolOperation operation : kOperations) {
        const uint64_t bytes = in_switch(operation) ? 128 << 10 : 1 << 20;
        const double messages = time_of(keys, operation, bytes);
        const double as_packets = time_of(with_packets, operation, bytes, packets);
        // Three exceptions. fluid: a chunk of every link goes on by itself, not when the chunks of all links
        // are there; and parts for a busy NPU stand in front of others. Stores over fast links fill the
        // buffers in front of slow ones.
        const bool fluid = split == std::string("fluid");
        const bool fast = keys[5] == "in_node_bandwidth: 500 GB/s";
        double more = 0.03;
        if (fluid && in_switch(operation)) more = 0.1;
        if (fluid && operation == PoolOperation::load && !fast) more = 0.15;
        if (operation == PoolOperation::store && fast) more = 0.06;
        EXPECT_NEAR(as_packets / messages, 1, more) << split << ", " << rates << ", " << to_string(operation);
      }
    }
  }
}

/// NPUs whose links are ten times as fast as those to the groups send to no more groups at once than can take
/// it: packets for one would stand in front of those for another.
TEST(PoolPackets, StoresKeepGroupsBusy) {
  const std::pair<const char*, double> cases[] = {{"chunk: 16 KiB", 1.3}, {"chunk: 64 KiB", 1.04}};
  for (const auto& [chunk, most] : cases) {
    Keys keys = small({"split: whole"});
    keys[4] = "out_node_bandwidth: 256 GB/s";
    keys[5] = "in_node_bandwidth: 256 GB/s";
    keys[6] = chunk;
    Keys packets = keys;
    packets.emplace_back("fidelity: packet");
    SCOPED_TRACE(chunk);
    const double messages = time_of(keys, PoolOperation::store, 512 << 10);
    EXPECT_LT(time_of(packets, PoolOperation::store, 512 << 10) / messages, most);
  }
}

TEST(PoolPackets, HeadersTakeTheirPart) {
  const Keys keys = small({"split: whole", "fidelity: packet"});
  const double without = time_of(keys, PoolOperation::load, 1 << 20,
                                 "packet: {packet_size: 64 B, buffer_flits: 1024, vcs: 16}\n");
  const double with = time_of(keys, PoolOperation::load, 1 << 20,
                              "packet: {packet_size: 64 B, header: 16 B, buffer_flits: 1024, vcs: 16}\n");
  EXPECT_NEAR(with / without, 1.25, 0.02);
}

TEST(PoolPackets, LatencyCountsOnceAHopAndOnceARequest) {
  const std::string packets = "packet: {buffer_flits: 4096}\n";
  const Keys none = small({"fidelity: packet", "split: whole"});
  const Keys some = small({"fidelity: packet", "split: whole", "latency: 100 ns", "request_latency: 7 ns"});
  for (const PoolOperation operation : {PoolOperation::load, PoolOperation::store}) {
    const double more =
        time_of(some, operation, 64 << 10, packets) - time_of(none, operation, 64 << 10, packets);
    // Stores have no request. What begins ahead in a link's round trip makes the rest of the difference.
    if (stores(operation)) {
      EXPECT_GE(more, 300000);
      EXPECT_LE(more, 380000);
    } else {
      EXPECT_NEAR(more, 307000, 3000);
    }
  }
}

TEST(PoolPackets, ABufferOfOneChunkStillFinishesAndCostsTime) {
  for (const char* const design : {"hierarchical", "multi_level", "ring", "mesh"}) {
    const auto with = [&](const char* buffer) {
      return time_of(small({std::string("design: ") + design, "fidelity: packet", "split: whole",
                            std::string("buffer: ") + buffer, "latency: 100 ns"}),
                     PoolOperation::scatter_store, 100000);
    };
    EXPECT_GT(with("1"), with("unlimited")) << design;
  }
}

TEST(PoolPackets, RingsNeedTwoVirtualChannels) {
  const auto refusal = [](const Keys& keys, const std::string& packets) {
    return isolated([&] {
             try {
               const Config config = pool_config(16, keys, packets);
               PoolBench bench(config);
             } catch (const UserError& e) {
               return std::string(e.what());
             }
             return std::string("built");
           })
        .text;
  };
  const std::string one = "packet: {vcs: 1}\n";
  EXPECT_NE(refusal(small({"design: ring", "fidelity: packet"}), one).find("`packet.vcs`: 1"),
            std::string::npos)
      << refusal(small({"design: ring", "fidelity: packet"}), one);
  EXPECT_EQ(refusal(small({"fidelity: packet"}), one), "built");
  EXPECT_EQ(refusal(small({"design: ring", "fidelity: packet"}), "packet: {vcs: auto}\n"), "built");
}

// ---- in-switch accesses of a part of the NPUs

struct Client final : PoolClient {
  uint32_t done = 0;
  Picoseconds last = 0;
  void pool_done(uint32_t, Picoseconds at) override {
    ++done;
    last = std::max(last, at);
  }
};

PoolMembers members(std::vector<uint32_t> npus) {
  return std::make_shared<const std::vector<uint32_t>>(std::move(npus));
}

TEST(PoolMembersTest, GroupsAreByThemselves) {
  const PoolMembers some = members({0, 1, 2, 5, 9});
  const PoolMembers others = members({3, 4, 5, 15});  // NPU 5 is in both
  for (const char* const fidelity : {"analytical", "message", "packet"}) {
    for (const char* const design : {"hierarchical", "multi_level", "ring", "mesh"}) {
      for (const char* const split : {"fluid", "whole"}) {
        for (const bool store : {false, true}) {
          const Keys keys = small({std::string("fidelity: ") + fidelity, std::string("design: ") + design,
                                   std::string("split: ") + split, "buffer: 1"});
          SCOPED_TRACE(fmt::format("{} {} {} {}", fidelity, design, split, store));
          EXPECT_SILENT(isolated([&] {
            const Config config = pool_config(16, keys, "run: {data: functional}\n");
            PoolBench bench(config);
            Client client;
            const PoolOperation operation = store ? PoolOperation::scatter_store : PoolOperation::gather_load;
            // NPU 5 begins with the others' access, and some of the first group come later.
            for (const uint32_t u : *others) bench.pool.start(u, u, operation, 3000, client, others);
            for (const uint32_t u : {0u, 1u, 2u, 5u}) bench.pool.start(u, u, operation, 20001, client, some);
            sc_core::sc_start(sc_core::sc_time(50, sc_core::SC_US));
            if (client.done != 4) return fmt::format("{} of the second group's 4 are done", client.done);
            bench.pool.start(9, 9, operation, 20001, client, some);
            sc_core::sc_start();
            if (client.done != 9) return "stalled: " + bench.pool.stall_text();
            std::vector<std::string> broken;
            bench.pool.find_unbalanced(broken);
            if (!broken.empty()) return broken.front();
            const uint64_t bytes = store ? 3000 * 4 + 20001 * 5 : 3000 * 4 * 4 + 20001 * 5 * 5;
            if (bench.pool.verified() != bytes) return fmt::format("{} B compared", bench.pool.verified());
            // Only what the members get: the last hop.
            uint64_t last = 0;
            for (const pool::ClassLoad& load : bench.pool.loads(store))
              if (load.name == "in_switch/npu") last = static_cast<uint64_t>(load.total);
            const uint64_t hop = 3000 * 4 * 4 + 20001 * 5 * 5;
            return last == hop ? std::string() : fmt::format("{} B on the NPUs' links, not {}", last, hop);
          }));
        }
      }
    }
  }
}

TEST(PoolMembersTest, OppositeOrdersDoNotLock) {
  // Bounded buffers, and two NPUs that send the sums of two groups in opposite orders.
  for (const char* const fidelity : {"message", "packet"}) {
    const Keys keys = small({std::string("fidelity: ") + fidelity, "split: whole", "buffer: 1"});
    EXPECT_SILENT(isolated([&] {
      const Config config = pool_config(16, keys, "run: {data: functional}\n");
      PoolBench bench(config);
      Client client;
      const PoolMembers a = members({0, 1, 2});
      const PoolMembers b = members({1, 2, 3});
      const auto start = [&](uint32_t u, const PoolMembers& group) {
        bench.pool.start(u, u, PoolOperation::scatter_store, 100000, client, group);
      };
      start(1, a);
      start(2, b);
      start(0, a);
      start(3, b);
      start(1, b);
      start(2, a);
      sc_core::sc_start();
      return client.done == 6 ? std::string() : bench.pool.stall_text();
    }));
  }
}

// ---- memories behind groups

TEST(GroupMemoryTest, ABandwidthMemoryIsTheGroupsOwnService) {
  for (const char* const fidelity : {"message", "packet"}) {
    for (const PoolOperation operation : kOperations) {
      Keys keys = small({"split: whole", std::string("fidelity: ") + fidelity});
      keys[3] = "group_bandwidth: 10 GB/s";  // the bottleneck
      const double own = time_of(keys, operation, 256 << 10);
      keys.emplace_back("group_memory: bandwidth");
      EXPECT_NEAR(time_of(keys, operation, 256 << 10) / own, 1, 0.03) << fidelity << to_string(operation);
    }
  }
}

TEST(GroupMemoryTest, CxlGivesWhatItsLinkCarries) {
  Keys keys = small({"split: whole"});
  keys[1] = "groups: 4";
  keys[3] = "group_bandwidth: 64 GB/s";
  keys[4] = "out_node_bandwidth: 1 TB/s";
  keys[5] = "in_node_bandwidth: 1 TB/s";
  keys.emplace_back("group_memory: cxl(preset=cxl2_x16)");
  // 16 x 4 MiB by four links of 64 GB/s raw: docs/cxl.md has the shares of data.
  const double bytes = 16.0 * (4 << 20) / 4;
  EXPECT_NEAR(time_of(keys, PoolOperation::load, 4 << 20), bytes / (64e9 * 0.869) * 1e12, 1e7);
  EXPECT_NEAR(time_of(keys, PoolOperation::store, 4 << 20), bytes / (64e9 * 0.753) * 1e12, 1e7);
}

TEST(GroupMemoryTest, CreditsThrottleAsLittleSays) {
  const auto with = [](uint32_t credits) {
    Keys keys = small({"split: whole", fmt::format("group_memory: \"cxl(read_credits={})\"", credits)});
    keys[1] = "groups: 4";
    keys[4] = "out_node_bandwidth: 1 TB/s";
    keys[5] = "in_node_bandwidth: 1 TB/s";
    return time_of(keys, PoolOperation::load, 1 << 20);
  };
  EXPECT_NEAR(with(32) / with(64), 2, 0.05);
  EXPECT_NEAR(with(16) / with(32), 2, 0.05);
}

TEST(GroupMemoryTest, RandomPoolsGetTheirBytesThroughIt) {
  for (uint32_t seed = 1; seed <= test::drawn_cases("WEFT_POOLS", 100) && !HasFailure(); ++seed)
    EXPECT_SILENT(isolated([&] {
      test::Drawn drawn = test::draw_pool(seed, seed % 2 == 0);
      MemoryPoolConfig& pool = *drawn.config.memory_pool;
      if (pool.fidelity == Fidelity::analytical) pool.fidelity = Fidelity::message;
      pool.group_memory = "bandwidth";
      drawn.text += ", group_memory: bandwidth";
      return test::run_drawn(drawn);
    }));
}

}  // namespace
}  // namespace weft
