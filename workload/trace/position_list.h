// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#ifndef WEFT_WORKLOAD_TRACE_POSITION_LIST_H
#define WEFT_WORKLOAD_TRACE_POSITION_LIST_H

#include <cstddef>
#include <cstdint>

#include "workload/trace/raw_vector.h"

namespace weft::trace {

/// A number from 0 to n for each of n nodes: 2 bytes each for fewer than 65,535 nodes, else 4.
class PositionList {
 public:
  /// n zeros.
  void reset(size_t n) {
    narrow_ = n < 0xffff;
    small_.reset(narrow_ ? n : 0);
    large_.reset(narrow_ ? 0 : n);
  }
  void copy(const PositionList& other) {
    narrow_ = other.narrow_;
    small_.copy(other.small_);
    large_.copy(other.large_);
  }
  uint32_t operator[](size_t i) const { return narrow_ ? small_[i] : large_[i]; }
  void set(size_t i, uint32_t value) {
    if (narrow_) {
      small_[i] = static_cast<uint16_t>(value);
    } else {
      large_[i] = value;
    }
  }
  size_t bytes() const { return small_.bytes() + large_.bytes(); }

 private:
  bool narrow_ = true;
  RawVector<uint16_t> small_;
  RawVector<uint32_t> large_;
};

}  // namespace weft::trace

#endif
