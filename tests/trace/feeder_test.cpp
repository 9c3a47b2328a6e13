// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "workload/trace/trace_feeder.h"

#include <algorithm>
#include <map>
#include <random>
#include <stdexcept>

#include "tests/trace/trace_files.h"

namespace weft::trace::test {
namespace {

struct Graph {
  std::vector<PbNode> nodes;                          // in file order
  std::map<uint64_t, std::vector<uint64_t>> parents;  // by id
};

enum class Order { topological, reversed, random };

// A random graph with random 64-bit ids; some nodes have very many parents.
Graph random_graph(uint64_t seed, size_t n, Order order) {
  std::mt19937_64 random(seed);
  std::vector<uint64_t> ids(n);
  for (auto& id : ids) id = random();
  if (seed % 2 == 0 && order == Order::topological) std::sort(ids.begin(), ids.end());
  Graph graph;
  for (size_t i = 0; i < n; ++i) {
    PbNode node = random() % 4 == 0 ? collective(ids[i], ChakraProtoMsg::ALL_REDUCE, 8) : comp(ids[i]);
    const size_t parents = i == 0 ? 0 : random() % 200 == 0 ? random() % (i + 1) : random() % 4;
    for (size_t k = 0; k < parents; ++k) {
      const uint64_t p = ids[random() % 3 == 0 ? random() % i : i - 1 - random() % std::min<size_t>(i, 10)];
      if (random() % 2 == 0) {
        node.add_data_deps(p);
      } else {
        node.add_ctrl_deps(p);
      }
      graph.parents[ids[i]].push_back(p);
    }
    if (random() % 50 == 0) node.set_name(std::string(random() % 9000, 'n'));
    graph.nodes.push_back(node);
  }
  if (order == Order::reversed) std::reverse(graph.nodes.begin(), graph.nodes.end());
  if (order == Order::random) std::shuffle(graph.nodes.begin(), graph.nodes.end(), random);
  return graph;
}

// Runs the whole trace with nodes that finish in random order, checks every hand-out against the graph, and
// gives the order in which nodes were taken, each with the node that released it.
std::vector<NodeIndex> run(const TraceIndex& index, const Graph& graph, uint64_t cache_bytes, uint64_t seed,
                           uint64_t taken_bytes = 64 << 20) {
  FeederBudget budget;
  budget.cache_bytes = cache_bytes;
  budget.taken_bytes = taken_bytes;
  TraceFeeder feeder(index, budget);
  feeder.keep_order();
  std::map<uint64_t, size_t> position;
  for (size_t i = 0; i < graph.nodes.size(); ++i) position[graph.nodes[i].id()] = i;
  std::vector<bool> done(graph.nodes.size()), taken(graph.nodes.size());
  std::vector<const Node*> running;
  std::vector<NodeIndex> order;
  std::mt19937_64 random(seed);
  for (;;) {
    NodeIndex last = kNoNode;
    while (const Node* node = feeder.take_ready()) {
      const PbNode& expected = graph.nodes.at(node->index);
      EXPECT_EQ(node->id, expected.id());
      EXPECT_EQ(node->name, expected.name());
      EXPECT_FALSE(taken[node->index]) << "taken twice";
      taken[node->index] = true;
      const auto parents = graph.parents.find(node->id);
      if (parents != graph.parents.end()) {
        for (uint64_t p : parents->second)
          EXPECT_TRUE(done[position[p]]) << "taken before its dependency was finished";
      }
      if (last != kNoNode) {
        EXPECT_GT(node->index, last) << "not the lowest in the file";
      }
      last = node->index;
      order.push_back(node->index);
      order.push_back(feeder.released_by(node->index));
      running.push_back(node);
      if (::testing::Test::HasFailure()) return order;
    }
    if (running.empty()) break;
    std::swap(running[random() % running.size()], running.back());
    const NodeIndex i = running.back()->index;
    running.pop_back();
    done[i] = true;
    feeder.finished(i);
  }
  EXPECT_EQ(order.size(), 2 * graph.nodes.size()) << "not every node was taken";
  EXPECT_EQ(feeder.finished_count(), feeder.node_count());
  return order;
}

TEST(TraceFeeder, RespectsDependenciesOnRandomGraphsWhateverTheWindow) {
  for (const Order order : {Order::topological, Order::reversed, Order::random}) {
    for (uint64_t seed = 1; seed <= 4; ++seed) {
      TempFolder folder;
      const std::string path = folder / "t.0.et";
      const Graph graph = random_graph(seed, 3000, order);
      write_trace(path, graph.nodes);
      TraceIndex index(path, 0, {});
      const auto roomy = run(index, graph, 64 << 20, seed);
      const auto tight = run(index, graph, 8 << 10, seed);
      EXPECT_EQ(roomy, tight) << "the order depends on the window";
      ASSERT_GT(index.keep_decoded(1 << 30), 0u);
      EXPECT_EQ(roomy, run(index, graph, 8 << 10, seed)) << "the order depends on what is kept decoded";
      if (HasFailure()) return;
    }
  }
}

TEST(TraceFeeder, ObeysItsBudget) {
  for (const Order order : {Order::topological, Order::reversed, Order::random}) {
    TempFolder folder;
    const std::string path = folder / "t.0.et";
    Graph graph = random_graph(9, 20000, order);
    for (PbNode& node : graph.nodes) node.set_type(ChakraProtoMsg::COMP_NODE);
    write_trace(path, graph.nodes);
    const TraceIndex index(path, 0, {});
    ASSERT_GT(index.stats().file_bytes, 4u << 20);
    FeederBudget budget;
    budget.cache_bytes = 256 << 10;
    budget.taken_bytes = 64 << 10;
    TraceFeeder feeder(index, budget);
    uint64_t most = 0, done = 0;
    std::vector<NodeIndex> running;
    for (;;) {
      while (const Node* node = feeder.take_ready()) running.push_back(node->index);
      most = std::max(most, feeder.window_bytes());
      if (running.empty()) break;
      feeder.finished(running.back());
      running.pop_back();
      ++done;
    }
    EXPECT_EQ(done, graph.nodes.size());
    // Beside the budget: block tables, one node's bytes, and communication nodes, which are always let
    // through.
    EXPECT_LT(most, budget.cache_bytes + 4 * budget.taken_bytes + (256 << 10));
  }
}

TEST(TraceFeeder, AFullWindowLetsCommunicationThrough) {
  TempFolder folder;
  const std::string path = folder / "t.0.et";
  std::vector<PbNode> nodes;
  for (uint64_t i = 0; i < 1000; ++i)
    nodes.push_back(i % 2 == 0 ? comp(i) : collective(i, ChakraProtoMsg::BARRIER, 0));
  write_trace(path, nodes);
  const TraceIndex index(path, 0, {});
  FeederBudget budget;
  budget.taken_bytes = 20000;
  TraceFeeder feeder(index, budget);
  std::vector<NodeIndex> computes;
  size_t communications = 0;
  const auto drain = [&] {
    while (const Node* node = feeder.take_ready()) {
      if (node->type == NodeType::comp) {
        computes.push_back(node->index);
      } else {
        ++communications;
      }
    }
  };
  drain();
  EXPECT_EQ(communications, 500u);
  const size_t at_once = computes.size();
  EXPECT_GT(at_once, 0u);
  EXPECT_LT(at_once, 200u);
  EXPECT_EQ(feeder.take_ready(), nullptr);
  // None of the communication finishes, and still all the rest comes.
  for (size_t i = 0; i < computes.size(); ++i) {
    feeder.finished(computes[i]);
    drain();
  }
  EXPECT_EQ(computes.size(), 500u);
  EXPECT_EQ(feeder.finished_count(), 500u);
}

// Each waits for the next one in the file, and the first for all: the node that is looked at most.
TEST(TraceFeeder, ReversedChainWithAHugeFanIn) {
  TempFolder folder;
  const std::string path = folder / "t.0.et";
  const uint64_t n = 20000;
  std::vector<PbNode> nodes;
  PbNode all = comp(n);
  for (uint64_t i = 0; i < n; ++i) all.add_data_deps(i);
  nodes.push_back(all);
  for (uint64_t i = n; i-- > 0;) nodes.push_back(i == 0 ? comp(0) : comp(i, {i - 1}));
  write_trace(path, nodes);
  const TraceIndex index(path, 0, {});
  FeederBudget budget;
  budget.cache_bytes = 64 << 10;
  TraceFeeder feeder(index, budget);
  for (uint64_t expected = 0; expected <= n; ++expected) {
    const Node* node = feeder.take_ready();
    ASSERT_NE(node, nullptr);
    ASSERT_EQ(node->id, expected);
    ASSERT_EQ(feeder.take_ready(), nullptr);
    feeder.finished(node->index);
  }
  EXPECT_EQ(feeder.finished_count(), n + 1);
}

TEST(TraceFeeder, BlockedNodesNameWhatTheyWaitFor) {
  TempFolder folder;
  const std::string path = folder / "t.0.et";
  write_trace(path, {comp(1), comp(2, {1}), comp(3, {1, 2}), comp(4, {77})});
  const TraceIndex index(path, 0, {});
  TraceFeeder feeder(index);
  EXPECT_EQ(feeder.take_ready()->id, 1u);
  EXPECT_EQ(feeder.take_ready()->id, 4u);  // its dependency dangles
  EXPECT_EQ(feeder.take_ready(), nullptr);
  auto blocked = feeder.blocked(10);
  ASSERT_EQ(blocked.size(), 2u);
  EXPECT_EQ(blocked[0].id, 2u);
  EXPECT_EQ(blocked[0].waits_for_id, 1u);
  EXPECT_EQ(blocked[0].waits_for_name, "comp1");
  EXPECT_EQ(feeder.blocked(1).size(), 1u);
  feeder.finished(0);
  blocked = feeder.blocked(10);
  ASSERT_EQ(blocked.size(), 1u);
  EXPECT_EQ(blocked[0].id, 3u);
  EXPECT_EQ(blocked[0].waits_for_id, 2u);
}

TEST(TraceFeeder, FinishingWhatWasNotTakenIsAProgrammingError) {
  TempFolder folder;
  const std::string path = folder / "t.0.et";
  write_trace(path, {comp(1), comp(2, {1})});
  const TraceIndex index(path, 0, {});
  TraceFeeder feeder(index);
  EXPECT_THROW(feeder.finished(0), std::logic_error);
  feeder.take_ready();
  EXPECT_THROW(feeder.finished(1), std::logic_error);
  EXPECT_THROW(feeder.finished(2), std::logic_error);
  feeder.finished(0);
  EXPECT_THROW(feeder.finished(0), std::logic_error);
}

TEST(ReadySet, SmallestOfASparseSet) {
  ReadySet set(300000);
  EXPECT_EQ(set.smallest(), ReadySet::kEmpty);
  for (uint64_t i : {299999u, 4096u, 70000u, 63u}) set.insert(i);
  for (uint64_t i : {63u, 4096u, 70000u, 299999u}) {
    EXPECT_EQ(set.smallest(), i);
    set.erase(i);
    EXPECT_FALSE(set.contains(i));
  }
  EXPECT_EQ(set.smallest(), ReadySet::kEmpty);
  EXPECT_EQ(ReadySet(0).smallest(), ReadySet::kEmpty);
}

}  // namespace
}  // namespace weft::trace::test
