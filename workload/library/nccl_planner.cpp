// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "configs/log2.h"
#include "workload/library/cube_mesh.h"
#include "workload/library/nccl_tuner.h"
#include "workload/library/planner.h"

namespace weft::library {
namespace {

constexpr double kFewNvls = 150;      // GB/s: a slower NVLS over nodes has small chunks
constexpr double kFillingLoops = 4;   // of NVLS, until as many are under way as ever are
constexpr uint32_t kSlicedSteps = 4;  // steps of a Simple chunk of rings that reduce or gather parts

size_t index(Protocol protocol) {
  return static_cast<size_t>(protocol);
}

bool chains(LibraryOp op) {
  return op == LibraryOp::broadcast || op == LibraryOp::reduce;
}

/// Bytes that the links carry in a ring or tree, GB/s of data.
double link_bandwidth(const SearchGraph& graph, Protocol protocol, const Rules& rules) {
  const double wire = rules.wire[index(protocol)];
  // LL's flags halve it; the 8 bytes of an LL128 line are within what the links carry beyond the search's
  // values.
  return graph.bandwidth() / (protocol == Protocol::ll ? wire : 1);
}

/// After an odd number of nodes a ring comes back on another rail than it began on. One node has as many hops
/// of it as GPUs then, not one fewer, and between fully connected GPUs each hop is on a link of its own.
bool changes_rails(const Context& c) {
  return c.machine.links == NodeLinks::fully_connected && c.shape.local > 1 && c.shape.nodes > 1 &&
         c.shape.nodes % 2 == 1 && c.nics() >= c.shape.local;
}

double threads_of(const Context& c, Protocol protocol) {
  const Rules& rules = c.tables.rules;
  if (protocol == Protocol::simple && c.graphs.ring.bandwidth() <= rules.few_threads_bandwidth)
    return rules.few_threads;
  return rules.threads[index(protocol)];
}

/// A channel that would have too little to do is dropped.
uint32_t channels_by_size(const Context& c, const LibraryPlan& plan) {
  const Rules& rules = c.tables.rules;
  const bool ring_ll = plan.algorithm == LibraryAlgorithm::ring && plan.protocol == Protocol::ll;
  const double least = threads_of(c, plan.protocol) * rules.bytes_per_thread[index(plan.protocol)] *
                       (ring_ll ? c.shape.ranks : 1);
  double most = std::floor(static_cast<double>(plan.bytes) / least);
  if (rules.least_traffic > 0) {
    const double traffic =
        (plan.op == LibraryOp::all_reduce ? 2.0 : 1.0) * (plan.protocol == Protocol::ll ? 4 : 1);
    most = std::min(most, std::ceil(static_cast<double>(plan.bytes) * traffic / rules.least_traffic));
  }
  return static_cast<uint32_t>(std::clamp(most, 1.0, static_cast<double>(c.graphs.channels)));
}

void share_out(LibraryPlan& plan, uint32_t channels) {
  plan.channels = channels;
  plan.channel_bytes = (plan.bytes + channels - 1) / channels;
}

/// GB/s of data that one channel has of the links from GPU to GPU, if nothing else is on them.
double links_of_a_channel(const Context& c) {
  switch (c.machine.links) {
    case NodeLinks::cube_mesh:
    case NodeLinks::fully_connected:
      return c.link_bandwidth();
    default:
      return c.node_bandwidth();
  }
}

/// Bandwidth of a chunk that passes `near` hops in nodes and `far` hops between them, one after the other. A
/// hop is as fast as a channel can be, or as the link or the NIC is.
double way_bandwidth(const Context& c, const LibraryPlan& plan, double near, double far) {
  const double rate = c.generation.channel_rate[index(plan.protocol)];
  const double link = links_of_a_channel(c) / plan.wire_factor;
  const double nic = c.machine.nic_bandwidth / plan.wire_factor;
  const double time =
      (near > 0 ? near / std::min(rate, link) : 0) + (far > 0 ? far / std::min(rate, nic) : 0);
  return time > 0 ? 1 / time : 0;
}

/// `believed`: GB/s that the tuner reckons with for an all-reduce.
void lay_out_nvls(const Context& c, LibraryPlan& plan, double believed, uint32_t channels) {
  const Rules& rules = c.tables.rules;
  const bool tree = plan.algorithm == LibraryAlgorithm::nvls_tree;
  const bool switched = !tree && c.shape.nodes > 1;  // the network's switches reduce
  uint32_t most = c.generation.nvls_channels[c.shape.nodes > 1 ? 1 : 0];
  if (switched) most = std::min(most, c.graphs.channels);
  share_out(plan, channels != 0 ? channels : most);
  const double width = static_cast<double>(plan.channels) * c.shape.local;
  const double bytes = static_cast<double>(plan.bytes);
  constexpr double kKiB = 1024;
  double chunk = (switched && believed < kFewNvls ? 32 : 128) * kKiB;
  if (tree) {
    if (c.shape.nodes >= 4) chunk = 64 * kKiB;
    if (bytes < 4 * width * chunk) chunk = std::min(chunk, 64 * kKiB);
    if (bytes < width * chunk) chunk = std::min(chunk, 32 * kKiB);
  } else {
    if (bytes < 64 * width * chunk) chunk = std::min(chunk, 64 * kKiB);
    if (bytes < 8 * width * chunk) chunk = std::min(chunk, 32 * kKiB);
    if (bytes < 2 * width * chunk) chunk = std::min(chunk, 16 * kKiB);
  }
  plan.chunk_bytes = static_cast<uint64_t>(chunk);
  plan.loop_bytes = static_cast<uint64_t>(width * chunk);
  plan.loops = (plan.bytes + plan.loop_bytes - 1) / plan.loop_bytes;
  // The first loops of a call wait for each other.
  const double loops = std::clamp(bytes / static_cast<double>(plan.loop_bytes), 1.0, kFillingLoops);
  plan.fill = tree ? rules.nvls_tree_fill[0] + rules.nvls_tree_fill[1] * std::log2(loops) +
                         rules.nvls_tree_fill[2] * log2_floor(c.shape.nodes)
                   : rules.nvls_fill[0] + rules.nvls_fill[1] * std::log2(loops);
  if (!tree) plan.sigma_us = rules.nvls_slice;
  plan.steps = 3;
}

/// From one and a half times the rings' channels down. The least that a thread has is halved on the way.
uint32_t collnet_channels(const Context& c, uint64_t bytes) {
  constexpr double kThreads = 640;
  const double heads = c.graphs.collnet.channels;
  double least = 512;
  uint32_t channels = std::max(1u, c.graphs.channels * 3 / 2);
  for (uint32_t level = 16; level >= 1; level /= 2) {
    while (channels > level && static_cast<double>(bytes) < channels * kThreads * heads * least) {
      if (channels == level + level / 2) least /= 2;
      --channels;
    }
    if (channels > level) break;
  }
  return channels;
}

/// The largest chunk, or a smaller one: `wide` of them side by side are to go several times through a
/// pipeline that is `depth` hops deep. `last`: how often, for the smallest chunk.
uint64_t collnet_chunk(uint64_t chunk, double bytes, double wide, double depth, double last) {
  const auto times = [&] { return bytes / (wide * static_cast<double>(chunk)); };
  while (times() < 64 * depth && chunk > 131072) chunk /= 2;
  while (times() < 8 * depth && chunk > 65536) chunk /= 2;
  while (times() < last * depth && chunk > 32768) chunk /= 2;
  return chunk;
}

void lay_out_collnet_direct(const Context& c, LibraryPlan& plan, uint32_t channels) {
  share_out(plan, channels != 0 ? channels : collnet_channels(c, plan.bytes));
  const double wide = static_cast<double>(plan.channels) * c.graphs.collnet.channels;
  plan.steps = c.shape.local > 1 ? 2 : 1;
  plan.chunk_bytes = collnet_chunk(512 << 10, static_cast<double>(plan.bytes), wide, plan.steps, 8);
  plan.loop_bytes = static_cast<uint64_t>(wide) * plan.chunk_bytes;
  plan.loops = (plan.bytes + plan.loop_bytes - 1) / plan.loop_bytes;
  plan.fill = c.tables.rules.collnet_fill;
}

/// A tree whose root is the switch: a chain through each node.
void lay_out_collnet_chain(const Context& c, LibraryPlan& plan, uint32_t channels) {
  lay_out_tree(c, plan, channels);
  plan.steps = c.shape.local + 1;
  plan.way_bandwidth = way_bandwidth(c, plan, 2 * (c.shape.local - 1), 2);
  plan.chunk_bytes =
      collnet_chunk(256 << 10, static_cast<double>(plan.bytes), plan.channels, c.shape.local, 1);
  plan.loop_bytes = plan.chunk_bytes;
  plan.loops = (plan.channel_bytes + plan.loop_bytes - 1) / plan.loop_bytes;
}

Choice choice_of(const Context& c, LibraryOp op, uint64_t bytes, const Forced& forced) {
  if (!forced.algorithm && !forced.protocol) return choose(c, op, bytes);
  Choice best;
  std::string why;
  for (const LibraryAlgorithm algorithm : kTuned) {
    if (forced.algorithm && *forced.algorithm != algorithm) continue;
    for (const Protocol protocol : {Protocol::ll, Protocol::ll128, Protocol::simple}) {
      if (forced.protocol && *forced.protocol != protocol) continue;
      std::string lack = lacks(c, op, algorithm, protocol);
      if (!lack.empty()) {
        why = std::move(lack);
        continue;
      }
      const Estimate e = estimate(c, op, algorithm, protocol, bytes);
      if (best.estimate.bandwidth <= 0 || e.time_us < best.estimate.time_us) best = {algorithm, protocol, e};
    }
  }
  if (best.estimate.bandwidth <= 0) {
    if (why.empty()) why = "NCCL has no such algorithm";
    throw UserError(
        ExitCode::usage,
        fmt::format("{}: cannot be used for {} of {} ranks on {} node(s): {}; change the line or its range",
                    forced.line, to_string(op), c.shape.ranks, c.shape.nodes, why));
  }
  return best;
}

}  // namespace

LibraryPlan begin_plan(const Context& c, LibraryOp op, uint64_t bytes) {
  LibraryPlan plan;
  plan.op = op;
  plan.bytes = bytes;
  plan.ranks = c.shape.ranks;
  plan.nodes = c.shape.nodes;
  return plan;
}

double chain_latency(const Context& c, Protocol protocol) {
  const LatencyRow& row = c.tables.row(LibraryAlgorithm::ring);
  const double inside = (c.over_pcie() ? row.pcie : row.nvlink)[index(protocol)];
  return (c.shape.ranks - c.shape.nodes) * inside + (c.shape.nodes - 1) * row.network[index(protocol)];
}

void lay_out_ring(const Context& c, LibraryPlan& plan, uint32_t channels) {
  const Rules& rules = c.tables.rules;
  share_out(plan, channels != 0 ? std::min(channels, c.graphs.channels) : channels_by_size(c, plan));
  plan.wire_factor = rules.wire[index(plan.protocol)];
  plan.bandwidth = link_bandwidth(c.graphs.ring, plan.protocol, rules);
  if (changes_rails(c)) plan.bandwidth = std::min(plan.bandwidth, c.node_bandwidth() / plan.wire_factor);
  plan.channel_bandwidth =
      std::min(c.generation.channel_rate[index(plan.protocol)], plan.bandwidth / plan.channels);
  // A channel crosses by one NIC. The one with the most channels decides: of six on five NICs two share one.
  if (c.shape.nodes > 1) {
    const uint32_t most = (plan.channels + c.nics() - 1) / c.nics();
    const double share = c.machine.nic_bandwidth / most / plan.wire_factor;
    if (share < plan.channel_bandwidth) plan.crossing_bandwidth = share;
  }
  const bool sliced = plan.protocol == Protocol::simple && !chains(plan.op);
  const auto step = static_cast<uint64_t>(rules.step_bytes[index(plan.protocol)]);
  plan.chunk_bytes = step * (sliced ? kSlicedSteps : 1);
  plan.slices = sliced ? 2 : 1;
  plan.least_slice = static_cast<uint64_t>(rules.least_slice);
  plan.sigma_us = c.tables.slice[index(plan.protocol)];
  plan.steps = chains(plan.op) ? plan.ranks - 1 : ring_steps(plan.op, plan.ranks);
  // A ring has a crossing a node. A chunk's way once round leaves out one hop, mostly one inside a node.
  const uint32_t rounds = plan.op == LibraryOp::all_reduce ? 2 : 1;
  plan.crossings = c.shape.nodes < 2 ? 0 : c.shape.local == 1 ? plan.steps : rounds * c.shape.nodes;
  plan.loop_bytes = plan.chunk_bytes * (chains(plan.op) ? 1 : plan.ranks);
  plan.loops = (plan.channel_bytes + plan.loop_bytes - 1) / plan.loop_bytes;
}

void lay_out_tree(const Context& c, LibraryPlan& plan, uint32_t channels) {
  const Rules& rules = c.tables.rules;
  share_out(plan, channels != 0 ? std::min(channels, c.graphs.channels) : channels_by_size(c, plan));
  plan.wire_factor = rules.wire[index(plan.protocol)];
  // The way up and the way down share a channel's threads.
  plan.bandwidth = link_bandwidth(c.graphs.tree, plan.protocol, rules) * rules.tree_share;
  if (plan.protocol == Protocol::ll128) plan.bandwidth *= rules.tree_ll128_share;
  if (plan.protocol == Protocol::ll && c.machine.kind == LibraryKind::nccl && c.shape.nodes > 1) {
    // What the tuner takes off for a host's vendor is its own: the data do not pass the host.
    const Generation& row = c.tables.generations.at("volta");
    plan.bandwidth = std::min(plan.bandwidth, row.ll_max[std::min(c.shape.nodes, 3u) - 1]);
  }
  plan.channel_bandwidth = std::min(c.generation.channel_rate[index(plan.protocol)] * rules.tree_share,
                                    plan.bandwidth / plan.channels);
  double chunk = rules.step_bytes[index(plan.protocol)];
  if (plan.protocol == Protocol::ll128) {
    const double depth = 1 + log2_floor(c.shape.nodes) + 0.1 * c.shape.local;
    const double bytes = static_cast<double>(plan.bytes);
    const double each = depth / c.shape.local;
    while (bytes / (plan.channels * chunk) < 64 * each && chunk > 131072) chunk /= 2;
    while (bytes / (plan.channels * chunk) < 16 * each && chunk > 32768) chunk /= 2;
  }
  plan.chunk_bytes = static_cast<uint64_t>(chunk);
  plan.sigma_us = c.tables.slice[index(plan.protocol)];
  plan.steps = c.shape.local + log2_floor(c.shape.nodes);
  plan.way_bandwidth = way_bandwidth(c, plan, 2 * (c.shape.local - 1), 2 * log2_floor(c.shape.nodes));
  plan.loop_bytes = plan.chunk_bytes;
  plan.loops = (plan.channel_bytes + plan.loop_bytes - 1) / plan.loop_bytes;
}

LibraryPlan plan_nccl(const Context& c, LibraryOp op, uint64_t bytes, const Forced& forced) {
  const Choice choice = choice_of(c, op, bytes, forced);
  LibraryPlan plan = begin_plan(c, op, bytes);
  plan.algorithm = choice.algorithm;
  plan.protocol = choice.protocol;
  plan.base_us = choice.estimate.base_us;
  plan.latency_us = chains(op) ? chain_latency(c, plan.protocol) : choice.estimate.latency_us;
  plan.tuned_by = forced.line;
  switch (choice.algorithm) {
    case LibraryAlgorithm::ring:
      lay_out_ring(c, plan, forced.channels);
      break;
    case LibraryAlgorithm::tree:
      lay_out_tree(c, plan, forced.channels);
      break;
    case LibraryAlgorithm::collnet_direct:
      plan.bandwidth = choice.estimate.reached;
      plan.sigma_us = c.tables.slice[index(plan.protocol)];
      lay_out_collnet_direct(c, plan, forced.channels);
      break;
    case LibraryAlgorithm::collnet_chain:
      lay_out_collnet_chain(c, plan, forced.channels);
      break;
    case LibraryAlgorithm::pat:
      share_out(plan, forced.channels != 0 ? forced.channels : channels_by_size(c, plan));
      plan.bandwidth = choice.estimate.reached;
      plan.chunk_bytes = static_cast<uint64_t>(c.tables.rules.step_bytes[index(plan.protocol)]);
      plan.sigma_us = c.tables.slice[index(plan.protocol)];
      plan.steps = static_cast<uint32_t>(std::ceil(std::log2(static_cast<double>(c.shape.nodes))));
      break;
    default:
      plan.bandwidth = choice.estimate.reached;
      plan.sigma_us = c.tables.slice[index(plan.protocol)];
      // Chunks of all operations are those that suit an all-reduce.
      lay_out_nvls(c, plan,
                   estimate(c, LibraryOp::all_reduce, plan.algorithm, plan.protocol, bytes).bandwidth,
                   forced.channels);
      break;
  }
  if (plan.protocol == Protocol::ll && c.shape.nodes > 1)
    plan.network_share = c.tables.rules.straggler *
                         std::min<double>(c.tables.rules.straggler_doublings, std::log2(plan.channels));
  return plan;
}

LibraryPlan plan_point_to_point(const Context& c, LibraryOp op, uint64_t bytes) {
  const Rules& rules = c.tables.rules;
  LibraryPlan plan = begin_plan(c, op, bytes);
  plan.algorithm = LibraryAlgorithm::point_to_point;
  const bool all = op != LibraryOp::send;
  const double ranks = c.shape.ranks;
  const double to_peer = all ? static_cast<double>(bytes) / ranks : static_cast<double>(bytes);
  const bool far = c.shape.nodes > 1;
  plan.protocol = to_peer <= rules.p2p_ll_bytes && !(far && c.machine.network == NetworkKind::sockets)
                      ? Protocol::ll
                      : Protocol::simple;
  plan.wire_factor = rules.wire[index(plan.protocol)];
  const LatencyRow& row = c.tables.row(LibraryAlgorithm::ring);
  plan.base_us = row.base[index(plan.protocol)];
  const double near_us = (c.over_pcie() ? row.pcie : row.nvlink)[index(plan.protocol)];
  plan.latency_us = far ? row.network[index(plan.protocol)] : near_us;
  plan.sigma_us = c.tables.slice[index(plan.protocol)];
  // us a byte of the call on each kind of link; the slower one counts.
  double inside = 0;
  double outside = 0;
  if (c.shape.local > 1) {
    double links = c.node_bandwidth();
    // A message to one peer of a fully connected node has that peer's links alone.
    if (!all && c.machine.links == NodeLinks::fully_connected) links /= c.shape.local - 1;
    inside = (all ? (c.shape.local - 1) / ranks : 1) / links;
    if (all && c.machine.links == NodeLinks::cube_mesh)
      inside = cube_mesh_load(c.shape.local) / ranks / c.link_bandwidth();
  }
  if (far) {
    const double nics = all ? c.network_bandwidth() / c.shape.local : c.machine.nic_bandwidth;
    outside = (all ? (ranks - c.shape.least_local) / ranks : 1) / nics;
  }
  plan.bandwidth =
      1 / (std::max(all || !far ? inside : 0, outside) * (plan.protocol == Protocol::ll ? 2 : 1));
  plan.chunk_bytes = static_cast<uint64_t>(far || c.over_pcie() ? rules.p2p_network_chunk : rules.p2p_chunk);
  const double chunks = std::ceil(to_peer / static_cast<double>(plan.chunk_bytes));
  plan.channels = static_cast<uint32_t>(
      std::clamp(chunks * (all ? ranks - 1 : 1), 1.0, static_cast<double>(c.graphs.channels)));
  plan.channel_bytes = (bytes + plan.channels - 1) / plan.channels;
  plan.loops = static_cast<uint64_t>(std::ceil(chunks * (all ? ranks - 1 : 1) / plan.channels));
  plan.steps = 1;
  return plan;
}

}  // namespace weft::library
