// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// No rank ordering can deadlock: 200 random machines of several dimensions with equal bandwidths, each under
// every scheduler, with several collectives at once and ranks that come to them at different times. All
// finish.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "sc_models/machine.h"
#include "tests/support/isolated.h"

namespace weft {
namespace {

/// One machine under one scheduler, with its collectives.
struct Running final : NmuClient {
  Config config;
  collectives::Group world;
  collectives::Group half;
  std::unique_ptr<Machine> system;
  std::unique_ptr<collectives::PlanBuilder> plans;
  std::vector<std::shared_ptr<const collectives::CollectivePlan>> jobs;
  uint64_t expected = 0;
  uint64_t done = 0;

  void collective_done(NpuId, const collectives::CollectiveDone&) override { ++done; }
  void message_injected(NpuId, NpuId, const MessageId&) override {}
  void message_arrived(NpuId, const Completion&) override {}

  void make(const std::string& name) {
    system = std::make_unique<Machine>(name.c_str(), config, *this, Machine::Options{});
    plans = std::make_unique<collectives::PlanBuilder>(config);
  }
  void add(CollectiveOp op, uint64_t bytes, const collectives::Group& group) {
    collectives::CollectiveRequest request;
    request.op = op;
    request.bytes = bytes;
    request.group = &group;
    jobs.push_back(plans->plan(request));
    expected += jobs.back()->members();
  }
  void start(uint32_t rank) {
    for (uint32_t j = 0; j < jobs.size(); ++j) {
      if (jobs[j]->member_index(rank) == ~0u) continue;
      system->nmu(rank).start_collective(j + 1, jobs[j], static_cast<int32_t>(j * 7 % 3));
    }
  }
  std::string name() const {
    const CollectivesConfig& c = config.collectives;
    std::string text;
    for (const DimensionConfig& d : config.dimensions)
      text += fmt::format("{}({})_", to_string(d.kind), d.size);
    return fmt::format(
        "{} order {} scheduling {} dimension_scheduling {} T {} P {} chunks {} active {} queues {}", text,
        to_string(c.order), to_string(c.scheduling), to_string(c.dimension_scheduling), c.dispatch_threshold,
        c.dispatch_batch, c.chunks, c.active_chunks_per_dimension, c.queues_per_dimension);
  }
};

constexpr int kSchedulings = 3;
constexpr int kDimensionSchedulings = 4;

/// Every scheduler on one random machine, in one simulation; a line for each that does not finish.
std::string every_scheduler(uint32_t seed, uint32_t& schedulers) {
  std::mt19937 random(seed);
  const auto pick = [&](uint32_t n) { return static_cast<uint32_t>(random() % n); };
  static const DimensionKind kKinds[] = {DimensionKind::ring, DimensionKind::fully_connected,
                                         DimensionKind::switch_, DimensionKind::mesh};
  Config base;
  const Rate rate{1'000'000'000ull * (1 + pick(400)), 1};
  const Picoseconds latency = pick(3) == 0 ? 0 : pick(1'000'000);
  const auto fidelity = static_cast<Fidelity>(pick(2));
  const uint32_t count = 2 + pick(2);
  for (uint32_t d = 0; d < count; ++d) {
    DimensionConfig dimension;
    dimension.kind = kKinds[pick(4)];
    dimension.size = 2 + (count == 2 ? pick(3) : pick(3) / 2);
    // Equal per NPU, so that phases of different dimensions end at the same instants.
    dimension.bandwidth = rate;
    if (dimension.kind == DimensionKind::fully_connected) dimension.bandwidth.divisor = dimension.size - 1;
    dimension.latency = latency;
    dimension.fidelity = fidelity;
    base.dimensions.push_back(dimension);
  }
  base.collectives.chunks = 2 + pick(3);
  base.collectives.active_chunks_per_dimension = 1 + pick(2);
  base.collectives.queues_per_dimension = 1 + pick(2);
  const uint32_t threshold = 1 + pick(3);
  const uint32_t batch = 1 + pick(3);
  const uint32_t npus = base.npus();
  // Two of all ranks, one of them an all-reduce, and an all-reduce of every second rank.
  static const CollectiveOp kOps[] = {CollectiveOp::all_reduce, CollectiveOp::reduce_scatter,
                                      CollectiveOp::all_gather, CollectiveOp::all_to_all};
  const CollectiveOp ops[] = {CollectiveOp::all_reduce, kOps[pick(4)]};
  const uint64_t bytes = static_cast<uint64_t>(npus) * 64 * (1 + pick(20)) + pick(2);
  std::vector<uint32_t> late;
  for (uint32_t r = 0; r < npus; ++r) {
    if (pick(4) == 0) late.push_back(r);
  }
  std::vector<std::unique_ptr<Running>> all;
  for (int order = 0; order < kCollectiveOrders; ++order) {
    for (int scheduling = 0; scheduling < kSchedulings; ++scheduling) {
      for (int within = 0; within < kDimensionSchedulings; ++within) {
        for (const bool dispatcher : {false, true}) {
          auto running = std::make_unique<Running>();
          running->config = base;
          CollectivesConfig& c = running->config.collectives;
          c.order = static_cast<CollectiveOrder>(order);
          c.scheduling = static_cast<CollectiveScheduling>(scheduling);
          c.dimension_scheduling = static_cast<DimensionScheduling>(within);
          c.dispatch_threshold = dispatcher ? threshold : 0;
          c.dispatch_batch = batch;
          running->make(fmt::format("s{}", all.size()));
          running->half.id = 1;
          running->half.name = "half";
          for (uint32_t r = 0; r < npus; r += 2) running->half.ranks.push_back(r);
          for (const CollectiveOp op : ops) running->add(op, bytes, running->world);
          running->add(CollectiveOp::all_reduce, bytes / 2, running->half);
          all.push_back(std::move(running));
        }
      }
    }
  }
  schedulers = static_cast<uint32_t>(all.size());
  const auto is_late = [&](uint32_t r) { return std::find(late.begin(), late.end(), r) != late.end(); };
  for (const auto& running : all) {
    for (uint32_t r = 0; r < npus; ++r) {
      if (!is_late(r)) running->start(r);
    }
  }
  sc_core::sc_start(sc_core::sc_time::from_value(1 + pick(4'000'000)));
  for (const auto& running : all) {
    for (const uint32_t r : late) running->start(r);
  }
  bool again = true;
  while (again) {
    sc_core::sc_start();
    again = false;
    for (const auto& running : all) {
      if (running->done != running->expected) again = running->system->rescue() || again;
    }
  }
  std::string text;
  for (const auto& running : all) {
    if (running->done != running->expected)
      text += fmt::format("{} of {}: {}\n", running->done, running->expected, running->name());
    for (const std::string& broken : running->system->check_conservation())
      text += fmt::format("{}: {}\n", broken, running->name());
  }
  return text;
}

TEST(Schedulers, NoneDeadlocksOnTwoHundredMachinesOfEqualBandwidths) {
  constexpr uint32_t kMachines = 200;
  uint64_t runs = 0;
  for (uint32_t seed = 1; seed <= kMachines; ++seed) {
    const auto result = test::isolated([seed] {
      uint32_t schedulers = 0;
      const std::string text = every_scheduler(seed, schedulers);
      return text.empty() ? fmt::format("finished {}", schedulers) : text;
    });
    ASSERT_EQ(result.status, 0) << "seed " << seed << "\n" << result.text;
    ASSERT_EQ(result.text.rfind("finished ", 0), 0u) << "seed " << seed << "\n" << result.text;
    runs += std::stoull(result.text.substr(9));
  }
  EXPECT_EQ(runs, uint64_t{kMachines} * kCollectiveOrders * kSchedulings * kDimensionSchedulings * 2);
}

}  // namespace
}  // namespace weft
