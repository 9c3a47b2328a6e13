// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Always the first route: deterministic, keeps the order of a pair, spreads nothing.

#ifndef WEFT_TLM_INTERCONNECT_POLICIES_SELECTION_FIRST_ROUTE_H
#define WEFT_TLM_INTERCONNECT_POLICIES_SELECTION_FIRST_ROUTE_H

#include "tlm_interconnect/policies/selection/selection_policy.h"

namespace weft::packet {

class FirstRoute final : public SelectionPolicy {
 public:
  uint32_t select(const RouteQuery& query, const std::vector<RouteCandidate>& candidates, Random& random,
                  OutputView& outputs) override;
  bool certain() const override { return true; }
};

}  // namespace weft::packet

#endif
