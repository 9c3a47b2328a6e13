// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "configs/blueprint/blueprint.h"

namespace weft {

DimensionConfig as_dimension(const GraphLink& link, Fidelity fidelity) {
  DimensionConfig dimension;
  dimension.bandwidth = link.rate();
  dimension.latency = link.latency;
  dimension.credit_latency = link.credit_latency;
  dimension.flit_error_rate = link.flit_error_rate;
  dimension.replay = link.replay;
  dimension.fidelity = fidelity;
  return dimension;
}

Blueprint::Blueprint(const Config& config)
    : config_(config), graph_(config.graph.get()), geometry_(Geometry::of_fabric(config)) {
  for (const DimensionConfig& d : config.fabric_dimensions())
    rate_ += d.link_rate().value() * Shape(d).links();
}

Picoseconds Blueprint::nearest() const {
  Picoseconds nearest = kNever;
  if (graph_ != nullptr) {
    for (const GraphLink& link : graph_->spec().links) nearest = std::min(nearest, link.latency);
  }
  for (const DimensionConfig& d : config_.fabric_dimensions()) {
    if (d.size > 1) nearest = std::min(nearest, d.latency);
  }
  return nearest;
}

}  // namespace weft
