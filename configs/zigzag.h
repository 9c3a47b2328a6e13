// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Differences as unsigned numbers: those near zero, of either sign, become small.

#ifndef WEFT_CONFIGS_ZIGZAG_H
#define WEFT_CONFIGS_ZIGZAG_H

#include <cstdint>

namespace weft {

/// `difference`: as 64 bits wrap.
constexpr uint64_t zigzag(uint64_t difference) {
  return (difference << 1) ^ (~(difference >> 63) + 1);
}
constexpr uint64_t unzigzag(uint64_t value) {
  return (value >> 1) ^ (~(value & 1) + 1);
}

}  // namespace weft

#endif
