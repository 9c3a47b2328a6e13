// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// The attention of a layer, over ranks that share sequences and heads. Private to the generator.

#ifndef WEFT_WORKLOAD_GENERATE_LLM_ATTENTION_H
#define WEFT_WORKLOAD_GENERATE_LLM_ATTENTION_H

#include <cstdint>
#include <string>

#include "workload/generate/llm_nodes.h"

namespace weft::generate {

/// Scores, softmax and weighted sum, as one fused operation that keeps the scores on chip; with a ring one
/// for each rank's keys and values.
///
/// Ulysses: all-to-alls before and after give a rank its heads of the whole sequence, and its tokens back.
///
/// Ring of c ranks: keys and values pass c - 1 times, forward and backward. On the way back their gradients
/// pass c times: each rank adds its part, and the last pass brings them home.
class LlmAttention {
 public:
  explicit LlmAttention(LlmNodes& nodes) : nodes_(nodes), shape_(nodes.shape()) {}

  NodeId forward(NodeId qkv);
  /// Without the all-to-alls: what selective recomputation runs again.
  NodeId core(const NodeIds& inputs);
  /// Nodes of the gradients of queries, keys and values.
  NodeIds backward(NodeId d_context);

 private:
  /// Queries of this rank with 1 / parts of the keys.
  NodeId attend(const std::string& name, bool is_backward, uint32_t parts, const NodeIds& deps);
  NodeIds exchange_heads(std::initializer_list<const char*> tensors, const NodeIds& deps);
  NodeId ring_forward(const NodeIds& inputs);
  NodeIds ring_backward(const NodeIds& inputs);
  /// The keys and values that a rank holds go to the next one, and those of the one before come. Returns the
  /// receive.
  NodeId pass(const std::string& name, const NodeIds& held);
  bool in_ring() const { return shape_.cp > 1 && shape_.ring; }

  LlmNodes& nodes_;
  const LlmShape& shape_;
  uint64_t tag_ = 0;  ///< the same for all ranks of a ring at the same pass
};

}  // namespace weft::generate

#endif
