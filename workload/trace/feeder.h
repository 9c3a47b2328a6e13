// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// What the execution engine asks of a rank's trace: nodes whose dependencies are met, in a deterministic
// order.

#ifndef WEFT_WORKLOAD_TRACE_FEEDER_H
#define WEFT_WORKLOAD_TRACE_FEEDER_H

#include <cstdint>
#include <string>
#include <vector>

#include "workload/trace/node.h"

namespace weft::trace {

class Feeder {
 public:
  virtual ~Feeder() = default;

  /// The next node whose dependencies are all met and which was not yet taken, or nullptr. Lowest file
  /// position first among the nodes that are ready together. The node stays valid until
  /// finished(node->index).
  virtual const Node* take_ready() = 0;

  /// The node is done: its children may become ready; its storage may be reused.
  virtual void finished(NodeIndex index) = 0;

  /// From now on released_by() knows. Before the first take_ready().
  virtual void keep_order() {}
  /// The dependency of the node that was met last; kNoNode: it has none, or that is not kept.
  virtual NodeIndex released_by(NodeIndex) const { return kNoNode; }

  virtual uint64_t node_count() const = 0;
  virtual uint64_t finished_count() const = 0;

  /// For the stall report: up to `limit` unfinished nodes that were never taken, each with one unmet
  /// dependency.
  struct Blocked {
    uint64_t id;
    std::string name;
    uint64_t waits_for_id;
    std::string waits_for_name;
  };
  virtual std::vector<Blocked> blocked(size_t limit) = 0;
};

}  // namespace weft::trace

#endif
