// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "tlm_interconnect/policies/routing/up_down.h"

#include <fmt/format.h>

#include <algorithm>

namespace weft::packet {
namespace {

constexpr uint32_t kUnknown = ~0u;
constexpr uint16_t kFar = 0x7fff;

}  // namespace

UpDown::UpDown(const PacketTopology& topology, const PacketConfig& config)
    : topology_(topology),
      layout_(config.vcs, config.virtual_networks, 1),
      table_of_(topology.routers.size(), kUnknown) {
  const auto n = static_cast<uint32_t>(topology.routers.size());
  if (topology.one_way()) {
    throw UserError(
        ExitCode::usage,
        fmt::format("routing 'up_down': it needs links that go both ways, and {} has one-way links; "
                    "use shortest_path, or the routing 'table' of an explicit graph",
                    topology.name));
  }
  if (topology.levels > 0) {
    // A tree's own levels: counted from one root, the other roots would be below the leaves.
    for (const TopologyRouter& r : topology.routers) level_.push_back(r.level);
  } else {
    // The root: the router with the most links, the first of them.
    uint32_t root = 0;
    for (uint32_t r = 0; r < n; ++r) {
      if (topology.routers[r].ports.size() > topology.routers[root].ports.size()) root = r;
    }
    level_ = topology.hops_from(root);
  }
  std::vector<uint32_t> order;
  for (uint32_t r = 0; r < n; ++r)
    if (level_[r] != PacketTopology::kUnreached) order.push_back(r);
  // From top to bottom in the order "up" defines: every step up leads to a router that comes before.
  std::sort(order.begin(), order.end(),
            [&](uint32_t a, uint32_t b) { return level_[a] != level_[b] ? level_[a] < level_[b] : a < b; });
  uint32_t tables = 0;
  for (const NiAttachment& ni : topology.nis) {
    if (table_of_[ni.router] != kUnknown) continue;
    table_of_[ni.router] = tables++;
    down_.resize(static_cast<size_t>(tables) * n, kFar);
    any_.resize(static_cast<size_t>(tables) * n, kFar);
    uint16_t* down = &down_[static_cast<size_t>(tables - 1) * n];
    uint16_t* any = &any_[static_cast<size_t>(tables - 1) * n];
    down[ni.router] = 0;
    for (auto r = order.rbegin(); r != order.rend(); ++r) {  // bottom up: what is below is known
      for (const TopologyPort& port : topology.routers[*r].ports) {
        if (port.ni || up(*r, port.peer)) continue;
        down[*r] = std::min<uint16_t>(down[*r], static_cast<uint16_t>(down[port.peer] + 1));
      }
    }
    for (const uint32_t r : order) {  // top down: what is above is known
      any[r] = down[r];
      for (const TopologyPort& port : topology.routers[r].ports) {
        if (port.ni || !up(r, port.peer)) continue;
        any[r] = std::min<uint16_t>(any[r], static_cast<uint16_t>(any[port.peer] + 1));
      }
    }
  }
}

void UpDown::route(const RouteQuery& query, std::vector<RouteCandidate>& candidates) const {
  const NiAttachment& to = topology_.nis[query.destination];
  const VcMask all = layout_.all(query.virtual_network);
  if (query.router == to.router) {
    candidates.push_back({topology_.ejection(query.destination, query.in_port), all, false});
    return;
  }
  const size_t table = static_cast<size_t>(table_of_[to.router]) * topology_.routers.size();
  const std::vector<TopologyPort>& ports = topology_.routers[query.router].ports;
  const TopologyPort& in = ports[query.in_port];
  const bool may_go_up = in.ni || up(in.peer, query.router);
  const uint32_t here = may_go_up ? any_[table + query.router] : down_[table + query.router];
  for (uint32_t p = 0; p < ports.size(); ++p) {
    if (ports[p].ni) continue;
    const bool step_up = up(query.router, ports[p].peer);
    if (step_up && !may_go_up) continue;
    const uint32_t rest = step_up ? any_[table + ports[p].peer] : down_[table + ports[p].peer];
    if (rest + 1 == here) candidates.push_back({p, all, false});
  }
  prefer_lane(topology_, query, candidates);
}

}  // namespace weft::packet
