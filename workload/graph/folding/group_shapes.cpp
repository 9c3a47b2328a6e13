// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "workload/graph/folding/group_shapes.h"

#include <algorithm>

#include "workload/collectives/plan.h"

namespace weft::graph {

const GroupShape& GroupShapes::of(trace::GroupId g) {
  GroupShape& shape = shapes_[g];
  if (shape.number != GroupShape::kNoNumber) return shape;
  std::vector<uint32_t> signature;
  shape.regular = true;
  shape.coordinates.resize(config_.dimensions.size());
  if (g == trace::kWorld) {
    for (const DimensionConfig& d : config_.dimensions) signature.insert(signature.end(), {d.size, 1});
  } else {
    const auto& ranks = groups_.ranks(g);
    uint64_t points = 1;
    uint32_t stride = 1;
    for (size_t i = 0; i < config_.dimensions.size(); ++i) {
      const DimensionConfig& d = config_.dimensions[i];
      std::vector<bool> seen(d.size, false);
      for (const uint32_t r : ranks) seen[r / stride % d.size] = true;
      const auto count = static_cast<uint32_t>(std::count(seen.begin(), seen.end(), true));
      for (uint32_t c = 0; c < d.size && count != d.size; ++c) {
        if (seen[c]) shape.coordinates[i].push_back(c);
      }
      stride *= d.size;
      points *= count;
      const bool spaced = count != d.size && collectives::equally_spaced(shape.coordinates[i], d.size);
      signature.insert(signature.end(), {count, count == d.size ? 1u : spaced ? 2u : 0u});
    }
    shape.regular = points == ranks.size();
  }
  if (!shape.regular) signature.push_back(g);  // like no other
  shape.number = numbers_.emplace(signature, static_cast<uint32_t>(numbers_.size())).first->second;
  return shape;
}

}  // namespace weft::graph
