// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Adaptive: the route whose free VCs have the most credits; in a draw any of the best; an escape route only
// if nothing else is free.

#ifndef WEFT_TLM_INTERCONNECT_POLICIES_SELECTION_MOST_CREDITS_H
#define WEFT_TLM_INTERCONNECT_POLICIES_SELECTION_MOST_CREDITS_H

#include "tlm_interconnect/policies/selection/selection_policy.h"

namespace weft::packet {

class MostCredits final : public SelectionPolicy {
 public:
  uint32_t select(const RouteQuery& query, const std::vector<RouteCandidate>& candidates, Random& random,
                  OutputView& outputs) override;
  bool escapes_without_credits() const override { return true; }
};

}  // namespace weft::packet

#endif
