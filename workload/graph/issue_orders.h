// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// The priorities of ASTRA-sim 1.0 (system/Sys.cc of its branch ASTRA-sim-1.0): each rank counts what it
// issues to be first upwards, and what it issues to be last downwards; the higher number goes first.

#ifndef WEFT_WORKLOAD_GRAPH_ISSUE_ORDERS_H
#define WEFT_WORKLOAD_GRAPH_ISSUE_ORDERS_H

#include <cstdint>
#include <unordered_map>

#include "configs/config.h"
#include "workload/trace/node.h"

namespace weft::graph {

class IssueOrders {
 public:
  explicit IssueOrders(CollectiveScheduling scheduling) : scheduling_(scheduling) {}

  /// The priority of a collective that `rank` issues now. `own`: its comm_priority, or a rule's. With
  /// `scheduling: priority` that decides alone; else only nodes with an order have a priority other than 0.
  int32_t priority(uint32_t rank, trace::IssueOrder order, int32_t own);

  /// `rank` has issued what `like` has.
  void adopt(uint32_t rank, uint32_t like) {
    if (const auto at = counts_.find(like); at != counts_.end()) counts_[rank] = Counts(at->second);
  }

 private:
  struct Counts {
    int32_t first = 0;  ///< issued to be first
    int32_t last = 0;   ///< .. to be last
    int32_t highest = 0;
  };
  CollectiveScheduling scheduling_;
  std::unordered_map<uint32_t, Counts> counts_;
};

}  // namespace weft::graph

#endif
