// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "workload/graph/rank_engine.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "tests/graph/fakes.h"
#include "workload/graph/compute_cost.h"

namespace weft::graph {
namespace {

using trace::NodeIndex;
using trace::NodeType;

class RankEngineTest : public ::testing::Test {
 protected:
  void make() {
    engine = std::make_unique<RankEngine>(3, npu, feeder, services);
    services.engine = engine.get();
  }
  Picoseconds run() {
    make();
    engine->start();
    return services.run();
  }
  Picoseconds begin(NodeIndex node) const { return services.started.at(node).begin; }

  NpuConfig npu;
  MemoryFeeder feeder;
  FakeServices services;
  std::unique_ptr<RankEngine> engine;
};

TEST_F(RankEngineTest, EmptyTraceIsFinishedAtOnce) {
  EXPECT_EQ(run(), 0u);
  EXPECT_TRUE(engine->finished());
  EXPECT_TRUE(engine->describe_stall(10).empty());
  const Categories c = engine->categories(50);
  EXPECT_EQ(c.idle, 50u);
  EXPECT_EQ(c.total(), 50u);
}

TEST_F(RankEngineTest, OneComputeSlotTakesReadyNodesInFileOrder) {
  feeder.add(comp(10));
  feeder.add(comp(20));
  feeder.add(comp(30));
  EXPECT_EQ(run(), 60u);
  EXPECT_EQ(feeder.order, (std::vector<NodeIndex>{0, 1, 2}));
  EXPECT_EQ(engine->categories(60).compute, 60u);
  EXPECT_EQ(engine->finished_at(), 60u);
}

TEST_F(RankEngineTest, ANodeThatBecomesReadyLaterWaitsBehindEarlierOnes) {
  const NodeIndex child = feeder.add(comp(5), {1});  // first in the file, ready when 1 is done
  feeder.add(comp(10));
  const NodeIndex other = feeder.add(comp(10));
  EXPECT_EQ(run(), 25u);
  EXPECT_EQ(begin(other), 10u);
  EXPECT_EQ(begin(child), 20u);
}

TEST_F(RankEngineTest, SlotCountsAreHonoured) {
  npu.compute_slots = 2;
  for (int i = 0; i < 4; ++i) feeder.add(comp(10));
  EXPECT_EQ(run(), 20u);
  EXPECT_EQ(engine->categories(20).compute, 20u);
}

TEST_F(RankEngineTest, CpuAndComputeSlotsAreSeparate) {
  feeder.add(comp(10, true));
  feeder.add(comp(10, false));
  feeder.add(comp(10, true));
  EXPECT_EQ(run(), 20u);
  EXPECT_EQ(begin(1), 0u);
  EXPECT_EQ(begin(2), 10u);
}

TEST_F(RankEngineTest, CommunicationAndMemoryAreConcurrent) {
  for (int i = 0; i < 3; ++i) services.latency[feeder.add(collective(64))] = 10;
  for (int i = 0; i < 3; ++i) services.latency[feeder.add(memory(64))] = 10;
  EXPECT_EQ(run(), 10u);
  EXPECT_TRUE(engine->finished());
  EXPECT_EQ(engine->categories(12).communication, 0u);
  EXPECT_EQ(engine->communicating(12), 10u);
}

TEST_F(RankEngineTest, TimeCountsOnceByPriority) {
  // compute [0,10), local [0,25), remote [0,40), collective [0,60), then a send [60,70) after nothing for a
  // while
  feeder.add(comp(10));
  services.latency[feeder.add(memory(1))] = 25;
  services.latency[feeder.add(memory(1, true))] = 40;
  services.latency[feeder.add(collective(1))] = 60;
  EXPECT_EQ(run(), 60u);
  const Categories c = engine->categories(100);
  EXPECT_EQ(engine->communicating(100), 60u);
  EXPECT_EQ(c.compute, 10u);
  EXPECT_EQ(c.local_memory, 15u);
  EXPECT_EQ(c.remote_memory, 15u);
  EXPECT_EQ(c.communication, 20u);
  EXPECT_EQ(c.idle, 40u);
  EXPECT_EQ(c.total(), 100u);
}

TEST_F(RankEngineTest, AnUnfinishedNodeCountsUpToTheEnd) {
  feeder.add(collective(1));
  run();
  EXPECT_EQ(engine->categories(7).communication, 7u);
  EXPECT_EQ(engine->communicating(7), 7u);
  EXPECT_FALSE(engine->finished());
}

TEST_F(RankEngineTest, TimeBeforeTheStartIsIdle) {
  feeder.add(comp(10));
  make();
  services.at_time(5, [&] { engine->start(); });
  EXPECT_EQ(services.run(), 15u);
  EXPECT_EQ(engine->categories(15).idle, 5u);
  EXPECT_EQ(engine->categories(15).compute, 10u);
}

TEST_F(RankEngineTest, LongChainsOfNodesWithoutDurationDoNotRecurse) {
  const int n = 200000;
  feeder.chain = true;
  trace::Node metadata;
  metadata.type = NodeType::metadata;
  for (int i = 0; i < n; ++i) {
    std::vector<NodeIndex> deps;
    if (i > 0) deps.push_back(static_cast<NodeIndex>(i - 1));
    switch (i % 4) {
      case 0:
        feeder.add(comp(0), deps);
        break;
      case 1:
        feeder.add(metadata, deps);
        break;
      case 2:
        services.latency[feeder.add(collective(0), deps)] = 0;
        break;
      default: {
        trace::Node wrapper = collective(77);
        wrapper.has_comm_type = false;
        feeder.add(wrapper, deps);
      }
    }
  }
  services.synchronous = true;
  EXPECT_EQ(run(), 0u);
  EXPECT_TRUE(engine->finished());
  EXPECT_EQ(engine->costless_nodes(), 0u);
}

TEST_F(RankEngineTest, NodesWithoutDurationWaitForTheirTurn) {
  feeder.add(comp(10));
  feeder.add(comp(0));
  const NodeIndex after = feeder.add(collective(8), {1});
  services.latency[after] = 5;
  EXPECT_EQ(run(), 15u);
  EXPECT_EQ(begin(after), 10u);
}

TEST_F(RankEngineTest, ComputeWithoutAnyCostTakesNoTimeAndIsCounted) {
  trace::Node bare;
  bare.type = NodeType::comp;
  feeder.add(comp(4));
  feeder.add(bare);
  feeder.add(bare);
  EXPECT_EQ(run(), 4u);
  EXPECT_EQ(engine->costless_nodes(), 2u);
  EXPECT_EQ(engine->first_costless_node(), 101u);
}

TEST_F(RankEngineTest, MemoryNodesCarryTheirKind) {
  services.latency[feeder.add(memory(10, false, false))] = 1;
  services.latency[feeder.add(memory(20, true, true))] = 1;
  trace::Node recorded = memory(0);
  recorded.has_duration = true;
  recorded.duration = 9;
  feeder.add(recorded);
  feeder.add(memory(0));
  EXPECT_EQ(run(), 9u);
  ASSERT_EQ(services.memory_calls.size(), 2u);
  EXPECT_FALSE(services.memory_calls[0].store);
  EXPECT_FALSE(services.memory_calls[0].remote);
  EXPECT_EQ(services.memory_calls[0].bytes, 10u);
  EXPECT_TRUE(services.memory_calls[1].store);
  EXPECT_TRUE(services.memory_calls[1].remote);
  EXPECT_EQ(engine->categories(9).local_memory, 9u);
}

TEST_F(RankEngineTest, AHoldMakesTheOrderOfCallBacksIrrelevant) {
  // Two collectives end together, in an order against the file's; their children compete for the slot.
  feeder.add(collective(1));
  feeder.add(collective(1));
  const NodeIndex early = feeder.add(comp(5), {0});
  const NodeIndex late = feeder.add(comp(5), {1});
  make();
  engine->start();
  services.at_time(20, [&] {
    engine->hold();
    engine->collective_done(1);
    engine->collective_done(0);
    EXPECT_EQ(feeder.finished_count(), 0u);
    engine->release();
  });
  services.run();
  EXPECT_EQ(begin(early), 20u);
  EXPECT_EQ(begin(late), 25u);
  EXPECT_THROW(engine->release(), std::logic_error);
}

TEST_F(RankEngineTest, WrongCallBacksAreInternalErrors) {
  feeder.add(collective(1));
  run();
  EXPECT_THROW(engine->send_done(0), std::logic_error);
  EXPECT_THROW(engine->wake(17), std::logic_error);
  engine->collective_done(0);
  EXPECT_THROW(engine->collective_done(0), std::logic_error);
}

TEST_F(RankEngineTest, InvalidTypesAndEndlessDurationsNameRankAndNode) {
  trace::Node invalid;
  invalid.id = 42;
  feeder.add(invalid);
  make();
  try {
    engine->start();
    FAIL() << "an INVALID node was executed";
  } catch (const UserError& error) {
    EXPECT_EQ(error.code(), ExitCode::trace);
    EXPECT_NE(std::string(error.what()).find("rank 3, node 42"), std::string::npos) << error.what();
  }
  MemoryFeeder endless;
  endless.add(comp(kNever));
  RankEngine other(3, npu, endless, services);
  EXPECT_THROW(other.start(), UserError);
}

class Recorder : public RankObserver {
 public:
  struct Change {
    RankState state;
    uint64_t node;
    bool operator==(const Change& o) const { return state == o.state && node == o.node; }
  };
  void rank_changed(uint32_t rank, RankState state, uint64_t node) override {
    EXPECT_EQ(rank, 3u);
    changes.push_back({state, node});
  }
  std::vector<Change> changes;
};

TEST_F(RankEngineTest, ObserverSeesEveryChangeOnce) {
  feeder.add(comp(10));                                  // id 100
  services.latency[feeder.add(collective(1))] = 15;      // 101
  feeder.add(comp(0), {0});                              // 102: no time, never seen
  services.latency[feeder.add(memory(1), {1})] = 5;      // 103
  services.latency[feeder.add(collective(1), {3})] = 5;  // 104
  services.latency[feeder.add(collective(1), {3})] = 7;  // 105
  make();
  Recorder recorder;
  engine->set_observer(&recorder);
  engine->start();
  services.run();
  const std::vector<Recorder::Change> expected = {
      {RankState::idle, kNoNode},     {RankState::compute, 100},       {RankState::communication, 101},
      {RankState::local_memory, 103}, {RankState::communication, 104}, {RankState::communication, 105},
      {RankState::idle, kNoNode}};
  EXPECT_EQ(recorder.changes.size(), expected.size());
  EXPECT_TRUE(recorder.changes == expected);
}

TEST_F(RankEngineTest, StallReportSaysWhatEachNodeWaitsFor) {
  feeder.add(p2p(NodeType::comm_recv, 7, 5, 64));  // 100
  feeder.add(p2p(NodeType::comm_send, 6, 4, 32));  // 101
  feeder.add(collective(128, "tp", 2));            // 102
  feeder.add(memory(256, true));                   // 103
  feeder.add(comp(10), {0});                       // 104
  npu.cpu_slots = 0;
  feeder.add(comp(10, true));  // 105
  run();
  const std::vector<Stall> stalls = engine->describe_stall(10);
  ASSERT_EQ(stalls.size(), 6u);
  using W = Stall::WaitsFor;
  const W kinds[] = {W::receive, W::send, W::collective, W::memory, W::slot, W::dependency};
  for (int i = 0; i < 6; ++i) EXPECT_EQ(stalls[i].waits_for, kinds[i]) << stalls[i].text;
  EXPECT_EQ(stalls[0].peer, 7u);
  EXPECT_EQ(stalls[0].tag, 5u);
  EXPECT_NE(stalls[0].text.find(
                "rank 3, node 100 \"\" (COMM_RECV) waits for a message of 64 bytes from rank 7, tag 5"),
            std::string::npos)
      << stalls[0].text;
  EXPECT_EQ(stalls[2].group, "tp");
  EXPECT_EQ(stalls[2].ordinal, 2u);
  EXPECT_EQ(stalls[4].node, 105u);
  EXPECT_EQ(stalls[5].node, 104u);
  EXPECT_EQ(stalls[5].dependency, 100u);
  EXPECT_EQ(engine->describe_stall(2).size(), 3u);  // two started, one blocked
}

// ---- random graphs against an independent reckoning
// --------------------------------------------------------------------

class RandomGraph : public ::testing::TestWithParam<uint32_t> {};

TEST_P(RandomGraph, CategoriesSlotsAndDependenciesHold) {
  std::mt19937 random(GetParam());
  const auto pick = [&](uint32_t n) { return static_cast<uint32_t>(random() % n); };
  NpuConfig npu;
  npu.cpu_slots = 1 + pick(2);
  npu.compute_slots = 1 + pick(3);
  MemoryFeeder feeder;
  FakeServices services;
  services.synchronous = pick(2) == 0;
  const uint32_t n = 1 + pick(80);
  for (uint32_t i = 0; i < n; ++i) {
    std::vector<NodeIndex> deps;
    for (uint32_t k = pick(3); i > 0 && k > 0; --k) deps.push_back(pick(i));
    const Picoseconds time = pick(4) == 0 ? 0 : pick(1000);
    NodeIndex node;
    switch (pick(8)) {
      case 0:
      case 1:
        node = feeder.add(comp(time), deps);
        break;
      case 2:
        node = feeder.add(comp(time, true), deps);
        break;
      case 3:
        node = feeder.add(memory(1 + pick(100), false, pick(2) == 0), deps);
        break;
      case 4:
        node = feeder.add(memory(1 + pick(100), true, pick(2) == 0), deps);
        break;
      case 5:
        node = feeder.add(collective(pick(100)), deps);
        break;
      case 6:
        node = feeder.add(p2p(NodeType::comm_send, 1, 2, 3), deps);
        break;
      default:
        node = feeder.add(p2p(NodeType::comm_recv, 1, 2, 3), deps);
    }
    services.latency[node] = time;
  }
  RankEngine engine(0, npu, feeder, services);
  services.engine = &engine;
  engine.start();
  const Picoseconds end = services.run() + pick(100);
  ASSERT_TRUE(engine.finished());
  EXPECT_TRUE(engine.describe_stall(10).empty());
  EXPECT_EQ(engine.state(), RankState::idle);

  // Sweep over the intervals the hardware saw.
  std::vector<Picoseconds> cuts = {0, end};
  for (const auto& [node, interval] : services.started) {
    cuts.push_back(interval.begin);
    cuts.push_back(interval.end);
  }
  std::sort(cuts.begin(), cuts.end());
  std::array<Picoseconds, kRankStates> spent{};
  for (size_t c = 0; c + 1 < cuts.size(); ++c) {
    if (cuts[c] == cuts[c + 1]) continue;
    int state = 0;
    uint32_t cpu = 0;
    uint32_t compute = 0;
    for (const auto& [index, interval] : services.started) {
      if (interval.begin > cuts[c] || interval.end < cuts[c + 1]) continue;
      const trace::Node& node = feeder.node(index);
      int mine = 1;
      if (node.type == NodeType::comp) {
        mine = 4;
        ++(node.is_cpu_op ? cpu : compute);
      } else if (node.type == NodeType::mem_load || node.type == NodeType::mem_store) {
        mine = node.location != trace::Location::local ? 2 : 3;
      }
      state = std::max(state, mine);
    }
    EXPECT_LE(cpu, npu.cpu_slots);
    EXPECT_LE(compute, npu.compute_slots);
    spent[state] += cuts[c + 1] - cuts[c];
  }
  const Categories categories = engine.categories(end);
  EXPECT_EQ(categories.total(), end);
  EXPECT_EQ(categories.idle, spent[0]);
  EXPECT_EQ(categories.communication, spent[1]);
  EXPECT_EQ(categories.remote_memory, spent[2]);
  EXPECT_EQ(categories.local_memory, spent[3]);
  EXPECT_EQ(categories.compute, spent[4]);

  std::vector<size_t> place(n);
  for (size_t i = 0; i < feeder.order.size(); ++i) place[feeder.order[i]] = i;
  for (NodeIndex node = 0; node < n; ++node) {
    for (const NodeIndex dep : feeder.deps(node)) {
      EXPECT_LT(place[dep], place[node]);
      const auto child = services.started.find(node);
      const auto parent = services.started.find(dep);
      if (child != services.started.end() && parent != services.started.end()) {
        EXPECT_GE(child->second.begin, parent->second.end);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomGraph, ::testing::Range(0u, 300u));

// ---- cost of a COMP node
// -----------------------------------------------------------------------------------------------

TEST(TimeOf, IsExactAndRoundsUp) {
  EXPECT_EQ(time_of(0, 1e12), 0u);
  EXPECT_EQ(time_of(1, 1e12), 1u);
  EXPECT_EQ(time_of(1, 234e12), 1u);
  EXPECT_EQ(time_of(234, 234e12), 1u);
  EXPECT_EQ(time_of(235, 234e12), 2u);
  EXPECT_EQ(time_of(234'000'000'000'001, 234e12),
            1'000'000'000'001u);  // a double's quotient cannot tell these apart
  EXPECT_EQ(time_of(9'007'199'254'740'993, 1e12), 9'007'199'254'740'993u);
  EXPECT_EQ(time_of(3, 0.75), 4'000'000'000'000u);
  EXPECT_EQ(time_of(1, 0.1), 10'000'000'000'000u);  // the double 0.1 is a little more than a tenth
  EXPECT_EQ(time_of(UINT64_MAX, 1e12), kNever);
  EXPECT_EQ(time_of(UINT64_MAX, 1e-300), kNever);
  EXPECT_EQ(time_of(UINT64_MAX, 1e300), 1u);
  EXPECT_EQ(time_of(UINT64_MAX, 4e12), (UINT64_MAX / 4) + 1);
}

TEST(ComputeCost, RooflineOrRecording) {
  NpuConfig npu;
  npu.peak_flops = 100e12;
  npu.memory_bandwidth = 1e12;
  trace::Node node = work(1000, 5);  // 10 ps of operations, 5 ps of memory
  EXPECT_EQ(compute_cost(node, npu).time, 10u);
  node.tensor_size = 30;
  EXPECT_EQ(compute_cost(node, npu).time, 30u);
  node.has_duration = true;
  node.duration = 77;
  EXPECT_EQ(compute_cost(node, npu).time, 77u);
  npu.roofline = true;
  EXPECT_EQ(compute_cost(node, npu).time, 30u);
  npu.memory_bandwidth = 0;
  EXPECT_EQ(compute_cost(node, npu).time, 10u);
  npu.peak_flops = 0;
  EXPECT_EQ(compute_cost(node, npu).time, 77u);
  EXPECT_TRUE(compute_cost(node, npu).known);
  node.has_duration = false;
  EXPECT_FALSE(compute_cost(node, npu).known);
  EXPECT_EQ(compute_cost(node, npu).time, 0u);
}

}  // namespace
}  // namespace weft::graph
