// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "tlm_interconnect/policies/routing/dimension_order.h"

#include <fmt/format.h>

#include <algorithm>

namespace weft::packet {
namespace {

bool has_ring(const PacketTopology& topology) {
  for (const TopologyDimension& d : topology.dimensions) {
    if (d.shape.circular()) return true;
  }
  return false;
}

}  // namespace

DimensionOrder::DimensionOrder(const PacketTopology& topology, const PacketConfig& config)
    : topology_(topology),
      classes_(has_ring(topology) ? ring_classes_from(config.vc_classes) : RingClasses::none),
      layout_(config.vcs, config.virtual_networks, ring_class_count(classes_)),
      rings_(std::any_of(topology.dimensions.begin(), topology.dimensions.end(),
                         [](const TopologyDimension& d) { return d.shape.wraps(); })) {
  if (topology.dimensions.empty()) {
    throw UserError(ExitCode::usage,
                    fmt::format("dimension_order cannot route '{}': it has no dimensions; use shortest_path",
                                topology.name));
  }
  if (config.vcs < layout_.classes()) {
    throw UserError(
        ExitCode::usage,
        fmt::format("{} has rings, which deadlock with one class of VCs: give at least {} VCs per virtual "
                    "network (there is {}), or choose VC classes 'none' to study the deadlock",
                    topology.name, layout_.classes(), config.vcs));
  }
  if (classes_ == RingClasses::bubble && !config.strict_cut_through) {
    throw UserError(ExitCode::usage,
                    "vc_classes bubble needs strict_cut_through: a packet must fit where it moves to");
  }
  for (uint32_t rank = 0; rank < topology.ranks(); ++rank) {
    for (uint32_t d = 0; d < topology.dimensions.size(); ++d) {
      coordinates_.push_back(static_cast<uint16_t>(topology.coordinate(rank, d)));
    }
  }
}

void DimensionOrder::route(const RouteQuery& query, std::vector<RouteCandidate>& candidates) const {
  const TopologyRouter& router = topology_.routers[query.router];
  const size_t n = topology_.dimensions.size();
  if (router.role == RouterRole::dimension_switch) {
    const uint32_t there = coordinates_[query.destination * n + router.dimension];
    // Of a tree: any way up to a switch above the destination, then the only way down.
    if (router.node != 0) {
      const Graph& graph = topology_.dimensions[router.dimension].tree->graph();
      graph.for_each_next_port(router.node, there, [&](uint32_t port) {
        candidates.push_back({port, layout_.all(query.virtual_network), false});
      });
      return;
    }
    candidates.push_back({router.ways[there], layout_.all(query.virtual_network), false});
    return;
  }
  if (router.rank == query.destination) {
    candidates.push_back(
        {topology_.ejection(router.rank, query.in_port), layout_.all(query.virtual_network), false});
    return;
  }
  const uint16_t* here = &coordinates_[router.rank * n];
  const uint16_t* there = &coordinates_[query.destination * n];
  uint32_t d = 0;
  while (here[d] == there[d]) ++d;
  along(query, router, d, candidates);
}

bool DimensionOrder::by_destination(uint32_t router) const {
  const TopologyRouter& at = topology_.routers[router];
  if (at.role == RouterRole::dimension_switch) return at.node == 0;
  return !rings_ && at.lanes.empty();
}

void DimensionOrder::along(const RouteQuery& query, const TopologyRouter& router, uint32_t d,
                           std::vector<RouteCandidate>& candidates) const {
  const size_t n = topology_.dimensions.size();
  const uint32_t here = coordinates_[router.rank * n + d];
  const uint32_t there = coordinates_[query.destination * n + d];
  const Shape& shape = topology_.dimensions[d].shape;
  const VcMask all = layout_.all(query.virtual_network);
  if (!shape.wraps()) {
    candidates.push_back({topology_.port_of(router, d, shape.link_to(here, there)), all, false});
    return;
  }
  const uint32_t up = topology_.port_of(router, d, Shape::kUp);
  const uint32_t down = topology_.port_of(router, d, Shape::kDown);
  const uint32_t before = layout_.class_of(query.in_vc);
  const auto add = [&](bool positive, bool entering) {
    const uint32_t c = ring_class(classes_, shape.size(), here, there, positive, entering, before);
    candidates.push_back({positive ? up : down, layout_.of_class(query.virtual_network, c), false,
                          entering && classes_ == RingClasses::bubble});
  };
  if (query.in_port == up ||
      query.in_port == down) {  // straight on: came in at one side, leaves at the other
    add(query.in_port == down, false);
    return;
  }
  const uint32_t distance = there > here ? there - here : there + shape.size() - here;
  const bool tie = 2 * distance == shape.size();
  if (2 * distance <= shape.size() && !(tie && topology_.lane_of(router, query.in_port, down)))
    add(true, true);
  if (2 * distance >= shape.size() && !(tie && topology_.lane_of(router, query.in_port, up)))
    add(false, true);
}

}  // namespace weft::packet
