// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Cycles of a systolic array: published values, relations that hold whatever the sizes, and the model in an
// NPU.

#include <gtest/gtest.h>

#include <random>

#include "workload/compute/systolic.h"
#include "workload/graph/compute_cost.h"

namespace weft {
namespace {

using compute::cycles;
using compute::Dataflow;
using compute::Gemm;
using compute::SystolicArray;

constexpr Dataflow kAll[] = {Dataflow::output_stationary, Dataflow::weight_stationary,
                             Dataflow::input_stationary, Dataflow::tpu};

TEST(Systolic, PublishedEquations) {
  struct Case {
    uint64_t m, n, k, rows, cols, os, ws, is;
  };
  for (const Case& c : {Case{20, 12, 30, 8, 8, 264, 336, 408}, Case{8, 8, 8, 8, 8, 22, 30, 30},
                        Case{100, 33, 17, 16, 8, 1365, 1380, 1846}, Case{5, 3, 2, 8, 8, 16, 27, 25}}) {
    const Gemm gemm{c.m, c.k, c.n};
    EXPECT_EQ(cycles({c.rows, c.cols, Dataflow::output_stationary}, gemm), c.os) << c.m;
    EXPECT_EQ(cycles({c.rows, c.cols, Dataflow::weight_stationary}, gemm), c.ws) << c.m;
    EXPECT_EQ(cycles({c.rows, c.cols, Dataflow::input_stationary}, gemm), c.is) << c.m;
  }
}

TEST(Systolic, PublicTextFileOfAstraSim) {
  // ResNet-50's first layer forward is 13,003 cycles with 56 of its load; a wide one's weight gradient
  // 32,291.
  const SystolicArray array{256, 256, Dataflow::tpu};
  EXPECT_EQ(cycles(array, {12544, 147, 64}), 13003u - 56u);
  EXPECT_EQ(cycles(array, {147, 12544, 64}), 32291u);
}

TEST(Systolic, Convolution) {
  // AlexNet's first layer: 224 x 224 x 3, 96 filters of 11 x 11, stride 4.
  const Gemm gemm = compute::gemm_of({224, 224, 11, 11, 3, 96, 4});
  EXPECT_EQ(gemm.m, 55u * 55u);
  EXPECT_EQ(gemm.k, 363u);
  EXPECT_EQ(gemm.n, 96u);
  // SCALE-sim prints the number of the last cycle, 112,283.
  EXPECT_EQ(cycles({32, 32, Dataflow::weight_stationary}, gemm), 112284u);
  EXPECT_EQ(compute::gemm_of({224, 224, 11, 11, 3, 96, 4}, 8).m, 8u * 55u * 55u);
}

TEST(Systolic, RelationsOfDrawnSizes) {
  std::mt19937_64 random(7);
  const auto draw = [&](uint64_t most) { return 1 + random() % most; };
  for (int i = 0; i < 2000; ++i) {
    const Gemm gemm{draw(500), draw(500), draw(500)};
    SystolicArray array{draw(64), draw(64), kAll[i % 4]};
    const uint64_t time = cycles(array, gemm);
    // A processing element multiplies once a cycle.
    EXPECT_GE(time * array.rows * array.cols, gemm.m * gemm.k * gemm.n);
    // Larger products take as long or longer.
    EXPECT_GE(cycles(array, {gemm.m + draw(9), gemm.k, gemm.n}), time);
    EXPECT_GE(cycles(array, {gemm.m, gemm.k + draw(9), gemm.n}), time);
    EXPECT_GE(cycles(array, {gemm.m, gemm.k, gemm.n + draw(9)}), time);
    // Several arrays are no slower than one, and one part is the array itself.
    EXPECT_EQ(compute::scaled_out_cycles(array, gemm, 1, 1), time);
    EXPECT_LE(compute::scaled_out_cycles(array, gemm, draw(4), draw(4)), time);
    // Input stationary is weight stationary with the operands exchanged.
    array.dataflow = Dataflow::weight_stationary;
    const uint64_t weights = cycles(array, gemm);
    array.dataflow = Dataflow::input_stationary;
    EXPECT_EQ(cycles(array, {gemm.n, gemm.k, gemm.m}), weights);
  }
}

TEST(Systolic, Extremes) {
  EXPECT_EQ(cycles({8, 8, Dataflow::weight_stationary}, {0, 4, 4}), 0u);
  const uint64_t huge = ~uint64_t{0};
  for (const Dataflow dataflow : kAll) EXPECT_EQ(cycles({1, 1, dataflow}, {huge, huge, huge}), huge);
  EXPECT_EQ(compute::parse_dataflow("ws_tpu", "here"), Dataflow::tpu);
  EXPECT_THROW(compute::parse_dataflow("wss", "here"), UserError);
}

TEST(Systolic, TimesTheNodesOfAnNpu) {
  NpuConfig npu;
  npu.model = "systolic";
  npu.rows = npu.cols = 8;
  npu.dataflow = "os";
  npu.clock_hz = 2e9;
  npu.memory_bandwidth = 1e9;
  npu.peak_flops = 1e12;
  trace::Node node;
  node.gemm[0] = 20;
  node.gemm[1] = 30;
  node.gemm[2] = 12;
  node.num_ops = 2 * 20 * 30 * 12;
  EXPECT_EQ(graph::compute_cost(node, npu).time, 264u * 500u);
  node.delay_cycles = 10;
  EXPECT_EQ(graph::compute_cost(node, npu).time, 274u * 500u);
  // Its bytes take longer.
  node.tensor_size = 1000;
  EXPECT_EQ(graph::compute_cost(node, npu).time, 1000u * 1000u);
  // No matrix product: the roofline.
  node.gemm[1] = 0;
  node.tensor_size = 0;
  EXPECT_EQ(graph::compute_cost(node, npu).time, 14400u);
  npu.model = "roofline";
  node.gemm[1] = 30;
  EXPECT_EQ(graph::compute_cost(node, npu).time, 14400u);
}

}  // namespace
}  // namespace weft
