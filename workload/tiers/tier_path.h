// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// The way of a chunk between an NPU and host memory or NVMe: its stages in their order, how many chunks are
// under way, and how long an access takes. docs/memory_tiers.md has the formulas. No kernel.

#ifndef WEFT_WORKLOAD_TIERS_TIER_PATH_H
#define WEFT_WORKLOAD_TIERS_TIER_PATH_H

#include <cstdint>
#include <vector>

#include "configs/config.h"
#include "workload/trace/node.h"

namespace weft::tiers {

/// Where an access to `location` goes on this machine: remote accesses of a machine with neither pool nor
/// remote memory go to its hosts, and accesses to hosts and drives of a machine without hosts to its remote
/// memory.
trace::Location place_of(const Config& config, trace::Location location);

/// `place` is a host or its drives.
constexpr bool is_tier(trace::Location place) {
  return place == trace::Location::host || place == trace::Location::nvme;
}

struct Stage {
  enum class Kind : uint8_t { host_memory, nvme_memory, npu_link, nvme_link };
  Kind kind = Kind::host_memory;
  bool write = false;       ///< of a memory; of a link: away from the NPU
  Rate rate;                ///< 0: unlimited
  Picoseconds latency = 0;  ///< after the last byte
};

const char* to_string(Stage::Kind kind);

struct Path {
  std::vector<Stage> stages;
  Picoseconds before = 0;  ///< of a load: the request's way
  Picoseconds after = 0;   ///< of a store: the way of the answer
  uint64_t chunk = 0;
  uint32_t window = 1;    ///< chunks under way at most
  bool in_order = false;  ///< accesses one after the other; otherwise in turns, a chunk each
  bool exact = true;      ///< closed_form() is what an NPU alone takes

  uint64_t chunks(uint64_t bytes) const { return (bytes + chunk - 1) / chunk; }
  /// The kind of stage that takes longest for a chunk; a memory that is passed twice counts twice.
  Stage::Kind bottleneck() const;
  /// From the request to the end of the first chunk of an access, in picoseconds. bytes > 0.
  double first_chunk(uint64_t bytes) const;
  /// The access of an NPU alone, in picoseconds. bytes > 0.
  double closed_form(uint64_t bytes) const;
  /// No access of an NPU is faster, whatever the memories' models are.
  Picoseconds least(uint64_t bytes) const;
};

/// `place`: host or nvme; `config` has it.
Path path_of(const Config& config, trace::Location place, bool store);

}  // namespace weft::tiers

#endif
