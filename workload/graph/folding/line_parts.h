// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Groups that are a part of a line of a FullyConnected or Ring dimension at `analytical` fidelity, seen from
// one rank. Members of such a group are alike by their places in it (CollectivePlan::asymmetry). That is
// enough as long as no link carries messages of two groups whose members differ: docs/folding.md, "Parts of a
// line".

#ifndef WEFT_WORKLOAD_GRAPH_FOLDING_LINE_PARTS_H
#define WEFT_WORKLOAD_GRAPH_FOLDING_LINE_PARTS_H

#include <cstdint>
#include <vector>

#include "configs/config.h"
#include "workload/graph/folding/digest.h"
#include "workload/graph/folding/group_shapes.h"
#include "workload/graph/folding/peer_ways.h"
#include "workload/graph/folding/rank_use.h"

namespace weft::graph {

class LineParts {
 public:
  /// All outlive the object. `links`: collectives use links; a communication library's calls do not, and then
  /// there is nothing to compare.
  LineParts(const Config& config, GroupShapes& shapes, const PeerWays& ways, bool links)
      : config_(config), shapes_(shapes), ways_(ways), links_(links) {}

  /// When all groups and peers of the rank are known: adds which of its groups share links, and refuses a
  /// rank at which groups of different members do.
  void compare(uint32_t rank, Digest& digest, RankUse& use);

  /// Ranks of a class use their links of FullyConnected dimensions as the first one does. By dimension: to
  /// which coordinate the first one's link leads that is used as the rank's link to each coordinate. Empty:
  /// no group is a part of the dimension, or of any. `exchanges`: Folding::Class.
  std::vector<std::vector<uint32_t>> images(uint32_t rank, const RankUse& use, uint32_t first,
                                            const RankUse& like, uint32_t exchanges);

 private:
  /// Coordinates of the members of a group along the rank's line, ascending; all of the line where it is
  /// whole.
  std::vector<uint32_t> members(trace::GroupId group, uint32_t dimension);
  /// Some group of the rank is a part of the dimension.
  bool any_part(const RankUse& use, uint32_t dimension);

  const Config& config_;
  GroupShapes& shapes_;
  const PeerWays& ways_;
  const bool links_;
};

}  // namespace weft::graph

#endif
