// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "workload/graph/bounds.h"

#include <gtest/gtest.h>

#include "tests/graph/fakes.h"

namespace weft::graph {
namespace {

using trace::NodeType;

CostModel costs(Picoseconds memory_ps, Picoseconds collective_ps, Picoseconds send_ps) {
  CostModel model;
  model.memory = [=](uint32_t, const trace::Node&) { return memory_ps; };
  model.collective = [=](uint32_t rank, const trace::Node&) { return collective_ps + rank; };
  model.send = [=](uint32_t, const trace::Node&) { return send_ps; };
  return model;
}

TEST(Bounds, LowerIsTheBusiestRankOrTheLongestPath) {
  NpuConfig npu;
  npu.compute_slots = 2;
  Bounds bounds(npu, costs(1, 2, 3), costs(10, 20, 30));
  EXPECT_EQ(bounds.lower(), 0u);
  bounds.add(0, comp(100));
  bounds.add(0, comp(101));
  EXPECT_EQ(bounds.lower(), 101u);  // 201 on two slots, rounded up
  bounds.add(1, comp(60, true));
  bounds.add(1, comp(60, true));
  EXPECT_EQ(bounds.lower(), 120u);  // one CPU slot
  bounds.path(2, 130);
  bounds.path(2, 90);
  EXPECT_EQ(bounds.lower(), 130u);
}

TEST(Bounds, UpperIsTheSerialSumWithEachCollectiveOnce) {
  Bounds bounds(NpuConfig{}, costs(1, 2, 3), costs(10, 20, 30));
  for (uint32_t rank = 0; rank < 4; ++rank) {
    bounds.add(rank, comp(100));
    bounds.add(rank, memory(5));
    bounds.add(rank, collective(8, "", 0));
    bounds.add(rank, collective(8, "", 1));
    bounds.add(rank, collective(8, rank < 2 ? "a" : "b", 0));
    trace::Node wrapper = collective(8, "", 2);
    wrapper.has_comm_type = false;
    bounds.add(rank, wrapper);
  }
  bounds.add(0, p2p(NodeType::comm_send, 1, 0, 8));
  bounds.add(1, p2p(NodeType::comm_recv, 0, 0, 8));
  // The dearest member counts: rank 3 of "", rank 1 of "a", rank 3 of "b".
  EXPECT_EQ(bounds.upper(), 4u * 110 + 23 + 23 + 21 + 23 + 30);
}

TEST(Bounds, MinimalCostUsesTheMinimalModel) {
  NpuConfig npu;
  npu.peak_flops = 1e12;
  const Bounds bounds(npu, costs(1, 2, 3), costs(10, 20, 30));
  EXPECT_EQ(bounds.minimal_cost(0, work(7, 0)), 7u);
  EXPECT_EQ(bounds.minimal_cost(0, memory(5)), 1u);
  EXPECT_EQ(bounds.minimal_cost(5, collective(5)), 7u);
  EXPECT_EQ(bounds.minimal_cost(0, p2p(NodeType::comm_send, 1, 0, 8)), 3u);
  EXPECT_EQ(bounds.minimal_cost(0, p2p(NodeType::comm_recv, 1, 0, 8)), 0u);
  trace::Node metadata;
  metadata.type = NodeType::metadata;
  EXPECT_EQ(bounds.minimal_cost(0, metadata), 0u);
}

TEST(Bounds, SumsSaturate) {
  Bounds bounds(NpuConfig{}, {}, {});
  bounds.add(0, comp(kNever - 1));
  bounds.add(0, comp(kNever - 1));
  bounds.add(1, collective(5));
  EXPECT_EQ(bounds.lower(), kNever);
  EXPECT_EQ(bounds.upper(), kNever);
}

}  // namespace
}  // namespace weft::graph
