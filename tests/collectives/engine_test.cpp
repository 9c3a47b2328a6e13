// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// The collective engine against a fake network: fixed and random latencies, stragglers, concurrent
// collectives.

#include "workload/collectives/engine.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "tests/collectives/engine_network.h"

namespace weft::collectives {
namespace {

using test::machine;
using test::Network;

/// What a rank must receive, counted from the other members' sends.
struct Count {
  uint64_t messages = 0;
  uint64_t bytes = 0;
};
std::vector<Count> count(const CollectivePlan& plan, uint32_t npus, const Config& config) {
  std::vector<Count> counts(npus);
  std::vector<AxisView> views;
  Round round;
  for (uint32_t r = 0; r < npus; ++r) {
    if (plan.member_index(r) == ~0u || plan.empty()) continue;
    plan.views(r, views);
    for (uint32_t p = 0; p < plan.phases().size(); ++p) {
      if (!plan.participates(views, p)) continue;
      const PhasePlan& phase = plan.phases()[p];
      const Axis& axis = plan.axes()[phase.axis];
      for (uint32_t c = 0; c < plan.chunks(); ++c) {
        // Odd chunks of a ring with two queues travel the other way.
        const bool ring =
            axis.dimension != Axis::kFlat && (config.dimensions[axis.dimension].kind == DimensionKind::ring ||
                                              config.dimensions[axis.dimension].kind == DimensionKind::mesh);
        const bool reverse = ring && c % config.collectives.queues_per_dimension % 2 == 1;
        const PhaseShape shape = plan.shape(views, p, reverse, c);
        const Split split = plan.split(views, c, p);
        for (uint32_t k = 0; k < phase.algorithm->rounds(shape); ++k) {
          phase.algorithm->round(shape, k, round);
          for (const RoundSend& send : round.sends) {
            Count& to = counts[views[phase.axis].rank(send.to)];
            ++to.messages;
            send.blocks.for_each(shape.n, [&](uint32_t b) { to.bytes += split.size(b); });
          }
        }
      }
    }
  }
  return counts;
}

/// Checks one finished part against the plan's own figures.
void check(const Network::Part& part, const std::vector<Count>& counts, const Config& config, bool in_order) {
  const CollectiveDone& d = part.done;
  EXPECT_EQ(d.messages, counts[part.rank].messages);
  EXPECT_EQ(d.bytes, counts[part.rank].bytes);
  EXPECT_GE(d.finished, d.started);
  if (d.phases.empty()) return;  // nothing to send
  const CollectivePlan& plan = *d.plan;
  std::vector<AxisView> views;
  plan.views(part.rank, views);
  uint64_t total = 0;
  ASSERT_EQ(d.phases.size(), plan.phases().size());
  for (uint32_t p = 0; p < plan.phases().size(); ++p) {
    const PhaseTime& time = d.phases[p];
    EXPECT_EQ(time.chunks, plan.participates(views, p) ? plan.chunks() : 0u);
    if (time.chunks == 0) {
      EXPECT_EQ(time.queue + time.network, 0u);
    }
    const Picoseconds elapsed = d.finished - d.started;
    if (in_order) {
      EXPECT_LE(time.network, elapsed * config.collectives.active_chunks_per_dimension *
                                  config.collectives.queues_per_dimension);
    }
    total += time.queue + time.network;
  }
  // A chunk is always waiting for or in one phase, from the start to its own end; the last one ends with the
  // collective.
  EXPECT_LE(total, (d.finished - d.started) * plan.chunks());
  EXPECT_GE(total, d.finished - d.started);
}

TEST(Engine, RingAllReduceTakesItsRounds) {
  Config config = machine({5});
  config.collectives.chunks = 3;
  config.nmu.endpoint_delay = 50;
  PlanBuilder plans(config);
  const Group world;
  CollectiveRequest request;
  request.bytes = 1003;
  request.group = &world;
  const auto plan = plans.plan(request);
  Network network(config, [](uint32_t, uint32_t, uint64_t) { return 1000; });
  for (uint32_t r = 0; r < 5; ++r) network.start_at(0, r, 9, plan);
  ASSERT_TRUE(network.run());
  EXPECT_EQ(network.rescues, 0u);
  EXPECT_EQ(network.out_of_order(), "0");
  for (const auto& part : network.parts()) {
    EXPECT_EQ(part.done.finished, 3u * (50 + 8 * 1000));
    EXPECT_EQ(part.done.stream, 9u);
    check(part, count(*plan, 5, config), config, true);
  }
  // More slots: chunks of unlimited links run side by side.
  config.collectives.active_chunks_per_dimension = 2;
  Network wider(config, [](uint32_t, uint32_t, uint64_t) { return 1000; });
  for (uint32_t r = 0; r < 5; ++r) wider.start_at(0, r, 9, plan);
  ASSERT_TRUE(wider.run());
  for (const auto& part : wider.parts()) EXPECT_EQ(part.done.finished, 2u * (50 + 8 * 1000));
}

/// Time of one chunk when every message takes `latency`, links are not shared and serialise nothing.
Picoseconds time_of(const char* algorithm, CollectiveOp op, uint32_t n, Picoseconds latency,
                    Picoseconds delay, uint32_t chunks = 1) {
  Config config = machine({n});
  config.collectives.chunks = chunks;
  config.nmu.endpoint_delay = delay;
  config.collectives.algorithms[static_cast<size_t>(op)] = {algorithm};
  PlanBuilder plans(config);
  const Group world;
  const CollectiveRequest request{op, op == CollectiveOp::barrier ? 0 : 1000003ull, &world, ~0u, n - 1, 1};
  const auto plan = plans.plan(request);
  Network network(config, [latency](uint32_t, uint32_t, uint64_t) { return latency; });
  for (uint32_t r = 0; r < n; ++r) network.start_at(0, r, 9, plan);
  EXPECT_TRUE(network.run());
  EXPECT_EQ(network.rescues, 0u);
  Picoseconds finished = 0;
  for (const auto& part : network.parts()) {
    check(part, count(*plan, n, config), config, true);
    finished = std::max(finished, part.done.finished);
  }
  return finished;
}

// The network's latency stands for x + e: it delivers when the endpoint delay of the receiver is over.
TEST(Engine, HalvingDoublingFoldsExtraMembersIn) {
  for (uint32_t n = 2; n <= 20; ++n) {
    Picoseconds l = 0;
    while (n >> (l + 1)) ++l;
    const Picoseconds core = Picoseconds{1} << l;
    const Picoseconds fold = n == core ? 0 : 2;
    // From an extra member through all steps to another one; there is such a pair only among many.
    const Picoseconds once = n == core ? 0 : 2 * (n - core) > core ? 2 : 1;
    EXPECT_EQ(time_of("halving_doubling", CollectiveOp::all_reduce, n, 1000, 50), 50 + (2 * l + fold) * 1000);
    EXPECT_EQ(time_of("halving_doubling", CollectiveOp::reduce_scatter, n, 1000, 50), 50 + (l + once) * 1000);
    EXPECT_EQ(time_of("halving_doubling", CollectiveOp::all_gather, n, 1000, 50), 50 + (l + once) * 1000);
    EXPECT_EQ(time_of("halving_doubling", CollectiveOp::barrier, n, 1000, 50), 50 + (2 * l + fold) * 1000);
  }
}

TEST(Engine, DoubleBinaryTreeTakesItsClosedForm) {
  for (uint32_t n = 2; n <= 70; n += n < 20 ? 1 : 7) {
    SCOPED_TRACE(n);
    auto height = [](uint32_t m) {
      Picoseconds h = 0;
      while (m >> (h + 1)) ++h;
      return h;
    };
    // The leftmost branch of either tree reaches depth H.
    const Picoseconds h = height(n);
    const Picoseconds slices = std::min<Picoseconds>(n, 8 * h);
    EXPECT_EQ(time_of("double_binary_tree", CollectiveOp::all_reduce, n, 1000, 50),
              50 + 2 * (h + (slices - 1) / 2) * 1000);
    EXPECT_EQ(time_of("double_binary_tree", CollectiveOp::barrier, n, 1000, 50), 50 + 2 * h * 1000);
    EXPECT_EQ(time_of("double_binary_tree", CollectiveOp::broadcast, n, 1000, 50),
              50 + (height(n - 1) + 1) * 1000);
    EXPECT_EQ(time_of("double_binary_tree", CollectiveOp::reduce, n, 1000, 50),
              50 + (height(n - 1) + 1) * 1000);
    // Two chunks, one a tree, one after the other.
    EXPECT_EQ(time_of("double_binary_tree", CollectiveOp::barrier, n, 1000, 0, 2), 2 * h * 1000);
  }
}

TEST(Engine, QueuesAreDirectionsOfARing) {
  Config config = machine({4});
  config.collectives.chunks = 4;
  config.collectives.queues_per_dimension = 2;
  PlanBuilder plans(config);
  const Group world;
  CollectiveRequest request;
  request.bytes = 4096;
  request.group = &world;
  const auto plan = plans.plan(request);
  uint64_t up = 0;
  uint64_t down = 0;
  Network network(config, [&](uint32_t from, uint32_t to, uint64_t) {
    (to == (from + 1) % 4 ? up : down)++;
    return 10;
  });
  for (uint32_t r = 0; r < 4; ++r) network.start_at(0, r, 1, plan);
  ASSERT_TRUE(network.run());
  EXPECT_EQ(up, 4u * 6 * 2);
  EXPECT_EQ(down, 4u * 6 * 2);
  EXPECT_EQ(network.now, 2u * 60);
}

TEST(Engine, OrderBetweenCollectives) {
  using Case = std::pair<CollectiveScheduling, bool>;  // scheduling, with priorities
  for (const auto& [scheduling, prior] :
       {Case{CollectiveScheduling::lifo, false}, Case{CollectiveScheduling::fifo, false},
        Case{CollectiveScheduling::priority, false}, Case{CollectiveScheduling::priority, true},
        Case{CollectiveScheduling::lifo, true}, Case{CollectiveScheduling::fifo, true}}) {
    Config config = machine({4});
    config.collectives.chunks = 2;
    config.collectives.scheduling = scheduling;
    PlanBuilder plans(config);
    const Group world;
    CollectiveRequest request;
    request.bytes = 4096;
    request.group = &world;
    const auto plan = plans.plan(request);
    Network network(config, [](uint32_t, uint32_t, uint64_t) { return 100; });
    // All issued while the first chunk of collective 1 runs; each chunk takes 600.
    for (uint32_t r = 0; r < 4; ++r) {
      network.start_at(0, r, 1, plan, 0);
      network.start_at(10, r, 2, plan, prior ? -5 : 0);
      network.start_at(20, r, 3, plan, prior ? 1 << 24 : 0);
      network.start_at(30, r, 4, plan, prior ? -(1 << 24) : 0);
    }
    ASSERT_TRUE(network.run());
    std::map<uint32_t, Picoseconds> finished;
    for (const auto& part : network.parts()) finished[part.done.stream] = part.done.finished;
    using Order = std::map<uint32_t, Picoseconds>;
    if (prior)
      EXPECT_EQ(finished, (Order{{3, 1800}, {1, 2400}, {2, 3600}, {4, 4800}}));
    else if (scheduling == CollectiveScheduling::lifo)
      EXPECT_EQ(finished, (Order{{4, 1800}, {3, 3000}, {2, 4200}, {1, 4800}}));
    else
      EXPECT_EQ(finished, (Order{{1, 1200}, {2, 2400}, {3, 3600}, {4, 4800}}));
    EXPECT_EQ(network.out_of_order(), "0");
  }
}

TEST(Engine, MessagesBeforeTheStartAreKept) {
  Config config = machine({3});
  PlanBuilder plans(config);
  const Group world;
  CollectiveRequest request;
  request.bytes = 999;
  request.group = &world;
  const auto plan = plans.plan(request);
  Network network(config, [](uint32_t, uint32_t, uint64_t) { return 10; });
  network.start_at(0, 0, 7, plan);
  network.start_at(5, 1, 7, plan);
  network.start_at(1'000'000, 2, 7, plan);
  ASSERT_TRUE(network.run());
  EXPECT_EQ(network.rescues, 0u);
  for (const auto& part : network.parts()) check(part, count(*plan, 3, config), config, true);
}

TEST(Engine, ADoneCallbackMayStartTheNext) {
  Config config = machine({2, 2});
  PlanBuilder plans(config);
  const Group world;
  CollectiveRequest request;
  request.bytes = 64;
  request.group = &world;
  const auto plan = plans.plan(request);
  Network network(config, [](uint32_t, uint32_t, uint64_t) { return 10; });
  std::vector<uint32_t> left(4, 20);
  network.on_done = [&](uint32_t rank, const CollectiveDone& done) {
    if (--left[rank] != 0) network.engine(rank).start(done.stream + 1, plan);
  };
  for (uint32_t r = 0; r < 4; ++r) network.start_at(0, r, 1, plan);
  ASSERT_TRUE(network.run());
  EXPECT_EQ(network.parts().size(), 80u);
  EXPECT_EQ(network.now, 20u * 100);
}

TEST(Engine, EmptyPlansEndAtOnce) {
  Config config = machine({4});
  PlanBuilder plans(config);
  const Group world;
  CollectiveRequest request;
  request.group = &world;
  const auto plan = plans.plan(request);
  Network network(config, [](uint32_t, uint32_t, uint64_t) { return 10; });
  network.start_at(33, 0, 1, plan);
  ASSERT_TRUE(network.run());
  EXPECT_EQ(network.parts()[0].done.finished, 33u);
  EXPECT_TRUE(network.engine(0).idle());
}

TEST(Engine, StallNamesThePeer) {
  Config config = machine({4});
  PlanBuilder plans(config);
  const Group world;
  CollectiveRequest request;
  request.bytes = 4096;
  request.group = &world;
  const auto plan = plans.plan(request);
  Network network(config, [](uint32_t, uint32_t, uint64_t) { return 10; });
  for (uint32_t r = 0; r < 3; ++r) network.start_at(0, r, 1, plan);  // rank 3 never comes
  EXPECT_FALSE([&] {
    network.start_at(1, 3, 2, plans.plan(CollectiveRequest{CollectiveOp::barrier, 0, &world, ~0u, 0, 1}));
    return network.run();
  }());
  const auto lines = network.engine(0).describe_waits(4);
  ASSERT_FALSE(lines.empty());
  EXPECT_NE(lines[0].find("waits for 1 message(s) of rank(s) 3"), std::string::npos) << lines[0];
  EXPECT_EQ(network.engine(0).describe_waits(2).size(), 2u);
}

/// A random job on a random machine; returns how many chunks started beyond the slots.
uint64_t random_job(uint32_t seed) {
  std::mt19937 random(seed);
  auto pick = [&](uint32_t n) { return static_cast<uint32_t>(random() % n); };
  Config config;
  const DimensionKind kinds[] = {DimensionKind::ring, DimensionKind::fully_connected, DimensionKind::switch_,
                                 DimensionKind::mesh};
  do {
    config.dimensions.clear();
    for (uint32_t d = 0; d < 1 + pick(3); ++d) {
      DimensionConfig dimension;
      dimension.kind = kinds[pick(4)];
      dimension.size = 1 + pick(5);
      dimension.bandwidth = {1000, 1};
      config.dimensions.push_back(dimension);
    }
  } while (config.npus() < 2);
  config.collectives.chunks = 1 + pick(9);
  config.collectives.active_chunks_per_dimension = 1 + pick(3);
  config.collectives.queues_per_dimension = 1 + pick(2);
  config.collectives.scheduling = static_cast<CollectiveScheduling>(pick(3));
  config.collectives.order = static_cast<CollectiveOrder>(pick(2));
  config.nmu.endpoint_delay = pick(2) ? pick(3000) : 0;
  for (int op = 0; op < kCollectiveOps; ++op) {
    auto& algorithms = config.collectives.algorithms[static_cast<size_t>(op)];
    const auto operation = static_cast<CollectiveOp>(op);
    if (pick(4) == 0) {
      const char* names[] = {"one_ring", "one_direct", "one_halving_doubling", "one_double_binary_tree"};
      const std::string name = names[pick(4)];
      if (find_flat_algorithm(name)->refuses(operation, 2).empty()) {
        algorithms.assign(config.dimensions.size(), name);
        continue;
      }
    }
    for (size_t d = 0; d < config.dimensions.size(); ++d) {
      const char* names[] = {"", "ring", "direct", "halving_doubling", "double_binary_tree"};
      const std::string name = names[pick(5)];
      const bool runs = name.empty() || find_algorithm(name)->refuses(operation, 2).empty();
      algorithms.push_back(runs ? name : "");
    }
  }
  // Groups: everybody, a random subset (mostly flat), a sub-grid.
  std::vector<Group> groups(4);
  for (uint32_t g = 1; g < 4; ++g) {
    groups[g].id = g;
    groups[g].name = "g" + std::to_string(g);
    const uint32_t modulus = 1 + pick(3);
    for (uint32_t r = 0; r < config.npus(); ++r) {
      if (g == 3 ? r % config.dimensions[0].size % modulus == 0 : pick(2)) groups[g].ranks.push_back(r);
    }
    if (groups[g].ranks.empty()) groups[g].ranks = {pick(config.npus())};
    if (g == 2) std::shuffle(groups[g].ranks.begin(), groups[g].ranks.end(), random);
  }
  const uint32_t jitter = pick(3);
  const uint32_t spread = 1 + pick(20000);
  Network network(config, [&, jitter, spread](uint32_t, uint32_t, uint64_t bytes) -> Picoseconds {
    return jitter == 0 ? 1000 : jitter == 1 ? random() % spread : 500 + bytes;
  });
  PlanBuilder plans(config);
  const uint32_t collectives = 1 + pick(4);
  std::map<uint32_t, std::shared_ptr<const CollectivePlan>> by_stream;
  size_t parts = 0;
  const bool stragglers = pick(2) != 0;
  for (uint32_t s = 1; s <= collectives; ++s) {
    CollectiveRequest request;
    const Group& group = groups[pick(4)];
    request.group = &group;
    request.op = static_cast<CollectiveOp>(pick(kCollectiveOps));
    const uint64_t sizes[] = {0, 1, 7, 1000, 100003};
    request.bytes = sizes[pick(5)];
    const uint32_t members = group.size(config.npus());
    const uint32_t root = pick(members);
    request.root = group.ranks.empty() ? root : group.ranks[root];
    request.involved_dimensions = ~0u;
    const auto plan = plans.plan(request);
    by_stream[s] = plan;
    const auto priority = static_cast<int32_t>(random());
    for (uint32_t m = 0; m < members; ++m) {
      const uint32_t rank = group.ranks.empty() ? m : group.ranks[m];
      network.start_at(s * 100 + (stragglers ? random() % 50000 : 0), rank, s, plan, priority);
      ++parts;
    }
  }
  EXPECT_TRUE(network.run()) << "deadlock";
  EXPECT_EQ(network.rescues, 0u);
  EXPECT_EQ(network.parts().size(), parts);
  EXPECT_EQ(network.submitted, network.delivered);
  const bool in_order = network.out_of_order() == "0";
  for (const auto& part : network.parts()) {
    check(part, count(*by_stream[part.done.stream], config.npus(), config), config, in_order);
  }
  for (uint32_t r = 0; r < config.npus(); ++r) {
    EXPECT_TRUE(network.engine(r).idle());
    EXPECT_EQ(network.engine(r).position().active_chunks, 0u);
    EXPECT_TRUE(network.engine(r).describe_waits(10).empty());
  }
  // Alike ranks on a network that treats them alike decide alike.
  if (!stragglers && jitter == 0 && collectives == 1 && by_stream[1]->request().group->ranks.empty()) {
    const CollectiveOp op = by_stream[1]->request().op;
    if (op == CollectiveOp::all_reduce || op == CollectiveOp::all_gather || op == CollectiveOp::all_to_all ||
        op == CollectiveOp::reduce_scatter) {
      const auto& plan = *by_stream[1];
      bool uniform = true;
      for (const PhasePlan& phase : plan.phases()) {
        uniform = uniform && phase.algorithm->symmetric(phase.op, plan.axes()[phase.axis].size);
      }
      EXPECT_TRUE(in_order || !uniform) << network.out_of_order() << " chunks out of order";
    }
  }
  return std::stoull(network.out_of_order());
}

TEST(Engine, RandomJobsFinish) {
  uint64_t out_of_order = 0;
  for (uint32_t seed = 1; seed <= 2000; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    out_of_order += random_job(seed);
    if (::testing::Test::HasFailure()) return;
  }
  // The jobs are hard enough to need the rules against deadlock.
  EXPECT_GT(out_of_order, 0u);
}

}  // namespace
}  // namespace weft::collectives
