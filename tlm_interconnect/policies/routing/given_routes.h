// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// The ways that a topology brings (PacketTopology::ways), such as those of a memory pool.

#ifndef WEFT_TLM_INTERCONNECT_POLICIES_ROUTING_GIVEN_ROUTES_H
#define WEFT_TLM_INTERCONNECT_POLICIES_ROUTING_GIVEN_ROUTES_H

#include "tlm_interconnect/policies/routing/routing_policy.h"

namespace weft::packet {

class GivenRoutes final : public RoutingPolicy {
 public:
  /// Throws UserError for fewer VCs than the ways have classes.
  GivenRoutes(const PacketTopology& topology, const PacketConfig& config);
  void route(const RouteQuery& query, std::vector<RouteCandidate>& candidates) const override;

 private:
  const PacketTopology& topology_;
  VcLayout layout_;
};

}  // namespace weft::packet

#endif
