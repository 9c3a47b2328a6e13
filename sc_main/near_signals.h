// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#ifndef WEFT_SC_MAIN_NEAR_SIGNALS_H
#define WEFT_SC_MAIN_NEAR_SIGNALS_H

#include <string>
#include <vector>

namespace weft::cli {

/// Of these names the few that a pattern (vcd::Glob) which matches none of them may have meant, the likeliest
/// first: those that it matches as a part of them, in whatever case, then the nearest ones by edit distance.
/// Numbers count as equal. Never empty unless `names` is.
std::vector<std::string> near_signals(const std::string& pattern, const std::vector<std::string>& names);

}  // namespace weft::cli

#endif
