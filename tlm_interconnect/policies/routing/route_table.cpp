// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "tlm_interconnect/policies/routing/route_table.h"

#include <fmt/format.h>

namespace weft::packet {

RouteTable::RouteTable(const PacketTopology& topology, const PacketConfig& config)
    : topology_(topology), layout_(config.vcs, config.virtual_networks, 1) {
  if (topology.table_first.size() != topology.routers.size() * topology.ranks() + 1) {
    throw UserError(ExitCode::usage,
                    fmt::format("route_table cannot route '{}': it has no table", topology.name));
  }
}

void RouteTable::route(const RouteQuery& query, std::vector<RouteCandidate>& candidates) const {
  const uint32_t all = layout_.all(query.virtual_network);
  if (query.router == topology_.nis[query.destination].router) {
    candidates.push_back({topology_.ejection(query.destination, query.in_port), all, false});
    return;
  }
  const size_t at = static_cast<size_t>(query.router) * topology_.ranks() + query.destination;
  for (uint32_t i = topology_.table_first[at]; i < topology_.table_first[at + 1]; ++i)
    candidates.push_back({topology_.table_ports[i], all, false});
  prefer_lane(topology_, query, candidates);
}

}  // namespace weft::packet
