// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "tlm_interconnect/policies/selection/first_route.h"

namespace weft::packet {

uint32_t FirstRoute::select(const RouteQuery&, const std::vector<RouteCandidate>&, Random&, OutputView&) {
  return 0;
}

}  // namespace weft::packet
