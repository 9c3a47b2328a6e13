// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// The graphs that a library searches for a communicator: channels and the bandwidth of each. NCCL tries
// speeds from high to low and keeps the graph with the largest product (src/graph/search.cc). RCCL takes its
// rings from a table (src/graph/rome_models.cc), which use all links of a fully connected node.

#ifndef WEFT_WORKLOAD_LIBRARY_LIBRARY_SEARCH_H
#define WEFT_WORKLOAD_LIBRARY_LIBRARY_SEARCH_H

#include <cstdint>
#include <vector>

#include "workload/library/communication_library.h"
#include "workload/library/library_tables.h"

namespace weft::library {

/// Ranks of a communicator by node.
struct CommShape {
  uint32_t ranks = 1;
  uint32_t nodes = 1;
  uint32_t local = 1;        ///< ranks of the node that has most
  uint32_t least_local = 1;  ///< .. of the one that has fewest
  bool same_places = true;   ///< the ranks are at the same places of all nodes

  static CommShape of(const LibraryMachine& machine, const LibraryCall& call);
};

struct CommGraphs {
  SearchGraph ring, tree, nvls;  ///< nvls.channels 0: none
  SearchGraph collnet;           ///< a channel a head; 0: the network does not reduce
  uint32_t channels = 0;         ///< most that a call uses
};

/// A machine, its tables, and one communicator on it.
struct Context {
  const LibraryMachine& machine;
  const Tables& tables;
  const Gpu& gpu;
  const Generation& generation;
  CommShape shape;
  CommGraphs graphs;

  bool over_pcie() const { return machine.links == NodeLinks::pcie; }
  /// Switches of the network reduce what the communicator's nodes send: each joins the GPUs of one place.
  bool network_reduces() const { return machine.collnet && shape.nodes > 1 && shape.same_places; }
  /// GB/s of one link between GPUs.
  double link_bandwidth() const;
  /// GB/s that all links of a GPU to others of its node carry in a direction.
  double node_bandwidth() const;
  /// NICs of a node that the communicator's ranks there use.
  uint32_t nics() const;
  /// GB/s of all NICs that the communicator's ranks of a node use.
  double network_bandwidth() const;
};

/// Fills `graphs`. The machine's given graphs replace what would be found.
void search(Context& context);

}  // namespace weft::library

#endif
