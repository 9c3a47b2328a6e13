// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// What an access of all NPUs to a memory pool takes, by formula (docs/memory_pool.md has the derivations),
// and what it puts on every class of links.

#ifndef WEFT_WORKLOAD_POOL_CLOSED_FORM_H
#define WEFT_WORKLOAD_POOL_CLOSED_FORM_H

#include <cstdint>
#include <string>
#include <vector>

#include "configs/config.h"
#include "workload/pool/pool_layout.h"

namespace weft::pool {

/// What the links of a class carry.
struct ClassLoad {
  std::string name;
  uint64_t links = 0;
  Wide total = 0;     ///< bytes on all of them
  uint64_t most = 0;  ///< bytes on the one that carries the most
  uint64_t least = 0;
};

struct ClosedForm {
  /// A hop that all bytes pass, in the order of travel.
  struct Stage {
    std::string name;
    double chunk_ps = 0;  ///< of one chunk
    double busy_ps = 0;   ///< of all bytes of the busiest link
  };
  std::vector<Stage> stages;
  uint64_t chunks = 1;  ///< rounds (fluid), or chunks of an NPU's tensor (whole)
  double time_ps = 0;
  double least_ps = 0;  ///< the bottleneck alone: a lower bound
  size_t bottleneck = 0;
  bool exact = false;  ///< the messages take just this; false: an estimate
  std::vector<ClassLoad> loads;
  std::vector<std::string> warnings;
};

/// Of `npus` NPUs (0: all) that begin at once, with a tensor (in-switch: a shard) of `bytes` > 0 each. NPUs
/// 0, 1, ..; in-switch operations are always of all.
ClosedForm closed_form(const Config& config, PoolOperation operation, uint64_t bytes, uint32_t npus = 0);

/// Most chunks of one access: above it, larger chunks are asked for.
constexpr uint64_t kMostPoolChunks = uint64_t{1} << 26;
/// Throws UserError when all NPUs' accesses have more, or do not fit the groups.
void check_access(const Config& config, PoolOperation operation, uint64_t bytes, uint32_t npus);

}  // namespace weft::pool

#endif
