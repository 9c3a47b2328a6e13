// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// A small seeded generator (xoshiro256**, Blackman and Vigna, "Scrambled linear pseudorandom number
// generators", 2018), owned by the module that draws from it, so that no draw depends on the order in which
// processes run.

#ifndef WEFT_TLM_INTERCONNECT_PACKET_RANDOM_H
#define WEFT_TLM_INTERCONNECT_PACKET_RANDOM_H

#include <cstdint>

#include "configs/hash64.h"

namespace weft::packet {

class Random {
 public:
  /// `stream` separates the modules of one run that share a seed.
  Random(uint64_t seed, uint64_t stream) {
    uint64_t x = hash64(seed) ^ hash64(~stream);
    for (uint64_t& s : state_) s = x = hash64(x);
  }

  uint64_t next() {
    const uint64_t result = rotate(state_[1] * 5, 7) * 9;
    const uint64_t t = state_[1] << 17;
    state_[2] ^= state_[0];
    state_[3] ^= state_[1];
    state_[1] ^= state_[2];
    state_[0] ^= state_[3];
    state_[2] ^= t;
    state_[3] = rotate(state_[3], 45);
    return result;
  }
  /// Uniform in [0, n); n must not be 0. (Multiply-shift: the bias is below n / 2^32.)
  uint32_t below(uint32_t n) { return static_cast<uint32_t>(((next() >> 32) * n) >> 32); }
  /// Uniform in (0, 1].
  double unit() { return (static_cast<double>(next() >> 11) + 1.0) * 0x1.0p-53; }

 private:
  static constexpr uint64_t rotate(uint64_t x, int k) { return (x << k) | (x >> (64 - k)); }
  uint64_t state_[4];
};

}  // namespace weft::packet

#endif
