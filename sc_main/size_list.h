// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#ifndef WEFT_SC_MAIN_SIZE_LIST_H
#define WEFT_SC_MAIN_SIZE_LIST_H

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace weft::cli {

/// Items between commas, blanks around them removed.
std::vector<std::string> split_list(std::string_view text);

/// The sizes that "FIRST:LAST:STEP" means, in bytes, ascending, LAST included if it is hit: STEP is "x2" (a
/// factor) or
/// "+64KiB" (an increment). Without a colon: sizes between commas. Errors: UserError(usage) that names the
/// value and what is allowed.
std::vector<uint64_t> parse_sizes(const std::string& text);

/// More sizes than this are refused.
constexpr size_t kMaxSizes = 10000;

}  // namespace weft::cli

#endif
