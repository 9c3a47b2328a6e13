// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// When a real rank begins the phases of a collective and receives its messages.

#ifndef WEFT_EMULATION_ENVIRONMENT_OPERATION_TIMES_H
#define WEFT_EMULATION_ENVIRONMENT_OPERATION_TIMES_H

#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <vector>

#include "configs/types.h"

namespace weft::emulation {

/// Before the group has joined: its join changes nothing.
constexpr int64_t kBefore = std::numeric_limits<int64_t>::min();

/// Of one real rank. Times in ps since the join of the late group (of all, if they join at once); kBefore.
struct RankTimes {
  struct Arrival {
    int64_t at = kBefore;
    uint32_t source = 0;
    uint32_t round = 0;
    uint64_t bytes = 0;
    Picoseconds queued = 0;
    Picoseconds reduce = 0;
  };
  struct Phase {
    int64_t begin = kBefore;
    std::vector<Arrival> arrivals;  ///< by round, source
  };
  std::map<uint32_t, Phase> phases;  ///< by chunk << 8 | phase
};
using OperationTimes = std::map<uint32_t, RankTimes>;  ///< by real rank

/// All times x `factor`; kBefore stays.
inline void scale(OperationTimes& times, double factor) {
  const auto scaled = [factor](int64_t& at) {
    if (at != kBefore) at = std::llround(static_cast<double>(at) * factor);
  };
  for (auto& rank : times) {
    for (auto& phase : rank.second.phases) {
      scaled(phase.second.begin);
      for (RankTimes::Arrival& arrival : phase.second.arrivals) scaled(arrival.at);
    }
  }
}

}  // namespace weft::emulation

#endif
