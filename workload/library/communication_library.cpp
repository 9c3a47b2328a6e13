// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "workload/library/communication_library.h"

#include <fmt/format.h>

#include <algorithm>

#include "workload/library/library_search.h"
#include "workload/library/library_tables.h"
#include "workload/library/overrides.h"
#include "workload/library/planner.h"

namespace weft::library {
namespace {

[[noreturn]] void refuse(const LibraryMachine& machine, const std::string& key, const std::string& why) {
  throw UserError(ExitCode::usage,
                  fmt::format("{}: key `collectives.{}`: {}",
                              machine.origin.empty() ? "machine" : machine.origin, key, why));
}

constexpr uint64_t kBarrierBytes = 4;  // one element

void check_collnet(const LibraryMachine& m) {
  if (!m.collnet) return;
  if (m.kind == LibraryKind::rccl)
    refuse(m, "collnet", "is true, but Weft plans CollNet for NCCL alone; remove it");
  if (m.nodes < 2)
    refuse(m, "collnet", "is true, but one node has no network whose switches could reduce; remove it");
  if (m.network == NetworkKind::sockets)
    refuse(m, "collnet", "is true, but switches reduce for RDMA alone, and `network` is sockets; remove one");
}

/// Throws UserError for what no machine of that library is.
void check(const LibraryMachine& m, const Gpu& gpu) {
  if (m.gpus_per_node == 0 || m.nodes == 0) refuse(m, "gpus_per_node", "must be at least 1");
  if (m.nodes > 1 && !(m.nic_bandwidth > 0))
    refuse(m, "nic_bandwidth",
           fmt::format("{} nodes need NICs; add it, for example 50 GB/s for 400 Gb/s", m.nodes));
  const uint32_t links = m.links_per_gpu != 0 ? m.links_per_gpu : gpu.links;
  const bool joined = m.gpus_per_node > 1 && m.links != NodeLinks::pcie && m.links != NodeLinks::none;
  if (m.gpus_per_node > 1 && m.links == NodeLinks::none)
    refuse(m, "node_links",
           fmt::format("is none, but a node has {} GPUs; say how they are joined", m.gpus_per_node));
  if (joined && links == 0)
    refuse(m, "node_links",
           fmt::format("is {}, but {} has no links to other GPUs; write pcie", to_string(m.links), gpu.name));
  if (m.kind == LibraryKind::rccl && (m.links == NodeLinks::switched || m.links == NodeLinks::cube_mesh))
    refuse(m, "node_links",
           fmt::format(
               "is {}, but RCCL's GPUs are joined without switches; use a FullyConnected dimension, or write "
               "fully_connected",
               to_string(m.links)));
  if (m.links == NodeLinks::cube_mesh && m.gpus_per_node != kCubeMeshGpus)
    refuse(m, "node_links",
           fmt::format("is cube_mesh, which has {} GPUs, but a node has {}", kCubeMeshGpus, m.gpus_per_node));
  if (m.links == NodeLinks::cube_mesh && gpu.generation != "volta")
    refuse(m, "node_links",
           fmt::format("is cube_mesh, which is a machine of V100, but the GPU is {}", gpu.name));
  check_collnet(m);
  for (const auto* graph : {&m.ring, &m.tree, &m.nvls})
    if (graph->has_value() && ((*graph)->channels == 0 || !((*graph)->speed > 0)))
      refuse(m, "graph", "a graph needs both channels and the speed of a channel");
}

}  // namespace

struct CommunicationLibrary::State {
  LibraryMachine machine;
  Tables tables;
  const Gpu* gpu = nullptr;
  Overrides overrides;
  CommGraphs whole;

