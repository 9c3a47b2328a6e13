// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "tlm_interconnect/policies/selection/flow_hash.h"

namespace weft::packet {

uint32_t FlowHash::select(const RouteQuery& query, const std::vector<RouteCandidate>& candidates, Random&,
                          OutputView&) {
  // The router is part of the key: otherwise every level of a Clos would make the same choice (hash
  // polarisation).
  const uint64_t pair = (static_cast<uint64_t>(query.source) << 32) | query.destination;
  const uint64_t key = hash64(pair) + (static_cast<uint64_t>(query.router) << 8) + query.virtual_network;
  return static_cast<uint32_t>(hash64(key) % candidates.size());
}

}  // namespace weft::packet
