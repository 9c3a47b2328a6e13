// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Next hops as the topology's own table gives them, such as those of an explicit graph. Whether they can
// deadlock is for find_dependency_cycle() to say.

#ifndef WEFT_TLM_INTERCONNECT_POLICIES_ROUTING_TABLE_ROUTES_H
#define WEFT_TLM_INTERCONNECT_POLICIES_ROUTING_TABLE_ROUTES_H

#include "tlm_interconnect/policies/routing/routing_policy.h"

namespace weft::packet {

class TableRoutes final : public RoutingPolicy {
 public:
  /// Throws UserError when the topology has no table.
  TableRoutes(const PacketTopology& topology, const PacketConfig& config);
  void route(const RouteQuery& query, std::vector<RouteCandidate>& candidates) const override;

 private:
  const PacketTopology& topology_;
  VcLayout layout_;
};

}  // namespace weft::packet

#endif
