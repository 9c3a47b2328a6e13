// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "configs/graph_routing.h"

#include <algorithm>

namespace weft {
namespace {

constexpr uint32_t kUnreached = ~0u;

struct Distance {
  uint32_t hops = kUnreached;
  Picoseconds latency = 0;
};

/// Fewest hops and, among those, least latency from every node to the destination.
std::vector<Distance> distances_to(const Graph& graph, uint32_t destination) {
  std::vector<Distance> distance(graph.nodes());
  std::vector<uint32_t> order{destination};
  distance[destination] = {0, 0};
  // Breadth first: all nodes of one level are final before the next level looks at them.
  for (size_t i = 0; i < order.size(); ++i) {
    const uint32_t node = order[i];
    if (node != destination && graph.is_npu(node) && !graph.spec().npus_forward) continue;
    for (const Graph::Port& port : graph.ports(node)) {
      if (!graph.ports(port.peer)[port.peer_port].sends) continue;
      Distance& peer = distance[port.peer];
      const Picoseconds latency = distance[node].latency + graph.link(port).latency;
      if (peer.hops == kUnreached) {
        peer = {distance[node].hops + 1, latency};
        order.push_back(port.peer);
      } else if (peer.hops == distance[node].hops + 1) {
        peer.latency = std::min(peer.latency, latency);
      }
    }
  }
  return distance;
}

/// Every port on a way of fewest hops and least latency.
void equal_cost(const Graph& graph, const RouteIndex&, uint32_t destination, NextPorts& out) {
  const std::vector<Distance> distance = distances_to(graph, destination);
  for (uint32_t node = 0; node < graph.nodes(); ++node) {
    if (node == destination || distance[node].hops == kUnreached) continue;
    const auto& ports = graph.ports(node);
    for (uint32_t p = 0; p < ports.size(); ++p) {
      if (!ports[p].sends) continue;
      const uint32_t peer = ports[p].peer;
      if (peer != destination && graph.is_npu(peer) && !graph.spec().npus_forward) continue;
      if (distance[peer].hops + 1 == distance[node].hops &&
          distance[peer].latency + graph.link(ports[p]).latency == distance[node].latency) {
        out[node].push_back(static_cast<uint16_t>(p));
      }
    }
  }
}

void shortest_path(const Graph& graph, const RouteIndex& routes, uint32_t destination, NextPorts& out) {
  equal_cost(graph, routes, destination, out);
  for (uint32_t node = 0; node < graph.nodes(); ++node) {
    auto& ports = out[node];
    if (ports.size() < 2) continue;
    ports = {*std::min_element(ports.begin(), ports.end(), [&](uint16_t a, uint16_t b) {
      return graph.ports(node)[a].peer < graph.ports(node)[b].peer;
    })};
  }
}

void table(const Graph& graph, const RouteIndex& routes, uint32_t destination, NextPorts& out) {
  for (const uint32_t to : {destination, GraphRoute::kAnywhere}) {
    for (const uint32_t line : routes.of(to)) {
      const GraphRoute& route = graph.spec().routes[line];
      if (route.at == destination || !out[route.at].empty()) continue;
      const auto& ports = graph.ports(route.at);
      for (uint32_t p = 0; p < ports.size() && out[route.at].empty(); ++p) {
        if (ports[p].sends && ports[p].peer == route.via) out[route.at].push_back(static_cast<uint16_t>(p));
      }
    }
  }
}

}  // namespace

RouteIndex::RouteIndex(const Graph& graph) : by_destination_(graph.npus() + size_t{1}) {
  const auto& routes = graph.spec().routes;
  for (uint32_t line = 0; line < routes.size(); ++line)
    by_destination_[routes[line].to == GraphRoute::kAnywhere ? graph.npus() : routes[line].to].push_back(
        line);
}

const std::vector<GraphRouting>& graph_routings() {
  static const std::vector<GraphRouting> rows = {
      {"shortest_path",
       "the way of fewest hops; among those least latency, then the lowest number of the next node",
       shortest_path},
      {"ecmp",
       "each chunk of a collective and each message by a hash over all ways of fewest hops and least latency",
       equal_cost},
      {"table", "next hops as `topology.routes` or `topology.routes_file` give them", table},
  };
  return rows;
}

const GraphRouting* find_graph_routing(std::string_view name) {
  for (const GraphRouting& row : graph_routings())
    if (name == row.name) return &row;
  return nullptr;
}

}  // namespace weft
