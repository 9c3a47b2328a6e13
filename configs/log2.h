// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#ifndef WEFT_CONFIGS_LOG2_H
#define WEFT_CONFIGS_LOG2_H

#include <cstdint>

namespace weft {

/// Of n > 0, rounded down.
constexpr uint32_t log2_floor(uint64_t n) {
  uint32_t k = 0;
  while ((n >>= 1) != 0) ++k;
  return k;
}

}  // namespace weft

#endif
