// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Where an NPU stands in the hierarchical topology, and how far two coordinates of a dimension are apart.

#ifndef WEFT_CONFIGS_BLUEPRINT_GEOMETRY_H
#define WEFT_CONFIGS_BLUEPRINT_GEOMETRY_H

#include <cstdint>
#include <vector>

#include "configs/blueprint/shape.h"
#include "configs/config.h"
#include "configs/tree.h"

namespace weft {

class Geometry {
 public:
  /// Of the topology that collectives plan on.
  explicit Geometry(const Config& config) : Geometry(config, config.dimensions) {}
  /// Of the machine: its numbers are places, and `place` says at which of them a rank is. No dimensions for a
  /// graph.
  static Geometry of_fabric(const Config& config) {
    Geometry geometry(config, config.fabric_dimensions());
    geometry.places_ = config.mapping;
    geometry.ranks_.resize(config.mapping.size());
    for (uint32_t r = 0; r < config.mapping.size(); ++r) geometry.ranks_[config.mapping[r]] = r;
    return geometry;
  }

  /// The physical NPU of a rank, and back.
  uint32_t place(uint32_t rank) const { return places_.empty() ? rank : places_[rank]; }
  uint32_t rank_at(uint32_t place) const { return ranks_.empty() ? place : ranks_[place]; }

  uint32_t npus() const { return npus_; }
  uint32_t dimensions() const { return static_cast<uint32_t>(strides_.size()); }
  uint32_t stride(uint32_t d) const { return strides_[d]; }
  uint32_t size(uint32_t d) const { return dimensions_[d].size; }
  uint32_t coordinate(uint32_t rank, uint32_t d) const { return rank / strides_[d] % size(d); }
  /// The rank with coordinate d replaced.
  uint32_t with_coordinate(uint32_t rank, uint32_t d, uint32_t c) const {
    return rank - coordinate(rank, d) * strides_[d] + c * strides_[d];
  }
  /// Number of the line of dimension d that the rank is on (lines counted by the ranks at coordinate 0).
  uint32_t line(uint32_t rank, uint32_t d) const {
    return rank / (strides_[d] * size(d)) * strides_[d] + rank % strides_[d];
  }
  /// How the lines of a dimension join their NPUs.
  Shape shape(uint32_t d) const { return Shape(dimensions_[d]); }
  /// Links from coordinate a to b of a dimension, on a shortest way.
  uint32_t hops(uint32_t d, uint32_t a, uint32_t b) const { return shape(d).hops(a, b); }

  /// .. and their latencies.
  Picoseconds latency(uint32_t d, uint32_t a, uint32_t b) const {
    const DimensionConfig& dimension = dimensions_[d];
    return dimension.tree != nullptr
               ? dimension.tree->latency(dimension.latency, dimension.tree->height(a, b))
               : hops(d, a, b) * dimension.latency;
  }

 private:
  Geometry(const Config& config, const std::vector<DimensionConfig>& dimensions)
      : dimensions_(dimensions), npus_(config.npus()) {
    uint32_t stride = 1;
    for (const DimensionConfig& d : dimensions) {
      strides_.push_back(stride);
      stride *= d.size;
    }
  }

  const std::vector<DimensionConfig>& dimensions_;
  std::vector<uint32_t> strides_;
  std::vector<uint32_t> places_;  ///< by rank; empty: the same number
  std::vector<uint32_t> ranks_;   ///< by place
  uint32_t npus_ = 1;
};

}  // namespace weft

#endif
