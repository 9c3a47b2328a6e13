// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "workload/graph/compute_cost.h"

#include <algorithm>
#include <cmath>

#include "workload/compute/systolic.h"

namespace weft::graph {

namespace {

int bits(Wide value) {
  const auto high = static_cast<uint64_t>(value >> 64);
  const auto low = static_cast<uint64_t>(value);
  if (high != 0) return 128 - __builtin_clzll(high);
  return low == 0 ? 0 : 64 - __builtin_clzll(low);
}

}  // namespace

Picoseconds time_of(uint64_t amount, double per_second) {
  if (amount == 0) return 0;
  // A double is mantissa * 2^exponent, so that the quotient can be formed in integers.
  int exponent = 0;
  auto mantissa = static_cast<uint64_t>(std::ldexp(std::frexp(per_second, &exponent), 53));
  exponent -= 53;
  const int zeros = __builtin_ctzll(mantissa);  // of 2^52 or more
  mantissa >>= zeros;
  exponent += zeros;
  Wide numerator = static_cast<Wide>(amount) * 1000000000000ull;
  Wide denominator = mantissa;
  if (exponent >= 0) {
    if (bits(denominator) + exponent > 126) return 1;  // the numerator has at most 104 bits
    denominator <<= exponent;
  } else {
    // Beyond 126 bits, over a mantissa of 53, the quotient has more than 64.
    if (bits(numerator) - exponent > 126) return kNever;
    numerator <<= -exponent;
  }
  const Wide quotient = (numerator + denominator - 1) / denominator;
  return quotient >= kNever ? kNever : static_cast<Picoseconds>(quotient);
}

namespace {

bool is_gemm(const trace::Node& node) {
  return node.gemm[0] != 0 && node.gemm[1] != 0 && node.gemm[2] != 0;
}

/// The array's cycles, and `delay` cycles of other work; or the time of the node's bytes, if that is longer.
Picoseconds systolic_time(const trace::Node& node, const NpuConfig& npu) {
  const compute::SystolicArray array{npu.rows, npu.cols,
                                     compute::parse_dataflow(npu.dataflow, "npu.dataflow")};
  const uint64_t product = compute::cycles(array, {node.gemm[0], node.gemm[1], node.gemm[2]});
  const Wide cycles = static_cast<Wide>(product) + node.delay_cycles;
  if (cycles > ~uint64_t{0}) return kNever;
  const Picoseconds memory = npu.memory_bandwidth > 0 ? time_of(node.tensor_size, npu.memory_bandwidth) : 0;
  return std::max(time_of(static_cast<uint64_t>(cycles), npu.clock_hz), memory);
}

}  // namespace

ComputeCost compute_cost(const trace::Node& node, const NpuConfig& npu) {
  if (npu.model == "systolic" && is_gemm(node)) return {systolic_time(node, npu), true};
  if (node.has_duration && !npu.roofline) return {node.duration, true};
  const bool compute_side = node.num_ops > 0 && npu.peak_flops > 0;
  const bool memory_side = node.tensor_size > 0 && npu.memory_bandwidth > 0;
  if (compute_side || memory_side) {
    const Picoseconds compute = compute_side ? time_of(node.num_ops, npu.peak_flops) : 0;
    const Picoseconds memory = memory_side ? time_of(node.tensor_size, npu.memory_bandwidth) : 0;
    return {std::max(compute, memory), true};
  }
  if (node.has_duration) return {node.duration, true};
  return {};
}

}  // namespace weft::graph
