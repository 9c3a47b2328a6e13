// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Jobs with repeated collectives against runs that simulate each collective. The jobs are drawn: groups along
// one or several Switches and along parts of them, with and without links of their own, ranks that are slow
// at times, messages, collectives of one group that follow each other or run at once.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
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

Config drawn_machine(Random& random) {
  Config config;
  const uint64_t dimensions = 2 + random.below(2);
  for (uint64_t d = 0; d < dimensions; ++d) {
    config.dimensions.push_back(dimension(
        DimensionKind::switch_, static_cast<uint32_t>(random.pick(2, 2, 3, 4, 4, dimensions < 3 ? 8 : 4)),
        random.pick(25, 50, 200), random.pick(1, 1000, 500000, 1234567)));
    DimensionConfig& last = config.dimensions.back();
    last.fidelity = Fidelity::message;
    last.switching = random.below(2) == 0 ? Switching::cut_through : Switching::store_and_forward;
  }
  auto& c = config.collectives;
  for (auto& algorithms : c.algorithms)
    for (uint64_t d = 0; d < dimensions; ++d)
      algorithms.emplace_back(random.below(3) != 0   ? "halving_doubling"
                              : random.below(2) == 0 ? "ring"
                                                     : "direct");
  for (auto& name : c.algorithms[static_cast<size_t>(CollectiveOp::all_to_all)]) name = "direct";
  c.chunks = static_cast<uint32_t>(random.pick(1, 2, 4));
  c.active_chunks_per_dimension = static_cast<uint32_t>(random.pick(1, 1, 2));
  c.queues_per_dimension = static_cast<uint32_t>(random.pick(1, 1, 2));
  c.order = static_cast<CollectiveOrder>(random.below(4));
  c.scheduling = static_cast<CollectiveScheduling>(random.below(3));
  c.dimension_scheduling = static_cast<DimensionScheduling>(random.below(4));
  config.nmu.endpoint_delay = random.pick(0, 0, 10000);
  if (random.below(4) == 0) {
    c.reduction = ReductionKind::fixed_bandwidth;
    c.reduction_bandwidth = {1600000000000ull, 1};
  }
  config.npu.compute_slots = static_cast<uint32_t>(random.pick(1, 2));
  return config;
}

/// Programs in which groups of drawn dimensions, or of every second rank along one, meet now and then.
class Programs {
 public:
  Programs(Random& random, const Config& config, JobFiles& files)
      : random_(random), config_(config), files_(files), ids_(files.ranks(), 0), last_(files.ranks(), 0) {}

  void write() {
    const auto all = (1u << config_.dimensions.size()) - 1;
    own_ = 1u << random_.below(config_.dimensions.size());
    if (config_.dimensions.size() == 3 && random_.below(3) == 0) own_ = all & ~own_;
    masks_ = {own_, own_, all & ~own_};
    if (random_.below(5) == 0) masks_.push_back(static_cast<uint32_t>(1 + random_.below(all)));
    parts_ = random_.below(4) == 0;
    for (int i = 0; i < 2; ++i)
      sizes_.push_back(64ull * 27 * (1 + random_.below(2000)) + random_.pick(0, 0, 0, 5));
    const bool messages = random_.below(2) == 0;
    const uint64_t slow = random_.below(3);  // 0: only in the end
    deps_ = random_.below(3) == 0 ? 2 : 1;
    chain_ = random_.below(4) != 0;
    const uint64_t steps = 8 + random_.below(30);
    slow_ = static_cast<uint32_t>(random_.below(files_.ranks()));
    for (uint64_t i = 0; i < steps; ++i) {
      const uint64_t kind = random_.below(8);
      if (kind == 0 && messages)
        message(random_.below(10) == 0 ? all : all & ~own_);
      else if (kind < 3)
        work(slow == 2 || (slow == 1 && random_.below(4) == 0));
      else
        meet(masks_[random_.below(masks_.size())]);
    }
    // All ranks do together, so that none folds.
    work(true);
    message(all & ~own_);
    meet(all & ~own_);
    meet(own_);
    files_.write();
  }

 private:
  std::vector<uint64_t> after(uint32_t rank, uint64_t draw) const {
    const uint64_t id = ids_[rank];
    if (id == 0) return {};
    if (deps_ == 1) return {id};
    return {1 + draw % id};
  }

  void work(bool slow) {
    const uint64_t micros = 1 + random_.below(60);
    const uint64_t draw = random_.below(1000);
    for (uint32_t r = 0; r < files_.ranks(); ++r) {
      const auto deps = after(r, draw);
      files_.trace(r).push_back(compute(++ids_[r], slow && r == slow_ ? micros + micros / 2 : micros, deps));
    }
  }

