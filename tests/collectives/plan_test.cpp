// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "workload/collectives/plan.h"

#include <gtest/gtest.h>

#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "workload/collectives/pipeline.h"

namespace weft::collectives {
namespace {

DimensionConfig dimension(DimensionKind kind, uint32_t size) {
  DimensionConfig d;
  d.kind = kind;
  d.size = size;
  d.bandwidth = {100'000'000'000ull, 1};
  d.latency = 500'000;
  return d;
}

Config machine(const std::vector<uint32_t>& sizes) {
  Config config;
  for (const uint32_t size : sizes) config.dimensions.push_back(dimension(DimensionKind::ring, size));
  return config;
}

CollectiveRequest ask(CollectiveOp op, uint64_t bytes, const Group& group, uint32_t root = 0) {
  CollectiveRequest request;
  request.op = op;
  request.bytes = bytes;
  request.group = &group;
  request.root = root;
  return request;
}

/// "rs0 ar1 ag0": the phases of a plan with the dimension of each.
std::string order(const CollectivePlan& plan) {
  std::string text;
  for (const PhasePlan& phase : plan.phases()) {
    const uint32_t d = plan.axes()[phase.axis].dimension;
    text += (text.empty() ? "" : " ") + std::string(to_string(phase.op)) +
            (d == Axis::kFlat ? "*" : std::to_string(d));
  }
  return text;
}

TEST(Plan, OrderOfPhases) {
  Config config = machine({4, 1, 2, 3});
  PlanBuilder plans(config);
  const Group world;
  auto of = [&](CollectiveOp op) { return order(*plans.plan(ask(op, 1000, world))); };
  EXPECT_EQ(of(CollectiveOp::reduce_scatter), "reduce_scatter0 reduce_scatter2 reduce_scatter3");
  EXPECT_EQ(of(CollectiveOp::all_to_all), "all_to_all0 all_to_all2 all_to_all3");
  EXPECT_EQ(of(CollectiveOp::all_gather), "all_gather3 all_gather2 all_gather0");
  EXPECT_EQ(of(CollectiveOp::all_reduce),
            "reduce_scatter0 reduce_scatter2 all_reduce3 all_gather2 all_gather0");
  EXPECT_EQ(of(CollectiveOp::broadcast), "broadcast3 broadcast2 broadcast0");
  EXPECT_EQ(of(CollectiveOp::gather), "gather3 gather2 gather0");
  EXPECT_EQ(of(CollectiveOp::reduce), "reduce0 reduce2 reduce3");
  EXPECT_EQ(of(CollectiveOp::scatter), "scatter0 scatter2 scatter3");
  EXPECT_EQ(of(CollectiveOp::barrier), "barrier0 barrier2 barrier3");
  Config baseline = config;
  baseline.collectives.order = CollectiveOrder::baseline;
  PlanBuilder in_order(baseline);
  EXPECT_EQ(order(*in_order.plan(ask(CollectiveOp::all_reduce, 1000, world))),
            "all_reduce0 all_reduce2 all_reduce3");
}

TEST(Plan, EnhancedScattersOverTheFirstDimensionsOnly) {
  Config config = machine({4, 1, 2, 3});
  config.collectives.order = CollectiveOrder::enhanced;
  const Group world;
  const auto of = [&](uint32_t scatter, uint32_t involved, CollectiveOp op) {
    config.collectives.scatter_dimensions = scatter;
    PlanBuilder plans(config);
    CollectiveRequest request = ask(op, 1000, world);
    request.involved_dimensions = involved;
    return order(*plans.plan(request));
  };
  EXPECT_EQ(of(1, ~0u, CollectiveOp::all_reduce), "reduce_scatter0 all_reduce2 all_reduce3 all_gather0");
  EXPECT_EQ(of(3, ~0u, CollectiveOp::all_reduce),
            "reduce_scatter0 reduce_scatter2 all_reduce3 all_gather2 all_gather0");
  // All of them: as local_bw_aware.
  EXPECT_EQ(of(32, ~0u, CollectiveOp::all_reduce),
            "reduce_scatter0 reduce_scatter2 all_reduce3 all_gather2 all_gather0");
  EXPECT_EQ(of(1, 0b1100, CollectiveOp::all_reduce), "all_reduce2 all_reduce3");
  EXPECT_EQ(of(1, 0b101, CollectiveOp::all_reduce), "reduce_scatter0 all_reduce2 all_gather0");
  EXPECT_EQ(of(1, 0b1, CollectiveOp::all_reduce), "all_reduce0");
  // Only all-reduces differ.
  EXPECT_EQ(of(1, ~0u, CollectiveOp::all_to_all), "all_to_all0 all_to_all2 all_to_all3");
  Config torus = machine({4, 2, 3, 2});
  torus.collectives.order = CollectiveOrder::enhanced;
  torus.collectives.scatter_dimensions = 2;
  PlanBuilder plans(torus);
  EXPECT_EQ(order(*plans.plan(ask(CollectiveOp::all_reduce, 1000, world))),
            "reduce_scatter0 reduce_scatter1 all_reduce2 all_reduce3 all_gather1 all_gather0");
}

TEST(Plan, QueuesOfADimension) {
  Config config = machine({4, 4, 8});
  config.collectives.queues_per_dimension = 2;
  config.dimensions[1].queues = 4;
  config.dimensions[1].phase_queues = PhaseQueues::split;
  config.dimensions[2].kind = DimensionKind::switch_;
  config.dimensions[2].queues = 3;
  const Axis rings{0, 1, 4, {}, 0, 1};
  const Axis split{1, 4, 4, {}, 0, 2};
  const Axis switches{2, 16, 8, {}, 0, 4};
  EXPECT_EQ(queues_of(config, rings), 2u);
  EXPECT_EQ(queues_of(config, switches), 3u);
  EXPECT_EQ(queues_of(config, Axis{Axis::kFlat, 1, 4, {0, 1, 2, 3}, 0, 7}), 1u);
  EXPECT_EQ(most_queues(config), 4u);
  // Every second queue goes down; all-gathers have the second half of the queues to themselves.
  std::string used;
  for (uint32_t chunk = 0; chunk < 4; ++chunk) {
    for (const CollectiveOp op : {CollectiveOp::reduce_scatter, CollectiveOp::all_gather}) {
      const uint32_t queue = queues_of_phase(config, split, op).of(chunk);
      used += std::to_string(queue) + (goes_down(config, split, queue) ? "- " : "+ ");
    }
  }
  EXPECT_EQ(used, "0+ 2+ 1- 3- 0+ 2+ 1- 3- ");
  EXPECT_EQ(directions_of(config, config.dimensions[1]), 2u);
  config.dimensions[1].direction = RingDirection::one_way;
  EXPECT_FALSE(goes_down(config, split, CollectiveOp::reduce_scatter, 1));
  EXPECT_EQ(directions_of(config, config.dimensions[1]), 1u);
}

TEST(Plan, InvolvedDimensions) {
  const Config config = machine({4, 2, 3});
  PlanBuilder plans(config);
  const Group world;
  CollectiveRequest request = ask(CollectiveOp::all_reduce, 1000, world);
  request.involved_dimensions = 0b101;
  EXPECT_EQ(order(*plans.plan(request)), "reduce_scatter0 all_reduce2 all_gather0");
  request.involved_dimensions = 0;
  EXPECT_TRUE(plans.plan(request)->empty());
}

TEST(Plan, GroupsBecomeAxes) {
  const Config config = machine({4, 4, 2});
  PlanBuilder plans(config);
  uint32_t id = 1;
  auto plan = [&](std::vector<uint32_t> ranks) {
    Group group{id++, "g", std::move(ranks)};
    return plans.plan(ask(CollectiveOp::all_gather, 100, group));
  };
  // A line of dimension 1: ranks 1, 5, 9, 13.
  const auto line = plan({1, 5, 9, 13});
  ASSERT_EQ(line->axes().size(), 1u);
  EXPECT_EQ(line->axes()[0].dimension, 1u);
  EXPECT_EQ(line->axes()[0].stride, 4u);
  EXPECT_TRUE(line->axes()[0].values.empty());
  EXPECT_EQ(line->members(), 4u);
  // Coordinates {0, 2} x {1, 3} x {0, 1}.
  const auto grid = plan({4, 6, 12, 14, 20, 22, 28, 30});
  ASSERT_EQ(grid->axes().size(), 3u);
  EXPECT_EQ(grid->axes()[0].values, (std::vector<uint32_t>{0, 2}));
  EXPECT_EQ(grid->axes()[1].values, (std::vector<uint32_t>{1, 3}));
  EXPECT_TRUE(grid->axes()[2].values.empty());
  // Not a product: flat, in the group's own order.
  const auto flat = plan({7, 0, 30});
  ASSERT_EQ(flat->axes().size(), 1u);
  EXPECT_EQ(flat->axes()[0].dimension, Axis::kFlat);
  std::vector<AxisView> views;
  flat->views(0, views);
  EXPECT_EQ(views[0].me, 1u);
  EXPECT_EQ(views[0].rank(2), 30u);
  EXPECT_EQ(flat->member_index(7), 1u);
  EXPECT_EQ(flat->member_index(8), ~0u);
  // One member needs nobody.
  EXPECT_TRUE(plan({9})->empty());
}

TEST(Plan, ViewsNameTheLine) {
  const Config config = machine({3, 4, 2});
  PlanBuilder plans(config);
  const Group world;
  const auto plan = plans.plan(ask(CollectiveOp::all_reduce, 100, world));
  std::vector<AxisView> views;
  for (uint32_t r = 0; r < config.npus(); ++r) {
    plan->views(r, views);
    ASSERT_EQ(views.size(), 3u);
    for (const AxisView& view : views) {
      EXPECT_EQ(view.rank(view.me), r);
      std::vector<AxisView> other;
      for (uint32_t i = 0; i < view.axis->size; ++i) {
        plan->views(view.rank(i), other);
        EXPECT_EQ(other[static_cast<size_t>(&view - views.data())].me, i);
        EXPECT_EQ(other[static_cast<size_t>(&view - views.data())].base, view.base);
      }
    }
  }
}

TEST(Plan, ChunksLoseNothing) {
  for (const uint64_t bytes : {1ull, 7ull, 8ull, 100ull, 1000003ull, (1ull << 40) + 1}) {
    for (const uint32_t chunks : {1u, 3u, 8u, 64u}) {
      for (const uint32_t unit : {1u, 2u, 4u}) {
        Config config = machine({4});
        config.collectives.chunks = chunks;
        PlanBuilder plans(config);
        const Group world;
        CollectiveRequest request = ask(CollectiveOp::all_reduce, bytes, world);
        request.element_bytes = unit;
        const auto plan = plans.plan(request);
        uint64_t total = 0;
        for (uint32_t c = 0; c < plan->chunks(); ++c) {
          EXPECT_GT(plan->chunk_bytes(c), 0u);
          if (c + 1 < plan->chunks()) {
            EXPECT_EQ(plan->chunk_bytes(c), plan->chunk_bytes(0));
            EXPECT_EQ(plan->chunk_bytes(c) % unit, 0u);
          }
          total += plan->chunk_bytes(c);
        }
        EXPECT_EQ(total, bytes);
        EXPECT_LE(plan->chunks(), chunks);
        EXPECT_EQ(plan->chunks_reduced(), plan->chunks() < chunks);
        if (bytes / unit >= chunks) {
          EXPECT_EQ(plan->chunks(), chunks);
          // The remainder is in the last chunk and smaller than one element a chunk (and a partial element).
          EXPECT_LT(plan->chunk_bytes(chunks - 1) - plan->chunk_bytes(0), chunks * unit + unit);
        }
      }
    }
  }
}

TEST(Plan, NothingToDo) {
  const Config config = machine({4, 2});
  PlanBuilder plans(config);
  const Group world;
  EXPECT_TRUE(plans.plan(ask(CollectiveOp::all_reduce, 0, world))->empty());
  EXPECT_FALSE(plans.plan(ask(CollectiveOp::barrier, 0, world))->empty());
  EXPECT_EQ(plans.plan(ask(CollectiveOp::barrier, 0, world))->chunks(), 1u);
}

/// Bytes over all chunks that member `rank` holds when the plan has run: the product of its phases.
uint64_t held(const CollectivePlan& plan, uint32_t rank) {
  std::vector<AxisView> views;
  plan.views(rank, views);
  const auto last = static_cast<uint32_t>(plan.phases().size() - 1);
  const Axis& axis = plan.axes()[plan.phases()[last].axis];
  uint64_t total = 0;
  for (uint32_t c = 0; c < plan.chunks(); ++c) {
    const Split split = plan.split(views, c, last);
    switch (plan.phases()[last].op) {
      case CollectiveOp::reduce_scatter:
      case CollectiveOp::scatter:
        total += split.size(views[plan.phases()[last].axis].me);
        break;
      default:
        total += BlockSet{0, axis.size, 1}.bytes(axis.size, split);
        break;
    }
  }
  return total;
}

TEST(Plan, SplitConservesBytesAndAgreesAlongEveryLine) {
  std::mt19937 random(7);
  for (int i = 0; i < 300; ++i) {
    std::vector<uint32_t> sizes;
    for (uint32_t d = 0; d < 1 + random() % 3; ++d) sizes.push_back(1 + random() % 5);
    Config config = machine(sizes);
    if (config.npus() < 2) continue;
    config.collectives.chunks = 1 + random() % 5;
    config.collectives.order = random() % 2 ? CollectiveOrder::baseline : CollectiveOrder::local_bw_aware;
    const auto op = static_cast<CollectiveOp>(random() % kCollectiveOps);
    Group group{1, "g", {}};
    if (random() % 2) {
      for (uint32_t r = 0; r < config.npus(); ++r) {
        if (random() % 2) group.ranks.push_back(r);
      }
      if (group.ranks.size() < 2) group.ranks = {0, config.npus() - 1};
    }
    PlanBuilder plans(config);
    const uint64_t bytes = 1 + random() % 5000;
    const auto plan = plans.plan(ask(op, bytes, group, group.ranks.empty() ? 0 : group.ranks.back()));
    if (plan->empty()) continue;
    const uint32_t members = group.size(config.npus());
    uint64_t sum = 0;
    std::vector<AxisView> views;
    std::vector<AxisView> other;
    for (uint32_t m = 0; m < members; ++m) {
      const uint32_t rank = group.ranks.empty() ? m : group.ranks[m];
      sum += held(*plan, rank);
      plan->views(rank, views);
      for (uint32_t p = 0; p < plan->phases().size(); ++p) {
        if (!plan->participates(views, p)) continue;
        const AxisView& view = views[plan->phases()[p].axis];
        for (uint32_t k = 0; k < view.axis->size; ++k) {
          plan->views(view.rank(k), other);
          EXPECT_TRUE(plan->participates(other, p));
          for (uint32_t c = 0; c < plan->chunks(); ++c) {
            const Split a = plan->split(views, c, p);
            const Split b = plan->split(other, c, p);
            EXPECT_TRUE(a.base == b.base && a.extra == b.extra && a.unit == b.unit);
          }
        }
      }
    }
    switch (op) {
      case CollectiveOp::all_reduce:
      case CollectiveOp::all_to_all:
      case CollectiveOp::broadcast:
      case CollectiveOp::reduce:
        EXPECT_EQ(sum, bytes * members);
        break;
      case CollectiveOp::reduce_scatter:
      case CollectiveOp::scatter:
        EXPECT_EQ(sum, bytes) << order(*plan);
        break;
      case CollectiveOp::all_gather:
        EXPECT_EQ(sum, bytes * members * members) << order(*plan);
        break;
      case CollectiveOp::gather:
      case CollectiveOp::barrier:
        break;
    }
  }
}

TEST(Plan, RootedOperationsReachEveryMemberOnce) {
  const Config config = machine({3, 2, 2});
  PlanBuilder plans(config);
  const Group world;
  for (uint32_t root = 0; root < config.npus(); ++root) {
    for (const CollectiveOp op : {CollectiveOp::broadcast, CollectiveOp::scatter}) {
      const auto plan = plans.plan(ask(op, 1200, world, root));
      std::vector<uint32_t> informed(config.npus(), 0);
      std::vector<AxisView> views;
      informed[root] = 1;
      for (uint32_t p = 0; p < plan->phases().size(); ++p) {
        std::vector<uint32_t> next = informed;
        for (uint32_t r = 0; r < config.npus(); ++r) {
          plan->views(r, views);
          if (!plan->participates(views, p)) continue;
          const AxisView& view = views[plan->phases()[p].axis];
          if (view.me == plan->phases()[p].root) {
            EXPECT_EQ(informed[r], 1u);
          } else {
            EXPECT_EQ(informed[view.rank(plan->phases()[p].root)], 1u);
            ++next[r];
          }
        }
        informed = next;
      }
      EXPECT_EQ(informed, std::vector<uint32_t>(config.npus(), 1)) << to_string(op) << " root " << root;
    }
  }
}

TEST(Plan, TheSameRequestGivesTheSamePlan) {
  const Config config = machine({4});
  PlanBuilder plans(config);
  const Group world;
  const Group other{1, "other", {0, 2}};
  const auto a = plans.plan(ask(CollectiveOp::all_reduce, 100, world));
  EXPECT_EQ(a, plans.plan(ask(CollectiveOp::all_reduce, 100, world, 3)));  // the root does not matter
  EXPECT_NE(a, plans.plan(ask(CollectiveOp::all_reduce, 101, world)));
  EXPECT_NE(a, plans.plan(ask(CollectiveOp::all_reduce, 100, other)));
  EXPECT_NE(plans.plan(ask(CollectiveOp::broadcast, 100, world, 0)),
            plans.plan(ask(CollectiveOp::broadcast, 100, world, 3)));
}

TEST(Plan, AlgorithmsOfTheWholeOperationAreFlat) {
  Config config = machine({2, 3, 4});
  auto& names = config.collectives.algorithms[static_cast<int>(CollectiveOp::all_reduce)];
  names.assign(3, "one_direct");
  config.collectives.algorithms[static_cast<int>(CollectiveOp::broadcast)].assign(3,
                                                                                  "one_double_binary_tree");
  config.collectives.algorithms[static_cast<int>(CollectiveOp::all_to_all)].assign(3, "one_halving_doubling");
  const Group world;
  PlanBuilder plans(config);
  const auto whole = plans.plan(ask(CollectiveOp::all_reduce, 100, world));
  ASSERT_EQ(whole->phases().size(), 1u);
  EXPECT_EQ(whole->phases()[0].op, CollectiveOp::all_reduce);
  EXPECT_EQ(whole->phases()[0].algorithm, direct_algorithm());
  EXPECT_EQ(whole->axes()[0].dimension, Axis::kFlat);
  EXPECT_EQ(whole->axes()[0].size, 24u);
  EXPECT_TRUE(whole->axes()[0].values.empty());
  EXPECT_NE(whole->asymmetry(config).find("dimensions that differ"), std::string::npos);  // not to be folded
  std::vector<AxisView> views;
  for (uint32_t r = 0; r < 24; ++r) {
    whole->views(r, views);
    EXPECT_EQ(views[0].me, r);
    EXPECT_EQ(views[0].rank(r), r);
  }
  // Some dimensions only: a flat line for every coordinate of the others.
  CollectiveRequest some = ask(CollectiveOp::all_reduce, 100, world);
  some.involved_dimensions = 0b101;
  const auto lines = plans.plan(some);
  ASSERT_EQ(lines->axes().size(), 1u);
  EXPECT_EQ(lines->axes()[0].size, 8u);
  for (uint32_t r = 0; r < 24; ++r) {
    lines->views(r, views);
    std::vector<uint32_t> line;
    for (uint32_t i = 0; i < 8; ++i) line.push_back(views[0].rank(i));
    std::vector<uint32_t> wanted;
    for (uint32_t other = 0; other < 24; ++other) {
      if (other / 2 % 3 == r / 2 % 3) wanted.push_back(other);
    }
    EXPECT_EQ(line, wanted);
    EXPECT_EQ(views[0].rank(views[0].me), r);
  }
  // A group that is a product, one that is none, and one along a dimension, which stays an axis of it.
  const Group grid{1, "grid", {23, 1, 5, 19}};
  const auto product = plans.plan(ask(CollectiveOp::all_reduce, 100, grid));
  ASSERT_EQ(product->axes().size(), 1u);
  product->views(19, views);
  std::vector<uint32_t> members;
  for (uint32_t i = 0; i < 4; ++i) members.push_back(views[0].rank(i));
  EXPECT_EQ(members, (std::vector<uint32_t>{1, 5, 19, 23}));
  EXPECT_EQ(views[0].me, 2u);
  const Group odd{2, "odd", {7, 0, 12}};
  const auto flat = plans.plan(ask(CollectiveOp::all_reduce, 100, odd));
  flat->views(0, views);
  EXPECT_EQ(views[0].me, 1u);
  EXPECT_EQ(views[0].rank(0), 7u);
  EXPECT_EQ(flat->phases()[0].algorithm, direct_algorithm());
  const Group line{3, "line", {0, 2, 4}};
  EXPECT_EQ(plans.plan(ask(CollectiveOp::all_reduce, 100, line))->axes()[0].dimension, 1u);
  const auto broadcast = plans.plan(ask(CollectiveOp::broadcast, 100, world, 17));
  EXPECT_EQ(broadcast->phases()[0].root, 17u);
  EXPECT_EQ(broadcast->phases()[0].algorithm, double_binary_tree_algorithm());
  EXPECT_THROW(plans.plan(ask(CollectiveOp::all_to_all, 100, world)), UserError);
  config.collectives.order = CollectiveOrder::themis;  // no order to choose, and no two phases
  EXPECT_EQ(PlanBuilder(config).plan(ask(CollectiveOp::all_reduce, 100, world))->phases().size(), 1u);
  names[1] = "ring";
  EXPECT_THROW(PlanBuilder(config).plan(ask(CollectiveOp::all_reduce, 100, world)), UserError);
}

TEST(Plan, TreesRunBetweenThePasses) {
  Config config = machine({2, 3, 4});
  const Group world;
  auto& names = config.collectives.algorithms[static_cast<int>(CollectiveOp::all_reduce)];
  const auto phases = [&] {
    std::string text;
    const auto plan = PlanBuilder(config).plan(ask(CollectiveOp::all_reduce, 2400, world));
    for (const PhasePlan& p : plan->phases()) {
      text += (text.empty() ? "" : " ") + std::string(to_string(p.op)) + std::to_string(p.axis);
    }
    return text;
  };
  names = {"ring", "double_binary_tree", "ring"};
  EXPECT_EQ(phases(), "reduce_scatter0 reduce_scatter2 all_reduce1 all_gather2 all_gather0");
  names = {"double_binary_tree", "ring", "double_binary_tree"};
  EXPECT_EQ(phases(), "reduce_scatter1 all_reduce0 all_reduce2 all_gather1");
  config.collectives.order = CollectiveOrder::themis;
  names = {"ring", "ring", "double_binary_tree"};
  EXPECT_EQ(phases(), "reduce_scatter0 reduce_scatter1 all_reduce2 all_gather1 all_gather0");
  config.dimensions.resize(1);
  names = {"double_binary_tree"};
  EXPECT_EQ(phases(), "all_reduce0");
}

TEST(Plan, ConfiguredAlgorithms) {
  Config config = machine({3, 4});
  config.file = "machine.yaml";
  config.dimensions[0].kind = DimensionKind::switch_;
  config.collectives.algorithms[static_cast<int>(CollectiveOp::all_to_all)] = {"halving_doubling", "direct"};
  config.collectives.algorithms[static_cast<int>(CollectiveOp::reduce)] = {"", "no_such"};
  const Group world;
  PlanBuilder plans(config);
  try {
    plans.plan(ask(CollectiveOp::all_to_all, 100, world));
    FAIL() << "halving_doubling has no all_to_all";
  } catch (const UserError& e) {
    EXPECT_EQ(e.code(), ExitCode::usage);
    const std::string text = e.what();
    EXPECT_NE(text.find("machine.yaml"), std::string::npos) << text;
    EXPECT_NE(text.find("collectives.all_to_all"), std::string::npos) << text;
    EXPECT_NE(text.find("use direct or ring"), std::string::npos) << text;
  }
  EXPECT_THROW(plans.plan(ask(CollectiveOp::reduce, 100, world)), UserError);
  // The default of a Switch runs on any number of members.
  const auto gather = plans.plan(ask(CollectiveOp::all_gather, 100, world));
  EXPECT_STREQ(gather->phases().back().algorithm->name(), "halving_doubling");
}

/// "rs0 rs1 ag0 ag1" of one chunk.
std::string order(const CollectivePlan& plan, uint32_t chunk) {
  std::string text;
  for (const PhasePlan& phase : plan.phases(chunk)) {
    text += (text.empty() ? "" : " ") + std::string(to_string(phase.op)) +
            std::to_string(plan.axes()[phase.axis].dimension);
  }
  return text;
}

/// A machine on which reduce-scatters and all-gathers are best balanced by orders of their own.
Config unequal(CollectiveOrder policy, uint32_t chunks = 2) {
  Config config = machine({4, 4});
  config.dimensions[0].latency = 0;
  config.dimensions[1].latency = 0;
  config.dimensions[1].bandwidth = {40'000'000'000ull, 1};
  config.collectives.order = policy;
  config.collectives.chunks = chunks;
  return config;
}

TEST(Plan, FlexibleThemisGathersInAnOrderOfItsOwn) {
  const Config config = unequal(CollectiveOrder::themis_flex);
  const Config rigid_config = unequal(CollectiveOrder::themis);
  PlanBuilder plans(config);
  PlanBuilder plain(rigid_config);
  const Group world;
  // Dimension 0 takes u = 3 x 3 MiB / 100 GB/s for a chunk of 12 MiB and u/4 for a quarter of one; dimension
  // 1 2.5 u and 0.625 u.
  const Picoseconds u = 3 * transfer_time(3 << 20, {100'000'000'000ull, 1});
  // Themis: chunk 0 in the default order, loads (1, 0.625); so chunk 1 begins and ends with dimension 1.
  const auto rigid = plain.plan(ask(CollectiveOp::all_reduce, 24 << 20, world));
  EXPECT_EQ(order(*rigid, 0), "reduce_scatter0 reduce_scatter1 all_gather1 all_gather0");
  EXPECT_EQ(order(*rigid, 1), "reduce_scatter1 reduce_scatter0 all_gather0 all_gather1");
  // Flexible: with chunk 0's gathers loads are (2, 1.25), with chunk 1's reduce-scatters (2.25, 3.75). Its
  // gathers thus end with dimension 0: (3.25, 4.375) rather than (2.5, 6.25).
  const auto plan = plans.plan(ask(CollectiveOp::all_reduce, 24 << 20, world));
  EXPECT_EQ(order(*plan, 0), "reduce_scatter0 reduce_scatter1 all_gather1 all_gather0");
  EXPECT_EQ(order(*plan, 1), "reduce_scatter1 reduce_scatter0 all_gather1 all_gather0");
  EXPECT_FALSE(plan->rearranged(0));
  EXPECT_TRUE(plan->rearranged(1));
  // Dimension 1: chunk 1 until 2.5, chunk 0 until 3.125, chunk 1 (ready at 2.75) until 3.75, chunk 0
  // until 4.375. Dimension 0 then gathers chunk 1 until 4.75 and chunk 0 until 5.75.
  EXPECT_EQ(pipeline_time(config, *plan), 575 * u / 100);
  // Other operations have one pass only: as themis orders them.
  for (const CollectiveOp op : {CollectiveOp::reduce_scatter, CollectiveOp::all_gather}) {
    const auto flexible = plans.plan(ask(op, 24 << 20, world));
    const auto themis = plain.plan(ask(op, 24 << 20, world));
    for (uint32_t c = 0; c < 2; ++c) {
      EXPECT_FALSE(flexible->rearranged(c));
      EXPECT_EQ(order(*flexible, c), order(*themis, c));
    }
  }
}

TEST(Plan, FlexibleThemisMakesChunksThatDivideAndKeepsTheOthersInReverse) {
  const Config config = unequal(CollectiveOrder::themis_flex, 3);
  PlanBuilder plans(config);
  const Group world;
  // 31,250,000 / 3 = 10,416,666 bytes a chunk: two of 10,416,656, a multiple of 16, and one with the rest,
  // which does not divide.
  const auto plan = plans.plan(ask(CollectiveOp::all_reduce, 31'250'001, world));
  ASSERT_EQ(plan->chunks(), 3u);
  EXPECT_EQ(plan->chunk_bytes(0), 10'416'656u);
  EXPECT_EQ(plan->chunk_bytes(1), 10'416'656u);
  EXPECT_EQ(plan->chunk_bytes(2), 31'250'001u - 2 * 10'416'656u);
  EXPECT_TRUE(plan->rearranged(0) || plan->rearranged(1));
  EXPECT_FALSE(plan->rearranged(2));
  // Too few bytes for that: chunks as always, none rearranged.
  const auto small = plans.plan(ask(CollectiveOp::all_reduce, 3 * 13, world));
  for (uint32_t c = 0; c < 3; ++c) {
    EXPECT_EQ(small->chunk_bytes(c), 13u);
    EXPECT_FALSE(small->rearranged(c));
  }
}

}  // namespace
}  // namespace weft::collectives
