// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// A set of small integers (ports of a router) as bits: what the allocators and the router's stages walk over.

#ifndef WEFT_TLM_INTERCONNECT_PACKET_PORT_SET_H
#define WEFT_TLM_INTERCONNECT_PACKET_PORT_SET_H

#include <cstddef>
#include <cstdint>
#include <vector>

namespace weft::packet {

class PortSet {
 public:
  static constexpr uint32_t kNone = ~0u;

  explicit PortSet(uint32_t size = 0) : words_((size + 63) / 64, 0) {}

  void insert(uint32_t i) { words_[i >> 6] |= uint64_t{1} << (i & 63); }
  void erase(uint32_t i) { words_[i >> 6] &= ~(uint64_t{1} << (i & 63)); }
  bool contains(uint32_t i) const { return (words_[i >> 6] >> (i & 63)) & 1; }
  bool empty() const {
    for (const uint64_t w : words_) {
      if (w != 0) return false;
    }
    return true;
  }
  void clear() {
    for (uint64_t& w : words_) w = 0;
  }

  /// Calls f(i) for each member in ascending order. f may erase i.
  template <typename F>
  void for_each(F&& f) const {
    for (uint32_t k = 0; k < words_.size(); ++k) {
      for (uint64_t w = words_[k]; w != 0; w &= w - 1) f(k * 64 + static_cast<uint32_t>(__builtin_ctzll(w)));
    }
  }

  /// The first member at or after `start`, going round; kNone if the set is empty. `start` must be below the
  /// size.
  uint32_t first_from(uint32_t start) const {
    return first_from(words_.data(), static_cast<uint32_t>(words_.size()), start);
  }

  static uint32_t first_from(const uint64_t* words, uint32_t n, uint32_t start) {
    const uint32_t k0 = start >> 6;
    uint64_t w = words[k0] & (~uint64_t{0} << (start & 63));
    for (uint32_t k = k0;;) {
      if (w != 0) return k * 64 + static_cast<uint32_t>(__builtin_ctzll(w));
      k = k + 1 == n ? 0 : k + 1;
      w = words[k];
      if (k == k0) {
        w &= ~(~uint64_t{0} << (start & 63));
        return w == 0 ? kNone : k * 64 + static_cast<uint32_t>(__builtin_ctzll(w));
      }
    }
  }

 private:
  std::vector<uint64_t> words_;
};

/// A matrix of bits, row by row.
class PortMatrix {
 public:
  PortMatrix(uint32_t rows, uint32_t columns)
      : stride_((columns + 63) / 64), words_(static_cast<size_t>(rows) * stride_, 0) {}

  void insert(uint32_t row, uint32_t column) { row_words(row)[column >> 6] |= uint64_t{1} << (column & 63); }
  bool contains(uint32_t row, uint32_t column) const {
    return (row_words(row)[column >> 6] >> (column & 63)) & 1;
  }
  void clear_row(uint32_t row) {
    for (uint32_t k = 0; k < stride_; ++k) row_words(row)[k] = 0;
  }
  uint32_t first_from(uint32_t row, uint32_t start) const {
    return PortSet::first_from(row_words(row), stride_, start);
  }

 private:
  uint64_t* row_words(uint32_t row) { return &words_[static_cast<size_t>(row) * stride_]; }
  const uint64_t* row_words(uint32_t row) const { return &words_[static_cast<size_t>(row) * stride_]; }

  uint32_t stride_;
  std::vector<uint64_t> words_;
};

}  // namespace weft::packet

#endif
