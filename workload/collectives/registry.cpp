// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include <stdexcept>

#include "workload/collectives/algorithm.h"

namespace weft::collectives {

const std::vector<const Algorithm*>& all_algorithms() {
  static const std::vector<const Algorithm*> table = [] {
    std::vector<const Algorithm*> rows{
        ring_algorithm(),
        direct_algorithm(),
        halving_doubling_algorithm(),
        double_binary_tree_algorithm(),
    };
    for (size_t i = 0; i < rows.size(); ++i) {
      for (size_t j = 0; j < i; ++j) {
        if (std::string(rows[i]->name()) == rows[j]->name()) {
          throw std::logic_error(std::string("two collective algorithms are called ") + rows[i]->name());
        }
      }
    }
    return rows;
  }();
  return table;
}

const Algorithm* find_algorithm(const std::string& name) {
  for (const Algorithm* a : all_algorithms()) {
    if (name == a->name()) return a;
  }
  if (name == in_switch_algorithm()->name()) return in_switch_algorithm();
  return nullptr;
}

const Algorithm* find_flat_algorithm(const std::string& name) {
  const std::string prefix = "one_";
  return name.compare(0, prefix.size(), prefix) == 0 ? find_algorithm(name.substr(prefix.size())) : nullptr;
}

const Algorithm* default_algorithm(DimensionKind kind, CollectiveOp op) {
  switch (kind) {
    case DimensionKind::ring:
    case DimensionKind::mesh:
      return ring_algorithm();
    case DimensionKind::fully_connected:
      return direct_algorithm();
    case DimensionKind::switch_:
      return op == CollectiveOp::all_to_all ? direct_algorithm() : halving_doubling_algorithm();
  }
  return ring_algorithm();
}

}  // namespace weft::collectives
