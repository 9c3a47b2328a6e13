// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Keys of `collectives` that make collectives run as a communication library does (docs/libraries.md).

#ifndef WEFT_CONFIGS_LIBRARY_CONFIG_H
#define WEFT_CONFIGS_LIBRARY_CONFIG_H

#include <cstdint>
#include <optional>
#include <string>

#include "configs/types.h"

namespace weft {

enum class LibraryKind : uint8_t { none, nccl, rccl };
/// Of the host, which decides some of NCCL's bandwidths between nodes.
enum class HostCpu : uint8_t { intel, amd, arm };
/// How NICs move data: rdma (InfiniBand, RoCE) from GPU memory; sockets through host memory.
enum class NetworkKind : uint8_t { rdma, sockets };

const char* to_string(LibraryKind kind);
const char* to_string(HostCpu host);
const char* to_string(NetworkKind network);

/// How the GPUs of a node are joined.
enum class NodeLinks : uint8_t {
  automatic,        ///< as dimension 0 says
  none,             ///< one GPU a node
  switched,         ///< every GPU has all its links to switches (NVSwitch)
  cube_mesh,        ///< the hybrid cube mesh of 8 GPUs with 6 links each (DGX-1V)
  fully_connected,  ///< a bundle of links between each two (xGMI; NVLink without a switch)
  pcie              ///< through PCIe alone
};
/// GPUs of a node whose links are NodeLinks::cube_mesh.
constexpr uint32_t kCubeMeshGpus = 8;
const char* to_string(NodeLinks links);  ///< as the configuration writes it

/// What a calibration fits; section `collectives.parameters`.
struct LibraryParameters {
  double launch_us = 0;        ///< of a call (or of a group of calls), us
  double latency_scale = 1;    ///< of all latencies of the library's tables
  double bandwidth_scale = 1;  ///< of all bandwidths
};

/// Channels that the library's search finds, or that are given in its place.
struct LibraryGraph {
  uint32_t channels = 0;  ///< before connections double them; 0: searched
  Rate speed;             ///< of a channel within a node
  Rate inter_speed;       ///< .. between nodes; 0: as `speed`
};

struct LibraryConfig {
  LibraryKind kind = LibraryKind::none;
  std::string version;         ///< "2.27"; empty: the newest that the tables know
  std::string gpu;             ///< "H100"
  uint32_t gpus_per_node = 0;  ///< 0: the size of dimension 0
  NodeLinks node_links = NodeLinks::automatic;
  uint32_t links_per_gpu = 0;  ///< 0: as the GPU has
  Rate link_bandwidth;         ///< of a link and direction, as the library reckons it; 0: the GPU's
  uint32_t nics_per_node = 0;  ///< 0: one a GPU
  Rate nic_bandwidth;          ///< 0: the rate of dimension 1
  HostCpu host = HostCpu::intel;
  NetworkKind network = NetworkKind::rdma;
  bool collnet = false;  ///< the network's switches reduce
  LibraryGraph ring, tree, nvls;
  Picoseconds launch = kNever;  ///< kNever: the tables' own
  double latency_scale = 1;
  double bandwidth_scale = 1;
  std::string overrides;  ///< path of a CSV file in the form of NCCL's example tuner; absolute; empty: none

  bool on() const { return kind != LibraryKind::none; }
};

struct Config;
/// The one dimension that joins all nodes; nothing: several do, or none, or a graph.
std::optional<uint32_t> network_dimension(const Config& config);

}  // namespace weft

#endif
