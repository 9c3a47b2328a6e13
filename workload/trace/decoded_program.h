// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// The nodes of a trace that several ranks have, decoded once and kept. Without it every rank reads its own
// window of the file and decodes each node again.

#ifndef WEFT_WORKLOAD_TRACE_DECODED_PROGRAM_H
#define WEFT_WORKLOAD_TRACE_DECODED_PROGRAM_H

#include <cstdint>
#include <memory>
#include <vector>

#include "workload/trace/node.h"

namespace weft::trace {

class TraceIndex;

class DecodedProgram {
 public:
  /// Decodes all nodes of the index. Null where they would take more than `most` bytes. Throws
  /// UserError(trace) as TraceIndex::decode() does.
  static std::shared_ptr<const DecodedProgram> of(const TraceIndex& index, uint64_t most);

  /// As it is written: with the groups, peers and roots that the trace names.
  const Node& node(NodeIndex i) const { return nodes_[i]; }
  /// What TraceIndex::for_each_dependency() gives for the node, in that order.
  const NodeIndex* dependencies(NodeIndex i) const { return before_.data() + first_[i]; }
  uint32_t dependency_count(NodeIndex i) const { return first_[i + 1] - first_[i]; }
  /// The nodes that depend on this one, ascending; one may repeat.
  const NodeIndex* dependents(NodeIndex i) const { return after_.data() + first_after_[i]; }
  uint32_t dependent_count(NodeIndex i) const { return first_after_[i + 1] - first_after_[i]; }

  uint64_t memory_bytes() const { return bytes_; }

 private:
  void find_dependents();

  std::vector<Node> nodes_;
  std::vector<uint32_t> first_ = {0};  ///< in before_; one more than there are nodes
  std::vector<NodeIndex> before_;
  std::vector<uint32_t> first_after_;  ///< in after_, as first_
  std::vector<NodeIndex> after_;
  uint64_t bytes_ = 0;
};

}  // namespace weft::trace

#endif
