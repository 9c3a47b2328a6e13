// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Protocol-buffer wire format, read in place and bounds-checked. The trace passes need a few fields of each
// node and run over gigabytes, so they decode them here instead of building whole protobuf messages.

#ifndef WEFT_WORKLOAD_TRACE_WIRE_H
#define WEFT_WORKLOAD_TRACE_WIRE_H

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace weft::trace::wire {

enum Type : uint32_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

/// Reads forward over one message's bytes; every function returns false (and stays where it was or at an
/// undefined place) when the bytes are not well-formed.
class Cursor {
 public:
  Cursor() = default;
  Cursor(const uint8_t* data, size_t size) : p_(data), end_(data + size) {}

  bool done() const { return p_ == end_; }
  size_t left() const { return static_cast<size_t>(end_ - p_); }
  const uint8_t* position() const { return p_; }
  std::string_view text() const { return {reinterpret_cast<const char*>(p_), left()}; }

  bool varint(uint64_t& value) {
    if (p_ != end_ && *p_ < 0x80) {
      value = *p_++;
      return true;
    }
    uint64_t result = 0;
    for (unsigned shift = 0; shift < 64 && p_ != end_; shift += 7) {
      const uint64_t byte = *p_++;
      result |= (byte & 0x7f) << shift;
      if (byte < 0x80) {
        value = result;
        return shift < 63 || byte < 2;  // the tenth byte holds one bit
      }
    }
    return false;
  }

  bool tag(uint32_t& field, uint32_t& type) {
    uint64_t t = 0;
    if (!varint(t) || t > 0xffffffffu) return false;
    field = static_cast<uint32_t>(t >> 3);
    type = static_cast<uint32_t>(t & 7);
    return field != 0;
  }

  bool bytes(Cursor& sub) {
    uint64_t n = 0;
    if (!varint(n) || n > left()) return false;
    sub = Cursor(p_, static_cast<size_t>(n));
    p_ += n;
    return true;
  }

  template <typename T>
  bool fixed(T& value) {
    if (left() < sizeof(T)) return false;
    std::memcpy(&value, p_, sizeof(T));  // the wire and every supported host are little-endian
    p_ += sizeof(T);
    return true;
  }

  bool skip(uint32_t type) {
    uint64_t n = 0;
    Cursor sub;
    switch (type) {
      case kVarint:
        return varint(n);
      case kFixed64:
        return advance(8);
      case kBytes:
        return bytes(sub);
      case kFixed32:
        return advance(4);
      default:
        return false;  // groups are not used by this format
    }
  }

 private:
  bool advance(size_t n) {
    if (left() < n) return false;
    p_ += n;
    return true;
  }

  const uint8_t* p_ = nullptr;
  const uint8_t* end_ = nullptr;
};

}  // namespace weft::trace::wire

#endif
