// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// One rank of a PyTorch run as a graph of nodes, before it is written as Chakra.

#ifndef WEFT_WORKLOAD_CONVERT_PYTORCH_RANK_GRAPH_H
#define WEFT_WORKLOAD_CONVERT_PYTORCH_RANK_GRAPH_H

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "configs/types.h"

namespace weft::convert::pytorch {

/// A communicator: `ranks` in its order; empty: all ranks of the job.
struct Group {
  std::vector<uint32_t> ranks;
  uint32_t size = 0;  ///< as the trace says; 0: it does not
};

enum class Kind : uint8_t { host, kernel, collective, send, receive };

struct Node {
  uint64_t id = 0;
  std::string name;
  Kind kind = Kind::host;
  Picoseconds duration = 0;
  uint32_t stream = 0;  ///< of a kernel
  CollectiveOp op = CollectiveOp::all_reduce;
  uint64_t bytes = 0;
  std::string group;  ///< "": all ranks
  uint32_t peer = 0;  ///< index in the group: of a send or receive, and the root of a rooted collective
  uint32_t tag = 0;
  std::vector<uint32_t> before;  ///< indices
};

struct RankGraph {
  std::string path;
  std::vector<Node> nodes;
  std::map<std::string, Group> groups;
  std::map<std::string, uint64_t> counts;  ///< what was met and mended
  std::vector<std::string> warnings;
};

struct ReadOptions {
  std::string host;
  std::string kineto;  ///< "": none
  bool one_iteration = false;
  uint64_t iteration = 0;  ///< the n-th ProfilerStep of the trace, from 0
};

/// Reads a host trace and, if there is one, its Kineto trace. Throws UserError(trace) that names file, node
/// or event.
RankGraph read_rank(const ReadOptions& options);

}  // namespace weft::convert::pytorch

#endif
