// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// The tensors of one rank's trace with their lifetimes, as far as they follow from the trace alone: which
// node makes a tensor, which nodes use it, what is there from the beginning. At most 20 bytes a tensor and 4
// bytes for each tensor of each node, and 4 bytes a node.

#ifndef WEFT_WORKLOAD_JOB_TENSOR_PLAN_H
#define WEFT_WORKLOAD_JOB_TENSOR_PLAN_H

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "workload/trace/node.h"
#include "workload/trace/trace_index.h"

namespace weft {

/// A tensor is *initial* when the first node that has it, in an order that the dependencies allow, reads it:
/// then it is there from the beginning to the end (parameters, optimizer state, a batch). Every other tensor
/// is there from the start of the node that writes it first. It goes when the last node that has it ends; a
/// tensor that no node reads stays to the end: somebody else wants it.
class TensorPlan {
 public:
  /// Bytes that a collective leaves on a rank, for the estimate.
  using ResultBytes = std::function<uint64_t(const trace::Node& node)>;

  /// Reads the rank's trace once. A trace without tensors gives a plan without any.
  explicit TensorPlan(const trace::TraceIndex& index);
  /// An estimate for a trace without tensors. Every node writes one tensor: COMP its tensor_size, a remote
  /// MEM_LOAD its tensor_size, COMM_RECV its comm_size, COMM_COLL `result_bytes`. The nodes with a data
  /// dependency on it read it. A local MEM_LOAD reads an initial tensor; those of one name read the same.
  TensorPlan(const trace::TraceIndex& index, const ResultBytes& result_bytes);

  struct Tensor {
    uint64_t bytes = 0;
    uint32_t nodes = 0;          ///< that have it
    trace::NodeIndex named = 0;  ///< a node that has it: its name is read there
    bool initial = false;
    bool read = false;
  };
  /// One node's part in one tensor.
  struct Use {
    uint32_t tensor = 0;
    bool output = false;  ///< the node writes it
  };

  bool estimated() const { return estimated_; }
  const std::vector<Tensor>& tensors() const { return tensors_; }
  /// Calls f(Use) for each tensor of the node, once.
  template <typename F>
  void for_each_use(trace::NodeIndex node, F&& f) const {
    for (uint32_t i = begin_[node]; i != 0; ++i) {
      const uint32_t use = uses_[i];
      f(Use{use >> 2, (use & kOutput) != 0});
      if ((use & kLast) != 0) return;
    }
  }
  /// Bytes of the initial tensors.
  uint64_t initial_bytes() const;
  /// As the trace calls the tensor. Reads the file.
  std::string name(const trace::TraceIndex& index, uint32_t tensor) const;

 private:
  static constexpr uint32_t kOutput = 1;
  static constexpr uint32_t kLast = 2;

  class Builder;

  bool estimated_ = false;
  std::vector<Tensor> tensors_;
  std::vector<uint32_t> begin_;    ///< by node; 0: it has no tensor
  std::vector<uint32_t> uses_{0};  ///< tensor, kOutput, kLast; the first one is nobody's
};

}  // namespace weft

#endif
