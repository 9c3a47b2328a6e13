// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// The one hash of 64-bit numbers: what needs a number that depends on others in no visible way, but is the
// same in every run, hashes them (routes, striping, drawn errors, patterns of bytes).

#ifndef WEFT_CONFIGS_HASH64_H
#define WEFT_CONFIGS_HASH64_H

#include <cstdint>

namespace weft {

/// One step of SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, OOPSLA 2014):
/// a good 64-bit hash of any 64-bit value.
constexpr uint64_t hash64(uint64_t x) {
  x += 0x9e3779b97f4a7c15ull;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}

/// A hash as a number drawn from [0, 1).
constexpr double unit_of(uint64_t hash) {
  return static_cast<double>(hash >> 11) * 0x1.0p-53;
}

}  // namespace weft

#endif
