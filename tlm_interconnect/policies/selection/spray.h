// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Packet spraying: the routes in turn, packet by packet.

#ifndef WEFT_TLM_INTERCONNECT_POLICIES_SELECTION_SPRAY_H
#define WEFT_TLM_INTERCONNECT_POLICIES_SELECTION_SPRAY_H

#include "tlm_interconnect/policies/selection/selection_policy.h"

namespace weft::packet {

class Spray final : public SelectionPolicy {
 public:
  uint32_t select(const RouteQuery& query, const std::vector<RouteCandidate>& candidates, Random& random,
                  OutputView& outputs) override;

 private:
  uint32_t next_ = 0;
};

}  // namespace weft::packet

#endif
