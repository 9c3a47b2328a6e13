// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// A set of the numbers 0 .. count - 1 that knows its least member: bits, and above every 64 words of them a
// word that says which of these are not zero.

#ifndef WEFT_TLM_INTERCONNECT_PORTS_NUMBER_SET_H
#define WEFT_TLM_INTERCONNECT_PORTS_NUMBER_SET_H

#include <cstdint>
#include <vector>

namespace weft::fabric {

class NumberSet {
 public:
  static constexpr uint32_t kNone = ~0u;

  /// Numbers below `count` may be inserted. Only of an empty set.
  void resize(uint32_t count) {
    levels_ = 0;
    size_t words = 0;
    size_t width = count;
    do {
      first_[levels_++] = words;
      width = (width + 63) / 64;
      words += width;
    } while (width > 1);
    words_.assign(words, 0);
  }

  bool empty() const { return words_.empty() || words_.back() == 0; }

  void insert(uint32_t number) {
    for (uint32_t l = 0; l < levels_; ++l, number >>= 6) {
      uint64_t& word = words_[first_[l] + (number >> 6)];
      const bool known = word != 0;
      word |= uint64_t{1} << (number & 63);
      if (known) return;
    }
  }

  /// A member.
  void erase(uint32_t number) {
    for (uint32_t l = 0; l < levels_; ++l, number >>= 6) {
      uint64_t& word = words_[first_[l] + (number >> 6)];
      word &= ~(uint64_t{1} << (number & 63));
      if (word != 0) return;
    }
  }

  /// Of a set that is not empty.
  uint32_t least() const { return below(levels_, 0); }

  /// The least member above `number`, kNone if there is none.
  uint32_t after(uint32_t number) const {
    for (uint32_t l = 0; l < levels_; ++l, number >>= 6) {
      const uint64_t rest = words_[first_[l] + (number >> 6)] & (~uint64_t{1} << (number & 63));
      if (rest != 0) return below(l, (number & ~63u) | trailing(rest));
    }
    return kNone;
  }

 private:
  static uint32_t trailing(uint64_t word) { return static_cast<uint32_t>(__builtin_ctzll(word)); }
  /// The least number below bit `at` of level `level`.
  uint32_t below(uint32_t level, uint32_t at) const {
    while (level-- > 0) at = at << 6 | trailing(words_[first_[level] + at]);
    return at;
  }

  std::vector<uint64_t> words_;  ///< level by level
  size_t first_[6] = {};
  uint32_t levels_ = 0;
};

}  // namespace weft::fabric

#endif
