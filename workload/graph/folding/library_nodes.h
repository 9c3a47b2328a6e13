// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// How ranks and groups lie in the nodes that a communication library sees. Its closed forms depend on the
// ranks that a call has in each node, and a message's launch on whether its ends share one.

#ifndef WEFT_WORKLOAD_GRAPH_FOLDING_LIBRARY_NODES_H
#define WEFT_WORKLOAD_GRAPH_FOLDING_LIBRARY_NODES_H

#include <cstdint>
#include <string>

#include "configs/config.h"
#include "workload/graph/folding/digest.h"
#include "workload/trace/groups.h"

namespace weft::graph {

class LibraryNodes {
 public:
  /// Without a library nothing is described. Throws UserError as library::LibraryMachine::of() does.
  explicit LibraryNodes(const Config& config);

  bool on() const { return per_node_ != 0; }
  /// Adds how many members the group has in each node that has some, in the order of the nodes.
  void describe(const trace::Groups& groups, trace::GroupId group, Digest& digest) const;
  /// Adds whether the two ranks share a node.
  void describe(uint32_t rank, uint32_t peer, Digest& digest) const;

  /// Why calls of the library cannot run on one member for all; empty: they can, or there is no library.
  static std::string folding_refusal(const Config& config);

 private:
  uint32_t per_node_ = 0;  ///< GPUs; 0: no library
};

}  // namespace weft::graph

#endif
