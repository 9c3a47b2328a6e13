// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Runs over a trace's graph in an execution order. Where ranks share a DecodedProgram, the graph is there: a
// node that is finished tells its dependents, which look whether they are ready, and the walk keeps three
// bits a node. Without one it does not hold the graph: each waiting node watches one of its unmet
// dependencies and looks for the next when that one is finished. Then it keeps two positions a node, too,
// whatever the number of edges and the order of the file; edges are read again from the file's window.

#ifndef WEFT_WORKLOAD_TRACE_DEPENDENCY_WALK_H
#define WEFT_WORKLOAD_TRACE_DEPENDENCY_WALK_H

#include <cstdint>
#include <vector>

#include "workload/trace/node_cache.h"
#include "workload/trace/node_decoder.h"
#include "workload/trace/position_list.h"
#include "workload/trace/raw_vector.h"
#include "workload/trace/ready_set.h"
#include "workload/trace/trace_index.h"

namespace weft::trace {

class DependencyWalk {
 public:
  /// Bytes a node, at most: first and next waiter 4 + 4, and under half a byte of bits. Traces of fewer than
  /// 65,535 nodes need 2 + 2, those of a DecodedProgram the bits only.
  static constexpr uint64_t kBytesPerNode = 9;
  static_assert(TraceIndex::kBytesPerNode + kBytesPerNode <= 32, "the index is at most 32 bytes a node");

  DependencyWalk(const TraceIndex& index, NodeCache& cache);

  static bool communicates(NodeType type) {
    return type == NodeType::comm_send || type == NodeType::comm_recv || type == NodeType::comm_coll;
  }

  /// The ready node lowest in the file, which is then taken; kNoNode when none is ready. With
  /// `communication_only` only COMM_SEND, COMM_RECV and COMM_COLL nodes are given.
  NodeIndex take(bool communication_only = false);

  /// A taken node is done; its waiters look for another dependency or become ready.
  void finish(NodeIndex i);

  bool finished(NodeIndex i) const { return (finished_[i / 64] >> (i % 64) & 1) != 0; }
  bool ready(NodeIndex i) const { return communication_.contains(i) || others_.contains(i); }
  uint64_t finished_count() const { return finished_count_; }

  /// Is as far as `like`, the walk over a trace with the same dependencies.
  void adopt(const DependencyWalk& like);

  /// From now on released_by() knows: 4 bytes a node.
  void keep_order() { released_by_.assign(index_.size(), kNoNode); }
  /// The node whose end made this one ready; kNoNode: it never waited.
  NodeIndex released_by(NodeIndex i) const { return released_by_.empty() ? kNoNode : released_by_[i]; }

  /// Every node is finished: what only the order needed is given back.
  void release();

  /// An unfinished dependency of the node, or kNoNode.
  NodeIndex unmet_dependency(NodeIndex i);

  uint64_t memory_bytes() const;

 private:
  bool watch_or_ready(NodeIndex i);
  /// All dependencies are finished, by the program.
  bool met(NodeIndex i);
  uint64_t random();
  void make_ready(NodeIndex i, NodeIndex released_by);
  ReadySet& ready_set(NodeIndex i) { return communicates(index_.type(i)) ? communication_ : others_; }

  const TraceIndex& index_;
  NodeCache& cache_;
  const DecodedProgram* const program_;  ///< null: waiting nodes watch their dependencies
  NodeIndex cursor_ = 0;                 ///< nodes from here on were not looked at yet
  uint64_t finished_count_ = 0;
  RawVector<uint64_t> finished_;
  ReadySet communication_;
  ReadySet others_;
  std::vector<NodeIndex> released_by_;  ///< empty: not kept
  // Without a program:
  PositionList first_;  ///< head of the list of nodes that watch this one, + 1; 0: none
  PositionList next_;   ///< next in the list this node is in, + 1; 0: none
  Dependencies scratch_;
  // Which of many dependencies is looked at first:
  uint64_t random_ = 0x9e3779b97f4a7c15ull;
};

}  // namespace weft::trace

#endif
