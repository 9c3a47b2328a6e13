// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Between what and what the time of a job must lie, from its nodes alone. The costs of memory accesses,
// collectives and messages are the machine's and come from call-backs.

#ifndef WEFT_WORKLOAD_GRAPH_BOUNDS_H
#define WEFT_WORKLOAD_GRAPH_BOUNDS_H

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "configs/config.h"
#include "configs/types.h"
#include "workload/trace/node.h"

namespace weft::graph {

/// What one operation costs, in picoseconds. An empty function costs nothing.
using NodeCost = std::function<Picoseconds(uint32_t rank, const trace::Node& node)>;

struct CostModel {
  NodeCost memory;      ///< MEM_LOAD, MEM_STORE
  NodeCost collective;  ///< COMM_COLL with a comm_type
  NodeCost send;        ///< COMM_SEND
  NodeCost receive;     ///< COMM_RECV; leave it empty in the serial model: the message is counted at its send
};

/// Usage: add() every node of every rank, path() the longest path of every rank (with minimal_cost() as the
/// cost of a node), then read lower() and upper(). All sums saturate at kNever.
class Bounds {
 public:
  /// `minimal` gives physical lower bounds of single operations, `serial` upper bounds of operations that
  /// have the machine to themselves.
  Bounds(const NpuConfig& npu, CostModel minimal, CostModel serial);

  /// The least time `node` can take from its start to its end: the cost of a node on the longest path.
  Picoseconds minimal_cost(uint32_t rank, const trace::Node& node) const;

  /// The node counts for `ranks` identical ranks, in `groups` different communicator groups.
  void add(uint32_t rank, const trace::Node& node, uint32_t ranks = 1, uint32_t groups = 1);
  void path(uint32_t rank, Picoseconds longest_path);

  /// The largest over all ranks of the longest path, the CPU work over the CPU slots and the compute work
  /// over the compute slots, and the work of each stream. The kinds of slot run side by side, so their sums
  /// are not added.
  Picoseconds lower() const;

  /// All operations of all ranks one after the other, but for starts beyond the slots
  /// (CheckedJob::upper_bound()). The nodes with which the members of a group join one collective (same
  /// pg_name, same ordinal) count once, as the one with the highest cost.
  Picoseconds upper() const;

 private:
  struct Rank {
    Picoseconds cpu = 0;
    Picoseconds compute = 0;
    Picoseconds path = 0;
    std::map<uint32_t, Picoseconds> streams;  ///< work of each
  };

  Picoseconds cost(uint32_t rank, const trace::Node& node, const CostModel& model) const;
  Rank& at(uint32_t rank);

  const NpuConfig npu_;
  const CostModel minimal_;
  const CostModel serial_;
  std::vector<Rank> ranks_;
  Picoseconds serial_sum_ = 0;  ///< without the collectives
  struct Collective {
    Picoseconds time = 0;
    uint32_t groups = 1;
  };
  /// Per group, by ordinal.
  std::unordered_map<std::string, std::vector<Collective>> collectives_;
};

}  // namespace weft::graph

#endif
