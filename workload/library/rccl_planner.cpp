// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "configs/log2.h"
#include "workload/library/nccl_tuner.h"
#include "workload/library/planner.h"

namespace weft::library {
namespace {

constexpr uint32_t kAllPairsRanks = 8;  // the programs are written for so many

size_t index(Protocol protocol) {
  return static_cast<size_t>(protocol);
}

bool has_all_pairs(const Context& c, LibraryOp op) {
  return op == LibraryOp::all_reduce && c.shape.nodes == 1 && c.shape.ranks == kAllPairsRanks &&
         c.machine.links == NodeLinks::fully_connected;
}

/// Of an all-pairs program; nothing: there is none for that size.
struct Program {
  Protocol protocol = Protocol::ll;
  uint32_t channels = 0;
};
std::optional<Program> program_for(const Context& c, uint64_t bytes, const Forced& forced) {
  for (const Protocol protocol : {Protocol::ll, Protocol::simple}) {
    if (forced.protocol && *forced.protocol != protocol) continue;
    const std::vector<AllPairs::Band>& bands = c.tables.all_pairs.bands[index(protocol)];
    for (const AllPairs::Band& band : bands)
      if (bytes < band.below) return Program{protocol, band.channels};
    if (forced.algorithm && !bands.empty()) return Program{protocol, bands.back().channels};
  }
  return std::nullopt;
}

LibraryPlan all_pairs(const Context& c, LibraryOp op, uint64_t bytes, const Program& program) {
  const AllPairs& rules = c.tables.all_pairs;
  LibraryPlan plan = begin_plan(c, op, bytes);
  plan.algorithm = LibraryAlgorithm::all_pairs;
  plan.protocol = program.protocol;
  plan.channels = program.channels;
  plan.channel_bytes = (bytes + plan.channels - 1) / plan.channels;
  plan.wire_factor = c.tables.rules.wire[index(plan.protocol)];
  const LatencyRow& row = c.tables.row(LibraryAlgorithm::ring);
  const bool simple = plan.protocol == Protocol::simple;
  plan.base_us = row.base[index(plan.protocol)];
  plan.latency_us = simple ? rules.simple_steps * row.nvlink[index(plan.protocol)] : 0;
  const double links = (simple ? rules.simple_share : rules.ll_share) * c.node_bandwidth();
  plan.bandwidth = links * plan.ranks / (2.0 * (plan.ranks - 1));
  plan.chunk_bytes = (plan.channel_bytes + plan.ranks - 1) / plan.ranks;
  plan.steps = 2;
  return plan;
}

Protocol protocol_of(const Context& c, LibraryOp op, uint64_t bytes) {
  const auto bands = c.tables.node_bands.find(op);
  if (bands == c.tables.node_bands.end()) return Protocol::simple;
  const double each = static_cast<double>(bytes) / c.shape.ranks;
  double ll128 = bands->second.ll128;
  if (op == LibraryOp::all_reduce && c.shape.nodes > 2) ll128 *= c.tables.ll128_factor_nodes;
  if (each <= bands->second.ll) return Protocol::ll;
  return c.generation.ll128 && each <= ll128 ? Protocol::ll128 : Protocol::simple;
}

/// In one node; nothing: the tuner decides.
std::optional<Protocol> node_protocol(const Context& c, LibraryOp op, uint64_t bytes) {
  if (op != LibraryOp::all_gather && op != LibraryOp::reduce_scatter) return std::nullopt;
  const uint64_t most = c.generation.node_ll[op == LibraryOp::all_gather ? 0 : 1];
  if (most == 0) return std::nullopt;
  return bytes / c.shape.ranks <= most ? Protocol::ll : Protocol::simple;
}

/// An all-gather of middle size in a fully connected node: each rank sends its part straight to all others.
bool gathers_directly(const Context& c, LibraryOp op, uint64_t bytes, const Forced& forced) {
  return op == LibraryOp::all_gather && c.shape.nodes == 1 && !forced.algorithm && !forced.protocol &&
         c.machine.links == NodeLinks::fully_connected && node_protocol(c, op, bytes) == Protocol::simple &&
         bytes / c.shape.ranks <= c.generation.direct_all_gather;
}

/// The library takes the operation with this protocol, or leaves it to the tuner.
bool may_take(const Context& c, LibraryOp op, uint64_t bytes, Protocol protocol) {
  if (c.shape.nodes > 1) return protocol == protocol_of(c, op, bytes);
  const std::optional<Protocol> fixed = node_protocol(c, op, bytes);
  return fixed ? protocol == *fixed : protocol != Protocol::ll128;
}

double ring_latency(const Context& c, LibraryOp op, Protocol protocol) {
  const LatencyRow& row = c.tables.row(LibraryAlgorithm::ring);
  const uint32_t crossings = (op == LibraryOp::all_reduce ? 2 : 1) * (c.shape.nodes - 1);
  return (ring_steps(op, c.shape.ranks) - crossings) * row.nvlink[index(protocol)] +
         crossings * row.network[index(protocol)];
}

double tree_latency(const Context& c, Protocol protocol) {
  const LatencyRow& row = c.tables.row(LibraryAlgorithm::tree);
  return 2 * ((c.shape.local - 1) * row.nvlink[index(protocol)] +
              log2_floor(c.shape.nodes) * row.network[index(protocol)]);
}

/// What RCCL's tuner believes: a share of the links for each algorithm and protocol.
double believed(const Context& c, LibraryOp op, LibraryAlgorithm algorithm, Protocol protocol,
                uint64_t bytes) {
  const bool tree = algorithm == LibraryAlgorithm::tree;
  const double share = (tree ? c.generation.tree_share : c.generation.ring_share)[index(protocol)];
  const double ratio = tree ? 0.5 : static_cast<double>(c.shape.ranks) / ring_steps(op, c.shape.ranks);
  const double latency = tree ? tree_latency(c, protocol) : ring_latency(c, op, protocol);
  return latency + static_cast<double>(bytes) * 1e-3 / (share * c.graphs.ring.bandwidth() * ratio);
}

}  // namespace

LibraryPlan plan_rccl(const Context& c, LibraryOp op, uint64_t bytes, const Forced& forced) {
  const bool may_pair =
      has_all_pairs(c, op) && (!forced.algorithm || *forced.algorithm == LibraryAlgorithm::all_pairs);
  if (may_pair) {
    if (const std::optional<Program> program = program_for(c, bytes, forced)) {
      LibraryPlan plan = all_pairs(c, op, bytes, *program);
      plan.tuned_by = forced.line;
      return plan;
    }
  }
  if (gathers_directly(c, op, bytes, forced)) {
    LibraryPlan plan = plan_point_to_point(c, op, bytes);
    plan.tuned_by = forced.line;
    return plan;
  }
  const bool known = !forced.algorithm || *forced.algorithm == LibraryAlgorithm::ring ||
                     (*forced.algorithm == LibraryAlgorithm::tree && op == LibraryOp::all_reduce);
  if (!known)
    throw UserError(
        ExitCode::usage,
        fmt::format("{}: {} cannot be used for {} of {} ranks on {} node(s) with RCCL; write ring, or change "
                    "the line's range",
                    forced.line, to_string(*forced.algorithm), to_string(op), c.shape.ranks, c.shape.nodes));
  LibraryAlgorithm best = LibraryAlgorithm::ring;
  Protocol protocol = Protocol::simple;
  double least = -1;
  for (const LibraryAlgorithm algorithm : {LibraryAlgorithm::ring, LibraryAlgorithm::tree}) {
    if (algorithm == LibraryAlgorithm::tree &&
        (op != LibraryOp::all_reduce || (c.shape.nodes == 1 && !forced.algorithm)))
      continue;
    if (forced.algorithm && *forced.algorithm != algorithm) continue;
    for (const Protocol p : {Protocol::ll, Protocol::ll128, Protocol::simple}) {
      if (forced.protocol ? *forced.protocol != p : !may_take(c, op, bytes, p)) continue;
      const double time = believed(c, op, algorithm, p, bytes);
      if (least >= 0 && time >= least) continue;
      least = time;
      best = algorithm;
      protocol = p;
    }
  }
  LibraryPlan plan = begin_plan(c, op, bytes);
  plan.algorithm = best;
  plan.protocol = protocol;
  plan.tuned_by = forced.line;
  plan.base_us = c.tables.row(best).base[index(protocol)];
  if (best == LibraryAlgorithm::tree) {
    plan.latency_us = tree_latency(c, protocol);
    lay_out_tree(c, plan, forced.channels);
  } else {
    const bool chain = op == LibraryOp::broadcast || op == LibraryOp::reduce;
    plan.latency_us = chain ? chain_latency(c, protocol) : ring_latency(c, op, protocol);
    lay_out_ring(c, plan, forced.channels);
  }
  if (protocol == Protocol::ll && c.shape.nodes > 1)
    plan.network_share = c.tables.rules.straggler *
                         std::min<double>(c.tables.rules.straggler_doublings, std::log2(plan.channels));
  return plan;
}

}  // namespace weft::library
