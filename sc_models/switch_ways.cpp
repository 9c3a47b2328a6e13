// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_models/switch_ways.h"

#include <fmt/format.h>

#include "configs/blueprint/names.h"

namespace weft {

GraphEnd graph_end(const Graph& graph, const Geometry& geometry, const GraphLine& line,
                   const std::string& switches, const GraphEndAt& at) {
  const uint32_t peer = graph.ports(at.node)[at.end].peer;
  GraphEnd names;
  names.to = graph.is_npu(peer) ? nmu_name(geometry, line.npu(peer)) : switches + graph.name(peer);
  names.link = fmt::format(".to_{}{}", names.to, parallel_number(graph, at.node, at.end));
  return names;
}

SwitchLink GraphWays::link(uint32_t port) const {
  GraphEnd names = graph_end(graph_, geometry_, line_, switches_, {node_, port});
  return {std::move(names.link), std::move(names.to), line_.dimension};
}

SwitchLink line_link(const Geometry& geometry, uint32_t dimension, uint32_t base, uint32_t port) {
  // A folded machine has links to ranks that are not built.
  const uint32_t peer = geometry.rank_at(geometry.with_coordinate(base, dimension, port));
  return {fmt::format(".to{}", peer), fmt::format("nmu{}", peer), dimension};
}

}  // namespace weft
