// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#ifndef WEFT_WORKLOAD_GRAPH_FOLDING_COMPONENTS_H
#define WEFT_WORKLOAD_GRAPH_FOLDING_COMPONENTS_H

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

namespace weft::graph {

/// Sets of ranks that are joined by communication. The lowest rank names a set.
class Components {
 public:
  explicit Components(uint32_t ranks) : parent_(ranks) { std::iota(parent_.begin(), parent_.end(), 0u); }
  uint32_t find(uint32_t r) {
    while (parent_[r] != r) r = parent_[r] = parent_[parent_[r]];
    return r;
  }
  void join(uint32_t a, uint32_t b) {
    a = find(a);
    b = find(b);
    parent_[std::max(a, b)] = std::min(a, b);
  }

 private:
  std::vector<uint32_t> parent_;
};

}  // namespace weft::graph

#endif
