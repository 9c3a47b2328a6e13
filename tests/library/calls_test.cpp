// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Calls of a run: who takes part, what the library is asked, and how calls of a communicator follow each
// other.

#include "workload/library/call_turns.h"
#include "workload/library/library_calls.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "configs/loader.h"

namespace weft::test {
namespace {

using library::CallTurns;
using library::LibraryCalls;
using library::LibraryPlan;

constexpr uint64_t kMiB = 1 << 20;

Config config_of(const std::string& notation, const std::string& keys) {
  return parse_config("weft: 1\ntopology: {notation: " + notation +
                          ", dimensions: [{bandwidth: 50 GB/s, latency: 1 us, fidelity: "
                          "analytical}]}\ncollectives: {library: nccl, "
                          "gpu: H100, nic_bandwidth: 50 GB/s, parameters: {launch: 5 us}" +
                          keys + "}\n",
                      "machine.yaml");
}

struct Planned {
  explicit Planned(const Config& config) : builder(config) {}
  std::shared_ptr<const collectives::CollectivePlan> of(const collectives::Group& group, CollectiveOp op,
                                                        uint64_t bytes, uint32_t dimensions = ~0u) {
    collectives::CollectiveRequest request;
    request.op = op;
    request.bytes = bytes;
    request.group = &group;
    request.involved_dimensions = dimensions;
    return builder.plan(request);
  }
  collectives::PlanBuilder builder;
};

TEST(LibraryCalls, MembersOfLinesGroupsAndTheWorld) {
  const Config config = config_of("Switch(4)_Switch(3)", "");
  Planned plans(config);
  const collectives::Group world;
  const collectives::Group odd{1, "odd", {1, 2, 7, 11}};
  const auto all = plans.of(world, CollectiveOp::all_reduce, kMiB);
  std::vector<uint32_t> everybody(12);
  std::iota(everybody.begin(), everybody.end(), 0u);
  EXPECT_EQ(library::members_with(*all, 5), everybody);
  EXPECT_EQ(library::line_of(*all, 5), 0u);
  const auto nodes = plans.of(world, CollectiveOp::all_reduce, kMiB, 1);
  EXPECT_EQ(library::members_with(*nodes, 5), (std::vector<uint32_t>{4, 5, 6, 7}));
  EXPECT_EQ(library::line_of(*nodes, 5), 4u);
  const auto rails = plans.of(world, CollectiveOp::all_reduce, kMiB, 2);
  EXPECT_EQ(library::members_with(*rails, 5), (std::vector<uint32_t>{1, 5, 9}));
  EXPECT_EQ(library::line_of(*rails, 9), 1u);
  const auto flat = plans.of(odd, CollectiveOp::all_reduce, kMiB);
  for (const uint32_t rank : odd.ranks) {
    EXPECT_EQ(library::members_with(*flat, rank), odd.ranks);
    EXPECT_EQ(library::line_of(*flat, rank), library::line_of(*flat, 1));
  }
}

TEST(LibraryCalls, TheLibraryIsAskedForTheMembersNodes) {
  const Config config = config_of("Switch(8)_Switch(2)", "");
  Planned plans(config);
  LibraryCalls calls(config);
  const collectives::Group world;
  const LibraryPlan all = calls.plan(*plans.of(world, CollectiveOp::all_gather, kMiB), 0);
  EXPECT_EQ(all.nodes, 2u);
  EXPECT_EQ(all.ranks, 16u);
  EXPECT_EQ(all.bytes, 16 * kMiB);
  const LibraryPlan node = calls.plan(*plans.of(world, CollectiveOp::all_reduce, kMiB, 1), 9);
  EXPECT_EQ(node.nodes, 1u);
  EXPECT_EQ(node.ranks, 8u);
  const LibraryPlan rail = calls.plan(*plans.of(world, CollectiveOp::all_reduce, kMiB, 2), 9);
  EXPECT_EQ(rail.nodes, 2u);
  EXPECT_EQ(rail.ranks, 2u);
  const collectives::Group pair{1, "pair", {0, 8}};
  EXPECT_EQ(calls.plan(*plans.of(pair, CollectiveOp::all_reduce, kMiB), 0).nodes, 2u);
}

// Three ranks of each node; the network's switches join GPUs at one place of all nodes.
TEST(LibraryCalls, TheLibraryIsToldOfTheMembersPlaces) {
  const auto algorithm = [](const std::vector<uint32_t>& ranks, const std::string& mapping) {
    Config config = config_of("Switch(4)_Switch(4)", ", collnet: true");
    if (!mapping.empty())
      config =
          parse_config("weft: 1\ntopology: {notation: Switch(4)_Switch(4), mapping: " + mapping +
                           ", dimensions: [{bandwidth: 50 GB/s, latency: 1 us, fidelity: analytical}]}\n"
                           "collectives: {library: nccl, gpu: H100, nic_bandwidth: 50 GB/s, collnet: true}\n",
                       "mapped.yaml");
    Planned plans(config);
    LibraryCalls calls(config);
    const collectives::Group group{1, "group", ranks};
    return calls.plan(*plans.of(group, CollectiveOp::all_reduce, 1024 * kMiB), ranks[0]).algorithm;
  };
  using library::LibraryAlgorithm;
  const std::vector<uint32_t> same = {0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 13, 14};
  const std::vector<uint32_t> others = {0, 1, 2, 5, 6, 7, 8, 9, 10, 13, 14, 15};
  EXPECT_EQ(algorithm(same, ""), LibraryAlgorithm::nvls);
  EXPECT_NE(algorithm(others, ""), LibraryAlgorithm::nvls);
  // With a mapping it is the places of NPUs that count.
  const std::string turned = "[0, 1, 2, 3, 7, 4, 5, 6, 8, 9, 10, 11, 15, 12, 13, 14]";
  EXPECT_EQ(algorithm(others, turned), LibraryAlgorithm::nvls);
  EXPECT_NE(algorithm(same, turned), LibraryAlgorithm::nvls);
}

TEST(LibraryCalls, CallsFollowEachOtherAndGroupsPayOnce) {
  const Config config = config_of("Switch(8)", "");
  Planned plans(config);
  LibraryCalls calls(config);
  const collectives::Group world;
  const collectives::Group half{1, "half", {0, 1, 2, 3}};
  const auto plan = plans.of(world, CollectiveOp::all_reduce, kMiB);
  const LibraryPlan work = calls.plan(*plan, 0);
  const Picoseconds launch = 5000000;
  const Picoseconds alone = work.time(calls.parameters());
  const Picoseconds first = calls.end_of(*plan, 0, work, 1000);
  EXPECT_EQ(first, 1000 + alone);
  // Joined at the same instant: no second launch, but one after the other.
  const Picoseconds second = calls.end_of(*plan, 0, work, 1000);
  EXPECT_NEAR(static_cast<double>(second), static_cast<double>(first + alone - launch), 2);
  // Joined while the others run: begins after them, with its own launch.
  const Picoseconds third = calls.end_of(*plan, 0, work, 2000);
  EXPECT_EQ(third, second + alone);
  // Another communicator does not wait.
  const auto other = plans.of(half, CollectiveOp::all_reduce, kMiB);
  const LibraryPlan less = calls.plan(*other, 0);
  EXPECT_EQ(calls.end_of(*other, 0, less, 2000), 2000 + less.time(calls.parameters()));
  // Nothing to send takes no time.
  const auto nothing = plans.of(world, CollectiveOp::all_reduce, 0);
  EXPECT_EQ(calls.end_of(*nothing, 0, calls.plan(*nothing, 0), 2000), 2000u);
}

/// Members join calls in orders of their own, each at a time of its own; a part is over when all members have
/// begun it. Every call ends, and those that are complete begin in one order everywhere.
TEST(CallTurns, CallsThatAreJoinedInDifferentOrdersEnd) {
  std::mt19937 random(5);
  for (int round = 0; round < 2000; ++round) {
    const uint32_t members = 2 + random() % 4;
    const uint32_t calls = 1 + random() % 6;
    std::vector<CallTurns> turns(members);
    std::vector<std::vector<uint32_t>> to_join(members);
    for (auto& order : to_join) {
      for (uint32_t c = 0; c < calls; ++c) order.push_back(c);
      if (random() % 4 != 0) std::shuffle(order.begin(), order.end(), random);
    }
    std::vector<uint32_t> joined(calls, 0);
    std::vector<std::vector<bool>> begun(calls, std::vector<bool>(members, false));
    std::vector<uint32_t> over;
    uint64_t places = 0;
    const auto begin = [&](uint32_t m) {
      if (const auto call = turns[m].begin()) begun[*call][m] = true;
    };
    for (uint32_t steps = 0; over.size() < calls; ++steps) {
      ASSERT_LT(steps, 10000u) << "round " << round << ": " << over.size() << " of " << calls
                               << " calls ended";
      const uint32_t m = random() % members;
      if (!to_join[m].empty() && random() % 2 == 0) {
        const uint32_t call = to_join[m].back();
        to_join[m].pop_back();
        turns[m].join(call);
        begin(m);
        if (++joined[call] == members) {
          ++places;
          for (uint32_t each = 0; each < members; ++each) {
            turns[each].complete(call, places);
            begin(each);
          }
        }
      }
      for (uint32_t call = 0; call < calls; ++call) {
        const bool all = std::find(begun[call].begin(), begun[call].end(), false) == begun[call].end();
        if (!all || std::find(over.begin(), over.end(), call) != over.end()) continue;
        over.push_back(call);
        for (uint32_t each = 0; each < members; ++each) {
          turns[each].end(call);
          begin(each);
        }
      }
    }
  }
}

/// In one order, each begins when the one before is over, also if not all members have joined it.
TEST(CallTurns, FollowEachOtherAsKernelsOfAStream) {
  CallTurns turns;
  turns.join(1);
  EXPECT_EQ(turns.begin(), 1u);
  turns.join(2);
  EXPECT_EQ(turns.begin(), std::nullopt);
  turns.complete(1, 1);
  EXPECT_EQ(turns.begin(), std::nullopt);
  turns.complete(2, 2);
  EXPECT_EQ(turns.begin(), std::nullopt);
  turns.join(3);
  turns.end(1);
  EXPECT_EQ(turns.begin(), 2u);
  turns.end(2);
  EXPECT_EQ(turns.begin(), 3u);
  // All have joined 4, not 3: it does not wait.
  turns.join(4);
  turns.complete(4, 3);
  EXPECT_EQ(turns.begin(), 4u);
  turns.complete(3, 4);
  EXPECT_EQ(turns.begin(), std::nullopt);
}

}  // namespace
}  // namespace weft::test