  void meet(uint32_t mask) {
    const uint64_t op = random_.below(9) == 0 ? 4 : random_.below(4);
    const uint64_t bytes = sizes_[random_.below(2)];
    const uint64_t draw = random_.below(1000);
    for (uint32_t r = 0; r < files_.ranks(); ++r) {
      auto deps = after(r, draw);
      if (mask == own_ && chain_ && last_[r] != 0) deps.push_back(last_[r]);
      const std::string group = parts_ && mask == own_ ? part(mask, r) : files_.group(mask, r);
      files_.trace(r).push_back(collective(++ids_[r], static_cast<CollectiveOp>(op % 4), bytes, group, deps));
      if (op == 4) barrier(files_.trace(r).back(), ids_[r], group, deps);
      if (mask == own_) last_[r] = ids_[r];
    }
  }
  static void barrier(PbNode& node, uint64_t id, const std::string& group,
                      const std::vector<uint64_t>& after) {
    node = trace::test::collective(id, ChakraProtoMsg::BARRIER, 0, group);
    for (const uint64_t before : after) node.add_data_deps(before);
  }
  /// Every second rank of a line, by the first dimension of the mask.
  std::string part(uint32_t mask, uint32_t rank) {
    uint32_t d = 0;
    uint32_t stride = 1;
    for (; (mask >> d & 1) == 0; ++d) stride *= config_.dimensions[d].size;
    if (config_.dimensions[d].size < 4) return files_.group(mask, rank);
    const uint32_t size = config_.dimensions[d].size;
    const uint32_t at = rank / stride % size;
    std::vector<uint32_t> ranks;
    for (uint32_t i = at % 2; i < size; i += 2) ranks.push_back(rank + i * stride - at * stride);
    const std::string name = fmt::format("part{}_{}", d, ranks.front());
    std::reverse(ranks.begin(), ranks.end());  // listed in another order than that of their places
    files_.define(name, ranks);
    return name;
  }

  /// Along one of the dimensions.
  void message(uint32_t mask) {
    auto d = static_cast<uint32_t>(random_.below(config_.dimensions.size()));
    while ((mask >> d & 1) == 0) d = (d + 1) % config_.dimensions.size();
    uint32_t stride = 1;
    for (uint32_t i = 0; i < d; ++i) stride *= config_.dimensions[i].size;
    const auto from = static_cast<uint32_t>(random_.below(files_.ranks()));
    const uint32_t at = from / stride % config_.dimensions[d].size;
    const uint32_t to = from - at * stride + (at + 1) % config_.dimensions[d].size * stride;
    const uint64_t bytes = 4096 * (1 + random_.below(500));
    PbNode out = trace::test::send(++ids_[from], to, bytes, 7);
    if (ids_[from] > 1) out.add_data_deps(ids_[from] - 1);
    files_.trace(from).push_back(out);
    PbNode in = trace::test::receive(++ids_[to], from, bytes, 7);
    if (ids_[to] > 1) in.add_data_deps(ids_[to] - 1);
    files_.trace(to).push_back(in);
  }

  Random& random_;
  const Config& config_;
  JobFiles& files_;
  std::vector<uint32_t> masks_;
  std::vector<uint64_t> sizes_;
  uint32_t own_ = 0;  ///< dimensions that few groups use
  bool parts_ = false;
  uint64_t deps_ = 1;
  bool chain_ = false;  ///< collectives of `own_` wait for each other
  uint32_t slow_ = 0;
  std::vector<uint64_t> ids_;
  std::vector<uint64_t> last_;  ///< by rank: its last collective of `own_`
};

unsigned repeated(const Outcome& outcome) {
  const size_t end = outcome.folding.find(" repeated");
  if (end == std::string::npos) return 0;
  return static_cast<unsigned>(std::stoul(outcome.folding.substr(outcome.folding.rfind(' ', end - 1) + 1)));
}

TEST(RepeatedCollectives, AreToldToThePicosecond) {
  const char* asked = std::getenv("WEFT_REPEATED_JOBS");
  const char* from = std::getenv("WEFT_REPEATED_FIRST");
  const int jobs = asked != nullptr ? std::atoi(asked) : 300;
  const int first = from != nullptr ? std::atoi(from) : 0;
  int some = 0;
  unsigned all = 0;
  for (int seed = first; seed < first + jobs; ++seed) {
    Random random(static_cast<uint32_t>(seed));
    const Config config = drawn_machine(random);
    JobFiles files(config);
    Programs(random, config, files).write();
    const Outcome told = test::run(config, files, true);
    const unsigned count = repeated(told);
    some += count != 0 ? 1 : 0;
    all += count;
    if (count == 0) continue;
    const Outcome simulated = test::run(config, files, false);
    EXPECT_EQ(told.told, simulated.told)
        << "seed " << seed << ", " << config.npus() << " ranks, " << told.folding;
    if (testing::Test::HasFailure()) break;
  }
  std::printf("%d of %d jobs have repeated collectives, %u in all\n", some, jobs, all);
  EXPECT_GT(some, jobs / 7);
  EXPECT_GT(all, 2u * static_cast<unsigned>(jobs));
}

