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
#include <vector>

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

/// The coordinates of a rank. Data parallel ranks have two: the one in the inner group (of expert parallelism
/// or of a hybrid shard), and the number of that group.
enum Axis : uint8_t { kTp, kUlysses, kCp, kInner, kDp, kPp, kAxes };
using Place = std::array<uint32_t, kAxes>;

/// The words of LlmConfig::order, innermost first; ulysses and cp follow tp where they are not named. Throws
/// UserError(usage) on anything else.
std::vector<Axis> parse_order(const std::string& text);

/// Kinds of communicator groups. kData is all ranks with the same weights; with hybrid shard kShard and
/// kCopies take its place. kExpertData is the ranks with the same experts.
enum Kind : uint8_t { kTensor, kData, kContext, kHeads, kExperts, kExpertData, kShard, kCopies, kKinds };

/// The groups of a kind: their members differ in the coordinates of `axes`.
struct GroupKind {
  const char* name = "";
  std::vector<Axis> axes;
  uint32_t members = 1;  ///< 1: there is no such group
  uint64_t groups = 0;
  uint64_t first = 0;  ///< number of the first one
};

/// Parameters of a rank's part of a block of the model.
struct Weights {
  uint64_t dense = 0;
  uint64_t expert = 0;  ///< those that only the ranks of kExpertData have; 0 without expert parallelism
  Weights& operator+=(const Weights& other);
};

/// Everything that follows from the parameters.
struct LlmShape {
  explicit LlmShape(const LlmConfig& c);

  uint32_t rank(const Place& place) const;
  uint32_t ranks() const;
  /// Of a coordinate in manifests.
  const char* axis_name(Axis axis) const;

  uint32_t members(Kind kind) const { return kinds[kind].members; }
  /// Ranks that share a shard's collectives.
  Kind shard_kind(bool expert) const { return expert ? kExpertData : hybrid ? kShard : kData; }
  /// Group names are numbers, which every reader of Chakra traces takes.
  uint64_t group(Kind kind, const Place& place) const;
  /// Ascending.
  std::vector<uint32_t> group_members(Kind kind, uint64_t number) const;

  /// Layers are numbered from 0 through the model.
  bool is_moe(uint32_t layer) const { return experts > 0 && (layer + 1) % moe_every == 0; }
  Weights layer_weights(uint32_t layer) const;
  uint32_t moe_layers() const { return experts > 0 ? layers / moe_every : 0; }
  /// Of the model.
  uint64_t model_parameters() const;
  Weights vocab_weights() const { return {vocab_parameters / tp, 0}; }
  /// Of the layers of a virtual stage that are gathered with `index`, counted in that stage.
  Weights unit_weights(uint32_t stage, uint32_t index) const;
  bool begins_unit(uint32_t index) const { return index % fsdp_unit == 0; }
  bool ends_unit(uint32_t index) const { return (index + 1) % fsdp_unit == 0 || index + 1 == stage_layers; }
  /// Bytes of a rank's shard of weights that all ranks of the kind have.
  uint64_t weight_shard(uint64_t parameters, bool expert) const;

  uint32_t tp, ulysses, cp, dp, pp;
  uint32_t ep;
  bool hybrid;  ///< a shard group that is smaller than dp
  std::array<uint32_t, kAxes> sizes{};
  std::array<uint64_t, kAxes> strides{};
  std::array<GroupKind, kKinds> kinds;
  uint32_t layers;
  uint32_t virtual_stages;
  uint32_t stage_layers;  ///< of one virtual stage
  uint32_t microbatches;
  uint32_t zero;
  bool sequence_parallel;
  uint32_t steps;
  LlmConfig::Recompute recompute;
  bool overlap, async;
  uint64_t bucket;
  bool ring;  ///< keys and values pass from rank to rank
  uint32_t fsdp_unit;
  bool keep_weights;
  uint32_t experts, moe_every;
  uint64_t dtype, gradient;
  uint64_t hidden, ffn, heads, seq, vocab;
  uint64_t sequences;         ///< of a microbatch
  uint64_t tokens;            ///< of a microbatch in one rank
  uint64_t shard_tokens;      ///< the same outside the tensor parallel blocks
  uint64_t activation;        ///< bytes of tokens x hidden
  uint64_t stage_activation;  ///< bytes of shard_tokens x hidden
  uint64_t heads_activation;  ///< bytes of tokens x the heads of one rank: a quarter of a layer's all-to-alls
  uint64_t keys_values;       ///< bytes of the keys and values of a rank's tokens
  uint64_t routed_rows;       ///< rows that a rank sends to experts, with the padding to their capacity
  uint64_t routed;            ///< bytes of them
  uint64_t attention_parameters;  ///< of one layer, all tensor parallel ranks
  uint64_t mlp_parameters;        ///< of one layer without experts, or of an expert
  uint64_t vocab_parameters;      ///< of the embedding, and of the output layer

 private:
  void set_axes(const std::string& order, uint32_t inner);
  void set_kinds();
  void set_sizes(const LlmConfig& c);
};

}  // namespace weft::generate

#endif
