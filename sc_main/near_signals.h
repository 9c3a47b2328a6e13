// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#ifndef WEFT_SC_MAIN_NEAR_SIGNALS_H
#define WEFT_SC_MAIN_NEAR_SIGNALS_H

#include <string>
#include <vector>

namespace weft::cli {

/// Suggestions for a pattern (vcd::Glob) that matches none of the names: a few of them, the likeliest first.
/// These are the names of which it matches a part, in upper or lower case, then the nearest ones by edit
/// distance. Numbers count as equal. Empty only if `names` is.
std::vector<std::string> near_signals(const std::string& pattern, const std::vector<std::string>& names);

}  // namespace weft::cli

#endif
