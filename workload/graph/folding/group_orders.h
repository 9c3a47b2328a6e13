// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#ifndef WEFT_WORKLOAD_GRAPH_FOLDING_GROUP_ORDERS_H
#define WEFT_WORKLOAD_GRAPH_FOLDING_GROUP_ORDERS_H

#include <algorithm>
#include <cstdint>
#include <vector>

#include "workload/trace/node.h"

namespace weft::graph {

/// Does each collective of a group wait for the one before it, by the dependencies of one trace? Then no two
/// of them run at one time at this rank. Groups are known by their place: their number by first use.
class GroupOrders {
 public:
  /// The next node in the order of the file, and those that it depends on.
  void add(trace::NodeIndex node, const std::vector<trace::NodeIndex>& dependencies) {
    node_ = node;
    if (unknown()) return;
    for (const trace::NodeIndex before : dependencies) behind_ = behind_ || before >= node;
    for (std::vector<uint32_t>& latest : latest_) {
      uint32_t most = 0;
      for (const trace::NodeIndex before : dependencies)
        if (before < latest.size()) most = std::max(most, latest[before]);
      latest.push_back(most);
    }
  }

  /// The node is a collective of the group.
  void collective(uint32_t place) {
    if (unknown()) return;
    if (place == latest_.size()) {
      latest_.emplace_back(node_ + size_t{1}, 0);
      count_.push_back(0);
      at_once_.push_back(false);
    }
    if (latest_[place][node_] != count_[place]) at_once_[place] = true;
    latest_[place][node_] = ++count_[place];
  }

  /// Some collective of the group does not wait for the one before it, or that is not known: a node depends
  /// on a later one, or the trace is too large.
  bool at_once(uint32_t place) const { return unknown() || at_once_[place]; }

 private:
  static constexpr uint64_t kMost = uint64_t{1} << 24;  ///< groups times nodes that are kept
  bool unknown() const { return behind_ || latest_.size() * uint64_t{node_} > kMost; }

  trace::NodeIndex node_ = 0;
  bool behind_ = false;
  /// By place and node: how many collectives of the group are before it, or it is, in one chain; 0: none.
  std::vector<std::vector<uint32_t>> latest_;
  std::vector<uint32_t> count_;  ///< by place: collectives so far
  std::vector<bool> at_once_;    ///< by place
};

}  // namespace weft::graph

#endif
