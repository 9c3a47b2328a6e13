// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "workload/trace/collective_numbers.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "configs/natural_order.h"
#include "configs/types.h"

namespace weft::trace {

CollectiveNumbers::CollectiveNumbers(const Groups& groups, const std::vector<uint32_t>& counts)
    : counts_(counts), before_(groups.size(), 0) {
  std::vector<GroupId> order(groups.size());
  std::iota(order.begin(), order.end(), GroupId{0});
  // Not in the order of the file, which says nothing.
  std::sort(order.begin() + 1, order.end(),
            [&](GroupId a, GroupId b) { return natural_less(groups.name(a), groups.name(b)); });
  for (const GroupId g : order) {
    before_[g] = size_;
    if (counts[g] > kMost - size_) {
      throw UserError(ExitCode::trace,
                      fmt::format("the traces have more than {} collectives, which is the most "
                                  "that a job can have. Split the run into several traces.",
                                  kMost));
    }
    size_ += counts[g];
  }
}

}  // namespace weft::trace
