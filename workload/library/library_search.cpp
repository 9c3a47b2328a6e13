// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "workload/library/library_search.h"

#include <algorithm>
#include <cmath>

namespace weft::library {
namespace {

constexpr double kRound = 1e-9;         // speeds are decimal fractions
constexpr uint32_t kMostSearched = 32;  // MAXCHANNELS / 2
constexpr double kDoubledFrom = 25;     // GB/s a channel
constexpr double kWideFrom = 50;
// A search that has a graph does not try speeds of less than this share of its own.
constexpr double kSlowest = 0.49;

uint32_t whole(double channels) {
  return channels <= 0 ? 0 : static_cast<uint32_t>(std::floor(channels + kRound));
}

double pcie_bandwidth(uint32_t generation) {
  return 12.0 * (1u << (std::max(generation, 3u) - 3));
}

double link_of(const Context& c) {
  return c.machine.link_bandwidth > 0 ? c.machine.link_bandwidth : c.gpu.link;
}
uint32_t links_of(const Context& c) {
  return c.machine.links_per_gpu != 0 ? c.machine.links_per_gpu : c.gpu.links;
}

/// Channels of that speed which the links inside a node carry.
uint32_t inside(const Context& c, double speed) {
  if (c.shape.local < 2) return kMostSearched;
  if (c.machine.links == NodeLinks::cube_mesh && speed > link_of(c)) return 0;
  double bandwidth = c.node_bandwidth();
  // Each channel leaves its node by another GPU, which then has no successor there.
  if (c.shape.nodes > 1 && c.nics() >= c.shape.local)
    bandwidth = bandwidth * c.shape.local / (c.shape.local - 1);
  return whole(bandwidth / speed);
}

uint32_t between(const Context& c, double speed) {
  if (c.shape.nodes < 2) return kMostSearched;
  return c.nics() * whole(c.machine.nic_bandwidth / speed);
}

const std::vector<double>& speeds(const Context& c) {
  return c.shape.nodes > 1 ? c.generation.nodes_speeds : c.generation.node_speeds;
}

SearchGraph find_ring(const Context& c) {
  SearchGraph best;
  for (const double speed : speeds(c)) {
    if (best.channels != 0 && speed <= kSlowest * best.speed) break;
    const uint32_t channels = std::min({inside(c, speed), between(c, speed), kMostSearched});
    if (channels * speed > best.bandwidth() + kRound) best = {channels, speed, speed};
  }
  if (best.channels == 0) {  // slower than the slowest speed of the list
    const double slowest = speeds(c).back();
    const double inter = c.shape.nodes > 1 ? c.machine.nic_bandwidth : slowest;
    best = {1, std::min(slowest, inter), std::min(slowest, inter)};
  }
  return best;
}

/// Two nodes: a tree may be faster inside the nodes than between them.
SearchGraph find_tree(const Context& c, const SearchGraph& ring) {
  SearchGraph tree = ring;
  if (c.shape.nodes != 2 || c.shape.local < 2) return tree;
  const std::vector<double>& list = speeds(c);
  auto at = std::find(list.begin(), list.end(), ring.speed);
  if (at == list.end()) return tree;
  while (at != list.begin() && tree.speed < 2 * ring.inter_speed && inside(c, *(at - 1)) >= ring.channels)
    tree.speed = *--at;
  return tree;
}

/// Many narrow channels are better than few wide ones.
uint32_t doubling(const Context& c, const SearchGraph& graph) {
  if (graph.speed < kDoubledFrom) return graph.channels;
  if (c.generation.hopper && graph.speed < kWideFrom && graph.channels > 4) return graph.channels;
  return std::min(2 * graph.channels, kMostSearched);
}

SearchGraph spread(const SearchGraph& graph, uint32_t channels) {
  const double share = static_cast<double>(graph.channels) / channels;
  return {channels, graph.speed * share, graph.inter_speed * share};
}

SearchGraph find_nvls(const Context& c) {
  const bool has = c.tables.rules.nvls && c.generation.nvls_efficiency > 0 &&
                   c.machine.links == NodeLinks::switched && c.shape.local > 2 &&
                   c.shape.local == c.shape.least_local;
  if (!has) return {};
  SearchGraph graph;
  graph.channels = std::min(c.shape.local, kMostSearched);
  for (const double speed : speeds(c)) {
    graph.speed = speed;
    if (graph.channels * speed <= c.node_bandwidth() + kRound) break;
  }
  for (const double speed : speeds(c)) {
    graph.inter_speed = speed;
    if (c.shape.nodes < 2 || between(c, speed) >= graph.channels) break;
  }
  return graph;
}

/// CollNetDirect: a head beside each NIC.
SearchGraph find_collnet(const Context& c) {
  if (!c.network_reduces() || c.shape.local != c.shape.least_local) return {};
  SearchGraph graph;
  graph.channels = std::min({c.nics(), c.shape.local, kMostSearched});
  for (const double speed : speeds(c)) {
    graph.speed = graph.inter_speed = speed;
    if (inside(c, speed) >= graph.channels && between(c, speed) >= graph.channels) break;
  }
  return graph;
}

SearchGraph completed(SearchGraph given) {
  if (given.inter_speed <= 0) given.inter_speed = given.speed;
  return given;
}

void search_nccl(Context& c) {
  CommGraphs& graphs = c.graphs;
  if (c.machine.ring) {
    graphs.ring = completed(*c.machine.ring);
    graphs.tree = graphs.ring;
  } else {
    const SearchGraph ring = find_ring(c);
    const SearchGraph tree = find_tree(c, ring);
    const uint32_t channels = doubling(c, ring);
    graphs.ring = spread(ring, channels);
    graphs.tree = spread(tree, channels);
  }
  if (c.machine.tree) graphs.tree = completed(*c.machine.tree);
  graphs.nvls = c.machine.nvls ? completed(*c.machine.nvls) : find_nvls(c);
  graphs.collnet = find_collnet(c);
  uint32_t channels = 2 * graphs.ring.channels;
  if (c.generation.hopper && c.shape.nodes > 1 && graphs.ring.speed > 45 && channels < 16) channels *= 2;
  graphs.channels = std::min(channels, c.tables.rules.most_channels[c.shape.nodes > 1 ? 1 : 0]);
}

void search_rccl(Context& c) {
  CommGraphs& graphs = c.graphs;
  if (c.machine.ring) {
    graphs.ring = completed(*c.machine.ring);
  } else {
    const uint32_t most = c.tables.rules.most_channels[c.shape.nodes > 1 ? 1 : 0] / 2;
    const uint32_t peers = std::max(c.shape.local, 2u) - 1;
    const uint32_t channels = std::min(most, c.tables.rules.rings_per_peer * peers);
    double inner = c.shape.local > 1 ? c.node_bandwidth() : 0;
    if (c.shape.nodes > 1) {
      const double outer = c.network_bandwidth();
      if (c.shape.local > 1 && c.nics() >= c.shape.local) inner = inner * c.shape.local / peers;
      inner = c.shape.local > 1 ? std::min(inner, outer) : outer;
    }
    graphs.ring = {channels, inner / channels, inner / channels};
  }
  graphs.tree = c.machine.tree ? completed(*c.machine.tree) : graphs.ring;
  graphs.channels =
      std::min(2 * graphs.ring.channels, c.tables.rules.most_channels[c.shape.nodes > 1 ? 1 : 0]);
}

}  // namespace

CommShape CommShape::of(const LibraryMachine& machine, const LibraryCall& call) {
  CommShape shape;
  if (call.ranks_of_nodes.empty()) {
    shape.ranks = machine.ranks();
    shape.nodes = machine.nodes;
    shape.local = shape.least_local = machine.gpus_per_node;
    return shape;
  }
  shape = {0, 0, 0, ~0u, call.same_places};
  for (const uint32_t ranks : call.ranks_of_nodes) {
    if (ranks == 0) continue;
    shape.ranks += ranks;
    ++shape.nodes;
    shape.local = std::max(shape.local, ranks);
    shape.least_local = std::min(shape.least_local, ranks);
  }
  if (shape.nodes == 0) shape = {};
  return shape;
}

double Context::link_bandwidth() const {
  return link_of(*this);
}

double Context::node_bandwidth() const {
  const double all = links_of(*this) * link_of(*this);
  switch (machine.links) {
    case NodeLinks::pcie:
      // Beyond four GPUs the ring crosses the link between the sockets.
      return shape.local > 4
                 ? std::min(pcie_bandwidth(gpu.pcie), tables.rules.sockets[static_cast<size_t>(machine.host)])
                 : pcie_bandwidth(gpu.pcie);
    case NodeLinks::cube_mesh:
      // Four of a GPU's six links stay in its half, two of them to one partner.
      return shape.local > 4 ? all : shape.local > 2 ? all * 4 / 6 : all * 2 / 6;
    case NodeLinks::fully_connected: {
      // The links of RCCL's GPUs lead to so many others; a smaller node has no use for some of them.
      const bool table = machine.kind == LibraryKind::rccl && machine.links_per_gpu == 0;
      const uint32_t peers = std::max(table ? gpu.links : 1, machine.gpus_per_node - 1);
      return machine.gpus_per_node > 1 ? all * (shape.local - 1) / peers : all;
    }
    default:
      return all;
  }
}

uint32_t Context::nics() const {
  const uint32_t all = machine.nics_per_node != 0 ? machine.nics_per_node : machine.gpus_per_node;
  const uint64_t share = static_cast<uint64_t>(all) * shape.least_local / machine.gpus_per_node;
  return static_cast<uint32_t>(std::max<uint64_t>(1, share));
}

double Context::network_bandwidth() const {
  return nics() * machine.nic_bandwidth;
}

void search(Context& context) {
  if (context.machine.kind == LibraryKind::rccl)
    search_rccl(context);
  else
    search_nccl(context);
}

}  // namespace weft::library
