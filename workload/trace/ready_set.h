// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// A set of node positions that gives back its smallest: one bit a node and a summary bit for every 64 of the
// level below, so that insertion, removal and the minimum cost a few word operations whatever the size.

#ifndef WEFT_WORKLOAD_TRACE_READY_SET_H
#define WEFT_WORKLOAD_TRACE_READY_SET_H

#include <cstdint>
#include <vector>

#include "workload/trace/raw_vector.h"

namespace weft::trace {

class ReadySet {
 public:
  static constexpr uint64_t kEmpty = ~uint64_t{0};

  explicit ReadySet(uint64_t size) {
    uint64_t n = size;
    do {
      n = (n + 63) / 64;
      levels_.emplace_back();
      levels_.back().reset(n == 0 ? 1 : n);
    } while (n > 1);
  }

  void copy(const ReadySet& other) {
    levels_.clear();
    for (const RawVector<uint64_t>& level : other.levels_) {
      levels_.emplace_back();
      levels_.back().copy(level);
    }
  }

  void insert(uint64_t i) {
    for (auto& level : levels_) {
      uint64_t& word = level[i / 64];
      const bool was_empty = word == 0;
      word |= uint64_t{1} << (i % 64);
      if (!was_empty) return;
      i /= 64;
    }
  }

  void erase(uint64_t i) {
    for (auto& level : levels_) {
      uint64_t& word = level[i / 64];
      word &= ~(uint64_t{1} << (i % 64));
      if (word != 0) return;
      i /= 64;
    }
  }

  bool contains(uint64_t i) const { return (levels_[0][i / 64] >> (i % 64) & 1) != 0; }

  /// The smallest member, or kEmpty.
  uint64_t smallest() const {
    uint64_t i = 0;
    for (size_t l = levels_.size(); l-- > 0;) {
      const uint64_t word = levels_[l][i];
      if (word == 0) return kEmpty;
      i = i * 64 + static_cast<uint64_t>(__builtin_ctzll(word));
    }
    return i;
  }

  uint64_t memory_bytes() const {
    uint64_t sum = 0;
    for (const auto& level : levels_) sum += level.bytes();
    return sum;
  }

 private:
  std::vector<RawVector<uint64_t>> levels_;
};

}  // namespace weft::trace

#endif
