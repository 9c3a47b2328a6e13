// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Communicator groups whose members are of different classes: their collectives tell members apart, or the
// members do different things. Each member is then known by its place in the group and by what the others
// are. Where all members are of different classes, the ranks that are simulated can form such a group
// themselves, and its collectives run among them as they are.

#ifndef WEFT_WORKLOAD_GRAPH_FOLDING_MIXED_GROUPS_H
#define WEFT_WORKLOAD_GRAPH_FOLDING_MIXED_GROUPS_H

#include <cstdint>
#include <string>
#include <vector>

#include "configs/blueprint/geometry.h"
#include "configs/config.h"
#include "workload/graph/folding/digest.h"
#include "workload/graph/folding/group_shapes.h"
#include "workload/graph/folding/rank_use.h"
#include "workload/trace/groups.h"

namespace weft::graph {

class MixedGroups {
 public:
  /// All outlive the object.
  MixedGroups(const Config& config, const std::vector<RankUse>& ranks, const trace::Groups& groups,
              GroupShapes& shapes);

  /// Finds the mixed groups among these classes, by rank. True: there are some.
  bool look(const std::vector<uint32_t>& classes);
  /// Adds what the rank is in its mixed groups, as of the last look().
  void describe(uint32_t rank, Digest& digest) const;

  bool mixed(trace::GroupId group) const { return members_[group].mixed; }
  /// The rank is in one.
  bool any(uint32_t rank) const;
  /// Why the rank's mixed groups keep it from folding; empty: nothing does.
  std::string reason(uint32_t rank, const std::vector<uint32_t>& classes) const;
  /// Why the members of the rank's mixed groups are not alike; empty: it is in none.
  std::string unlike(uint32_t rank) const;
  /// The members, ascending.
  const std::vector<uint32_t>& members(trace::GroupId group) const { return members_[group].ranks; }
  /// In which order messages that come to the rank at one instant, by one link, from its mixed groups, from
  /// its other groups and from its peers are taken; must be the same for a class. Sets `why` if it follows
  /// from nothing.
  Digest::Value order(uint32_t rank, std::string& why);

 private:
  struct Members {
    std::vector<uint32_t> ranks;  ///< ascending; empty: no collective of all members
    bool apart = false;           ///< some collective tells its members apart
    bool together = false;        ///< some collective must not be mixed
    bool around = false;          ///< a rank receives from a peer between two of its members
    bool mixed = false;
    Digest::Value classes;  ///< of a mixed one
  };

  std::string unlike_members(const Members& group) const;
  void merge(uint32_t rank, uint32_t dimension, const GroupShape& a, const GroupShape& b, bool both_mixed,
             Digest& digest, std::string& why) const;
  /// Of the members along the rank's line, without the rank itself, ascending.
  std::vector<uint32_t> others(uint32_t rank, uint32_t dimension, const GroupShape& shape) const;

  const std::vector<RankUse>& ranks_;
  GroupShapes& shapes_;
  const Geometry geometry_;
  std::vector<Members> members_;  ///< by group
};

}  // namespace weft::graph

#endif
