// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Plain data as bytes: numbers in little-endian order, lists with their length before them.

#ifndef WEFT_TLM_INTERCONNECT_BORDER_BYTES_H
#define WEFT_TLM_INTERCONNECT_BORDER_BYTES_H

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <type_traits>
#include <utility>
#include <vector>

namespace weft::fabric {

/// `Byte`: std::byte or uint8_t.
template <typename Byte>
class ByteWriterOf {
 public:
  template <typename Number>
  void number(Number value) {
    static_assert(std::is_unsigned_v<Number>);
    for (size_t i = 0; i < sizeof value; ++i)
      bytes_.push_back(static_cast<Byte>(static_cast<uint8_t>(static_cast<uint64_t>(value) >> (8 * i))));
  }
  void flag(bool value) { number(static_cast<uint8_t>(value)); }
  void bytes(const std::vector<Byte>& list) {
    number(static_cast<uint64_t>(list.size()));
    bytes_.insert(bytes_.end(), list.begin(), list.end());
  }
  void numbers(const std::vector<uint32_t>& list) {
    number(static_cast<uint64_t>(list.size()));
    for (const uint32_t n : list) number(n);
  }
  std::vector<Byte> take() { return std::move(bytes_); }

 private:
  std::vector<Byte> bytes_;
};
using ByteWriter = ByteWriterOf<std::byte>;

/// Every call throws std::invalid_argument when the bytes end before the value does.
class ByteReader {
 public:
  explicit ByteReader(const std::vector<std::byte>& bytes) : bytes_(bytes) {}

  template <typename Number>
  void number(Number& value) {
    need(sizeof value);
    uint64_t wide = 0;
    for (size_t i = 0; i < sizeof value; ++i)
      wide |= static_cast<uint64_t>(std::to_integer<uint8_t>(bytes_[at_ + i])) << (8 * i);
    value = static_cast<Number>(wide);
    at_ += sizeof value;
  }
  void flag(bool& value) {
    uint8_t byte = 0;
    number(byte);
    if (byte > 1) throw std::invalid_argument("a flag is neither 0 nor 1");
    value = byte == 1;
  }
  void bytes(std::vector<std::byte>& list) {
    const size_t size = length(1);
    const auto begin = bytes_.begin() + static_cast<std::ptrdiff_t>(at_);
    list.assign(begin, begin + static_cast<std::ptrdiff_t>(size));
    at_ += size;
  }
  void numbers(std::vector<uint32_t>& list) {
    list.resize(length(sizeof(uint32_t)));
    for (uint32_t& n : list) number(n);
  }
  /// Nothing may be left.
  void end() const {
    if (at_ != bytes_.size()) throw std::invalid_argument("there are bytes behind the end");
  }

 private:
  void need(size_t size) const {
    if (bytes_.size() - at_ < size) throw std::invalid_argument("the bytes end too early");
  }
  size_t length(size_t of_element) {
    uint64_t size = 0;
    number(size);
    if (size > (bytes_.size() - at_) / of_element)
      throw std::invalid_argument("a list is longer than its bytes");
    return static_cast<size_t>(size);
  }

  const std::vector<std::byte>& bytes_;
  size_t at_ = 0;
};

}  // namespace weft::fabric

#endif
