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
  /// One where the ways of loads and stores close no cycle of links. Else a way goes to the next lower class
  /// where its nodes' numbers begin to rise or to fall, so that within a class they only rise, or only fall.
  uint32_t vc_classes() const override { return vc_classes_; }
  uint32_t vc_class(uint32_t node, uint32_t destination, uint32_t way) const override {
    return vc_classes_ == 1 ? 0 : turns(node, destination, way);
  }
  GraphEnd graph_end(uint32_t node, uint32_t port) const override { return ends_[node][port]; }

 private:
  Tree make_tree(uint32_t group, uint32_t way, const std::vector<uint32_t>& npus) const override;
  /// The port leads nearer to a group, and not to an NPU.
  bool nearer(const std::vector<uint32_t>& distance, uint32_t node, const Port& port) const;
  void add_nodes(const Config& config);
  void add_links();
  void find_distances();
  void check_ways(const Config& config) const;
  /// How often the switches' numbers begin to rise or to fall from here on.
  uint32_t turns(uint32_t node, uint32_t destination, uint32_t way) const;
  bool ways_close_a_cycle() const;
  void find_vc_classes();

  const Graph& graph_;
  std::vector<uint32_t> to_graph_;                ///< by node
  std::vector<uint32_t> from_graph_;              ///< by the graph's node
  std::vector<std::vector<GraphEnd>> ends_;       ///< by node and port
  std::vector<std::vector<uint32_t>> port_here_;  ///< by the graph's node and port; kNone: not of the pool
  std::vector<std::vector<uint32_t>> distance_;   ///< by group and node: links to it
  uint32_t vc_classes_ = 1;                       ///< at packet fidelity
};

}  // namespace weft::pool

#endif
