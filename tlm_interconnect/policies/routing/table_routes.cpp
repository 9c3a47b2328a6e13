// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "tlm_interconnect/policies/routing/table_routes.h"

#include <fmt/format.h>

namespace weft::packet {

TableRoutes::TableRoutes(const PacketTopology& topology, const PacketConfig& config)
    : topology_(topology), layout_(config.vcs, config.virtual_networks, 1) {
  if (topology.table_first.size() != topology.ranks() * topology.routers.size() + 1)
    throw UserError(ExitCode::usage,
                    fmt::format("routing 'table': {} has no routing table; describe the machine by "
                                "`topology.graph`, or use another routing",
                                topology.name));
}

void TableRoutes::route(const RouteQuery& query, std::vector<RouteCandidate>& candidates) const {
  const NiAttachment& to = topology_.nis[query.destination];
  const VcMask all = layout_.all(query.virtual_network);
  if (query.router == to.router) {
    candidates.push_back({topology_.ejection(query.destination, query.in_port), all, false});
    return;
  }
  const size_t at = static_cast<size_t>(query.destination) * topology_.routers.size() + query.router;
  for (uint32_t i = topology_.table_first[at]; i < topology_.table_first[at + 1]; ++i)
    candidates.push_back({topology_.table_ports[i], all, false});
  prefer_lane(topology_, query, candidates);
}

}  // namespace weft::packet
