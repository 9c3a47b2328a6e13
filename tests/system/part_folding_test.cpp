// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Folding of jobs whose groups are parts of FullyConnected and Ring dimensions: what is told of ranks that
// are not simulated is what they do when all are.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "tests/system/folding_jobs.h"

namespace weft {
namespace {

using test::collective;
using test::compute;
using test::dimension;
using test::JobFiles;
using test::Outcome;
using test::PbNode;
using test::Random;
using test::run;

/// A way to cut every dimension into parts of equal size; the part that a coordinate is in.
using Cut = std::vector<std::vector<uint32_t>>;

/// Into `parts` parts: blocks, every so-and-so-many-th, or any.
std::vector<uint32_t> cut_line(Random& random, uint32_t size, uint32_t parts) {
  std::vector<uint32_t> part(size);
  const uint64_t how = random.below(3);
  for (uint32_t c = 0; c < size; ++c) part[c] = how == 0 ? c / (size / parts) : c % parts;
  if (how == 2)
    for (uint32_t c = size; c-- > 1;) std::swap(part[c], part[random.below(c + 1)]);
  return part;
}

Config draw_machine(Random& random, DimensionKind kind) {
  Config config;
  config.dimensions.push_back(dimension(kind, static_cast<uint32_t>(random.pick(4, 6, 8, 8, 9)),
                                        random.pick(25, 50, 200), random.pick(0, 500000, 1234567)));
  if (random.below(3) != 0)
    config.dimensions.push_back(dimension(static_cast<DimensionKind>(random.pick(0, 1, 2)),
                                          static_cast<uint32_t>(random.pick(2, 3, 4)), random.pick(25, 100),
                                          random.pick(0, 700000)));
  if (random.below(2) != 0) std::swap(config.dimensions.front(), config.dimensions.back());
  auto& c = config.collectives;
  c.chunks = static_cast<uint32_t>(random.pick(1, 1, 3));
  c.active_chunks_per_dimension = static_cast<uint32_t>(random.pick(1, 1, 2));
  c.queues_per_dimension = static_cast<uint32_t>(random.pick(1, 1, 2));
  c.order = static_cast<CollectiveOrder>(random.below(3));
  c.scheduling = static_cast<CollectiveScheduling>(random.below(3));
  c.direct_window = static_cast<uint32_t>(random.pick(0, 0, 1));
  config.nmu.endpoint_delay = random.pick(0, 0, 10000);
  if (random.below(4) == 0) {
    c.reduction = ReductionKind::fixed_bandwidth;
    c.reduction_bandwidth = {1600000000000ull, 1};
  }
  if (random.below(3) != 0) {
    const char* names[] = {"ring", "direct", "halving_doubling"};
    for (auto& algorithms : c.algorithms)
      for (size_t d = 0; d < config.dimensions.size(); ++d) algorithms.emplace_back(names[random.below(3)]);
  }
  config.hbm.bandwidth = {2000000000000ull, 1};
  config.hbm.latency = 100000;
  return config;
}

/// The part of each dimension that the rank is in, as a group's name; it becomes a member.
std::string part_of(JobFiles& files, std::map<std::string, std::vector<uint32_t>>& groups,
                    const Config& config, const Cut& cut, size_t number, uint32_t rank) {
  std::string name = fmt::format("c{}", number);
  uint32_t stride = 1;
  for (size_t d = 0; d < config.dimensions.size(); ++d) {
    name += fmt::format("_{}", cut[d][rank / stride % config.dimensions[d].size]);
    stride *= config.dimensions[d].size;
  }
  auto& members = groups[name];
  if (std::find(members.begin(), members.end(), rank) == members.end()) members.push_back(rank);
  files.define(name, members);
  return name;
}

void draw_job(Random& random, const Config& config, JobFiles& files) {
  std::vector<Cut> cuts(1 + random.below(2));
  for (Cut& cut : cuts) {
    for (const DimensionConfig& d : config.dimensions) {
      std::vector<uint32_t> divisors;
      for (uint32_t n = 1; n <= d.size; ++n)
        if (d.size % n == 0) divisors.push_back(n);
      cut.push_back(cut_line(random, d.size, divisors[random.below(divisors.size())]));
    }
  }
  std::map<std::string, std::vector<uint32_t>> groups;
  const uint64_t nodes = 3 + random.below(6);
  for (uint64_t id = 1; id <= nodes; ++id) {
    std::vector<uint64_t> after;
    while (id > 1 && random.below(3) != 0 && after.size() < 2) after.push_back(1 + random.below(id - 1));
    const bool computes = random.below(3) == 0;
    const auto op = static_cast<CollectiveOp>(random.below(4));
    const uint64_t bytes = 64ull * 27 * 5 * (1 + random.below(200));
    const uint64_t micros = random.below(60);
    const size_t which = random.below(cuts.size());
    const bool world = random.below(6) == 0;
    for (uint32_t r = 0; r < files.ranks(); ++r) {
      if (computes)
        files.trace(r).push_back(compute(id, micros, after));
      else
        files.trace(r).push_back(collective(
            id, op, bytes, world ? "" : part_of(files, groups, config, cuts[which], which, r), after));
    }
  }
  files.write();
}

void compare(DimensionKind kind, uint32_t seeds, int least) {
  int folded = 0;
  std::map<std::string, int> reasons;
  for (uint32_t seed = 0; seed < seeds; ++seed) {
    Random random(seed + 1000 * static_cast<uint32_t>(kind));
    const Config config = draw_machine(random, kind);
    JobFiles files(config);
    draw_job(random, config, files);
    const Outcome fold = run(config, files, true);
    if (fold.folding.empty()) {  // halving_doubling of three, say
      ++reasons["the job is refused"];
      continue;
    }
    const auto simulated = static_cast<uint32_t>(std::stoul(fold.folding));
    if (simulated == config.npus()) {
      ++reasons[fold.folding.substr(std::min(fold.folding.size(), fold.folding.find(';')))];
      continue;
    }
    ++folded;
    EXPECT_EQ(fold.told, run(config, files, false).told)
        << "seed " << seed << ", " << config.npus() << " ranks, " << fold.folding;
    if (::testing::Test::HasFailure()) break;
  }
  for (const auto& [why, times] : reasons) fmt::print("{} times {}\n", times, why);
  fmt::print("{} of {} fold\n", folded, seeds);
  EXPECT_GE(folded, least);
}

TEST(PartFolding, PartsOfFullyConnectedDimensions) {
  compare(DimensionKind::fully_connected, 400, 150);
}

TEST(PartFolding, PartsOfRings) {
  compare(DimensionKind::ring, 400, 80);
}

/// Tensor-parallel blocks of eight in a FullyConnected of 64: they fold to one rank, without data-parallel
/// groups that share no links with them, and with them.
TEST(PartFolding, BlocksAndWhatLiesAcrossThemFoldTogether) {
  Config config;
  config.dimensions.push_back(dimension(DimensionKind::fully_connected, 64));
  JobFiles files(config);
  for (uint32_t b = 0; b < 8; ++b) {
    std::vector<uint32_t> block(8), across(8);
    for (uint32_t i = 0; i < 8; ++i) {
      block[i] = 8 * b + i;
      across[i] = b + 8 * i;
    }
    files.define(fmt::format("tp{}", b), block);
    files.define(fmt::format("dp{}", b), across);
  }
  for (uint32_t r = 0; r < 64; ++r) {
    files.trace(r).push_back(
        collective(1, CollectiveOp::all_reduce, 1 << 20, fmt::format("tp{}", r / 8), {}));
    files.trace(r).push_back(compute(2, 20, {1}));
    files.trace(r).push_back(
        collective(3, CollectiveOp::all_reduce, 1 << 22, fmt::format("dp{}", r % 8), {1}));
  }
  files.write();
  const Outcome fold = run(config, files, true);
  EXPECT_EQ(fold.folding.rfind("1 simulated", 0), 0u) << fold.folding;
  EXPECT_EQ(fold.told, run(config, files, false).told);
}

/// What is not alike says so.
TEST(PartFolding, GroupsThatShareLinksAreSimulated) {
  Config config;
  config.dimensions.push_back(dimension(DimensionKind::fully_connected, 8));
  JobFiles files(config);
  files.define("low", {0, 1, 2, 3});
  files.define("high", {4, 5, 6, 7});
  for (uint32_t r = 0; r < 8; ++r) {
    files.trace(r).push_back(collective(1, CollectiveOp::all_reduce, 1 << 20, r < 4 ? "low" : "high", {}));
    files.trace(r).push_back(collective(2, CollectiveOp::all_gather, 1 << 20, "", {}));
  }
  files.write();
  const Outcome fold = run(config, files, true);
  EXPECT_NE(fold.folding.find("groups of different members share links of dimension 0"), std::string::npos)
      << fold.folding;
  EXPECT_EQ(fold.told, run(config, files, false).told);
}

}  // namespace
}  // namespace weft
