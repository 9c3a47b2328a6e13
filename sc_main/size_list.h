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

/// A size on the command line, in bytes: with a unit (`64 KiB`), or with a letter as nccl-tests reads it:
/// `64k`, `1M`, `2G` and `1T` are powers of two. Errors: UserError(usage) with the value and what is allowed.
uint64_t parse_size_option(std::string_view text);

/// nccl-tests' -b, -e, -f and -i, as they were written; empty: not given.
struct SizeRange {
  std::string first, last, factor, increment;
  bool given() const { return !(first.empty() && last.empty() && factor.empty() && increment.empty()); }
};

/// The sizes of the range, ascending. Sizes without a unit are bytes. Without a step each size is the
/// increment, 1 MiB, more than the one before. Errors: UserError(usage) that names the option.
std::vector<uint64_t> sizes_of(const SizeRange& range);

/// The sizes that "FIRST:LAST:STEP" means, in bytes, ascending, LAST included if it is hit: STEP is "x2" (a
/// factor) or
/// "+64KiB" (an increment). Without a colon: sizes between commas. Errors: UserError(usage) that names the
/// value and what is allowed.
std::vector<uint64_t> parse_sizes(const std::string& text);

/// More sizes than this are refused.
constexpr size_t kMaxSizes = 10000;

}  // namespace weft::cli

#endif
