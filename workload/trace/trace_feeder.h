// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Feeds one rank's nodes to its execution engine as their dependencies are met, from a window on the file.

#ifndef WEFT_WORKLOAD_TRACE_TRACE_FEEDER_H
#define WEFT_WORKLOAD_TRACE_TRACE_FEEDER_H

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "configs/flat_map.h"
#include "workload/trace/dependency_walk.h"
#include "workload/trace/feeder.h"
#include "workload/trace/node_cache.h"
#include "workload/trace/trace_index.h"

namespace weft::trace {

/// What a feeder may hold beside its index; together far below 256 MiB a file.
struct FeederBudget {
  uint64_t cache_bytes = 64ull << 20;  ///< blocks of the file
  uint64_t taken_bytes = 64ull << 20;  ///< nodes taken and not finished, communication aside
};

/// What becomes ready when, and the order in which it is taken, does not depend on the cache, only on the
/// order of finished(). When the taken compute, memory and metadata nodes fill `taken_bytes` (hundreds of
/// thousands of them), take_ready() gives communication nodes only, until some of the others finish.
/// Communication is never held back: its nodes may wait for each other across ranks, while the others always
/// finish by themselves, so that a full window delays but never stalls.
class TraceFeeder final : public Feeder {
 public:
  /// The index must outlive the feeder.
  explicit TraceFeeder(const TraceIndex& index, const FeederBudget& budget = {});

  const Node* take_ready() override;
  /// Throws std::logic_error for a node that is not taken.
  void finished(NodeIndex index) override;
  void keep_order() override { walk_.keep_order(); }
  NodeIndex released_by(NodeIndex index) const override { return walk_.released_by(index); }
  uint64_t node_count() const override { return index_.size(); }
  uint64_t finished_count() const override { return walk_.finished_count(); }
  std::vector<Blocked> blocked(size_t limit) override;

  /// Is as far as `like`, which feeds a trace with the same nodes: it has taken and finished the same.
  /// Nothing has been taken here.
  void adopt(const TraceFeeder& like);
  /// Of a node that is taken.
  const Node& taken(NodeIndex index) const { return slots_[*taken_.find(index)].node; }

  uint64_t taken_count() const { return taken_.size(); }
  /// Beside the index and the walk's part of its 32 bytes a node.
  uint64_t window_bytes() const;
  uint64_t walk_bytes() const { return walk_.memory_bytes(); }

 private:
  struct Slot {
    Node node;
    uint64_t bytes = 0;
  };

  const Node& take(NodeIndex index);

  const TraceIndex& index_;
  FeederBudget budget_;
  NodeCache cache_;
  DependencyWalk walk_;
  std::deque<Slot> slots_;  ///< stable addresses
  std::vector<uint32_t> free_;
  FlatMap<NodeIndex, uint32_t> taken_;  ///< the slots of taken nodes
  uint64_t taken_bytes_ = 0;
  uint64_t limited_bytes_ = 0;  ///< the part of taken_bytes_ that the budget limits
};

}  // namespace weft::trace

#endif
