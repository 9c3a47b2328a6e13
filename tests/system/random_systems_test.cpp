// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Random machines and collectives: all finish, bytes are conserved, nothing beats physics, and the same run
// twice gives the same results.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <random>
#include <string>

#include "tests/data/cases.h"
#include "tests/support/drawn_cases.h"
#include "tests/support/isolated.h"
#include "tests/support/random_machine.h"
#include "tests/support/solo_job.h"

namespace weft {
namespace {

using test::Random;

std::string describe(const RunResult& run) {
  std::string text = std::to_string(run.time) + " ps, " + std::to_string(run.messages) + " messages, " +
                     std::to_string(run.events) + " events, " + std::to_string(run.out_of_order_starts) +
                     "\n";
  for (const CollectiveRow& row : run.collectives) {
    text += std::to_string(row.started) + " " + std::to_string(row.finished) + " " +
            fmt::format("{}", row.message_bytes) + " " + fmt::format("{}", row.split.queue) + " " +
            fmt::format("{}", row.split.serialise) + " " + fmt::format("{}", row.split.latency) + " " +
            fmt::format("{}", row.split.endpoint) + " " + fmt::format("{}", row.split.reduce) + "\n";
  }
  for (const LinkRow& link : run.links) {
    text += link.name + " " + link.to + " " + std::to_string(link.bytes) + " " + std::to_string(link.busy) +
            " " + std::to_string(link.queued) + "\n";
  }
  return text;
}

Config random_machine(Random& random) {
  Config config;
  const bool equal_bandwidths = random.pick(3) == 0;
  const uint32_t fidelity = random.pick(4);  // all analytical, all message, all packet, mixed
  const uint64_t common = 1'000'000'000ull * (1 + random.pick(400));
  const auto fill = [&](Random&, DimensionConfig& d) {
    d.bandwidth = {equal_bandwidths ? common : 1'000'000'000ull * (1 + random.pick(400)), 1 + random.pick(7)};
    if (equal_bandwidths) d.bandwidth.divisor = 1;
    d.latency = random.pick(4) == 0 ? 0 : random.pick(2'000'000);
    d.links_per_npu = 1 + random.pick(2);
    d.fidelity = fidelity == 0   ? Fidelity::analytical
                 : fidelity == 1 ? Fidelity::message
                 : fidelity == 2 ? Fidelity::packet
                                 : static_cast<Fidelity>(random.pick(3));
    if (random.pick(4) == 0) d.credit_latency = 1 + random.pick(100'000);
    if (random.pick(6) == 0) d.flit_error_rate = 0.001;
    d.switching = static_cast<Switching>(random.pick(2));
    if (d.kind == DimensionKind::switch_ && random.pick(2) != 0) {
      std::mt19937_64 trees(random.pick(1u << 30));
      test::make_random_tree(d, test::random_tree(8, trees), trees);
    }
  };
  test::draw_dimensions(
      random, config, 2, ~0u, [](Random& r, uint32_t) { return 1 + r.pick(6); }, fill);
  config.collectives.chunks = 1 + random.pick(9);
  config.collectives.active_chunks_per_dimension = 1 + random.pick(3);
  config.collectives.queues_per_dimension = 1 + random.pick(2);
  config.collectives.scheduling = static_cast<CollectiveScheduling>(random.pick(3));
  config.collectives.order = static_cast<CollectiveOrder>(random.pick(kCollectiveOrders));
  std::mt19937_64 packets(random.pick(1u << 30));
  test::set_packets(config, packets);
  config.nmu.endpoint_delay = random.pick(2) != 0 ? random.pick(30'000) : 0;
  const uint32_t reduction = random.pick(4);
  if (reduction == 1) {
    config.collectives.reduction = ReductionKind::fixed_bandwidth;
    config.collectives.reduction_bandwidth = {1'600'000'000'000ull, 1};
  } else if (reduction == 2) {
    config.collectives.reduction = ReductionKind::hbm;
    config.hbm.bandwidth = {2'000'000'000'000ull, 1};
    config.hbm.latency = 100'000;
    config.hbm.capacity = random.pick(2) != 0 ? 100'000 : 0;
    config.hbm.outstanding = 1 + random.pick(8);
  }
  for (size_t op = 0; op < config.collectives.algorithms.size(); ++op) {
    for (DimensionConfig& d : config.dimensions) {
      const char* names[] = {"", "ring", "direct", "in_switch"};
      const bool unit = d.kind == DimensionKind::switch_ && d.tree == nullptr &&
                        op != static_cast<size_t>(CollectiveOp::all_to_all);
      config.collectives.algorithms[op].push_back(names[random.pick(unit ? 4 : 3)]);
    }
  }
  for (DimensionConfig& d : config.dimensions) {
    CollectiveUnitConfig& unit = d.collective_unit;
    unit.segment = 1'000 + random.pick(100'000);
    if (random.pick(2) != 0) unit.buffer = unit.segment + random.pick(200'000);
    if (random.pick(2) != 0) unit.latency = random.pick(500'000);
    if (random.pick(3) == 0) unit.ingress_bandwidth = {1'000'000'000ull * (1 + random.pick(400)), 1};
    if (random.pick(3) == 0) unit.reduction_bandwidth = {1'000'000'000ull * (1 + random.pick(4000)), 1};
  }
  return config;
}

/// Runs one to three collectives; what is wrong (`facts`: everything that came out, instead).
std::string run(uint32_t seed, bool facts) {
  Random random(seed);
  const Config config = random_machine(random);
  test::SoloCollectiveJob job("job", config);
  bool packets = false;
  for (const DimensionConfig& d : config.dimensions) packets = packets || d.fidelity == Fidelity::packet;
  const uint64_t sizes[] = {0, 1, 7, 1'000, 100'003, packets ? 30'000u : 1'048'576u};
  const uint32_t collectives = 1 + random.pick(3);
  std::string text;
  for (uint32_t i = 0; i < collectives; ++i) {
    job.start(static_cast<CollectiveOp>(random.pick(kCollectiveOps)), sizes[random.pick(6)],
              random.pick(config.npus()));
    if (random.pick(2) != 0) sc_core::sc_start(sc_core::sc_time::from_value(random.pick(5'000'000)));
  }
  if (!test::run_to_the_end(job)) text += job.stall_report();
  const RunResult result = job.result();
  for (const std::string& broken : result.broken_invariants) text += broken + "\n";
  for (const CollectiveRow& row : result.collectives) {
    if (row.efficiency() > 1.0) text += "efficiency " + std::to_string(row.efficiency()) + "\n";
    if (row.started == kNever) text += "a collective never started\n";
  }
  const Machine::Totals totals = job.machine().totals();
  if (totals.in_flight != 0) text += "messages in flight\n";
  if (job.machine().pool().live() != 0) text += "packets in use\n";
  for (const LinkRow& link : result.links) {
    // A whole picosecond a message is the rounding of what it leaves over.
    if (link.busy > result.time + link.messages) text += link.name + " was busy longer than the job\n";
  }
  return facts ? text + describe(result) : text;
}

TEST(RandomSystems, FinishConserveAndRespectPhysics) {
  uint32_t failed = 0;
  // More of them, to look for trouble: WEFT_RANDOM_SYSTEMS.
  const uint32_t last = test::drawn_cases("WEFT_RANDOM_SYSTEMS", 240);
  for (uint32_t seed = 1; seed <= last && failed < 5; ++seed) {
    const auto result = test::isolated([seed] { return run(seed, false); });
    if (result.status == 0 && result.text.empty()) continue;
    ++failed;
    ADD_FAILURE() << "seed " << seed << " status " << result.status << "\n" << result.text;
  }
}

TEST(RandomSystems, TheSameRunTwiceGivesTheSameResults) {
  std::string all;
  for (uint32_t seed = 500; seed < 530; ++seed) {
    const auto first = test::isolated([seed] { return run(seed, true); });
    const auto second = test::isolated([seed] { return run(seed, true); });
    EXPECT_EQ(first.status, 0) << first.text;
    EXPECT_EQ(first.text, second.text) << "seed " << seed;
    EXPECT_GT(first.text.size(), 60u);
    all += first.text;
  }
  EXPECT_NE(all.find("_plus"), std::string::npos);
}

/// One all-reduce on 2 x 2; its time.
Picoseconds all_reduce(const std::function<void(Config&)>& change) {
  const auto result = test::isolated([&] {
    Config config;
    for (int d = 0; d < 2; ++d) {
      DimensionConfig dimension;
      dimension.kind = d == 0 ? DimensionKind::ring : DimensionKind::switch_;
      dimension.size = 4;
      dimension.bandwidth = {100'000'000'000ull, 1};
      dimension.latency = 500'000;
      config.dimensions.push_back(dimension);
    }
    config.hbm.bandwidth = {2'000'000'000'000ull, 1};
    config.hbm.latency = 100'000;
    change(config);
    test::SoloCollectiveJob job("job", config);
    job.start(CollectiveOp::all_reduce, 1 << 20);
    sc_core::sc_start();
    const RunResult run = job.result();
    std::string text = job.finished() ? std::to_string(run.time) : "stall";
    for (const std::string& broken : run.broken_invariants) text = broken;
    // Each block is read twice and written once by each reduction: 3/4 + 3/16 of the buffer a rank.
    const uint64_t reduced = 16ull * ((3 << 18) + (3 << 16));
    const bool in_memory = config.collectives.reduction == ReductionKind::hbm;
    if (run.memory_bytes != (in_memory ? 3 * reduced : 0))
      text = "memory bytes " + std::to_string(run.memory_bytes);
    return text;
  });
  EXPECT_EQ(result.status, 0) << result.text;
  EXPECT_EQ(result.text.find_first_not_of("0123456789"), std::string::npos) << result.text;
  return std::strtoull(result.text.c_str(), nullptr, 10);
}

TEST(Reduction, InMemoryCostsMoreThanNoneAndMoreOnASlowerMemory) {
  const Picoseconds none = all_reduce([](Config&) {});
  const Picoseconds hbm = all_reduce([](Config& c) { c.collectives.reduction = ReductionKind::hbm; });
  const Picoseconds slow = all_reduce([](Config& c) {
    c.collectives.reduction = ReductionKind::hbm;
    c.hbm.bandwidth = {200'000'000'000ull, 1};
  });
  const Picoseconds fixed = all_reduce([](Config& c) {
    c.collectives.reduction = ReductionKind::fixed_bandwidth;
    c.collectives.reduction_bandwidth = c.hbm.bandwidth;
  });
  EXPECT_GT(fixed, none);
  EXPECT_GT(hbm, fixed);  // the same bandwidth, and a latency
  EXPECT_GT(slow, hbm);
}

}  // namespace
}  // namespace weft