  Context context(const LibraryCall& call) const {
    Context c{machine, tables, *gpu, tables.generations.at(gpu->generation), CommShape::of(machine, call),
              {}};
    if (call.ranks_of_nodes.empty())
      c.graphs = whole;
    else if (c.shape.ranks > 1)
      search(c);
    return c;
  }
};

CommunicationLibrary::CommunicationLibrary(const LibraryMachine& machine)
    : state_(std::make_unique<State>()) {
  const std::string origin = machine.origin.empty() ? "machine" : machine.origin;
  state_->machine = machine;
  state_->tables = Tables::read(machine.kind, machine.version, origin);
  state_->gpu = &state_->tables.gpu(machine.gpu, origin);
  check(machine, *state_->gpu);
  if (!machine.overrides.empty()) state_->overrides = Overrides::read(machine.overrides);
  LibraryCall all;
  all.ranks_of_nodes = {machine.ranks()};
  Context c = state_->context(all);
  c.shape = CommShape::of(machine, {});
  search(c);
  state_->whole = c.graphs;
}

CommunicationLibrary::~CommunicationLibrary() = default;
CommunicationLibrary::CommunicationLibrary(CommunicationLibrary&&) noexcept = default;
CommunicationLibrary& CommunicationLibrary::operator=(CommunicationLibrary&&) noexcept = default;

LibraryPlan CommunicationLibrary::plan(const LibraryCall& call) const {
  const Context c = state_->context(call);
  if (c.shape.ranks < 2 || call.bytes == 0) return begin_plan(c, call.op, call.bytes);
  if (call.op == LibraryOp::all_to_all || call.op == LibraryOp::send)
    return plan_point_to_point(c, call.op, call.bytes);
  const Forced forced = state_->overrides.find(call.op, call.bytes, c.shape.nodes, c.shape.ranks);
  return state_->machine.kind == LibraryKind::rccl ? plan_rccl(c, call.op, call.bytes, forced)
                                                   : plan_nccl(c, call.op, call.bytes, forced);
}

const LibraryMachine& CommunicationLibrary::machine() const {
  return state_->machine;
}
const std::string& CommunicationLibrary::version() const {
  return state_->tables.version;
}
const SearchGraph& CommunicationLibrary::ring_graph() const {
  return state_->whole.ring;
}
const SearchGraph& CommunicationLibrary::tree_graph() const {
  return state_->whole.tree;
}
const SearchGraph& CommunicationLibrary::nvls_graph() const {
  return state_->whole.nvls;
}
uint32_t CommunicationLibrary::most_channels() const {
  return state_->whole.channels;
}

LibraryParameters CommunicationLibrary::default_parameters() const {
  return {state_->tables.launch_us, 1, 1};
}

LibraryParameters CommunicationLibrary::parameters(const LibraryConfig& config) const {
  LibraryParameters parameters{state_->tables.launch_us, config.latency_scale, config.bandwidth_scale};
  if (config.launch != kNever) parameters.launch_us = static_cast<double>(config.launch) * 1e-6;
  return parameters;
}

std::vector<std::string> CommunicationLibrary::known_gpus(LibraryKind kind) {
  std::vector<std::string> names;
  for (const Gpu& gpu : Tables::read(kind, "", "tables").gpus) names.push_back(gpu.name);
  return names;
}

std::vector<std::string> CommunicationLibrary::known_versions(LibraryKind kind) {
  return Tables::versions(kind);
}

uint64_t nccl_bytes(CollectiveOp op, uint64_t comm_size, uint32_t ranks) {
  switch (op) {
    case CollectiveOp::all_gather:
    case CollectiveOp::gather:
      return comm_size * ranks;
    case CollectiveOp::barrier:
      return kBarrierBytes;
    default:
      return comm_size;
  }
}

std::optional<LibraryOp> library_op(CollectiveOp op) {
  switch (op) {
    case CollectiveOp::all_reduce:
      return LibraryOp::all_reduce;
    case CollectiveOp::all_gather:
      return LibraryOp::all_gather;
    case CollectiveOp::reduce_scatter:
      return LibraryOp::reduce_scatter;
    case CollectiveOp::broadcast:
      return LibraryOp::broadcast;
    case CollectiveOp::reduce:
      return LibraryOp::reduce;
    case CollectiveOp::all_to_all:
    case CollectiveOp::gather:   // grouped sends and receives, of which the root's
    case CollectiveOp::scatter:  // links carry as much as everybody's in an all-to-all
      return LibraryOp::all_to_all;
    case CollectiveOp::barrier:  // as frameworks do it
      return LibraryOp::all_reduce;
  }
  return std::nullopt;
}

}  // namespace weft::library
