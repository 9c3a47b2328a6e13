// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "tlm_interconnect/policies/routing/given_routes.h"

#include <fmt/format.h>

namespace weft::packet {

GivenRoutes::GivenRoutes(const PacketTopology& topology, const PacketConfig& config)
    : topology_(topology), layout_(config.vcs, config.virtual_networks, topology.ways->vc_classes()) {
  if (config.vcs < layout_.classes())
    throw UserError(ExitCode::usage,
                    fmt::format("{} has rings, whose packets need {} virtual channels; there are {} "
                                "(`packet.vcs`)",
                                topology.name, layout_.classes(), config.vcs));
}

void GivenRoutes::route(const RouteQuery& query, std::vector<RouteCandidate>& candidates) const {
  const NiAttachment& to = topology_.nis[topology_.ways->rank(query.destination)];
  if (query.router == to.router) {
    candidates.push_back({to.port, layout_.all(query.virtual_network), false});
    return;
  }
  const GivenWays::Hop hop = topology_.ways->next(query.router, query.destination);
  candidates.push_back({hop.port, layout_.of_class(query.virtual_network, hop.vc_class), false});
}

}  // namespace weft::packet
