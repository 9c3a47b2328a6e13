// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Numbers for the collectives of a job. A collective is known by its group and its ordinal in that group,
// which is the same on all members. The numbers follow from the traces alone; the order
// in which a run starts collectives does not matter.

#ifndef WEFT_WORKLOAD_TRACE_COLLECTIVE_NUMBERS_H
#define WEFT_WORKLOAD_TRACE_COLLECTIVE_NUMBERS_H

#include <cstdint>
#include <vector>

#include "workload/trace/groups.h"

namespace weft::trace {

/// Numbers from 1 to size(): first the collectives of all ranks, then those of the groups by their names
/// (digits count as numbers), each group's by ordinal.
class CollectiveNumbers {
 public:
  /// MessageId::stream has 31 bits for them.
  static constexpr uint32_t kMost = (1u << 31) - 1;

  CollectiveNumbers() = default;
  /// `counts`: collectives of each group. Throws UserError(trace) if they are more than kMost.
  CollectiveNumbers(const Groups& groups, const std::vector<uint32_t>& counts);

  uint32_t size() const { return size_; }
  uint32_t number(GroupId group, uint32_t ordinal) const { return before_[group] + ordinal + 1; }
  uint32_t of_group(GroupId group) const { return counts_[group]; }

 private:
  std::vector<uint32_t> counts_;  ///< by group
  std::vector<uint32_t> before_;  ///< by group: how many collectives have smaller numbers
  uint32_t size_ = 0;
};

}  // namespace weft::trace

#endif
