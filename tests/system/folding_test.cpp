// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// A folded collective (one rank and mirrors) takes the same time, to the picosecond, as all ranks simulated.

#include <gtest/gtest.h>

#include <random>
#include <string>

#include "configs/tree.h"
#include "tests/support/isolated.h"
#include "tests/support/solo_job.h"

namespace weft {
namespace {

Config random_config(std::mt19937& random) {
  const auto pick = [&](auto... values) {
    const uint64_t all[] = {static_cast<uint64_t>(values)...};
    return all[random() % (sizeof...(values))];
  };
  Config config;
  const int dims = 1 + static_cast<int>(random() % 3);
  for (int d = 0; d < dims; ++d) {
    DimensionConfig dimension;
    dimension.kind = static_cast<DimensionKind>(random() % 3);
    dimension.size = static_cast<uint32_t>(pick(2, 4, 8, 3, 6));
    dimension.bandwidth = {pick(25, 50, 200) * 1000000000, static_cast<uint32_t>(pick(1, 1, 7))};
    dimension.latency = pick(0, 500000, 1234567);
    dimension.fidelity = Fidelity::analytical;
    if (dimension.kind == DimensionKind::switch_ && random() % 2 == 0) {
      TreeNotation tree;
      tree.kind = TreeNotation::Kind::clos;
      tree.hosts = static_cast<uint32_t>(pick(1, 1, 2));
      tree.leaves = dimension.size / tree.hosts;
      tree.spines = 2;
      make_tree(dimension, tree, {{{pick(10, 100) * 1000000000, 1}, pick(0, 700000), 1, 0, 0, 0}});
    }
    config.dimensions.push_back(dimension);
  }
  auto& c = config.collectives;
  c.chunks = static_cast<uint32_t>(pick(1, 4, 16));
  c.active_chunks_per_dimension = static_cast<uint32_t>(pick(1, 1, 2, 3));
  c.queues_per_dimension = static_cast<uint32_t>(pick(1, 1, 2));
  c.order = static_cast<CollectiveOrder>(random() % kCollectiveOrders);
  c.dimension_scheduling = static_cast<DimensionScheduling>(random() % 4);
  c.dispatch_threshold = static_cast<uint32_t>(pick(0, 0, 2, 8));
  config.nmu.endpoint_delay = pick(0, 0, 10000);
  if (random() % 3 == 0) {
    c.reduction = ReductionKind::fixed_bandwidth;
    c.reduction_bandwidth = {1600000000000ull, 1};
  }
  if (random() % 3 == 0) {
    for (auto& algorithms : c.algorithms)
      algorithms.assign(config.dimensions.size(), random() % 2 ? "ring" : "direct");
  }
  return config;
}

std::string not_foldable(const Config& config, CollectiveOp op, uint64_t bytes) {
  collectives::PlanBuilder plans(config);
  return CollectiveJob::not_foldable(plans, op, bytes);
}

std::string time_of(const Config& config, CollectiveOp op, uint64_t bytes, bool folded) {
  const auto result = test::isolated([&] {
    test::SoloCollectiveJob job("job", config, folded);
    job.start(op, bytes);
    test::run_to_the_end(job);
    if (!job.finished()) return job.stall_report();
    const RunResult r = job.result();
    std::string text = std::to_string(r.time) + " ps, " + std::to_string(r.messages) + " messages";
    for (const auto& broken : r.broken_invariants) text += "; " + broken;
    return text;
  });
  return result.status == 0 ? result.text : "failed: " + result.text;
}

TEST(Folding, AgreesWithAllRanksToThePicosecond) {
  std::mt19937 random(20);
  int folded = 0;
  for (int i = 0; i < 120; ++i) {
    const Config config = random_config(random);
    const CollectiveOp ops[] = {CollectiveOp::all_reduce, CollectiveOp::all_gather,
                                CollectiveOp::reduce_scatter, CollectiveOp::all_to_all,
                                CollectiveOp::barrier};
    const CollectiveOp op = ops[random() % 5];
    const uint64_t bytes = config.npus() * 16ull * (1 + random() % 5000);
    if (!not_foldable(config, op, bytes).empty()) continue;
    ++folded;
    EXPECT_EQ(time_of(config, op, bytes, true), time_of(config, op, bytes, false))
        << "case " << i << ": " << to_string(op) << " of " << bytes << " B on " << config.npus() << " NPUs";
  }
  EXPECT_GT(folded, 60);
}

TEST(Folding, IsRefusedWhereRanksDiffer) {
  Config config;
  DimensionConfig dimension;
  dimension.kind = DimensionKind::ring;
  dimension.size = 8;
  dimension.bandwidth = {50000000000ull, 1};
  dimension.fidelity = Fidelity::analytical;
  config.dimensions = {dimension};
  config.collectives.chunks = 4;
  EXPECT_EQ(not_foldable(config, CollectiveOp::all_reduce, 1 << 20), "");
  EXPECT_NE(not_foldable(config, CollectiveOp::all_reduce, (1 << 20) + 4).find("evenly"), std::string::npos);
  EXPECT_NE(not_foldable(config, CollectiveOp::broadcast, 1 << 20).find("root"), std::string::npos);
  config.dimensions[0].kind = DimensionKind::mesh;
  EXPECT_NE(not_foldable(config, CollectiveOp::all_reduce, 1 << 20).find("Mesh"), std::string::npos);
  config.dimensions[0].kind = DimensionKind::ring;
  config.dimensions[0].fidelity = Fidelity::message;
  EXPECT_NE(not_foldable(config, CollectiveOp::all_reduce, 1 << 20).find("analytical"), std::string::npos);
}

}  // namespace
}  // namespace weft
