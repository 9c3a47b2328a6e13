// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "tlm_interconnect/policies/selection/spray.h"

namespace weft::packet {

uint32_t Spray::select(const RouteQuery&, const std::vector<RouteCandidate>& candidates, Random&,
                       OutputView&) {
  return next_++ % static_cast<uint32_t>(candidates.size());
}

}  // namespace weft::packet
