// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Routes by table: for every router and destination the ports a packet may leave by, as whoever made the
// topology wrote them down (an explicit graph has its own routing). Nothing keeps such routes free of
// deadlock: find_dependency_cycle() says whether they are.

#ifndef WEFT_TLM_INTERCONNECT_POLICIES_ROUTING_ROUTE_TABLE_H
#define WEFT_TLM_INTERCONNECT_POLICIES_ROUTING_ROUTE_TABLE_H

#include "tlm_interconnect/policies/routing/routing_policy.h"

namespace weft::packet {

class RouteTable final : public RoutingPolicy {
 public:
  RouteTable(const PacketTopology& topology, const PacketConfig& config);
  void route(const RouteQuery& query, std::vector<RouteCandidate>& candidates) const override;

 private:
  const PacketTopology& topology_;
  VcLayout layout_;
};

}  // namespace weft::packet

#endif
