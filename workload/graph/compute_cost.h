// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// How long a COMP node takes: its recorded duration, the roofline or a systolic array.

#ifndef WEFT_WORKLOAD_GRAPH_COMPUTE_COST_H
#define WEFT_WORKLOAD_GRAPH_COMPUTE_COST_H

#include <cstdint>

#include "configs/config.h"
#include "configs/types.h"
#include "workload/trace/node.h"

namespace weft::graph {

/// ceil(amount / per_second) in picoseconds, exact for every finite positive double; kNever if 64 bits do not
/// hold it.
Picoseconds time_of(uint64_t amount, double per_second);

struct ComputeCost {
  Picoseconds time = 0;  ///< kNever: longer than simulated time can be
  bool known = false;    ///< false: neither a duration nor anything the roofline can use; time is 0
};

/// With npu.model `systolic` a node that gives `m`, `k` and `n` takes the cycles of the systolic array and
/// its `delay`, or tensor_size / memory bandwidth if that is longer. Otherwise: the recorded duration if
/// there is one and npu.roofline is off; else max(num_ops / peak, tensor_size / memory bandwidth), each
/// rounded up to a picosecond and a side left out where the node or the machine does not give it; a node that
/// gives the roofline nothing falls back to its recorded duration. CPU operations follow the same rule.
ComputeCost compute_cost(const trace::Node& node, const NpuConfig& npu);

}  // namespace weft::graph

#endif
