// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// What NCCL or RCCL does with a call on a machine, without a kernel: the algorithm, the protocol, the
// channels, the chunks, and the time without contention.
//
//     const CommunicationLibrary library(LibraryMachine::of(config));
//     const LibraryPlan plan = library.plan({LibraryOp::all_reduce, bytes});
//     const double us = plan.time_us(library.parameters(config.collectives.library));
//
// A plan does not depend on the fitted parameters, because the library's tuner does not know them: a
// calibration plans each size once and asks for its time as often as it wants. docs/libraries.md describes
// the model and its sources.

#ifndef WEFT_WORKLOAD_LIBRARY_COMMUNICATION_LIBRARY_H
#define WEFT_WORKLOAD_LIBRARY_COMMUNICATION_LIBRARY_H

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "configs/config.h"
#include "workload/library/library_plan.h"

namespace weft::library {

/// What the library's search finds, or what is given in its place: channels and the bandwidth of each.
struct SearchGraph {
  uint32_t channels = 0;   ///< before connections double them (NCCL: nChannels of the search)
  double speed = 0;        ///< GB/s (10^9) a channel within a node
  double inter_speed = 0;  ///< .. between nodes; 0: as `speed`

  double bandwidth() const { return channels * speed; }
};

/// A machine as the library sees it.
struct LibraryMachine {
  LibraryKind kind = LibraryKind::nccl;
  std::string version;  ///< "2.27"; empty: the newest that the tables know
  std::string gpu;      ///< "H100"; as configs/libraries names it, in any case
  uint32_t gpus_per_node = 8;
  uint32_t nodes = 1;
  NodeLinks links = NodeLinks::switched;
  uint32_t links_per_gpu = 0;  ///< 0: as the GPU has
  double link_bandwidth = 0;   ///< GB/s of a link and direction that the library reckons with; 0: the GPU's
  uint32_t nics_per_node = 0;  ///< 0: one a GPU
  double nic_bandwidth = 0;    ///< GB/s and direction; needed with several nodes
  HostCpu host = HostCpu::intel;
  NetworkKind network = NetworkKind::rdma;
  bool collnet = false;             ///< the network's switches reduce (SHARP)
  uint32_t network_dimension = 1;   ///< of the topology, which has these switches
  std::optional<SearchGraph> ring;  ///< given graphs replace the search
  std::optional<SearchGraph> tree;
  std::optional<SearchGraph> nvls;
  std::string overrides;  ///< path of a CSV file in the form of NCCL's tuner plugin; empty: none
  std::string origin;     ///< what messages begin with: "machine.yaml"

  uint32_t ranks() const { return gpus_per_node * nodes; }
  /// The machine of a configuration with `collectives.library`. Throws UserError(usage) when the topology
  /// cannot be one of that library's.
  static LibraryMachine of(const Config& config);
};

/// One call of the library.
struct LibraryCall {
  LibraryOp op = LibraryOp::all_reduce;
  /// As nccl-tests counts it: all_reduce, broadcast, reduce: the buffer; all_gather: the output;
  /// reduce_scatter and all_to_all: the input of a rank; send: the message.
  uint64_t bytes = 0;
  /// Ranks of the communicator by node; empty: all of the machine.
  std::vector<uint32_t> ranks_of_nodes;
  /// They are at the same places of all these nodes, so that switches of the network join them.
  bool same_places = true;
};

/// Plans the calls of one machine. Immutable; plan() may be called by several threads and takes microseconds.
class CommunicationLibrary {
 public:
  /// Reads the tables, searches the graphs, reads the overrides. Throws UserError(usage): unknown GPU or
  /// version, a library on a topology that it cannot have, a malformed or overlapping line of the overrides.
  explicit CommunicationLibrary(const LibraryMachine& machine);
  ~CommunicationLibrary();
  CommunicationLibrary(CommunicationLibrary&&) noexcept;
  CommunicationLibrary& operator=(CommunicationLibrary&&) noexcept;

  LibraryPlan plan(const LibraryCall& call) const;

  const LibraryMachine& machine() const;
  /// Of the tables that are used.
  const std::string& version() const;
  /// Of the whole machine, after the search.
  const SearchGraph& ring_graph() const;
  const SearchGraph& tree_graph() const;
  /// Channels 0: the machine has no NVLS.
  const SearchGraph& nvls_graph() const;
  /// Channels that a ring may use: the search's, doubled by the connections.
  uint32_t most_channels() const;
  /// Before any calibration: the tables' time of a launch, and scales of 1.
  LibraryParameters default_parameters() const;
  /// Those of `collectives.parameters`.
  LibraryParameters parameters(const LibraryConfig& config) const;

  /// All names of GPUs and all versions that the tables know, for messages and help.
  static std::vector<std::string> known_gpus(LibraryKind kind);
  static std::vector<std::string> known_versions(LibraryKind kind);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Chakra's size (all_gather and gather: a rank's shard) as nccl-tests counts it for library_op().
uint64_t nccl_bytes(CollectiveOp op, uint64_t comm_size, uint32_t ranks);
/// What the library runs for a collective: gather and scatter are grouped sends and receives, a barrier is an
/// all-reduce of one element. Nothing: there is no such one.
std::optional<LibraryOp> library_op(CollectiveOp op);

}  // namespace weft::library

#endif
