// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Ranks whose compute is slower than that of others which do the same: stragglers.

#ifndef WEFT_WORKLOAD_TRACE_SLOWDOWN_H
#define WEFT_WORKLOAD_TRACE_SLOWDOWN_H

#include <cmath>
#include <cstdint>
#include <optional>

#include "configs/types.h"

namespace weft::trace {

/// A slowness is a factor of the time of compute in millionths. This is no slowdown.
constexpr uint64_t kFullSpeed = 1000000;
/// What a factor may be, in words for messages.
constexpr const char* kSlownessRange = "a number from 0.001 to 1000";

/// Of a factor such as 1.5. Nothing: it is none.
inline std::optional<uint64_t> slowness_of(double factor) {
  if (!(factor >= 0.001 && factor <= 1000)) return std::nullopt;
  return static_cast<uint64_t>(std::llround(factor * static_cast<double>(kFullSpeed)));
}

/// A compute node's FLOP, bytes or picoseconds on a rank with this slowness, rounded up. Stays at 2^63-1, the
/// most that a trace can hold, if it would be more.
inline uint64_t slowed(uint64_t amount, uint64_t slowness) {
  if (slowness == kFullSpeed) return amount;
  const Wide product = (static_cast<Wide>(amount) * slowness + kFullSpeed - 1) / kFullSpeed;
  constexpr uint64_t kMost = ~uint64_t{0} >> 1;
  return product > kMost ? kMost : static_cast<uint64_t>(product);
}

}  // namespace weft::trace

#endif
