// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#ifndef WEFT_WORKLOAD_GRAPH_RANK_IMAGE_H
#define WEFT_WORKLOAD_GRAPH_RANK_IMAGE_H

#include <cstdint>
#include <functional>

#include "workload/trace/node.h"

namespace weft::graph {

/// How the state of one rank becomes that of another, which has done the same so far.
struct RankImage {
  /// The other's rank in the place of a rank that the first one communicates with.
  std::function<uint32_t(uint32_t)> rank;
  /// A node that the other has taken from its trace.
  std::function<const trace::Node&(trace::NodeIndex)> node;
};

}  // namespace weft::graph

#endif
