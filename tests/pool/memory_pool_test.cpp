// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// The memory pool at `message` fidelity: closed forms, data, bytes of links, buffers of partial sums.

#include <gtest/gtest.h>

#include <cstdlib>

#include "tests/support/drawn_cases.h"
#include "tests/support/pool_bench.h"
#include "tests/support/pool_draw.h"
#include "workload/pool/closed_form.h"

namespace weft {
namespace {

using test::draw_pool;
using test::isolated;
using test::pool_config;
using test::pool_time;
using test::PoolBench;
using test::run_drawn;

constexpr PoolOperation kOperations[] = {PoolOperation::load, PoolOperation::store,
                                         PoolOperation::gather_load, PoolOperation::scatter_store};

std::vector<std::string> small(const std::vector<std::string>& more = {}) {
  std::vector<std::string> keys = {"nodes: 4",
                                   "groups: 8",
                                   "out_switches: 4",
                                   "group_bandwidth: 100 GB/s",
                                   "out_node_bandwidth: 64 GB/s",
                                   "in_node_bandwidth: 50 GB/s",
                                   "chunk: 4 KiB"};
  keys.insert(keys.end(), more.begin(), more.end());
  return keys;
}

double form_of(const Config& config, PoolOperation operation, uint64_t bytes, uint32_t npus = 0) {
  return pool::closed_form(config, operation, bytes, npus).time_ps;
}

TEST(MemoryPool, FluidIsATandemOfEqualChunks) {
  for (const char* const rates : {"in_node_bandwidth: 50 GB/s", "in_node_bandwidth: 500 GB/s"}) {
    std::vector<std::string> keys = small();
    keys[5] = rates;
    const Config config = pool_config(16, keys);
    for (const PoolOperation operation : kOperations)
      for (const uint64_t bytes : {uint64_t{1}, uint64_t{5000}, uint64_t{1} << 20, uint64_t{1000003}}) {
        const double form = form_of(config, operation, bytes);
        const auto time = static_cast<double>(pool_time(config, operation, bytes));
        // Pieces are of whole bytes.
        EXPECT_NEAR(time / form, 1, bytes < 100000 ? 0.02 : 0.0005)
            << to_string(operation) << " " << bytes << " " << rates;
      }
  }
}

TEST(MemoryPool, OneNpuAloneHasTheWholePool) {
  const Config config = pool_config(16, small());
  for (const PoolOperation operation : {PoolOperation::load, PoolOperation::store}) {
    // Its own link is the bottleneck: 1 MiB at 50 GB/s, and one chunk of the others. n = 1 MiB / 32 / 4 KiB.
    const double chunk = (1 << 20) / 8.0;
    const double by_hand = 8 * chunk / 50e9 + chunk / 8 / 100e9 + chunk / 4 / 64e9;
    EXPECT_NEAR(static_cast<double>(pool_time(config, operation, 1 << 20, 1)), by_hand * 1e12, 20);
    EXPECT_NEAR(form_of(config, operation, 1 << 20, 1), by_hand * 1e12, 20);
  }
}

TEST(MemoryPool, WholeAndLatinIsExact) {
  for (const char* const in_node : {"in_node_bandwidth: 20 GB/s", "in_node_bandwidth: 500 GB/s"}) {
    std::vector<std::string> keys = small({"split: whole"});
    keys[1] = "groups: 16";
    keys[5] = in_node;
    const Config config = pool_config(16, keys);
    const pool::ClosedForm form = pool::closed_form(config, PoolOperation::load, 1 << 20);
    EXPECT_TRUE(form.exact);
    EXPECT_NEAR(static_cast<double>(pool_time(config, PoolOperation::load, 1 << 20)) / form.time_ps, 1, 0.001)
        << in_node;
  }
}

TEST(MemoryPool, LatencyCountsOnceAHopAndOnceARequest) {
  const Config none = pool_config(16, small());
  const Config some = pool_config(16, small({"latency: 100 ns", "request_latency: 7 ns"}));
  for (const PoolOperation operation : kOperations) {
    const Picoseconds more = pool_time(some, operation, 1 << 20) - pool_time(none, operation, 1 << 20);
    EXPECT_EQ(more, 300000u + (stores(operation) ? 0 : 7000)) << to_string(operation);
  }
}

TEST(MemoryPool, AnalyticalIsTheBottleneckAlone) {
  const Config config = pool_config(16, small({"fidelity: analytical", "latency: 100 ns"}));
  const Config chunks = pool_config(16, small());
  for (const PoolOperation operation : kOperations)
    EXPECT_NEAR(static_cast<double>(pool_time(config, operation, 1 << 20)),
                pool::closed_form(chunks, operation, 1 << 20).least_ps + 300000, 3)
        << to_string(operation);
  // One NPU alone: its own link.
  EXPECT_NEAR(static_cast<double>(pool_time(config, PoolOperation::store, 1 << 20, 1)),
              (1 << 20) / 50e9 * 1e12 + 300000, 2);
}

TEST(MemoryPool, AnalyticalFlowsShareWhatTheyMeet) {
  // Two NPUs of one node, whose links to the out switches are the bottleneck: 4 x 5 GB/s.
  std::vector<std::string> keys = small({"fidelity: analytical"});
  keys[4] = "out_node_bandwidth: 5 GB/s";
  const Config config = pool_config(16, keys);
  const auto result = isolated([&] {
    PoolBench bench(config);
    struct Client : PoolClient {
      std::map<uint32_t, Picoseconds> end;
      void pool_done(uint32_t token, Picoseconds at) override { end[token] = at; }
    } client;
    bench.pool.start(0, 0, PoolOperation::load, 20000000, client);
    bench.pool.start(1, 1, PoolOperation::load, 10000000, client);
    bench.pool.start(5, 5, PoolOperation::load, 10000000, client);
    sc_core::sc_start();
    return fmt::format("{} {} {}", client.end[0], client.end[1], client.end[5]);
  });
  // Both at 10 GB/s until 1 ms, then the first alone at 20 GB/s. The one of another node has 20 GB/s all
  // along.
  EXPECT_EQ(result.text, "1500000000 1000000000 500000000");
}

TEST(MemoryPool, StripingThatIsUnevenIsSlowerAndSaysWhy) {
  std::map<std::string, double> times;
  for (const std::string striping : {"latin", "hash", "offset"}) {
    const Config config = pool_config(
        16, {"nodes: 4", "groups: 16", "out_switches: 8", "group_bandwidth: 20 GB/s",
             "in_node_bandwidth: 200 GB/s", "chunk: 64 KiB", "split: whole", "striping: " + striping});
    times[striping] = static_cast<double>(pool_time(config, PoolOperation::load, 8 << 20));
    const auto warnings = pool::closed_form(config, PoolOperation::load, 8 << 20).warnings;
    EXPECT_EQ(warnings.empty(), striping == "latin");
    if (striping == "offset") {
      ASSERT_FALSE(warnings.empty());
      EXPECT_NE(warnings[0].find("offset is uneven: one link group/out_switch carries 8 times the mean"),
                std::string::npos)
          << warnings[0];
    }
  }
  EXPECT_GT(times["hash"], 1.2 * times["latin"]);
  // Group and switch move on together: each group has one link of eight.
  EXPECT_NEAR(times["offset"] / times["latin"], 7.7, 0.4);
}

TEST(MemoryPool, AGroupThatStripingLeavesEmptyIsAWarning) {
  const Config config = pool_config(2, {"groups: 8", "group_bandwidth: 20 GB/s",
                                        "in_node_bandwidth: 200 GB/s", "chunk: 64 KiB", "split: whole"});
  const auto warnings = pool::closed_form(config, PoolOperation::load, 128 << 10).warnings;
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_NE(warnings[0].find("memory.pool.striping: latin leaves 5 of 8 groups empty"), std::string::npos)
      << warnings[0];
}

TEST(MemoryPool, ABufferOfOneChunkStillFinishesAndCostsTime) {
  for (const char* const design : {"hierarchical", "multi_level", "ring", "mesh"}) {
    for (const char* const split : {"fluid", "whole"}) {
      const auto with = [&](const char* buffer) {
        return pool_config(12, small({std::string("design: ") + design, std::string("split: ") + split,
                                      std::string("buffer: ") + buffer, "latency: 100 ns"}));
      };
      const Picoseconds free = pool_time(with("unlimited"), PoolOperation::scatter_store, 100000);
      EXPECT_GT(pool_time(with("1"), PoolOperation::scatter_store, 100000), free) << design << " " << split;
      // In a tree of switches, where sums come in the order of the chunks, a large buffer costs nothing.
      const Picoseconds much = pool_time(with("1048576"), PoolOperation::scatter_store, 100000);
      if (std::string(design) == "hierarchical") {
        EXPECT_EQ(much, free) << split;
      }
    }
  }
}

TEST(MemoryPool, ASwitchNeverHoldsMorePartialSumsThanItsBuffer) {
  const Config config = pool_config(12, small({"split: whole", "buffer: 2", "design: ring"}));
  const auto result = isolated([&] {
    PoolBench bench(config);
    const std::string wrong = bench.run(PoolOperation::scatter_store, 100000, 12);
    return wrong + fmt::format("{} sums", bench.pool.most_sums());
  });
  EXPECT_EQ(result.text, "2 sums");
}

/// A load of one NPU, and later another one.
TEST(MemoryPool, LoadsThatMeetShareTheGroupsEqually) {
  // The groups are the bottleneck: 8 x 10 GB/s.
  std::vector<std::string> keys = small({});
  keys[3] = "group_bandwidth: 10 GB/s";
  keys[5] = "in_node_bandwidth: 500 GB/s";
  keys[4] = "out_node_bandwidth: 500 GB/s";
  for (const char* const split : {"fluid", "whole"}) {
    std::vector<std::string> all = keys;
    all.push_back(std::string("split: ") + split);
    const Config config = pool_config(16, all);
    const auto result = isolated([&] {
      PoolBench bench(config);
      PoolRun first;
      first.start(bench.pool, PoolOperation::load, 16 << 20, 1);
      sc_core::sc_start(sc_core::sc_time(100, sc_core::SC_US));
      struct Second : PoolClient {
        Picoseconds end = 0;
        void pool_done(uint32_t, Picoseconds at) override { end = at; }
      } second;
      bench.pool.start(7, 0, PoolOperation::load, 4 << 20, second);
      sc_core::sc_start();
      return fmt::format("{} {}", first.time() / 1000000, second.end / 1000000);
    });
    // 16 MiB alone take 210 us. From 100 us on both get half: 4 MiB take 105 us; then the first is alone.
    const size_t blank = result.text.find(' ');
    EXPECT_NEAR(std::stod(result.text.substr(0, blank)), 262, 4) << split << ": " << result.text;
    EXPECT_NEAR(std::stod(result.text.substr(blank)), 205, 4) << split << ": " << result.text;
  }
}

// ---- random pools
// --------------------------------------------------------------------------------------------

uint32_t pools() {
  return test::drawn_cases("WEFT_POOLS", 200);
}

TEST(MemoryPool, RandomPoolsFinishWithTheirDataAndBytes) {
  for (uint32_t seed = 1; seed <= pools() && !HasFailure(); ++seed)
    EXPECT_SILENT(isolated([&] { return run_drawn(draw_pool(seed, false)); }));
}

TEST(MemoryPool, RandomPoolsOfPacketsFinishWithTheirDataAndBytes) {
  for (uint32_t seed = 1; seed <= pools() && !HasFailure(); ++seed)
    EXPECT_SILENT(isolated([&] { return run_drawn(draw_pool(seed, true)); }));
}

TEST(MemoryPool, GroupsOfAGraphBringTheirData) {
  for (const char* const routing : {"shortest_path", "ecmp"}) {
    for (const char* const split : {"fluid", "whole"}) {
      const Config config = parse_config(
          fmt::format(
              "weft: 1\n"
              "topology:\n"
              "  routing: {}\n"
              "  graph:\n"
              "    npus: 5\n"
              "    npus_forward: false\n"
              "    switches: [a, b, c, d, memory0..memory2]\n"
              "    links:\n"
              "      - {{from: npu0..npu2, to: a, bandwidth: 50 GB/s, latency: 10 ns}}\n"
              "      - {{from: npu2..npu4, to: b, bandwidth: 50 GB/s, latency: 10 ns}}\n"
              "      - {{from: [a, b], to: [c, d], bandwidth: 40 GB/s, latency: 20 ns}}\n"
              "      - {{from: memory0, to: a, bandwidth: 100 GB/s, latency: 5 ns}}\n"
              "      - {{from: [memory1, memory2], to: c, bandwidth: 100 GB/s, latency: 5 ns, count: 2}}\n"
              "run: {{data: functional}}\n"
              "memory: {{pool: {{design: graph, group_bandwidth: 60 GB/s, chunk: 1000 B, split: {}, "
              "buffer: 1}}}}\n",
              routing, split),
          "");
      for (const PoolOperation operation : kOperations) {
        SCOPED_TRACE(fmt::format("{} {} {}", routing, split, to_string(operation)));
        EXPECT_SILENT(isolated([&] {
          PoolBench bench(config);
          std::string wrong = bench.run(operation, 33333, 5);
          const auto form = pool::closed_form(config, operation, 33333);
          size_t i = 0;
          for (const pool::ClassLoad& load : bench.pool.loads(stores(operation))) {
            if (wrong.empty() && (load.total != form.loads[i].total || load.most != form.loads[i].most))
              wrong = load.name + " carries other bytes than the closed form says";
            ++i;
          }
          const uint64_t bytes = 33333 * (operation == PoolOperation::gather_load ? 25 : 5);
          if (wrong.empty() && bench.pool.verified() != bytes)
            wrong = fmt::format("{} B were compared", bench.pool.verified());
          return wrong;
        }));
      }
    }
  }
}

TEST(MemoryPool, ZeroBytesAndTooManyAreErrors) {
  const Config config = pool_config(4, {"groups: 2", "group_bandwidth: 20 GB/s",
                                        "in_node_bandwidth: 200 GB/s", "capacity: 1 MiB", "chunk: 64 KiB"});
  const auto error = [&](PoolOperation operation, uint64_t bytes) {
    try {
      pool::check_access(config, operation, bytes, config.npus());
    } catch (const UserError& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  EXPECT_NE(error(PoolOperation::load, 0).find("of 0 bytes, which moves nothing"), std::string::npos);
  EXPECT_EQ(error(PoolOperation::load, 512 << 10), "");
  EXPECT_NE(
      error(PoolOperation::load, (512 << 10) + 1).find("key `memory.pool.capacity`: tensors of 2097156 B"),
      std::string::npos)
      << error(PoolOperation::load, (512 << 10) + 1);
}

}  // namespace
}  // namespace weft
