// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "tlm_interconnect/policies/routing/minimal_adaptive.h"

#include <fmt/format.h>

#include "tlm_interconnect/policies/routing/ring_classes.h"

namespace weft::packet {

MinimalAdaptive::MinimalAdaptive(const PacketTopology& topology, const PacketConfig& config)
    : topology_(topology), vcs_(config.vcs) {
  if (topology.dimensions.empty()) {
    throw UserError(ExitCode::usage,
                    fmt::format("minimal_adaptive cannot route '{}': it has no dimensions; use up_down or "
                                "shortest_path",
                                topology.name));
  }
  for (const TopologyDimension& d : topology.dimensions) {
    if (d.shape.circular()) escape_vcs_ = 2;
    if (d.shape.has_switches()) {
      throw UserError(ExitCode::usage,
                      "minimal_adaptive routes Ring, Mesh and FullyConnected dimensions: use dimension_order "
                      "for topologies with a Switch");
    }
  }
  if (vcs_ <= escape_vcs_) {
    throw UserError(
        ExitCode::usage,
        fmt::format("minimal_adaptive on {} needs {} escape VCs and at least one more per virtual network: "
                    "there are {}",
                    topology.name, escape_vcs_, vcs_));
  }
}

void MinimalAdaptive::route(const RouteQuery& query, std::vector<RouteCandidate>& candidates) const {
  const TopologyRouter& router = topology_.routers[query.router];
  const uint32_t base = query.virtual_network * vcs_;
  const VcMask all = low_vcs(vcs_) << base;
  const VcMask escape_all = low_vcs(escape_vcs_) << base;
  if (router.rank == query.destination) {
    candidates.push_back({topology_.ejection(router.rank, query.in_port), all, false});
    return;
  }
  const uint32_t in_vc = query.in_vc - base;
  const bool in_escape = !router.ports[query.in_port].ni && in_vc < escape_vcs_;
  bool escape_set = false;
  RouteCandidate escape{};
  for (uint32_t d = 0; d < topology_.dimensions.size(); ++d) {
    const Shape& shape = topology_.dimensions[d].shape;
    const uint32_t here = topology_.coordinate(router.rank, d);
    const uint32_t there = topology_.coordinate(query.destination, d);
    if (here == there) continue;
    if (!shape.joins_neighbours()) {
      const uint32_t port = topology_.port_of(router, d, shape.link_to(here, there));
      if (!in_escape) candidates.push_back({port, all & ~escape_all, false});
      if (!escape_set) escape = {port, vc_bit(base), true};
      escape_set = true;
      continue;
    }
    const uint32_t up = topology_.port_of(router, d, Shape::kUp);
    const uint32_t down = topology_.port_of(router, d, Shape::kDown);
    bool positive = here < there;
    bool both = false;
    if (shape.wraps()) {
      const uint32_t distance = there > here ? there - here : there + shape.size() - here;
      positive = 2 * distance <= shape.size();
      both = 2 * distance == shape.size();
      if (both &&
          (topology_.lane_of(router, query.in_port, up) || topology_.lane_of(router, query.in_port, down))) {
        positive = topology_.lane_of(router, query.in_port, up);
        both = false;
      }
    }
    if (!in_escape) {
      candidates.push_back({positive ? up : down, all & ~escape_all, false});
      if (both) candidates.push_back({down, all & ~escape_all, false});
    }
    if (escape_set) continue;
    escape_set = true;
    uint32_t vc = 0;
    if (shape.wraps()) {
      const bool straight = in_escape && (query.in_port == up || query.in_port == down);
      if (straight) positive = query.in_port == down;
      vc = escape_vcs_ < 2
               ? 0
               : ring_class(RingClasses::dateline, shape.size(), here, there, positive, !straight, in_vc);
    }
    escape = {positive ? up : down, vc_bit(base + vc), true};
  }
  candidates.push_back(escape);
}

}  // namespace weft::packet
