// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// The sizes of a transformer and of its parts, and arithmetic that refuses what does not fit a trace. Private
// to the generator of training steps.

#ifndef WEFT_WORKLOAD_GENERATE_LLM_SHAPE_H
#define WEFT_WORKLOAD_GENERATE_LLM_SHAPE_H

#include <array>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <string>

#include "workload/generate/llm.h"

namespace weft::generate {

/// num_ops and comm_size are int64 on the wire.
constexpr uint64_t kMaxValue = std::numeric_limits<int64_t>::max();

/// Throws UserError(usage).
[[noreturn]] void usage(const std::string& message);

/// Both throw UserError(usage) above kMaxValue.
uint64_t product(std::initializer_list<uint64_t> factors);
uint64_t sum(std::initializer_list<uint64_t> terms);

inline uint64_t ceil_div(uint64_t a, uint64_t b) {
  return a / b + (a % b != 0 ? 1 : 0);
}

enum Axis : uint8_t { kTp, kDp, kPp };

/// Innermost first. Throws UserError(usage) on anything but a permutation.
std::array<Axis, 3> parse_order(const std::string& text);

/// Everything that follows from the parameters.
struct LlmShape {
  explicit LlmShape(const LlmConfig& c);

  uint32_t rank(uint32_t t, uint32_t d, uint32_t p) const {
    return static_cast<uint32_t>(t * strides[kTp] + d * strides[kDp] + p * strides[kPp]);
  }
  uint32_t ranks() const { return tp * dp * pp; }

  // Group names are numbers, which every reader of Chakra traces takes.
  uint64_t tp_groups() const { return tp > 1 ? uint64_t{dp} * pp : 0; }
  uint64_t dp_groups() const { return dp > 1 ? uint64_t{tp} * pp : 0; }
  uint64_t tp_group(uint32_t d, uint32_t p) const { return 1 + uint64_t{p} * dp + d; }
  uint64_t dp_group(uint32_t t, uint32_t p) const { return 1 + tp_groups() + uint64_t{p} * tp + t; }

  uint32_t tp, dp, pp;
  uint32_t virtual_stages;
  uint32_t stage_layers;  ///< of one virtual stage
  uint32_t microbatches;
  uint32_t zero;
  bool sequence_parallel;
  uint32_t steps;
  LlmConfig::Recompute recompute;
  bool overlap;
  uint64_t bucket;
  uint64_t dtype, gradient;
  uint64_t hidden, ffn, heads, seq, vocab;
  uint64_t sequences;         ///< of a microbatch
  uint64_t tokens;            ///< of a microbatch
  uint64_t shard_tokens;      ///< of a microbatch in one rank, outside the tensor parallel blocks
  uint64_t activation;        ///< bytes of tokens x hidden
  uint64_t stage_activation;  ///< bytes of shard_tokens x hidden
  uint64_t layer_parameters;  ///< of one layer, all tensor parallel ranks
  uint64_t vocab_parameters;  ///< of the embedding, and of the output layer
  std::array<uint64_t, 3> strides{};
};

}  // namespace weft::generate

#endif
