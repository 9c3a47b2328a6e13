// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// ECMP: a hash of the pair and the virtual network picks the route, so a flow keeps its order and its path.

#ifndef WEFT_TLM_INTERCONNECT_POLICIES_SELECTION_FLOW_HASH_H
#define WEFT_TLM_INTERCONNECT_POLICIES_SELECTION_FLOW_HASH_H

#include "tlm_interconnect/policies/selection/selection_policy.h"

namespace weft::packet {

class FlowHash final : public SelectionPolicy {
 public:
  uint32_t select(const RouteQuery& query, const std::vector<RouteCandidate>& candidates, Random& random,
                  OutputView& outputs) override;
  bool certain() const override { return true; }
};

}  // namespace weft::packet

#endif
