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

  explicit PortSet(uint32_t size = 0) : more_(size > 64 ? (size + 63) / 64 - 1 : 0, 0) {}

  void insert(uint32_t i) { word(i >> 6) |= uint64_t{1} << (i & 63); }
  void erase(uint32_t i) { word(i >> 6) &= ~(uint64_t{1} << (i & 63)); }
  bool contains(uint32_t i) const { return ((i < 64 ? first_ : more_[(i >> 6) - 1]) >> (i & 63)) & 1; }
  bool empty() const {
    if (first_ != 0) return false;
    for (const uint64_t w : more_) {
      if (w != 0) return false;
    }
    return true;
  }
  void clear() {
    first_ = 0;
    for (uint64_t& w : more_) w = 0;
  }

  /// Calls f(i) for each member in ascending order. f may erase i. There is one call of f, so that compilers
  /// put it in place.
  template <typename F>
  void for_each(F&& f) const {
    uint64_t w = first_;
    for (uint32_t k = 0;; ++k) {
      for (; w != 0; w &= w - 1) f(k * 64 + static_cast<uint32_t>(__builtin_ctzll(w)));
      if (k == more_.size()) return;
      w = more_[k];
    }
  }

  /// The first member; kNone if there is none.
  uint32_t first() const {
    if (first_ != 0) return static_cast<uint32_t>(__builtin_ctzll(first_));
    for (uint32_t k = 0; k < more_.size(); ++k) {
      if (more_[k] != 0) return k * 64 + 64 + static_cast<uint32_t>(__builtin_ctzll(more_[k]));
    }
    return kNone;
  }

 private:
  uint64_t& word(uint32_t k) { return k == 0 ? first_ : more_[k - 1]; }

  uint64_t first_ = 0;  ///< members below 64: most routers have no more ports
  std::vector<uint64_t> more_;
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
  /// The first member of a row at or after `start`, going round; PortSet::kNone if the row is empty. `start`
  /// must be below the number of columns.
  uint32_t first_from(uint32_t row, uint32_t start) const {
    const uint64_t* words = row_words(row);
    const uint32_t k0 = start >> 6;
    uint64_t w = words[k0] & (~uint64_t{0} << (start & 63));
    for (uint32_t k = k0;;) {
      if (w != 0) return k * 64 + static_cast<uint32_t>(__builtin_ctzll(w));
      k = k + 1 == stride_ ? 0 : k + 1;
      w = words[k];
      if (k == k0) {
        w &= ~(~uint64_t{0} << (start & 63));
        return w == 0 ? PortSet::kNone : k * 64 + static_cast<uint32_t>(__builtin_ctzll(w));
      }
    }
  }

 private:
  uint64_t* row_words(uint32_t row) { return &words_[static_cast<size_t>(row) * stride_]; }
  const uint64_t* row_words(uint32_t row) const { return &words_[static_cast<size_t>(row) * stride_]; }

  uint32_t stride_;
  std::vector<uint64_t> words_;
};

}  // namespace weft::packet

#endif
