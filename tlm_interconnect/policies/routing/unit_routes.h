// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// The ways to the collective units of switches, beside any other policy that routes between ranks: from an
// NPU straight to its switch, and there out to the unit's interface that serves the port it came by.

#ifndef WEFT_TLM_INTERCONNECT_POLICIES_ROUTING_UNIT_ROUTES_H
#define WEFT_TLM_INTERCONNECT_POLICIES_ROUTING_UNIT_ROUTES_H

#include "tlm_interconnect/policies/routing/routing_policy.h"

namespace weft::packet {

class UnitRoutes final : public RoutingPolicy {
 public:
  /// `between_ranks` does the rest.
  UnitRoutes(const PacketTopology& topology, const PacketConfig& config,
             std::unique_ptr<RoutingPolicy> between_ranks);
  void route(const RouteQuery& query, std::vector<RouteCandidate>& candidates) const override;
  bool adaptive() const override { return between_ranks_->adaptive(); }

 private:
  const PacketTopology& topology_;
  std::unique_ptr<RoutingPolicy> between_ranks_;
  VcLayout layout_;
  uint32_t ranks_;
};

}  // namespace weft::packet

#endif
