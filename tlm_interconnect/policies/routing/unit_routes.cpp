// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "tlm_interconnect/policies/routing/unit_routes.h"

#include <utility>

namespace weft::packet {

UnitRoutes::UnitRoutes(const PacketTopology& topology, const PacketConfig& config,
                       std::unique_ptr<RoutingPolicy> between_ranks)
    : topology_(topology),
      between_ranks_(std::move(between_ranks)),
      layout_(config.vcs, config.virtual_networks, 1),
      ranks_(topology.ranks()) {}

void UnitRoutes::route(const RouteQuery& query, std::vector<RouteCandidate>& candidates) const {
  if (query.destination < ranks_) {
    between_ranks_->route(query, candidates);
    return;
  }
  // Any VC: nothing behind the switch holds a contribution up, whatever class it came in.
  const VcMask all = layout_.all(query.virtual_network);
  const TopologyRouter& router = topology_.routers[query.router];
  const uint32_t at = topology_.units[query.destination - ranks_];
  if (query.router == at) {
    candidates.push_back({router.unit_lanes[query.in_port], all, false});
  } else {
    candidates.push_back({topology_.port_of(router, topology_.routers[at].dimension, 0), all, false});
  }
}

}  // namespace weft::packet
