// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Tells the causal log (insight/causal_log.h) of the nodes of one rank: what a compute or memory node took,
// and which node was the last that each one waited for.

#ifndef WEFT_WORKLOAD_GRAPH_NODE_CAUSES_H
#define WEFT_WORKLOAD_GRAPH_NODE_CAUSES_H

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "insight/causal_log.h"
#include "workload/graph/rank_services.h"
#include "workload/trace/feeder.h"

namespace weft::graph {

class NodeCauses {
 public:
  /// `npu`: where the rank is. `origin`: the machine's time when the rank's clock began. All outlive it.
  NodeCauses(insight::CausalLog& log, trace::Feeder& feeder, uint32_t npu, Picoseconds origin);

  /// All dependencies of the node are met.
  void ready(const trace::Node& node, Picoseconds now);
  /// It starts: what the hardware is asked for next is because of what it has waited for.
  void started(const trace::Node& node, Picoseconds now);
  /// A memory node asks its memory, at `now`: the access that the memory works on.
  insight::AccessPart accesses(const trace::Node& node, Picoseconds now);
  /// .. whose answer has come with CausalLog::take_answer().
  void answered(trace::NodeIndex node);
  /// Its time is over. `state`: what it was, since `since`.
  void ended(const trace::Node& node, RankState state, Picoseconds since, Picoseconds now);
  /// What ended a node. kNoActivity: nothing has.
  insight::ActivityId end_of(trace::NodeIndex node) const { return of_node_[node]; }
  /// It takes no time, and ends as it starts.
  void passed(const trace::Node& node, Picoseconds now);

 private:
  insight::ActivityId cause(const trace::Node& node, Picoseconds now);
  void end(const trace::Node& node, insight::ActivityId id, Picoseconds now);

  insight::CausalLog& log_;
  trace::Feeder& feeder_;
  const uint32_t npu_;
  const Picoseconds origin_;
  std::vector<insight::ActivityId> of_node_;  ///< by node: what ended it
  struct Ready {
    insight::ActivityId cause = insight::kNoActivity;
    Picoseconds at = 0;
  };
  std::unordered_map<trace::NodeIndex, Ready> ready_;                  ///< nodes that have not started
  std::unordered_map<trace::NodeIndex, insight::ActivityId> answers_;  ///< of memory nodes under way
  insight::ActivityId freed_[2] = {};                ///< what freed a slot last: of computation, of CPUs
  insight::ActivityId last_ = insight::kNoActivity;  ///< what this rank has ended last
};

}  // namespace weft::graph

#endif
