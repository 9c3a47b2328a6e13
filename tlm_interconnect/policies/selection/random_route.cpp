// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "tlm_interconnect/policies/selection/random_route.h"

namespace weft::packet {

uint32_t RandomRoute::select(const RouteQuery&, const std::vector<RouteCandidate>& candidates, Random& random,
                             OutputView&) {
  return random.below(static_cast<uint32_t>(candidates.size()));
}

}  // namespace weft::packet
