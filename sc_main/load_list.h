// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#ifndef WEFT_SC_MAIN_LOAD_LIST_H
#define WEFT_SC_MAIN_LOAD_LIST_H

#include <string>
#include <vector>

namespace weft::cli {

/// The loads that "FIRST:LAST:STEP" means, LAST included if a step hits it, or those between commas, from
/// kLeastLoad to 1. `unit` says of what. Errors: UserError(usage) that names the value and what is allowed.
std::vector<double> parse_loads(const std::string& text, const char* unit = "in flits per rank and cycle");

constexpr double kLeastLoad = 1e-6;  ///< below it a run would measure nothing
constexpr size_t kMaxLoads = 1000;

}  // namespace weft::cli

#endif
