// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// The longest path through a rank's graph: no execution is faster, whatever the hardware slots.

#ifndef WEFT_WORKLOAD_TRACE_LONGEST_PATH_H
#define WEFT_WORKLOAD_TRACE_LONGEST_PATH_H

#include <cstdint>
#include <functional>

#include "workload/trace/trace_index.h"

namespace weft::trace {

struct LongestPath {
  Picoseconds time = 0;       ///< sum of the costs along it; stays at 2^64-1 if it would be more
  uint64_t nodes = 0;         ///< 0: the trace is empty
  NodeIndex first = kNoNode;  ///< its ends: positions and ids
  NodeIndex last = kNoNode;
  uint64_t first_id = 0;
  uint64_t last_id = 0;
};

/// `cost` gives the time of a node and is called once for each. Temporary memory: 8 bytes a node (17 where
/// dependencies point forward in the file) and the window.
LongestPath longest_path(const TraceIndex& index, const std::function<Picoseconds(const Node&)>& cost,
                         uint64_t cache_bytes = 64ull << 20);

}  // namespace weft::trace

#endif
