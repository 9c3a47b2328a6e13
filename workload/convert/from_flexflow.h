// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// FlexFlow's task graphs (Z. Jia et al., "Beyond Data and Model Parallelism for Deep Neural Networks", MLSys
// 2019), as its simulator exports them in Graphviz form.

#ifndef WEFT_WORKLOAD_CONVERT_FROM_FLEXFLOW_H
#define WEFT_WORKLOAD_CONVERT_FROM_FLEXFLOW_H

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "workload/convert/trace_set.h"

namespace weft::convert {

struct FlexFlowTask {
  std::string id;    ///< "node17"
  std::string name;  ///< "Conv2D_100"
  std::string kind;  ///< "Forward", "Backward", "Update", "Barrier", "Comm"
  uint64_t line = 0;
  bool message = false;
  uint32_t device = 0;       ///< of a computation
  uint32_t source = 0;       ///< of a message
  uint32_t destination = 0;  ///< of a message
  uint64_t bytes = 0;        ///< of a message
  Picoseconds time = 0;      ///< of a computation
};

struct FlexFlowGraph {
  std::string path;
  uint32_t ranks = 0;
  std::vector<FlexFlowTask> tasks;
  std::vector<std::pair<uint32_t, uint32_t>> edges;  ///< tasks, sorted, each once
  uint64_t repeated_edges = 0;
};

/// Picoseconds of "ns", "us", "ms" or "s". Throws UserError(usage).
Picoseconds flexflow_unit(const std::string& unit);

/// Throws UserError(trace) that names file, line and node: what is no task graph, a node without what its
/// kind needs, a second node of a name, an edge to a node that does not exist, a circle.
FlexFlowGraph read_flexflow(const std::string& path, Picoseconds unit);

/// Writes <prefix>.<rank>.et of every rank. A computation becomes a COMP node on its device, a message a
/// COMM_SEND and a COMM_RECV with a tag of their own. An edge between two devices without a message between
/// becomes a message of no bytes.
Report from_flexflow(const FlexFlowGraph& graph, const std::string& prefix);

}  // namespace weft::convert

#endif
