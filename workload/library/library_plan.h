// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// What a communication library does with one call, and how long that takes without contention.

#ifndef WEFT_WORKLOAD_LIBRARY_LIBRARY_PLAN_H
#define WEFT_WORKLOAD_LIBRARY_LIBRARY_PLAN_H

#include <cstdint>
#include <string>

#include "configs/library_config.h"
#include "configs/types.h"

namespace weft::library {

enum class LibraryOp : uint8_t {
  all_reduce,
  all_gather,
  reduce_scatter,
  broadcast,
  reduce,
  all_to_all,
  send
};
constexpr int kLibraryOps = 7;

enum class LibraryAlgorithm : uint8_t {
  none,  ///< nothing is sent: one rank
  ring,
  tree,
  collnet_direct,
  collnet_chain,
  nvls,
  nvls_tree,
  pat,
  all_pairs,      ///< RCCL: each rank reads a part of every other's data and writes the result back
  point_to_point  ///< sends and receives
};
constexpr int kLibraryAlgorithms = 10;

enum class Protocol : uint8_t { ll, ll128, simple };
constexpr int kProtocols = 3;

const char* to_string(LibraryOp op);                ///< "all_reduce"
const char* to_string(LibraryAlgorithm algorithm);  ///< "ring", "nvls_tree"; none: "-"
const char* to_string(Protocol protocol);           ///< "LL", "LL128", "Simple"

/// All bandwidths are of data bytes in GB/s (10^9), before `bandwidth_scale`; all times are in us, before
/// `latency_scale`.
struct LibraryPlan {
  LibraryOp op = LibraryOp::all_reduce;
  LibraryAlgorithm algorithm = LibraryAlgorithm::none;
  Protocol protocol = Protocol::simple;
  uint64_t bytes = 0;  ///< of the call, as nccl-tests counts it
  uint32_t ranks = 1;
  uint32_t nodes = 1;             ///< that have ranks of the communicator
  uint32_t channels = 0;          ///< thread blocks in use
  uint64_t channel_bytes = 0;     ///< share of the call's bytes that the busiest channel has
  uint64_t chunk_bytes = 0;       ///< data of a step of a full loop
  uint32_t slices = 1;            ///< of a chunk, each with its own synchronisation
  uint64_t least_slice = 0;       ///< a chunk of no more bytes has one slice
  uint64_t loop_bytes = 0;        ///< that a channel (NVLS: all channels) moves before it begins anew
  uint64_t loops = 1;             ///< the last one may have less to move
  uint32_t steps = 0;             ///< of a loop: K of a ring, depth of a tree
  double channel_bandwidth = 0;   ///< of one channel in use: its rate, or its share of the links
  double crossing_bandwidth = 0;  ///< .. where it crosses the network, if that is slower; else 0
  uint32_t crossings = 0;         ///< rings: how often a chunk crosses the network
  double way_bandwidth = 0;       ///< trees: of a chunk that goes to the root and back alone, hop after hop
  double bandwidth = 0;           ///< of all channels together on the links
  double base_us = 0;             ///< of a call
  double latency_us = 0;          ///< of all steps
  double sigma_us = 0;            ///< of a slice, beside its bytes
  double fill = 0;                ///< NVLS, CollNet: loops until the first result
  double wire_factor = 1;         ///< bytes on the links for one of data: LL 2, LL128 16/15, Simple 1
  double network_share = 0;       ///< what the slowest of several channels adds, as a share of the latencies
  std::string tuned_by;           ///< "" (the tuner), or the line of the overrides: "tuner.csv:3"

  /// Time of the call without contention, us (docs/libraries.md, "Closed forms").
  double time_us(const LibraryParameters& parameters) const;
  /// The same without the launch.
  double work_us(const LibraryParameters& parameters) const;
  Picoseconds time(const LibraryParameters& parameters) const;
};

}  // namespace weft::library

#endif
