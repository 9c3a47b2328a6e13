// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// The names of the collective algorithms a configuration may ask for: the one table of them. The algorithms
// themselves are in workload/collectives.

#ifndef WEFT_CONFIGS_ALGORITHMS_H
#define WEFT_CONFIGS_ALGORITHMS_H

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "configs/types.h"

namespace weft {

struct AlgorithmInfo {
  std::string name;
  bool available;        ///< false: known, but not in this version
  bool whole;            ///< runs a whole operation over all its members at once, not one dimension of it
  const char* argument;  ///< what follows the name and a colon; nullptr: nothing
  std::string description;
  uint32_t lacks = 0;             ///< bit i: operation i does not exist in it, whatever the dimension
  const char* instead = nullptr;  ///< what to use for those, to follow "use"
  std::string source = "weft";    ///< or the file of a plugin
};

/// All of them, available ones first.
const std::vector<AlgorithmInfo>& algorithm_table();

/// The row of a name as a configuration writes it (with its argument, if the algorithm takes one); nullptr
/// when there is none.
const AlgorithmInfo* find_algorithm(std::string_view name);

/// Why the algorithm cannot run an operation, and what can: "double_binary_tree has no gather; use ring or
/// direct". Empty: it can.
std::string lacking(const AlgorithmInfo& algorithm, CollectiveOp op);

/// What follows the colon of `custom:path/prefix`; empty for a name without.
std::string_view algorithm_argument(std::string_view name);

/// What a configuration writes for "the default of the dimension" (an empty string in CollectivesConfig).
inline constexpr const char* kDefaultAlgorithm = "default";

}  // namespace weft

#endif
