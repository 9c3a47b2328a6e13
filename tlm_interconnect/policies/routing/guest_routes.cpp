// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "tlm_interconnect/policies/routing/guest_routes.h"

#include <fmt/format.h>

#include <utility>

namespace weft::packet {

GuestRoutes::GuestRoutes(const PacketTopology& topology, const PacketConfig& config,
                         std::unique_ptr<RoutingPolicy> between_ranks)
    : topology_(topology),
      between_ranks_(std::move(between_ranks)),
      layout_(config.vcs, config.virtual_networks, topology.guests->vc_classes()) {
  if (config.vcs < layout_.classes())
    throw UserError(
        ExitCode::usage,
        fmt::format("the ways of the memory pool through {} close a cycle of buffers unless there "
                    "are {} virtual channels; there are {} (`packet.vcs`)",
                    topology.name, layout_.classes(), config.vcs));
}

void GuestRoutes::route(const RouteQuery& query, std::vector<RouteCandidate>& candidates) const {
  if (query.destination < topology_.first_guest) {
    between_ranks_->route(query, candidates);
    return;
  }
  const NiAttachment& to = topology_.nis[topology_.guests->interface(query.destination)];
  if (query.router == to.router) {
    // What came by a link of an NPU goes out to the interface of that link.
    const uint32_t port = to.rank < topology_.ranks() && !topology_.routers[to.router].lanes.empty()
                              ? topology_.ejection(to.rank, query.in_port)
                              : to.port;
    candidates.push_back({port, layout_.all(query.virtual_network), false});
    return;
  }
  const GivenWays::Hop hop = topology_.guests->next(query.router, query.destination);
  candidates.push_back({hop.port, layout_.of_class(query.virtual_network, hop.vc_class), false});
}

}  // namespace weft::packet
