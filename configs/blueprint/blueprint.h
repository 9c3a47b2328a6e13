// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// The fabric as links and ways, whether it is made of dimensions or is an explicit graph: how fast an NPU can
// send and receive, how near and how far others are, and which links a message crosses. Everything about
// dimensions is computed; a graph has its tables.

#ifndef WEFT_CONFIGS_BLUEPRINT_BLUEPRINT_H
#define WEFT_CONFIGS_BLUEPRINT_BLUEPRINT_H

#include <algorithm>
#include <cstdint>
#include <vector>

#include "configs/blueprint/geometry.h"
#include "configs/config.h"
#include "configs/graph.h"
#include "configs/tree.h"

namespace weft {

/// A link of a graph, described as those of a dimension are.
DimensionConfig as_dimension(const GraphLink& link, Fidelity fidelity);

/// Calls f(link, count) for the kinds of links on a way of `hops` links along a dimension: in a tree two of
/// each level that it climbs.
template <typename F>
void for_each_link_along(const DimensionConfig& dimension, uint32_t hops, F&& f) {
  if (dimension.tree == nullptr) {
    if (hops != 0) f(dimension, hops);
    return;
  }
  for (uint32_t level = 0; level < hops / 2; ++level) f(at_level(dimension, level), 2);
}

class Blueprint {
 public:
  /// Of the fabric; `config` outlives it.
  explicit Blueprint(const Config& config);

  const Geometry& geometry() const { return geometry_; }

  /// Bytes per second that can leave or enter the NPU at a place, over all its links.
  double out_rate(uint32_t place) const { return graph_ != nullptr ? graph_->out_rate(place) : rate_; }
  double in_rate(uint32_t place) const { return graph_ != nullptr ? graph_->in_rate(place) : rate_; }
  /// Least latency of a link; kNever: there is none.
  Picoseconds nearest() const;
  /// From a place to the farthest of others, each by the way of least latency. `others(f)` calls f(place).
  template <typename Others>
  Picoseconds farthest(uint32_t place, const Others& others) const;
  /// Calls f(link, count) for the links that a message crosses, described as those of a dimension.
  template <typename F>
  void for_each_link_on_way(uint32_t from, uint32_t to, F&& f) const;

 private:
  const Config& config_;
  const Graph* graph_;
  Geometry geometry_;
  double rate_ = 0;  ///< of an NPU, over its links in all dimensions
};

template <typename Others>
Picoseconds Blueprint::farthest(uint32_t place, const Others& others) const {
  Picoseconds most = 0;
  if (graph_ != nullptr) {
    const std::vector<Picoseconds> latency = graph_->latencies_from(place);
    others([&](uint32_t other) { most = std::max(most, latency[other]); });
    return most;
  }
  others([&](uint32_t other) {
    Picoseconds latency = 0;
    for (uint32_t d = 0; d < geometry_.dimensions(); ++d)
      latency += geometry_.latency(d, geometry_.coordinate(place, d), geometry_.coordinate(other, d));
    most = std::max(most, latency);
  });
  return most;
}

template <typename F>
void Blueprint::for_each_link_on_way(uint32_t from, uint32_t to, F&& f) const {
  if (graph_ != nullptr) {
    while (from != to) {
      const Graph::Port& port = graph_->ports(from)[graph_->next_port(from, to, 0)];
      f(as_dimension(graph_->link(port), graph_->spec().fidelity), 1);
      from = port.peer;
    }
    return;
  }
  for (uint32_t d = 0; d < geometry_.dimensions(); ++d) {
    const uint32_t hops = geometry_.hops(d, geometry_.coordinate(from, d), geometry_.coordinate(to, d));
    for_each_link_along(config_.fabric_dimensions()[d], hops, f);
  }
}

}  // namespace weft

#endif
