// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "workload/job/rank_map.h"

#include <stdexcept>
#include <utility>

namespace weft {
namespace {

constexpr uint32_t kNobody = ~0u;

}  // namespace

RankMap::RankMap(std::vector<uint32_t> npus, uint32_t machine)
    : ranks_(static_cast<uint32_t>(npus.size())), whole_(npus.size() == machine) {
  rank_of_.assign(machine, kNobody);
  for (uint32_t r = 0; r < ranks_; ++r) {
    if (npus[r] >= machine) throw std::logic_error("a rank is on an NPU that the machine does not have");
    if (rank_of_[npus[r]] != kNobody) throw std::logic_error("two ranks are on one NPU");
    rank_of_[npus[r]] = r;
    whole_ = whole_ && npus[r] == r;
  }
  if (whole_) {
    rank_of_.clear();
  } else {
    npu_of_ = std::move(npus);
  }
}

}  // namespace weft
