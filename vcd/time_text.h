// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Decimal digits of times that follow each other: the upper ones are those of the time before, nearly always.

#ifndef WEFT_VCD_TIME_TEXT_H
#define WEFT_VCD_TIME_TEXT_H

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "vcd/value.h"

namespace weft::vcd {

class TimeText {
 public:
  /// The most characters that put() writes.
  static constexpr size_t kLongest = 32;

  /// Writes the digits of `t` and returns their end.
  char* put(char* out, Time t) {
    const uint64_t upper = t / kLower;
    if (upper != upper_) set_upper(upper);
    std::memcpy(out, digits_, sizeof digits_);
    out += length_;
    const auto lower = static_cast<uint32_t>(t % kLower);
    if (length_ == 0) return std::to_chars(out, out + 8, lower).ptr;
    put_four(out, lower / 10000);
    put_four(out + 4, lower % 10000);
    return out + 8;
  }

 private:
  static constexpr uint64_t kLower = 100000000;

  static void put_four(char* out, uint32_t n) {
    out[0] = static_cast<char>('0' + n / 1000);
    out[1] = static_cast<char>('0' + n / 100 % 10);
    out[2] = static_cast<char>('0' + n / 10 % 10);
    out[3] = static_cast<char>('0' + n % 10);
  }

  [[gnu::noinline]] void set_upper(uint64_t upper) {
    upper_ = upper;
    length_ = upper == 0 ? 0 : std::to_chars(digits_, digits_ + sizeof digits_, upper).ptr - digits_;
  }

  uint64_t upper_ = 0;
  std::ptrdiff_t length_ = 0;  ///< of digits_
  char digits_[16] = {};       ///< of upper_, which has at most 12
};

}  // namespace weft::vcd

#endif
