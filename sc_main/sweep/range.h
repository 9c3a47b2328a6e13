// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Lists of numbers with units, made exactly: decimals never pass through a double where a step or a factor
// makes them.

#ifndef WEFT_SC_MAIN_SWEEP_RANGE_H
#define WEFT_SC_MAIN_SWEEP_RANGE_H

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace weft::sweep {

/// The values of "first, last, step" or "first, last, xFACTOR". All three have units of one kind, or none
/// has; the values are in the smallest of these units. Errors: UserError(usage), without the text itself.
std::vector<std::string> range_values(std::string_view arguments, size_t most);

/// The values of "first, last, count".
std::vector<std::string> log_values(std::string_view arguments, size_t most);

}  // namespace weft::sweep

#endif
