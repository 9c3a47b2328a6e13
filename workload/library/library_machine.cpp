// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// The machine of a configuration, as a library sees it: dimension 0 is the node, all others are the network.

#include <fmt/format.h>

#include <algorithm>

#include "configs/blueprint/shape.h"
#include "workload/library/communication_library.h"

namespace weft::library {
namespace {

constexpr double kGb = 1e9;

[[noreturn]] void refuse(const std::string& origin, const std::string& key, const std::string& why) {
  throw UserError(ExitCode::usage, fmt::format("{}: key `collectives.{}`: {}", origin, key, why));
}

std::optional<SearchGraph> given(const LibraryGraph& graph) {
  if (graph.channels == 0 && graph.speed.bytes_per_second == 0) return std::nullopt;
  return SearchGraph{graph.channels, graph.speed.value() / kGb, graph.inter_speed.value() / kGb};
}

/// How dimension 0 joins its GPUs.
NodeLinks links_of(const Config& config, const std::string& origin) {
  const DimensionConfig& first = config.dimensions[0];
  const Shape shape(first);
  if (config.graph != nullptr)
    refuse(origin, "node_links",
           "the topology is a graph, which does not say how a node's GPUs are joined; write "
           "cube_mesh, switched, fully_connected or pcie");
  if (shape.has_switches()) return NodeLinks::switched;
  if (shape.joins_neighbours())
    refuse(
        origin, "library",
        fmt::format(
            "{} cannot have dimension 0 of the topology, {}: its nodes are GPUs behind switches (Switch) or "
            "fully connected (FullyConnected); change the topology, write `node_links`, or remove `library`",
            to_string(config.collectives.library.kind), print_dimension(first)));
  return NodeLinks::fully_connected;
}

/// The dimension whose switches reduce.
uint32_t reducing_network(const Config& config, const LibraryMachine& m) {
  const std::optional<uint32_t> d = network_dimension(config);
  if (m.nodes > 1 && !d)
    refuse(m.origin, "collnet",
           "needs one Switch dimension that joins all nodes, whose switches reduce; write the network as one "
           "dimension behind the node's, or remove the key");
  if (m.nodes > 1 && !Shape(config.dimensions[*d]).has_switches())
    refuse(m.origin, "collnet",
           fmt::format("needs switches that reduce, and dimension {} of the topology, {}, has none; write a "
                       "Switch, or remove the key",
                       *d, print_dimension(config.dimensions[*d])));
  return d.value_or(1);
}

}  // namespace

LibraryMachine LibraryMachine::of(const Config& config) {
  const LibraryConfig& library = config.collectives.library;
  LibraryMachine m;
  m.origin = config.file.empty() ? "configuration" : config.file;
  m.kind = library.kind;
  m.version = library.version;
  m.gpu = library.gpu;
  const uint32_t npus = config.npus();
  m.gpus_per_node = library.gpus_per_node != 0 ? library.gpus_per_node
                    : config.graph != nullptr  ? npus
                                               : config.dimensions[0].size;
  if (m.gpus_per_node > npus || npus % m.gpus_per_node != 0)
    refuse(m.origin, "gpus_per_node",
           fmt::format("is {}, which does not divide the machine's {} GPUs", m.gpus_per_node, npus));
  m.nodes = npus / m.gpus_per_node;
  m.links = library.node_links;
  if (m.links == NodeLinks::automatic)
    m.links = m.gpus_per_node == 1 ? NodeLinks::none : links_of(config, m.origin);
  m.links_per_gpu = library.links_per_gpu;
  m.link_bandwidth = library.link_bandwidth.value() / kGb;
  m.nics_per_node = library.nics_per_node != 0 ? library.nics_per_node : m.gpus_per_node;
  m.nic_bandwidth = library.nic_bandwidth.value() / kGb;
  if (m.nodes > 1 && m.nic_bandwidth <= 0 && config.graph == nullptr) {
    // Of the first dimension that joins nodes: all of its links of a GPU are the GPU's share of the NICs.
    const size_t d = config.dimensions.size() > 1 && m.gpus_per_node == config.dimensions[0].size ? 1 : 0;
    m.nic_bandwidth = config.dimensions[d].link_rate().value() / kGb * m.gpus_per_node / m.nics_per_node;
  }
  m.host = library.host;
  m.network = library.network;
  m.collnet = library.collnet;
  if (m.collnet && config.graph == nullptr) m.network_dimension = reducing_network(config, m);
  m.ring = given(library.ring);
  m.tree = given(library.tree);
  m.nvls = given(library.nvls);
  m.overrides = library.overrides;
  return m;
}

}  // namespace weft::library
