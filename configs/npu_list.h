// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Lists of NPUs as a configuration writes them: numbers and ranges, `[0, 2, 4..7]`. A range runs up or down.

#ifndef WEFT_CONFIGS_NPU_LIST_H
#define WEFT_CONFIGS_NPU_LIST_H

#include <cstdint>
#include <string>
#include <vector>

namespace weft {

/// The NPUs of the items, in order: that of rank 0 first. Throws UserError(usage) for what is no number or
/// range, an NPU that a machine of `npus` does not have, and one that occurs twice.
std::vector<uint32_t> expand_npus(const std::vector<std::string>& items, uint32_t npus);

/// The other way: numbers, and ranges where more than two follow each other.
std::vector<std::string> npu_items(const std::vector<uint32_t>& npus);
/// The items as a list: "[0..3, 7, 5]".
std::string print_npus(const std::vector<uint32_t>& npus);

}  // namespace weft

#endif
