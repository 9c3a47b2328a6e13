// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Estimates look at some of many members or rounds.

#ifndef WEFT_WORKLOAD_COLLECTIVES_SAMPLE_H
#define WEFT_WORKLOAD_COLLECTIVES_SAMPLE_H

#include <algorithm>
#include <cstdint>

namespace weft::collectives {

/// Calls f(number) for at most `most` of the numbers below `count`, evenly spread from 0 on. Returns for how
/// many.
template <typename F>
uint32_t for_each_sample(uint32_t count, uint32_t most, F&& f) {
  const uint32_t samples = std::min(count, most);
  for (uint32_t i = 0; i < samples; ++i) f(static_cast<uint32_t>(uint64_t{i} * count / samples));
  return samples;
}

}  // namespace weft::collectives

#endif
