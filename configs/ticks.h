// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// The unit of time inside the packet fabric. Flits of 16 B at 900 GB/s take 17 7/9 ps: whole picoseconds
// would make that link 1.2 % slower. Only the packet fabric counts in ticks; messages, configuration and the
// kernel keep to picoseconds, and an instant between two picoseconds is seen from outside at the later one.

#ifndef WEFT_CONFIGS_TICKS_H
#define WEFT_CONFIGS_TICKS_H

#include <cstdint>
#include <string>

#include "configs/types.h"

namespace weft {

/// Time in the packet fabric, an integer. kNever means "never" here, too.
using Ticks = uint64_t;

/// The smallest number that 1 to 10 divide: the flit times of nearly all rates of a few digits are whole
/// ticks, others are off by less than one in 2520 ps. 64 bits hold 2 hours.
constexpr Ticks kTicksPerPicosecond = 2520;
constexpr Ticks kTicksPerSecond = kTicksPerPicosecond * 1000000000000ull;

/// Simulated time up to which the packet fabric takes messages; what follows is left for the last ones.
constexpr Picoseconds kLongestTickTime = 3'600'000'000'000'000;  // an hour

constexpr Ticks ticks(Picoseconds t) {
  return t * kTicksPerPicosecond;
}

/// The first whole picosecond at or after `t`.
constexpr Picoseconds picoseconds(Ticks t) {
  return t / kTicksPerPicosecond + (t % kTicksPerPicosecond != 0 ? 1 : 0);
}

/// In words: "160 ps", "17.78 ps".
std::string print_ticks(Ticks t);

}  // namespace weft

#endif
