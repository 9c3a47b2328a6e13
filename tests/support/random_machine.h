// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Numbers from a seed, and what tests draw random machines and run whole jobs with.

#ifndef WEFT_TESTS_SUPPORT_RANDOM_MACHINE_H
#define WEFT_TESTS_SUPPORT_RANDOM_MACHINE_H

#include <cstdint>
#include <random>

#include "configs/config.h"
#include "tests/support/solo_job.h"

namespace weft::test {

struct Random {
  explicit Random(uint32_t seed) : engine(seed) {}
  uint32_t pick(uint32_t n) { return static_cast<uint32_t>(engine() % n); }
  std::mt19937 engine;
};

/// A kind of dimension and, below `most_npus` together, the sizes that `size(random, count)` draws for one to
/// three dimensions; `fill(random, dimension)` draws the rest of each.
template <typename Size, typename Fill>
void draw_dimensions(Random& random, Config& config, uint32_t least_npus, uint32_t most_npus, Size&& size,
                     Fill&& fill) {
  constexpr DimensionKind kKinds[] = {DimensionKind::ring, DimensionKind::fully_connected,
                                      DimensionKind::switch_, DimensionKind::mesh};
  do {
    config.dimensions.clear();
    const uint32_t count = 1 + random.pick(3);
    for (uint32_t i = 0; i < count; ++i) {
      DimensionConfig d;
      d.kind = kKinds[random.pick(4)];
      d.size = size(random, count);
      fill(random, d);
      config.dimensions.push_back(d);
    }
  } while (config.npus() < least_npus || config.npus() > most_npus);
}

}  // namespace weft::test

#endif
