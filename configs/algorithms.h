// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// The names of the collective algorithms a configuration may ask for: the one table of them. The algorithms
// themselves are in workload/collectives.

#ifndef WEFT_CONFIGS_ALGORITHMS_H
#define WEFT_CONFIGS_ALGORITHMS_H

#include <string>
#include <string_view>
#include <vector>

namespace weft {

struct AlgorithmInfo {
  const char* name;
  bool available;     ///< false: known, but not in this version
  bool power_of_two;  ///< needs a dimension of 1, 2, 4, 8 .. NPUs
  const char* description;
};

/// All of them, available ones first.
const std::vector<AlgorithmInfo>& algorithm_table();

/// nullptr when there is no such name.
const AlgorithmInfo* find_algorithm(std::string_view name);

/// What a configuration writes for "the default of the dimension" (an empty string in CollectivesConfig).
inline constexpr const char* kDefaultAlgorithm = "default";

}  // namespace weft

#endif
