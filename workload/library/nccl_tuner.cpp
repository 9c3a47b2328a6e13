// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "workload/library/nccl_tuner.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "configs/log2.h"

namespace weft::library {
namespace {

constexpr uint32_t kMostDirect = 8;  // ranks of a node with CollNetDirect (NCCL_MAX_DIRECT_ARITY + 1)
// Ranks of a node, at most, for an all-gather or reduce-scatter by NVLS (NCCL_MAX_NVLS_ARITY).
constexpr uint32_t kMostNvlsParts = 32;
constexpr double kArity = 0.4;     // us that each further rank of the node adds to CollNetDirect
constexpr double kUsPerGb = 1e-3;  // us that a byte takes at 1 GB/s

size_t index(Protocol protocol) {
  return static_cast<size_t>(protocol);
}

/// Place in a table for 1, 2 and more nodes.
size_t node_index(const Context& c) {
  return std::min(c.shape.nodes, 3u) - 1;
}

/// GB/s that all LL channels together reach at most.
double ll_limit(const Context& c) {
  if (c.shape.nodes == 1) return c.generation.ll_max[0];
  const Generation& row = c.tables.generations.at(c.machine.host == HostCpu::amd ? "ampere" : "volta");
  return row.ll_max[node_index(c)];
}

/// us of a step inside a node and between nodes.
double inner(const Context& c, LibraryAlgorithm algorithm, Protocol protocol) {
  const LatencyRow& row = c.tables.row(algorithm);
  return (c.over_pcie() ? row.pcie : row.nvlink)[index(protocol)];
}
double outer(const Context& c, LibraryAlgorithm algorithm, Protocol protocol) {
  const bool alone = c.shape.local == 1 && algorithm == LibraryAlgorithm::ring;
  return c.tables.row(alone ? LibraryAlgorithm::tree : algorithm).network[index(protocol)];
}

double search_bandwidth(const Context& c, const SearchGraph& graph) {
  return graph.channels * (c.shape.nodes <= 2 ? graph.speed : graph.inter_speed);
}

double ring_bus(const Context& c, LibraryOp op, Protocol protocol) {
  const double all = search_bandwidth(c, c.graphs.ring);
  if (protocol == Protocol::simple) return all;
  if (protocol == Protocol::ll128)
    return std::min(0.92 * all, c.graphs.ring.channels * c.generation.ring_ll128);
  const Rules& rules = c.tables.rules;
  const bool wide = c.shape.nodes == 1 && op != LibraryOp::all_reduce && op != LibraryOp::reduce;
  return std::min(ll_limit(c), all / (wide ? rules.ring_ll_divisor_node : rules.ring_ll_divisor));
}

double tree_bus(const Context& c, Protocol protocol, uint64_t bytes) {
  const size_t n = node_index(c);
  const uint32_t channels = c.graphs.tree.channels;
  double bus = std::min(0.92 * search_bandwidth(c, c.graphs.tree), channels * c.generation.tree_max[n]);
  if (protocol == Protocol::ll) bus = std::min(bus / 3.8, ll_limit(c));
  if (protocol == Protocol::ll128)
    bus = std::min(bus * (c.shape.nodes == 1 ? 7.0 / 9 : 120.0 / 128), channels * c.generation.tree_ll128[n]);
  const std::vector<double>& factors = c.tables.tree_factors[index(protocol)];
  const uint32_t k = bytes < 64 ? 0 : log2_floor(bytes / 64);
  return k < factors.size() ? bus * factors[k] : bus;
}

double nvls_bus(const Context& c, LibraryOp op, LibraryAlgorithm algorithm) {
  const SearchGraph& graph = c.graphs.nvls;
  const double heads = graph.channels;
  const double local = c.shape.local;
  const double ways = op == LibraryOp::all_reduce ? 2 : (local - 1) / local;
  double channel = graph.speed * c.generation.nvls_efficiency * (heads - 1) / heads * ways;
  if (c.shape.nodes > 1)
    channel = std::min(channel, graph.inter_speed *
                                    (algorithm == LibraryAlgorithm::nvls_tree && c.shape.nodes == 2 ? 2 : 1));
  if (algorithm == LibraryAlgorithm::nvls_tree)
    channel = std::min(channel, c.generation.nvls_tree_max[node_index(c)]);
  return heads * channel;
}

/// What versions before 2.28 reckon with: the search's speeds, and between nodes those of the NICs.
double old_nvls_bus(const Context& c, LibraryOp op, LibraryAlgorithm algorithm) {
  const SearchGraph& graph = c.graphs.nvls;
  double speed = graph.speed;
  if (c.shape.nodes > 1)
    speed = std::min(
        speed, graph.inter_speed / (algorithm == LibraryAlgorithm::nvls_tree && c.shape.nodes > 2 ? 2 : 1));
  return graph.channels * speed * (op == LibraryOp::all_reduce ? c.tables.rules.nvls_ratio : 1);
}

/// What NVLS over nodes reaches where the network's switches reduce, which the tuner does not reckon with: in
/// a node data take what they take in one node alone, and the NICs of the heads carry all of them once in
/// each direction. Of an all-gather a node has one part already.
double nvls_between(const Context& c, LibraryOp op) {
  const double heads = c.graphs.nvls.channels;
  double speed = c.graphs.nvls.speed;
  for (const double s : c.generation.node_speeds)
    if (heads * s <= c.node_bandwidth()) {
      speed = std::min(speed, s);
      break;
    }
  const double links = heads * speed * c.generation.nvls_efficiency * (heads - 1) / heads;
  double nics = heads * c.graphs.nvls.inter_speed;
  if (op != LibraryOp::all_reduce) {
    if (op == LibraryOp::all_gather) nics *= c.shape.nodes / (c.shape.nodes - 1.0);
    return std::min(links, nics);
  }
  return std::min(2 * links * c.shape.ranks / ring_steps(op, c.shape.ranks), nics);
}

/// Not every GPU has a NIC of its own: the heads' links carry more.
double collnet_direct_bus(const Context& c) {
  const double each = static_cast<double>(c.shape.local) / c.graphs.collnet.channels;
  return c.graphs.collnet.bandwidth() / ((each + 1) / 2) * (c.generation.hopper ? 0.85 : 1);
}

double ring_latency(const Context& c, LibraryOp op, Protocol protocol) {
  const double l = inner(c, LibraryAlgorithm::ring, protocol);
  const uint32_t n = c.shape.ranks;
  if (op == LibraryOp::broadcast || op == LibraryOp::reduce) {
    const bool same = c.shape.nodes == 1 && c.machine.links == NodeLinks::switched;
    return same ? l : n * l;
  }
  const uint32_t crossings =
      c.shape.nodes == 1 ? 0 : (op == LibraryOp::all_reduce ? 2 : 1) * (c.shape.nodes - 1);
  double overhead = 0;  // of the proxy that serves the NICs
  if (c.shape.nodes > 1)
    overhead = (c.machine.host == HostCpu::amd ? 2 : 1) * (protocol == Protocol::simple ? 3 : 1);
  return (ring_steps(op, n) - crossings) * std::max(l, overhead) +
         crossings * outer(c, LibraryAlgorithm::ring, protocol);
}

Estimate ring_estimate(const Context& c, LibraryOp op, Protocol protocol, uint64_t bytes) {
  Estimate e;
  e.base_us = c.tables.row(LibraryAlgorithm::ring).base[index(protocol)];
  e.latency_us = ring_latency(c, op, protocol);
  e.bandwidth = ring_bus(c, op, protocol) * c.shape.ranks / ring_steps(op, c.shape.ranks);
  double latency = e.base_us + e.latency_us;
  const bool plateau = op == LibraryOp::all_reduce && protocol == Protocol::simple && c.shape.nodes > 1 &&
                       bytes / (static_cast<uint64_t>(c.graphs.channels) * c.shape.ranks) >= 64;
  if (plateau) latency *= c.generation.plateau;
  e.time_us = latency + static_cast<double>(bytes) * kUsPerGb / e.bandwidth;
  return e;
}

std::string no_reducing_network(const Context& c, const char* who) {
  if (c.shape.nodes < 2) return fmt::format("{} needs several nodes", who);
  if (!c.machine.collnet)
    return fmt::format("{} needs switches of the network that reduce; set `collectives.collnet: true`", who);
  return fmt::format(
      "{} needs ranks at the same places of all nodes, so that switches of the network join them", who);
}

void finish(Estimate& e, uint64_t bytes) {
  e.time_us = e.base_us + e.latency_us + static_cast<double>(bytes) * kUsPerGb / e.bandwidth;
}

}  // namespace

uint32_t ring_steps(LibraryOp op, uint32_t ranks) {
  switch (op) {
    case LibraryOp::all_reduce:
      return 2 * (ranks - 1);
    case LibraryOp::all_gather:
    case LibraryOp::reduce_scatter:
      return ranks - 1;
    default:
      return ranks;
  }
}

std::string lacks(const Context& c, LibraryOp op, LibraryAlgorithm algorithm, Protocol protocol) {
  const bool reduces_all = op == LibraryOp::all_reduce;
  const bool parts = op == LibraryOp::all_gather || op == LibraryOp::reduce_scatter;
  if (protocol == Protocol::ll128 && (c.over_pcie() || c.machine.network == NetworkKind::sockets))
    return "LL128 needs NVLink, and NICs that reach the GPU's memory";
  if (c.machine.network == NetworkKind::sockets && c.shape.nodes > 1 && protocol != Protocol::simple)
    return "sockets through host memory take Simple alone";
  switch (algorithm) {
    case LibraryAlgorithm::ring:
      return {};
    case LibraryAlgorithm::tree:
      return reduces_all ? "" : "trees are for all_reduce";
    case LibraryAlgorithm::nvls:
    case LibraryAlgorithm::nvls_tree: {
      if (c.graphs.nvls.channels == 0)
        return "NVLS needs three or more GPUs of a generation from Hopper on, with NVSwitch, and a version "
               "from 2.17 on";
      if (protocol != Protocol::simple) return "NVLS has the protocol Simple alone";
      const bool tree = algorithm == LibraryAlgorithm::nvls_tree;
      if (tree && c.shape.nodes < 2) return "an NVLS tree needs several nodes";
      if (tree && !reduces_all) return "NVLS trees are for all_reduce";
      if (!tree && c.shape.nodes > 1 && !c.network_reduces())
        return no_reducing_network(c, "NVLS over several nodes");
      if (parts && c.shape.nodes > 1 && !c.tables.rules.nvls_parts_over_nodes)
        return "NVLS gathers and scatters over several nodes in versions from 2.27 on";
      if (parts && c.shape.local > kMostNvlsParts)
        return fmt::format("NVLS gathers and scatters on nodes of at most {} ranks", kMostNvlsParts);
      return tree || reduces_all || parts ? "" : "NVLS is for all_reduce, all_gather and reduce_scatter";
    }
    case LibraryAlgorithm::pat:
      if (!c.tables.rules.pat) return "PAT is in versions from 2.23 on";
      if (protocol != Protocol::simple) return "PAT has the protocol Simple alone";
      if (c.shape.local != 1 || c.shape.nodes < 2) return "PAT needs one rank a node";
      return parts ? "" : "PAT is for all_gather and reduce_scatter";
    case LibraryAlgorithm::collnet_direct:
    case LibraryAlgorithm::collnet_chain:
      if (!c.network_reduces()) return no_reducing_network(c, "CollNet");
      if (c.graphs.collnet.channels == 0) return "CollNet needs several nodes with equally many ranks";
      if (protocol != Protocol::simple) return "CollNet has the protocol Simple alone";
      if (algorithm == LibraryAlgorithm::collnet_direct && c.shape.local > kMostDirect)
        return fmt::format("CollNetDirect needs nodes of at most {} ranks", kMostDirect);
      return reduces_all ? "" : "CollNet is for all_reduce";
    default:
      return fmt::format("{} is not one that Weft plans for NCCL's collectives", to_string(algorithm));
  }
}

Estimate estimate(const Context& c, LibraryOp op, LibraryAlgorithm algorithm, Protocol protocol,
                  uint64_t bytes) {
  if (algorithm == LibraryAlgorithm::ring) return ring_estimate(c, op, protocol, bytes);
  Estimate e;
  const double ranks = c.shape.ranks;
  const double depth = log2_floor(c.shape.nodes);
  const double l = inner(c, algorithm, protocol);
  const double far = outer(c, algorithm, protocol);
  e.base_us = c.tables.row(algorithm).base[index(protocol)];
  switch (algorithm) {
    case LibraryAlgorithm::tree:
      e.latency_us = 2 * ((c.shape.local - 1) * l + depth * far);
      e.bandwidth = tree_bus(c, protocol, bytes) / 2;
      break;
    case LibraryAlgorithm::nvls:
    case LibraryAlgorithm::nvls_tree: {
      e.latency_us =
          algorithm == LibraryAlgorithm::nvls ? l + (c.shape.nodes > 1 ? far : 0) : l + 2 * depth * far;
      e.reached = nvls_bus(c, op, algorithm) * ranks / ring_steps(op, c.shape.ranks);
      e.bandwidth = c.tables.rules.nvls_ratio > 0 ? old_nvls_bus(c, op, algorithm) : e.reached;
      if (algorithm == LibraryAlgorithm::nvls && c.shape.nodes > 1) e.reached = nvls_between(c, op);
      // Two nodes exchange all data once; inner nodes of larger trees send them twice.
      if (algorithm == LibraryAlgorithm::nvls_tree)
        e.reached = std::min(e.reached, c.network_bandwidth() / (c.shape.nodes == 2 ? 1 : 2));
      break;
    }
    case LibraryAlgorithm::collnet_direct: {
      const uint32_t peers = c.shape.local - 1;
      e.latency_us = 2 * (std::min(1u, peers) * l + kArity * peers) + far;
      e.reached = e.bandwidth = collnet_direct_bus(c) / 2;
      break;
    }
    case LibraryAlgorithm::collnet_chain:
      e.latency_us = 2 * (c.shape.local - 1) * l + far;
      e.reached = e.bandwidth = search_bandwidth(c, c.graphs.ring) / 2;
      break;
    case LibraryAlgorithm::pat:
      e.latency_us = depth * far / 3.5 + 2.8 * ranks;
      e.bandwidth = c.tables.rules.pat_share * search_bandwidth(c, c.graphs.ring) * ranks / (ranks - 1);
      e.reached = e.bandwidth;
      break;
    default:
      return e;
  }
  finish(e, bytes);
  return e;
}

Choice choose(const Context& c, LibraryOp op, uint64_t bytes) {
  Choice best;
  for (const LibraryAlgorithm algorithm : kTuned) {
    for (const Protocol protocol : {Protocol::ll, Protocol::ll128, Protocol::simple}) {
      if (!lacks(c, op, algorithm, protocol).empty()) continue;
      const Estimate e = estimate(c, op, algorithm, protocol, bytes);
      if (best.estimate.bandwidth <= 0 || e.time_us < best.estimate.time_us) best = {algorithm, protocol, e};
    }
  }
  return best;
}

}  // namespace weft::library
