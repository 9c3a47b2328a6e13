// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "tlm_interconnect/policies/routing/shortest_path.h"

#include <algorithm>

namespace weft::packet {
namespace {

constexpr uint32_t kNoTable = ~0u;
constexpr uint16_t kFar = 0xffff;

}  // namespace

ShortestPath::ShortestPath(const PacketTopology& topology, const PacketConfig& config)
    : topology_(topology),
      layout_(config.vcs, config.virtual_networks, 1),
      table_of_(topology.routers.size(), kNoTable) {
  const size_t n = topology.routers.size();
  uint32_t tables = 0;
  for (const NiAttachment& ni : topology.nis) {
    if (table_of_[ni.router] != kNoTable) continue;
    table_of_[ni.router] = tables++;
    distance_.resize(tables * n, kFar);
    const std::vector<uint32_t> hops = topology.hops_to(ni.router);
    std::transform(hops.begin(), hops.end(), distance_.end() - static_cast<std::ptrdiff_t>(n),
                   [](uint32_t h) { return static_cast<uint16_t>(std::min<uint32_t>(h, kFar)); });
  }
}

void ShortestPath::route(const RouteQuery& query, std::vector<RouteCandidate>& candidates) const {
  const NiAttachment& to = topology_.nis[query.destination];
  const VcMask all = layout_.all(query.virtual_network);
  if (query.router == to.router) {
    candidates.push_back({topology_.ejection(query.destination, query.in_port), all, false});
    return;
  }
  const uint16_t* distance = &distance_[table_of_[to.router] * topology_.routers.size()];
  const std::vector<TopologyPort>& ports = topology_.routers[query.router].ports;
  for (uint32_t p = 0; p < ports.size(); ++p) {
    if (!ports[p].ni && ports[p].sends && distance[ports[p].peer] + 1 == distance[query.router])
      candidates.push_back({p, all, false});
  }
  prefer_lane(topology_, query, candidates);
}

}  // namespace weft::packet
