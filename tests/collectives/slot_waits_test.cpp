// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Who may start beyond the slots, and when (docs/collective_waits.md): real engines on a fake network. No
// test here lets the simulation come to rest first: Network::rescues stays 0.

#include "workload/collectives/slot_waits.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "tests/collectives/engine_network.h"

namespace weft::collectives {
namespace {

using test::machine;
using test::Network;

constexpr Picoseconds kLatency = 1000;  // of machine()'s links
constexpr Picoseconds kMessage = 300;   // of the fake network: not a link's latency, so that the two differ

/// Collectives by number, started at ranks in any order.
class Jobs {
 public:
  explicit Jobs(const Config& config, Network::Latency latency = {})
      : config_(config),
        plans_(config_),
        network_(
            config_, latency ? std::move(latency) : [](uint32_t, uint32_t, uint64_t) { return kMessage; }) {}

  void add(uint32_t stream, CollectiveOp op, std::vector<uint32_t> ranks = {}, uint32_t root = 0,
           uint64_t bytes = 1024) {
    groups_.push_back(std::make_unique<Group>());
    Group& group = *groups_.back();
    group.id = stream;
    group.name = "g" + std::to_string(stream);
    group.ranks = std::move(ranks);
    CollectiveRequest request;
    request.op = op;
    request.bytes = op == CollectiveOp::barrier ? 0 : bytes;
    request.group = &group;
    request.root = root;
    collectives_[stream] = plans_.plan(request);
  }
  /// Rank starts these collectives at `at`, in this order.
  void start(uint32_t rank, const std::vector<uint32_t>& streams, Picoseconds at = 0) {
    for (const uint32_t s : streams) network_.start_at(at, rank, s, collectives_.at(s), priority_[s]);
  }
  void prioritise(uint32_t stream, int32_t priority) { priority_[stream] = priority; }

  /// Runs to the end; what went wrong.
  void run() {
    EXPECT_TRUE(network_.run()) << "deadlock";
    EXPECT_EQ(network_.rescues, 0u);
  }
  /// When the rank sent its first message of the collective (and chunk); kNever: none.
  Picoseconds first_message(uint32_t rank, uint32_t stream, int chunk = -1) const {
    for (const auto& m : network_.sent) {
      if (m.from == rank && m.id.stream == stream && (chunk < 0 || m.id.chunk == chunk)) return m.at;
    }
    return kNever;
  }
  Picoseconds finished(uint32_t rank, uint32_t stream) const {
    for (const auto& part : network_.parts()) {
      if (part.rank == rank && part.done.stream == stream) return part.done.finished;
    }
    return kNever;
  }
  uint64_t beyond() const { return std::stoull(network_.out_of_order()); }
  Network& network() { return network_; }
  const std::shared_ptr<const CollectivePlan>& plan(uint32_t stream) { return collectives_.at(stream); }

