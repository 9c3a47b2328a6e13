// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// PyTorch's execution trace of the host: operators in a tree.

#ifndef WEFT_WORKLOAD_CONVERT_PYTORCH_HOST_TRACE_H
#define WEFT_WORKLOAD_CONVERT_PYTORCH_HOST_TRACE_H

#include <cstdint>
#include <string>
#include <vector>

#include "workload/convert/pytorch/rank_graph.h"

namespace weft::convert::pytorch {

constexpr uint32_t kNone = ~0u;

/// The real collective that a node records, or the wait for one.
struct Communication {
  bool present = false;
  bool wait = false;
  Kind kind = Kind::collective;
  CollectiveOp op = CollectiveOp::all_reduce;
  uint64_t bytes = 0;
  std::string group;
  int64_t sequence = -1;
  bool point_to_point = false;
  uint32_t peer = 0;  ///< root or peer, in the group
};

struct HostNode {
  uint64_t id = 0;
  std::string name;
  int64_t rf_id = 0;
  int64_t tid = 0;
  uint32_t parent = kNone;
  std::vector<uint32_t> children;  ///< in the order of their begins
  Communication communication;
  bool coalesced = false;
  double recorded = -1;  ///< us, if the trace has durations
};

struct HostTrace {
  std::vector<HostNode> nodes;
  std::vector<uint32_t> order;  ///< parents before children, in the order of begins
};

/// Adds groups, counts and warnings to `graph`. Throws UserError(trace).
HostTrace read_host_trace(const std::string& path, RankGraph& graph);

}  // namespace weft::convert::pytorch

#endif