/// Four groups of four, each along a Switch. One group is late. All meet in the end. `program(rank)` writes
/// nodes from number 2 on, and gives the number of the last one.
class FourGroups {
 public:
  FourGroups() {
    for (int d = 0; d < 2; ++d) config_.dimensions.push_back(dimension(DimensionKind::switch_, 4));
    for (DimensionConfig& d : config_.dimensions) d.fidelity = Fidelity::message;
  }
  template <typename F>
  Outcome run(bool fold, F&& program) const {
    JobFiles files(config_);
    for (uint32_t r = 0; r < 16; ++r) {
      files.trace(r).push_back(compute(1, r / 4 == 3 ? 15 : 10));
      const uint64_t last = program(files, r);
      files.trace(r).push_back(
          collective(last + 1, CollectiveOp::all_reduce, 1 << 20, files.group(2, r), {last}));
      // So that none folds.
      if (r == 0) files.trace(r).push_back(trace::test::send(last + 2, 12, 1 << 20, 9));
      if (r == 12) files.trace(r).push_back(trace::test::receive(last + 2, 0, 1 << 20, 9));
    }
    files.write();
    return test::run(config_, files, fold);
  }
  /// So many collectives repeat.
  template <typename F>
  void expect(unsigned told, F&& program) const {
    const Outcome some = run(true, program);
    EXPECT_EQ(some.told, run(false, program).told);
    EXPECT_EQ(repeated(some), told) << some.folding;
  }

  Config config_;
};

/// Ten of one size after each other, each after the node `before` back.
uint64_t ten(JobFiles& files, uint32_t r, uint64_t before = 1) {
  for (uint64_t i = 2; i < 12; ++i)
    files.trace(r).push_back(
        collective(i, CollectiveOp::all_reduce, 1 << 20, files.group(1, r), {i > before ? i - before : 1}));
  return 11;
}

TEST(RepeatedCollectives, AllButTheFirstOfAKind) {
  // When the groups start the first one, none is over.
  FourGroups().expect(4 * 9, [](JobFiles& files, uint32_t r) { return ten(files, r); });
}

TEST(RepeatedCollectives, NotWhereTwoOfAGroupRunAtOnce) {
  FourGroups().expect(0, [](JobFiles& files, uint32_t r) { return ten(files, r, 2); });
}

TEST(RepeatedCollectives, NotWhereMembersEndAtDifferentTimes) {
  FourGroups groups;
  groups.config_.dimensions[0].size = 3;  // halving_doubling: the third one sends first, and waits
  groups.config_.dimensions[1].size = 5;
  JobFiles files(groups.config_);
  for (uint32_t r = 0; r < 15; ++r) {
    auto& nodes = files.trace(r);
    nodes.push_back(compute(1, r / 3 == 3 ? 15 : 10));
    uint64_t id = 1;
    // Compute beside the collectives, and longer: all members start the next one together.
    for (uint64_t work = 1, last = 1; id < 21; last = id) {
      nodes.push_back(compute(id + 1, 1000, {work}));
      work = id + 1;
      nodes.push_back(collective(id + 2, CollectiveOp::all_reduce, 1 << 20, files.group(1, r), {work, last}));
      id += 2;
    }
    nodes.push_back(collective(id + 1, CollectiveOp::all_reduce, 1 << 20, files.group(2, r), {id}));
    if (r == 0) nodes.push_back(trace::test::send(id + 2, 12, 1 << 20, 9));
    if (r == 12) nodes.push_back(trace::test::receive(id + 2, 0, 1 << 20, 9));
  }
  files.write();
  const Outcome some = test::run(groups.config_, files, true);
  EXPECT_EQ(some.told, test::run(groups.config_, files, false).told);
  EXPECT_EQ(repeated(some), 0u) << some.folding;
}

/// A message to a member of the second group, from the first member.
TEST(RepeatedCollectives, NotWhereMessagesUseTheLinks) {
  FourGroups().expect(3 * 9, [](JobFiles& files, uint32_t r) {
    const uint64_t last = ten(files, r);
    if (r != 4 && r != 6) return last;
    PbNode node =
        r == 4 ? trace::test::send(last + 1, 6, 1 << 20, 1) : trace::test::receive(last + 1, 4, 1 << 20, 1);
    node.add_data_deps(last);  // later: the members' starts stay together
    files.trace(r).push_back(node);
    return last + 1;
  });
}

/// .. and where another group shares them, at whatever time.
TEST(RepeatedCollectives, NotWhereAnotherGroupUsesTheLinks) {
  FourGroups().expect(3 * 9, [](JobFiles& files, uint32_t r) {
    const uint64_t last = ten(files, r);
    if (r != 4 && r != 5) return last;
    files.define("two", {4, 5});
    files.trace(r).push_back(collective(last + 1, CollectiveOp::all_gather, 1 << 20, "two", {last}));
    return last + 1;
  });
}

}  // namespace
}  // namespace weft
