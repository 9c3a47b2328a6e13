// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Routing policies of explicit graphs: by which ports a message for an NPU may leave each node. Pure
// functions of the graph; one row of the registry each.

#ifndef WEFT_CONFIGS_GRAPH_ROUTING_H
#define WEFT_CONFIGS_GRAPH_ROUTING_H

#include <cstdint>
#include <string_view>
#include <vector>

#include "configs/graph.h"

namespace weft {

/// By node: the ports that lead towards one destination, in ascending order; empty at the destination itself
/// and where no way leads on.
using NextPorts = std::vector<std::vector<uint16_t>>;

/// The lines of a graph's routing table by destination: a policy that reads the table looks only at those
/// that it needs.
class RouteIndex {
 public:
  explicit RouteIndex(const Graph& graph);
  /// Numbers of the lines for this NPU (GraphRoute::kAnywhere: of those for all others), in the table's
  /// order.
  const std::vector<uint32_t>& of(uint32_t destination) const {
    return by_destination_[destination == GraphRoute::kAnywhere ? by_destination_.size() - 1 : destination];
  }

 private:
  std::vector<std::vector<uint32_t>> by_destination_;  // the last one: GraphRoute::kAnywhere
};

struct GraphRouting {
  const char* name;
  const char* description;
  /// Fills `out`, which has an empty entry for every node. Following any of the ports from any node that has
  /// one must come nearer to `destination`, or be found out by the graph, which follows them all.
  void (*next_ports)(const Graph& graph, const RouteIndex& routes, uint32_t destination, NextPorts& out);
};

/// The registry: one row a policy.
const std::vector<GraphRouting>& graph_routings();
/// nullptr for an unknown name.
const GraphRouting* find_graph_routing(std::string_view name);

}  // namespace weft

#endif
