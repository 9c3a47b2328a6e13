// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// A list of numbers in few bytes: those near zero, of either sign (as 64 bits wrap), take one byte, and each
// seven bits more another one.

#ifndef WEFT_TLM_INTERCONNECT_PACKET_PACKED_NUMBERS_H
#define WEFT_TLM_INTERCONNECT_PACKET_PACKED_NUMBERS_H

#include <cstddef>
#include <cstdint>
#include <vector>

#include "configs/varint.h"
#include "configs/zigzag.h"

namespace weft::packet {

class PackedNumbers {
 public:
  void add(uint64_t n) { append_varint(bytes_, zigzag(n)); }
  void clear() { bytes_.clear(); }
  void shrink_to_fit() { bytes_.shrink_to_fit(); }
  size_t bytes() const { return bytes_.size(); }
  bool operator==(const PackedNumbers& other) const { return bytes_ == other.bytes_; }

  /// Reads them in the order in which they were added.
  class Reader {
   public:
    explicit Reader(const PackedNumbers& numbers)
        : place_(numbers.bytes_.data()), end_(place_ + numbers.bytes_.size()) {}
    bool at_end() const { return place_ == end_; }
    uint64_t next() {
      uint64_t rest = 0;
      for (uint32_t shift = 0;; shift += 7) {
        const uint8_t byte = *place_++;
        rest |= uint64_t{byte & 0x7fu} << shift;
        if (byte < 0x80) break;
      }
      return unzigzag(rest);
    }

   private:
    const uint8_t* place_;
    const uint8_t* end_;
  };

 private:
  std::vector<uint8_t> bytes_;
};

}  // namespace weft::packet

#endif
