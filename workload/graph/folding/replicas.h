// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Replicas of a job: sets of ranks that do the same until a collective joins them. The data-parallel replicas
// of a training step are alike until their gradients meet, also when one of them is slow: only then can the
// slow one hold up the others.

#ifndef WEFT_WORKLOAD_GRAPH_FOLDING_REPLICAS_H
#define WEFT_WORKLOAD_GRAPH_FOLDING_REPLICAS_H

#include <cstdint>
#include <vector>

#include "configs/config.h"
#include "workload/graph/folding/rank_use.h"
#include "workload/trace/groups.h"
#include "workload/trace/workload_check.h"

namespace weft::graph {

struct Replicas {
  /// Ranks that collectives other than those that join replicas bring together, such as a tensor-parallel
  /// group.
  struct Unit {
    std::vector<uint32_t> places;  ///< in `ranks` of a replica
    std::vector<uint32_t> groups;  ///< .. in `groups`
  };
  /// By replica, the ranks of each, ascending. Those in one place correspond to each other: they have the
  /// same program, on corresponding groups and peers. Empty: there are no replicas.
  std::vector<std::vector<uint32_t>> ranks;
  /// By replica, its communicator groups that do not join it to others. Those in one place correspond.
  std::vector<std::vector<trace::GroupId>> groups;
  std::vector<Unit> units;  ///< of each replica
  std::vector<bool> joins;  ///< by group: its collectives join replicas
  /// The part of a rank's nodes, in the order of its trace, that comes before it joins others; at least.
  double alike = 0;

  bool empty() const { return ranks.empty(); }
  /// Ranks that do as those of the first replica do.
  uint64_t others() const { return empty() ? 0 : (ranks.size() - 1) * ranks.front().size(); }
};

/// The largest set of replicas, by what is alike in them. Messages of `ranks` do not pass other ranks.
Replicas find_replicas(const Config& config, const trace::JobTrace& traces,
                       const std::vector<RankUse>& ranks);

}  // namespace weft::graph

#endif
