// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "configs/algorithms.h"

namespace weft {

const std::vector<AlgorithmInfo>& algorithm_table() {
  static const std::vector<AlgorithmInfo> table = {
      {"ring", true, false, "neighbour to neighbour, n-1 steps a pass"},
      {"direct", true, false, "one message to every peer at once"},
      {"halving_doubling", true, true, "partners at distance 1, 2, 4 ..; log2 n steps a pass"},
      {"double_binary_tree", false, false, "two complementary trees"},
      {"one_ring", false, false, "one flat ring over all NPUs"},
      {"one_direct", false, false, "one flat direct exchange over all NPUs"},
      {"one_halving_doubling", false, false, "one flat halving-doubling over all NPUs"},
      {"in_switch", false, false, "the switch reduces, gathers, scatters and multicasts"},
      {"custom", false, false, "programs read from traces"},
  };
  return table;
}

const AlgorithmInfo* find_algorithm(std::string_view name) {
  for (const AlgorithmInfo& info : algorithm_table())
    if (name == info.name) return &info;
  return nullptr;
}

}  // namespace weft