 private:
  const Config config_;
  PlanBuilder plans_;
  std::vector<std::unique_ptr<Group>> groups_;
  std::map<uint32_t, std::shared_ptr<const CollectivePlan>> collectives_;
  std::map<uint32_t, int32_t> priority_;
  Network network_;
};

Config one_slot(const std::vector<uint32_t>& sizes, uint32_t chunks = 1) {
  Config config = machine(sizes);
  config.collectives.chunks = chunks;
  config.collectives.scheduling = CollectiveScheduling::fifo;
  return config;
}

TEST(SlotWaits, TwoThatWaitForEachOtherStartALatencyLater) {
  Jobs jobs(one_slot({4}));
  jobs.add(1, CollectiveOp::all_gather);
  jobs.add(2, CollectiveOp::all_gather);
  jobs.start(0, {1, 2});
  for (const uint32_t r : {1u, 2u, 3u}) jobs.start(r, {2, 1}, 500);
  jobs.run();
  // The circle closes when ranks 1 to 3 begin 2.
  EXPECT_EQ(jobs.first_message(0, 1), 0u);
  EXPECT_EQ(jobs.first_message(1, 2), 500u);
  EXPECT_EQ(jobs.first_message(0, 2), 500 + kLatency);
  for (const uint32_t r : {1u, 2u, 3u}) EXPECT_EQ(jobs.first_message(r, 1), 500 + kLatency);
  EXPECT_EQ(jobs.beyond(), 4u);
}

TEST(SlotWaits, TheLargestLatencyOfTheCircleCounts) {
  // A flat line runs over the dimensions in which its members differ; a line along dimension 0 does not.
  Config config = one_slot({2, 2, 2});
  config.dimensions[1].latency = 7000;
  config.dimensions[2].latency = 9000;
  for (const bool flat : {true, false}) {
    const std::vector<uint32_t> ranks = flat ? std::vector<uint32_t>{0, 3} : std::vector<uint32_t>{0, 1};
    Jobs jobs(config);
    jobs.add(1, CollectiveOp::barrier, ranks);
    jobs.add(2, CollectiveOp::barrier, ranks);
    jobs.start(ranks[0], {1, 2});
    jobs.start(ranks[1], {2, 1});
    jobs.run();
    EXPECT_EQ(jobs.first_message(ranks[0], 2), flat ? 7000u : kLatency);
  }
}

TEST(SlotWaits, ManyGroupsInACircle) {
  // Rank i begins the collective of {i, i + 1} and waits with that of {i - 1, i}: no two ranks hold one
  // another's chunk, so that no message is any evidence.
  for (uint32_t n = 2; n <= 7; ++n) {
    Jobs jobs(one_slot({n}));
    for (uint32_t i = 0; i < n; ++i) jobs.add(i + 1, CollectiveOp::all_reduce, {i, (i + 1) % n});
    for (uint32_t i = 0; i < n; ++i) jobs.start(i, {i + 1, (i + n - 1) % n + 1}, 10 * i);
    jobs.run();
    const Picoseconds closed = 10 * (n - 1);
    for (uint32_t i = 0; i < n; ++i) {
      EXPECT_EQ(jobs.first_message(i, (i + n - 1) % n + 1), closed + kLatency) << n << " groups, rank " << i;
    }
    EXPECT_EQ(jobs.beyond(), n);
  }
}

TEST(SlotWaits, WithoutACircleALateRankStartsNothing) {
  // The chain of groups is open at one end: every rank waits for the next, the last one is late.
  const uint32_t n = 6;
  Jobs jobs(one_slot({n}));
  for (uint32_t i = 0; i + 1 < n; ++i) jobs.add(i + 1, CollectiveOp::all_reduce, {i, i + 1});
  jobs.start(0, {1});
  for (uint32_t i = 1; i + 1 < n; ++i) jobs.start(i, {i + 1, i}, 10 * i);
  jobs.start(n - 1, {n - 1}, 1'000'000);
  jobs.run();
  EXPECT_EQ(jobs.beyond(), 0u);
  EXPECT_GT(jobs.finished(0, 1), 1'000'000u);
}

TEST(SlotWaits, ReceiversThatSendNothingFirst) {
  // Nobody sends before it has received: there is no message that tells anything.
  struct Case {
    CollectiveOp op;
    const char* algorithm;
  };
  for (const Case& c :
       {Case{CollectiveOp::broadcast, "ring"}, Case{CollectiveOp::broadcast, "direct"},
        Case{CollectiveOp::broadcast, "halving_doubling"}, Case{CollectiveOp::scatter, "direct"},
        Case{CollectiveOp::reduce, "ring"}, Case{CollectiveOp::gather, "direct"},
        Case{CollectiveOp::all_reduce, "double_binary_tree"}}) {
    SCOPED_TRACE(std::string(to_string(c.op)) + " " + c.algorithm);
    Config config = one_slot({5});
    config.collectives.algorithms[static_cast<size_t>(c.op)] = {c.algorithm};
    Jobs jobs(config);
    jobs.add(1, c.op, {}, 0);
    jobs.add(2, c.op, {}, 4);
    // Both wait at their own root (or, of reductions, at one of the others).
    const bool spreads = c.op == CollectiveOp::broadcast || c.op == CollectiveOp::scatter;
    for (uint32_t r = 0; r < 5; ++r) {
      const bool second = spreads ? r < 2 : r >= 2;
      jobs.start(r, second ? std::vector<uint32_t>{2, 1} : std::vector<uint32_t>{1, 2});
    }
    jobs.run();
    EXPECT_GT(jobs.beyond(), 0u);
    EXPECT_LT(jobs.network().now, 20 * kLatency);
  }
}

TEST(SlotWaits, TheDispatcherHoldsNobodyBack) {
  // The queue has slots enough, but only one chunk at a time is issued.
  Config config = one_slot({3});
  config.collectives.active_chunks_per_dimension = 8;
  config.collectives.dispatch_threshold = 1;
  Jobs jobs(config);
  jobs.add(1, CollectiveOp::all_gather);
  jobs.add(2, CollectiveOp::all_gather);
  jobs.start(0, {1, 2});
  jobs.start(1, {2, 1});
  jobs.start(2, {2, 1});
  jobs.run();
  EXPECT_EQ(jobs.first_message(0, 2), kLatency);
  EXPECT_EQ(jobs.first_message(1, 1), kLatency);
}

TEST(SlotWaits, SeveralSlots) {
  Config config = one_slot({2});
  config.collectives.active_chunks_per_dimension = 2;
  {
    Jobs jobs(config);  // all slots of both ranks
    for (uint32_t s = 1; s <= 4; ++s) jobs.add(s, CollectiveOp::all_gather);
    jobs.start(0, {1, 2, 3, 4});
    jobs.start(1, {3, 4, 1, 2});
    jobs.run();
    EXPECT_EQ(jobs.beyond(), 4u);
    EXPECT_EQ(jobs.first_message(0, 4), kLatency);
  }
  {
    Jobs jobs(config);  // one chunk in common is enough: it ends, and frees a slot of both
    for (uint32_t s = 1; s <= 3; ++s) jobs.add(s, CollectiveOp::all_gather);
    jobs.start(0, {1, 2, 3});
    jobs.start(1, {1, 3, 2});
    jobs.run();
    EXPECT_EQ(jobs.beyond(), 0u);
    EXPECT_EQ(jobs.first_message(0, 3), kMessage);
  }
}

TEST(SlotWaits, WhatHasNotComeUpYet) {
  // Each rank holds what the other has not started. Nothing waits, so nothing is decided, until rank 0 starts
  // the other one; rank 1 is not needed for that.
  Jobs jobs(one_slot({2}));
  jobs.add(1, CollectiveOp::all_gather);
  jobs.add(2, CollectiveOp::all_gather);
  jobs.start(0, {1});
  jobs.start(1, {2});
  jobs.start(0, {2}, 50'000);
  jobs.start(1, {1}, 80'000);
  jobs.run();
  EXPECT_EQ(jobs.first_message(0, 2), 50'000 + kLatency);
  EXPECT_EQ(jobs.finished(1, 2), 50'000 + kLatency + kMessage);
  EXPECT_EQ(jobs.first_message(1, 1), 80'000u);
  EXPECT_EQ(jobs.beyond(), 1u);
}

TEST(SlotWaits, WhatHasNotComeUpMayNeedWhatWaits) {
  // Rank 0 starts 3 only after 2, which waits for rank 0's slot; rank 1 starts 1 only after 3. Slots alone
  // keep them from going on: with one more slot 2 would run at once.
  Jobs jobs(one_slot({3}));
  jobs.add(1, CollectiveOp::all_gather, {0, 1});
  jobs.add(2, CollectiveOp::all_gather, {0, 2});
  jobs.add(3, CollectiveOp::all_gather, {0, 1});
  jobs.start(0, {1, 2});
  jobs.start(1, {3});
  jobs.start(2, {2}, 5000);
  jobs.network().expect(2);  // what follows below
  jobs.network().on_done = [&](uint32_t rank, const CollectiveDone& done) {
    if (rank == 0 && done.stream == 2) jobs.network().engine(0).start(3, jobs.plan(3));
    if (rank == 1 && done.stream == 3) jobs.network().engine(1).start(1, jobs.plan(1));
  };
  jobs.run();
  EXPECT_LT(jobs.network().now, 20'000u);
}

TEST(SlotWaits, AChunkThatGetsASlotByItselfIsNotStartedTwice) {
  // Decided starts that are overtaken: many chunks, latencies of messages below and above the links'.
  for (uint32_t seed = 1; seed <= 200; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 random(seed);
    Config config = one_slot({2, 3}, 4);
    config.collectives.order = CollectiveOrder::round_robin;
    config.dimensions[0].latency = 200;
    config.dimensions[1].latency = 3000;
    config.collectives.dispatch_threshold = seed % 3;
    config.collectives.scheduling = static_cast<CollectiveScheduling>(seed % 2);
    config.nmu.endpoint_delay = seed % 5 == 0 ? 40 : 0;
    Jobs jobs(config, [&](uint32_t, uint32_t, uint64_t) -> Picoseconds { return random() % 5000; });
    for (uint32_t s = 1; s <= 3; ++s) jobs.add(s, CollectiveOp::all_reduce);
    for (uint32_t r = 0; r < 6; ++r) {
      std::vector<uint32_t> order{1, 2, 3};
      std::shuffle(order.begin(), order.end(), random);
      for (const uint32_t s : order) jobs.start(r, {s}, random() % 4000);
    }
    jobs.run();
    EXPECT_EQ(jobs.network().submitted, jobs.network().delivered);
  }
}

TEST(SlotWaits, SkewedRanksInOneOrderStartNothingBeyondTheirSlots) {
  for (uint32_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 random(seed);
    Config config = one_slot({8}, 1 + seed % 5);
    config.collectives.active_chunks_per_dimension = 1 + seed % 3;
    config.collectives.queues_per_dimension = 1 + seed % 2;
    Jobs jobs(config, [&](uint32_t, uint32_t, uint64_t) -> Picoseconds { return 1 + random() % 3000; });
    const CollectiveOp ops[] = {CollectiveOp::all_reduce, CollectiveOp::all_gather, CollectiveOp::broadcast,
                                CollectiveOp::all_to_all, CollectiveOp::gather};
    for (uint32_t s = 1; s <= 4; ++s) jobs.add(s, ops[random() % 5], {}, random() % 8);
    for (uint32_t r = 0; r < 8; ++r) {
      Picoseconds at = 0;
      for (uint32_t s = 1; s <= 4; ++s) jobs.start(r, {s}, at += random() % 40'000);
    }
    jobs.run();
    EXPECT_EQ(jobs.beyond(), 0u);
  }
}

TEST(SlotWaits, TimesDoNotDependOnTheOrderWithinAnInstant) {
  // The same starts, pushed in another order of the ranks.
  for (uint32_t seed = 1; seed <= 100; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::vector<Picoseconds> times[2];
    for (const bool backwards : {false, true}) {
      std::mt19937 random(seed);
      Config config = one_slot({2, 4}, 3);
      config.collectives.scheduling = static_cast<CollectiveScheduling>(seed % 2);
      Jobs jobs(config,
                [](uint32_t from, uint32_t to, uint64_t) -> Picoseconds { return 200 + 7 * from + to; });
      jobs.add(1, CollectiveOp::all_reduce);
      jobs.add(2, CollectiveOp::all_gather, {1, 2, 5, 7});
      jobs.add(3, CollectiveOp::broadcast, {}, 3);
      jobs.add(4, CollectiveOp::all_to_all, {0, 1, 2, 3});
      std::map<uint32_t, std::vector<uint32_t>> orders;
      for (uint32_t r = 0; r < 8; ++r) {
        for (uint32_t s = 1; s <= 4; ++s) {
          if (jobs.plan(s)->member_index(r) != ~0u) orders[r].push_back(s);
        }
        std::shuffle(orders[r].begin(), orders[r].end(), random);
      }
      for (uint32_t i = 0; i < 8; ++i) {
        const uint32_t r = backwards ? 7 - i : i;
        jobs.start(r, orders[r]);
      }
      jobs.run();
      for (uint32_t r = 0; r < 8; ++r) {
        for (uint32_t s = 1; s <= 4; ++s) times[backwards].push_back(jobs.finished(r, s));
      }
    }
    EXPECT_EQ(times[0], times[1]);
  }
}

TEST(SlotWaits, ABeginThatIsNotPartOfTheCircleCanCloseIt) {
  // 6 and 7 wait for each other without a place, until 100,000. So 3 and 5 are stuck, which miss rank 1. When
  // 3 takes the second slot of rank 0, its queue is jammed: 1 and 4 wait for each other at ranks 0 and 3. No
  // arrow leads from 3 to them.
  Config config = one_slot({5});
  config.collectives.active_chunks_per_dimension = 2;
  Jobs jobs(config);
  jobs.add(1, CollectiveOp::all_gather, {0, 3});
  jobs.add(2, CollectiveOp::all_gather, {0, 4});
  jobs.add(3, CollectiveOp::all_gather, {0, 1});
  jobs.add(4, CollectiveOp::all_gather, {0, 3});
  jobs.add(5, CollectiveOp::all_gather, {1, 3});
  jobs.add(6, CollectiveOp::all_gather, {1, 2});
  jobs.add(7, CollectiveOp::all_gather, {1, 2});
  jobs.start(0, {1, 2, 3, 4});
  jobs.start(1, {6});
  jobs.start(2, {7});
  jobs.start(3, {5, 4, 1});
  jobs.start(4, {2}, 5000);
  jobs.start(1, {7, 3, 5}, 100'000);
  jobs.start(2, {6}, 100'000);
  jobs.run();
  const Picoseconds closed = 5000 + kMessage;
  EXPECT_EQ(jobs.first_message(0, 3), closed);
  EXPECT_EQ(jobs.first_message(0, 4), closed + kLatency);
  EXPECT_EQ(jobs.first_message(3, 1), closed + kLatency);
}

TEST(SlotWaits, AChunkThatEndsBeyondTheSlotsCanCloseACircle) {
  // A gather of two chunks to rank 0, which starts it late. Ranks 1 and 2 send a chunk and are through with
  // it; both have their slot taken by barriers that wait for each other. Rank 1 starts barrier 2 after the
  // gather. When the gather's first chunk has started beyond the slots and has ended, no slot becomes free.
  // Then rank 1 needs the second chunk.
  Config config = one_slot({3});
  config.dimensions[0].kind = DimensionKind::fully_connected;
  config.collectives.chunks = 2;
  config.collectives.scheduling = CollectiveScheduling::lifo;
  Jobs jobs(config);
  jobs.add(1, CollectiveOp::gather);
  jobs.add(2, CollectiveOp::barrier);
  jobs.add(4, CollectiveOp::barrier);
  jobs.network().on_done = [&](uint32_t rank, const CollectiveDone& done) {
    if (rank == 1 && done.stream == 1) jobs.start(1, {2}, jobs.network().now);
  };
  jobs.start(0, {2});
  jobs.start(1, {1, 4});
  jobs.start(2, {4, 1, 2});
  jobs.start(0, {1}, 200'000);
  jobs.start(0, {4}, 500'000);
  jobs.run();
  for (const uint32_t rank : {1, 2}) {
    EXPECT_EQ(jobs.first_message(rank, 1, 0), kLatency);
    EXPECT_EQ(jobs.first_message(rank, 1, 1), 2 * kLatency);
  }
  EXPECT_EQ(jobs.first_message(1, 2), 3 * kLatency);
  EXPECT_EQ(jobs.finished(1, 2), 3 * kLatency + 2 * kMessage);
}

TEST(SlotWaits, ATrueDeadlockIsLeftAlone) {
  // Each rank starts the other collective when the first has ended: no slot could help.
  Config config = one_slot({2});
  config.collectives.active_chunks_per_dimension = 4;
  Jobs jobs(config);
  jobs.add(1, CollectiveOp::all_gather);
  jobs.add(2, CollectiveOp::all_gather);
  jobs.start(0, {1});
  jobs.start(1, {2});
  EXPECT_FALSE(jobs.network().run());
  EXPECT_EQ(jobs.beyond(), 0u);
}

}  // namespace
}  // namespace weft::collectives
