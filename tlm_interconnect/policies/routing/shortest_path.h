// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Table-driven shortest paths on any graph (breadth first, every equally short next hop). Free of deadlock
// only on trees and other graphs without cycles of channels: find_dependency_cycle() says.

#ifndef WEFT_TLM_INTERCONNECT_POLICIES_ROUTING_SHORTEST_PATH_H
#define WEFT_TLM_INTERCONNECT_POLICIES_ROUTING_SHORTEST_PATH_H

#include "tlm_interconnect/policies/routing/routing_policy.h"

namespace weft::packet {

class ShortestPath final : public RoutingPolicy {
 public:
  ShortestPath(const PacketTopology& topology, const PacketConfig& config);
  void route(const RouteQuery& query, std::vector<RouteCandidate>& candidates) const override;

 private:
  const PacketTopology& topology_;
  VcLayout layout_;
  std::vector<uint32_t> table_of_;  ///< per router with NIs: its table
  std::vector<uint16_t> distance_;  ///< tables x routers: hops to the table's router
};

}  // namespace weft::packet

#endif
