// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// A memory pool on the explicit graph of the machine: its switches that are called `memory` and a number are
// the groups. The links are the graph's own.

#ifndef WEFT_WORKLOAD_POOL_GRAPH_LAYOUT_H
#define WEFT_WORKLOAD_POOL_GRAPH_LAYOUT_H

#include <vector>

#include "configs/graph.h"
#include "workload/pool/pool_layout.h"

namespace weft::pool {

class GraphLayout final : public PoolLayout {
 public:
  /// Throws UserError for a graph without groups, or one whose ways pass through NPUs.
  explicit GraphLayout(const Config& config);

  uint32_t next(uint32_t node, uint32_t destination, uint32_t way) const override;
  GraphEnd graph_end(uint32_t node, uint32_t port) const override { return ends_[node][port]; }

 private:
  Tree make_tree(uint32_t group, uint32_t way, const std::vector<uint32_t>& npus) const override;
  /// The port leads nearer to a group, and not to an NPU.
  bool nearer(const std::vector<uint32_t>& distance, uint32_t node, const Port& port) const;
  void add_nodes(const Config& config);
  void add_links();
  void find_distances();
  void check_ways(const Config& config) const;

  const Graph& graph_;
  std::vector<uint32_t> to_graph_;                ///< by node
  std::vector<uint32_t> from_graph_;              ///< by the graph's node
  std::vector<std::vector<GraphEnd>> ends_;       ///< by node and port
  std::vector<std::vector<uint32_t>> port_here_;  ///< by the graph's node and port; kNone: not of the pool
  std::vector<std::vector<uint32_t>> distance_;   ///< by group and node: links to it
};

}  // namespace weft::pool

#endif
