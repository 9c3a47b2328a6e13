// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Weights, gradients and the optimizer over ranks with the same weights: ZeRO, hybrid shard, buckets. Private
// to the generator.

#ifndef WEFT_WORKLOAD_GENERATE_LLM_REPLICAS_H
#define WEFT_WORKLOAD_GENERATE_LLM_REPLICAS_H

#include <cstdint>
#include <vector>

#include "workload/generate/llm_nodes.h"

namespace weft::generate {

class LlmReplicas {
 public:
  explicit LlmReplicas(LlmNodes& nodes) : nodes_(nodes), shape_(nodes.shape()) {}

  /// The weights of a unit, for the compute nodes behind. With ZeRO 3 they are gathered while the unit before
  /// runs; returns the nodes to wait for.
  NodeIds use(const Weights& unit, bool is_backward);

  /// The gradients of a block's weights are there: `dense` and `expert` compute them. A bucket that is full
  /// is reduced if `may_close`. `is_last`: no microbatch follows.
  void gradients(const Weights& block, const NodeIds& dense, const NodeIds& expert, bool is_last,
                 bool may_close);
  /// What is left is reduced, at the end of a stage's backward pass.
  void drain(bool is_last);

  void optimizer();

 private:
  struct Bucket {
    NodeIds ready;  ///< gradients that no collective has taken yet ..
    uint64_t bytes = 0;
  };
  void collect(bool expert, uint64_t parameters, const NodeIds& parts, bool is_last);
  void reduce(bool expert, bool is_last);
  void gather_updated(const Weights& block, NodeId step);

  LlmNodes& nodes_;
  const LlmShape& shape_;
  NodeId unit_start_ = kNone;    ///< the last compute node before the present unit
  Bucket buckets_[2];            ///< of dense weights, and of experts
  NodeIds reduced_;              ///< what the optimizer waits for
  NodeIds before_;               ///< the same of the step before
  std::vector<Weights> blocks_;  ///< in the order of their gradients
};

}  // namespace weft::generate

#endif
