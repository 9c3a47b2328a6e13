// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// How communicator groups lie on the machine.

#ifndef WEFT_WORKLOAD_GRAPH_FOLDING_GROUP_SHAPES_H
#define WEFT_WORKLOAD_GRAPH_FOLDING_GROUP_SHAPES_H

#include <cstdint>
#include <map>
#include <vector>

#include "configs/config.h"
#include "workload/trace/groups.h"

namespace weft::graph {

/// The shape of a group: the same for groups that differ only in their place.
struct GroupShape {
  static constexpr uint32_t kNoNumber = ~0u;
  uint32_t number = kNoNumber;                     ///< kNoNumber: not looked at yet
  bool regular = false;                            ///< a product of coordinates
  std::vector<std::vector<uint32_t>> coordinates;  ///< by dimension, ascending; empty: all of them
};

class GroupShapes {
 public:
  /// Both outlive the object.
  GroupShapes(const Config& config, const trace::Groups& groups)
      : config_(config), groups_(groups), shapes_(groups.size()) {}

  const GroupShape& of(trace::GroupId group);

 private:
  const Config& config_;
  const trace::Groups& groups_;
  std::vector<GroupShape> shapes_;  ///< by group
  std::map<std::vector<uint32_t>, uint32_t> numbers_;
};

}  // namespace weft::graph

#endif
