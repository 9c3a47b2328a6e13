// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// The ways of guests of a network (PacketTopology::guests), beside any policy that routes between its ranks.

#ifndef WEFT_TLM_INTERCONNECT_POLICIES_ROUTING_GUEST_ROUTES_H
#define WEFT_TLM_INTERCONNECT_POLICIES_ROUTING_GUEST_ROUTES_H

#include <memory>
#include <vector>

#include "tlm_interconnect/policies/routing/routing_policy.h"

namespace weft::packet {

class GuestRoutes final : public RoutingPolicy {
 public:
  /// `between_ranks` does the rest. Throws UserError for fewer VCs than the guests' ways have classes.
  GuestRoutes(const PacketTopology& topology, const PacketConfig& config,
              std::unique_ptr<RoutingPolicy> between_ranks);
  void route(const RouteQuery& query, std::vector<RouteCandidate>& candidates) const override;
  bool adaptive() const override { return between_ranks_->adaptive(); }
  /// The router remembers ways between ranks only.
  bool by_destination(uint32_t router) const override { return between_ranks_->by_destination(router); }

 private:
  const PacketTopology& topology_;
  std::unique_ptr<RoutingPolicy> between_ranks_;
  VcLayout layout_;
};

}  // namespace weft::packet

#endif
