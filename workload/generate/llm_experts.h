// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// The experts of a layer, in place of its MLP. Private to the generator.

#ifndef WEFT_WORKLOAD_GENERATE_LLM_EXPERTS_H
#define WEFT_WORKLOAD_GENERATE_LLM_EXPERTS_H

#include "workload/generate/llm_nodes.h"

namespace weft::generate {

/// A router picks experts for each token; an all-to-all over the expert parallel ranks takes the rows there,
/// and another one brings the results back. Every expert works on its capacity. Tensor parallel ranks cut
/// each expert: with sequence parallelism they gather the rows that each of them has got, and
/// reduce-scatter the results; without it they have the same rows, and all-reduce the sums over the experts.
class LlmExperts {
 public:
  explicit LlmExperts(LlmNodes& nodes) : nodes_(nodes), shape_(nodes.shape()) {}

  /// From the normalised activations to what the residual adds.
  NodeId forward(NodeId x);

  struct Gradients {
    NodeId input;    ///< of the normalised activations
    NodeIds dense;   ///< the router's weights
    NodeIds expert;  ///< the experts' weights
  };
  Gradients backward(NodeId dy, const NodeIds& weights);

 private:
  NodeId router(bool is_backward, const NodeIds& deps);
  NodeId exchange(const char* name, NodeId rows);
  NodeId gather_rows(const char* name, NodeId rows);
  NodeId reduce_rows(const char* name, NodeId rows);
  /// Rows times the weights of all experts of this rank.
  NodeId product_of(const char* name, uint64_t columns, uint64_t inner, const NodeIds& deps);
  NodeId weight_gradient(const char* name, uint64_t rows, uint64_t columns, const NodeIds& deps);
  /// Rows that the experts of this rank work on.
  uint64_t rows() const;

  LlmNodes& nodes_;
  const LlmShape& shape_;
};

}  // namespace weft::generate

#endif
