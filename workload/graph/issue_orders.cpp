// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "workload/graph/issue_orders.h"

namespace weft::graph {

using trace::IssueOrder;

int32_t IssueOrders::priority(uint32_t rank, IssueOrder order, int32_t own) {
  if (scheduling_ == CollectiveScheduling::priority) return own;
  if (order == IssueOrder::none) return 0;
  if (order == IssueOrder::system)
    order = scheduling_ == CollectiveScheduling::lifo ? IssueOrder::lifo : IssueOrder::fifo;
  Counts& counts = counts_[rank];
  constexpr int32_t kMost = 1 << 29;
  constexpr int32_t kHighest = 1 << 30;
  // Of those that have the highest priority, the one that came first stays first. No two others are equal.
  if (order == IssueOrder::highest)
    return kHighest + kMost - (counts.highest < kMost ? counts.highest++ : kMost);
  if (order == IssueOrder::lifo) return counts.first < kMost ? ++counts.first : kMost;
  return counts.last < kMost ? -++counts.last : -kMost;
}

}  // namespace weft::graph
