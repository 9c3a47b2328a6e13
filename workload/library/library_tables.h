// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// The tables of a communication library, as configs/libraries/*.yaml give them for one version. The files are
// part of the program: a table and the code that reads it belong together.

#ifndef WEFT_WORKLOAD_LIBRARY_LIBRARY_TABLES_H
#define WEFT_WORKLOAD_LIBRARY_LIBRARY_TABLES_H

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "workload/library/library_plan.h"

namespace weft::library {

using PerProtocol = std::array<double, kProtocols>;  ///< LL, LL128, Simple
using PerNodes = std::array<double, 3>;              ///< 1, 2 and more nodes

/// us: of a call, and of a step over each kind of link.
struct LatencyRow {
  PerProtocol base{}, nvlink{}, pcie{}, network{};
};

/// What NCCL knows of a generation of GPUs. Bandwidths in GB/s.
struct Generation {
  PerNodes ll_max{};
  double ring_ll128 = 0;
  PerNodes tree_ll128{}, tree_max{}, nvls_tree_max{};
  double nvls_efficiency = 0;
  std::array<uint32_t, 2> nvls_channels{};  ///< one node, several
  PerProtocol channel_rate{};
  double plateau = 1;
  std::vector<double> node_speeds, nodes_speeds;  ///< that the search tries, descending
  bool hopper = false;                            ///< .. or newer
  // RCCL: shares of the links' bandwidth that its tuner reckons with.
  PerProtocol ring_share{}, tree_share{};
  bool ll128 = true;
  // RCCL, most bytes a rank in a node.
  std::array<uint64_t, 2> node_ll{};  ///< with LL: all_gather, reduce_scatter
  uint32_t direct_all_gather = 0;     ///< .. and above LL, by sends and receives
};

struct Gpu {
  std::string name;
  std::string generation;
  uint32_t links = 0;
  double link = 0;  ///< GB/s
  uint32_t pcie = 4;
};

struct Rules {
  double ring_ll_divisor = 2, ring_ll_divisor_node = 2;
  double nvls_ratio = 0;
  bool pat = true, nvls = true;
  bool nvls_parts_over_nodes = true;
  double pat_share = 0.75;
  PerProtocol threads{}, bytes_per_thread{}, step_bytes{}, wire{};
  double few_threads = 0, few_threads_bandwidth = 0;
  double least_traffic = 0;
  double least_slice = 32768;
  double straggler = 0;
  uint32_t straggler_doublings = 4;
  double tree_share = 0.5, tree_ll128_share = 0;
  std::array<double, 2> nvls_fill{};       ///< loops; more for each doubling of the call's loops, up to four
  std::array<double, 3> nvls_tree_fill{};  ///< the same; more for each doubling of the nodes
  double collnet_fill = 0;
  double nvls_slice = 0;                          ///< us
  std::array<uint32_t, 2> most_channels{64, 64};  ///< one node, several
  double p2p_chunk = 0, p2p_network_chunk = 0, p2p_ll_bytes = 0;
  uint32_t rings_per_peer = 4;      ///< RCCL
  std::array<double, 3> sockets{};  ///< GB/s between the sockets of a host: Intel, AMD, Arm
};

/// RCCL's all-pairs programs.
struct AllPairs {
  struct Band {
    uint64_t below = 0;  ///< bytes, exclusive
    uint32_t channels = 0;
  };
  std::array<std::vector<Band>, kProtocols> bands;  ///< ascending
  double ll_share = 0, simple_share = 0, simple_steps = 0;
};

/// RCCL on several nodes: the protocol by bytes a rank.
struct ProtocolBands {
  double ll = 0, ll128 = 0;  ///< up to, inclusive
};

struct Tables {
  LibraryKind kind = LibraryKind::nccl;
  std::string version;
  double launch_us = 0;
  std::array<LatencyRow, kLibraryAlgorithms> latencies;
  PerProtocol slice{};
  std::array<std::vector<double>, kProtocols> tree_factors;
  Rules rules;
  std::map<std::string, Generation> generations;
  std::vector<Gpu> gpus;
  AllPairs all_pairs;
  std::map<LibraryOp, ProtocolBands> node_bands;
  double ll128_factor_nodes = 1;
  PerProtocol ring_split{};  ///< RCCL: shares of a ring's step that are a slice's cost

  /// Throws UserError(usage) for a version that is not known; `origin` begins the message.
  static Tables read(LibraryKind kind, const std::string& version, const std::string& origin);
  /// Throws UserError(usage) with all known names.
  const Gpu& gpu(const std::string& name, const std::string& origin) const;
  const LatencyRow& row(LibraryAlgorithm algorithm) const {
    return latencies[static_cast<size_t>(algorithm)];
  }

  static std::vector<std::string> versions(LibraryKind kind);
};

}  // namespace weft::library

#endif
