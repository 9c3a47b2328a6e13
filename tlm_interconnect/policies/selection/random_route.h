// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Any route, drawn anew for every packet and hop.

#ifndef WEFT_TLM_INTERCONNECT_POLICIES_SELECTION_RANDOM_ROUTE_H
#define WEFT_TLM_INTERCONNECT_POLICIES_SELECTION_RANDOM_ROUTE_H

#include "tlm_interconnect/policies/selection/selection_policy.h"

namespace weft::packet {

class RandomRoute final : public SelectionPolicy {
 public:
  uint32_t select(const RouteQuery& query, const std::vector<RouteCandidate>& candidates, Random& random,
                  OutputView& outputs) override;
};

}  // namespace weft::packet

#endif
