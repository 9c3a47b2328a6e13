// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "workload/graph/layers.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

#include "tests/graph/fakes.h"

namespace weft::graph {
namespace {

std::string text(const std::string& name) {
  const LayerName found = layer_of(name);
  return (found.iteration.empty() ? "" : found.iteration + ":") + found.layer;
}

TEST(Layers, AreReadFromNames) {
  // Of `weft generate llm`.
  EXPECT_EQ(text("mb0.forward.layer3.attention.all_reduce"), "layer3");
  EXPECT_EQ(text("mb12.backward.layer10.mlp_up"), "layer10");
  EXPECT_EQ(text("mb0.forward.embedding.all_reduce"), "embedding");
  EXPECT_EQ(text("optimizer.weights.all_gather"), "optimizer");
  // Of STAGE.
  EXPECT_EQ(text("mb4.transformer.0._sharded_grad@0_X1COMM"), "transformer.0");
  EXPECT_EQ(text("shadow_mb2.transformer.4.input_norm.dx@0_Y_RECV"), "transformer.4");
  EXPECT_EQ(text("in_emb.w@0_COMP"), "in_emb");
  EXPECT_EQ(text("mb1.out_emb.y@0_COMP"), "out_emb");
  // Others.
  EXPECT_EQ(text("model.layers.17.self_attn.q_proj"), "layers.17");
  EXPECT_EQ(text("model/Block_7/mlp"), "Block_7");
  EXPECT_EQ(text("layer3_attention"), "layer3");
  EXPECT_EQ(text("h.2.ln"), "h.2");
  EXPECT_EQ(text("iter5.mb1.layer2.fwd"), "5:layer2");
  EXPECT_EQ(text("step-12.optimizer.adam"), "12:optimizer");
  EXPECT_EQ(text("iteration_3.forward.loss"), "3:loss");
  // A layer behind another word is found all the same.
  EXPECT_EQ(text("gradients.layer4.all_reduce"), "layer4");
  // No layer: a word alone, what profilers call kernels, and numbers without a word.
  for (const char* none : {"", "all_reduce_8npus_1MB", "comp1", "aten::mul(1)", "c10d::allreduce_(0)",
                           "ncclKernel_AllReduce(x.1)", "void at::native::f<4u>(float*, 1.5)", "7.8.9", "...",
                           ".layer", "mb3", "mb3.forward", "layer", "layerx3"}) {
    EXPECT_EQ(text(none), "") << none;
  }
}

TEST(Layers, TheTimeOfARankGoesToTheOldestNodeOfItsState) {
  MemoryFeeder feeder;
  FakeServices services;
  const auto named = [](trace::Node node, const char* name) {
    node.name = name;
    return node;
  };
  // 0..5 and 0..10 compute; 0..25 communication b, under it from 10 on; 5..40 communication c, which starts
  // later.
  const auto a = feeder.add(named(comp(10), "m.layer0.a"));
  const auto b = feeder.add(named(collective(1), "m.layer1.b"));
  const auto wait = feeder.add(named(comp(5, true), "m.layer2.wait"));
  const auto c = feeder.add(named(collective(1), "m.layer0.c"), {wait});
  // 45..52 remote memory after a pause.
  const auto m = feeder.add(named(memory(8, true), "m.layer2.m"), {c});
  services.latency = {{b, 25}, {c, 35}, {m, 12}};
  const NpuConfig npu;
  RankEngine engine(0, npu, feeder, services);
  LayerTable table;
  engine.set_layers(table);
  services.engine = &engine;
  engine.start();
  EXPECT_EQ(services.run(), 52u);
  ASSERT_EQ(table.layers().size(), 3u);
  const auto layers = engine.layers()->times(60);
  const auto of = [&](const char* layer, RankState state) {
    for (size_t l = 0; l < layers.size(); ++l) {
      if (table.layers()[l].layer == layer) return layers[l].spent[static_cast<size_t>(state)];
    }
    return kNever;
  };
  EXPECT_EQ(of("layer2", RankState::compute), 5u);  // of the two at work at first, the CPU's started first
  EXPECT_EQ(of("layer0", RankState::compute), 5u);
  EXPECT_EQ(of("layer1", RankState::communication), 15u);  // 10 .. 25
  EXPECT_EQ(of("layer0", RankState::communication), 15u);  // 25 .. 40
  EXPECT_EQ(of("layer2", RankState::remote_memory), 12u);
  EXPECT_EQ(layers[0].nodes + layers[1].nodes + layers[2].nodes, 5u);
  static_cast<void>(a);
}

TEST(Layers, AddUpToTheRanksCategories) {
  std::mt19937 random(9);
  for (int run = 0; run < 50; ++run) {
    MemoryFeeder feeder;
    FakeServices services;
    NpuConfig npu;
    npu.compute_slots = 1 + random() % 3;
    for (uint32_t i = 0; i < 60; ++i) {
      std::vector<trace::NodeIndex> deps;
      for (uint32_t d = 0; d < random() % 3 && i > 0; ++d) deps.push_back(random() % i);
      trace::Node node = random() % 3 == 0   ? comp(1 + random() % 30)
                         : random() % 2 == 0 ? collective(100)
                                             : memory(64, random() % 2 == 0);
      node.name = "x.layer" + std::to_string(random() % 4) + ".y";
      const auto index = feeder.add(node, deps);
      services.latency[index] = random() % 40;
    }
    RankEngine engine(0, npu, feeder, services);
    LayerTable table;
    engine.set_layers(table);
    services.engine = &engine;
    engine.start();
    const Picoseconds end = services.run() + 7;
    ASSERT_TRUE(engine.finished());
    std::array<Picoseconds, kRankStates> sum{};
    uint64_t nodes = 0;
    for (const LayerTime& layer : engine.layers()->times(end)) {
      for (size_t s = 0; s < kRankStates; ++s) sum[s] += layer.spent[s];
      nodes += layer.nodes;
    }
    const Categories categories = engine.categories(end);
    EXPECT_EQ(sum[static_cast<size_t>(RankState::compute)], categories.compute);
    EXPECT_EQ(sum[static_cast<size_t>(RankState::local_memory)], categories.local_memory);
    EXPECT_EQ(sum[static_cast<size_t>(RankState::remote_memory)], categories.remote_memory);
    EXPECT_EQ(sum[static_cast<size_t>(RankState::communication)], categories.communication);
    EXPECT_EQ(sum[static_cast<size_t>(RankState::idle)], 0u);
    EXPECT_EQ(nodes, 60u);
  }
}

}  // namespace
}  // namespace weft::graph
