// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// The random numbers of one case. The same seed gives the same case on every machine and compiler: no
// distribution of the standard library is used, because their results differ between libraries.

#ifndef WEFT_TESTS_RELATIONS_RANDOM_H
#define WEFT_TESTS_RELATIONS_RANDOM_H

#include <cstdint>
#include <initializer_list>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace weft::relations {

class Random {
 public:
  explicit Random(uint64_t seed) : engine_(seed) {}
  /// The case number `index` of a relation.
  Random(uint64_t seed, const std::string& relation, uint64_t index) : engine_(mix(seed, relation, index)) {}

  /// 0 .. n-1; n is at least 1.
  uint64_t below(uint64_t n) { return engine_() % n; }
  uint64_t between(uint64_t first, uint64_t last) { return first + below(last - first + 1); }
  uint32_t small(uint32_t first, uint32_t last) { return static_cast<uint32_t>(between(first, last)); }
  /// True in `percent` of 100 cases.
  bool chance(uint32_t percent) { return below(100) < percent; }

  template <typename T>
  T pick(std::initializer_list<T> from) {
    return *(from.begin() + below(from.size()));
  }
  template <typename T>
  const T& pick(const std::vector<T>& from) {
    return from[below(from.size())];
  }
  template <typename T>
  void shuffle(std::vector<T>& items) {
    for (size_t i = items.size(); i > 1; --i) std::swap(items[i - 1], items[below(i)]);
  }

 private:
  static uint64_t mix(uint64_t seed, const std::string& relation, uint64_t index) {
    uint64_t h = 0xcbf29ce484222325ull ^ seed * 0x9e3779b97f4a7c15ull;
    const auto step = [&h](uint64_t v) {
      h = (h ^ v) * 0xff51afd7ed558ccdull;
      h ^= h >> 33;
    };
    for (const char c : relation) step(static_cast<unsigned char>(c));
    step(index);
    step(seed);
    return h;
  }

  std::mt19937_64 engine_;
};

}  // namespace weft::relations

#endif
