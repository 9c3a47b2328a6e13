// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "tlm_interconnect/policies/selection/most_credits.h"

namespace weft::packet {

uint32_t MostCredits::select(const RouteQuery&, const std::vector<RouteCandidate>& candidates, Random& random,
                             OutputView& outputs) {
  uint32_t best = 0;
  uint32_t best_credits = 0;
  uint32_t draws = 0;
  uint32_t escape = ~0u;
  for (uint32_t i = 0; i < candidates.size(); ++i) {
    if (candidates[i].escape) {
      if (escape == ~0u) escape = i;
      continue;
    }
    const uint32_t credits = outputs.free_credits(candidates[i].port, candidates[i].vc_mask);
    if (credits == 0 || credits < best_credits) continue;
    if (credits > best_credits) {
      best_credits = credits;
      draws = 0;
    }
    if (random.below(++draws) == 0) best = i;
  }
  if (best_credits > 0) return best;
  return escape != ~0u ? escape : random.below(static_cast<uint32_t>(candidates.size()));
}

}  // namespace weft::packet
