// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#ifndef WEFT_WORKLOAD_GRAPH_FOLDING_DIGEST_H
#define WEFT_WORKLOAD_GRAPH_FOLDING_DIGEST_H

#include <cstdint>
#include <utility>

namespace weft::graph {

/// 128 bits that tell traces apart.
class Digest {
 public:
  using Value = std::pair<uint64_t, uint64_t>;

  void add(uint64_t value) {
    low_ = mix(low_ ^ value) * 0x9e3779b97f4a7c15ull + high_;
    high_ = mix(high_ + value * 0xc2b2ae3d27d4eb4full) ^ low_;
  }
  void add(const Value& value) {
    add(value.first);
    add(value.second);
  }
  Value value() const { return {low_, high_}; }

 private:
  static uint64_t mix(uint64_t h) {
    h ^= h >> 33;
    h *= 0xff51afd7ed558ccdull;
    h ^= h >> 29;
    h *= 0xc4ceb9fe1a85ec53ull;
    return h ^ (h >> 32);
  }
  uint64_t low_ = 0x6a09e667f3bcc908ull;
  uint64_t high_ = 0xbb67ae8584caa73bull;
};

}  // namespace weft::graph

#endif
