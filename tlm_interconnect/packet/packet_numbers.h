// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Packets numbered from 1 in the order in which they are met: what a state says of which packet is where,
// whichever packets these are.

#ifndef WEFT_TLM_INTERCONNECT_PACKET_PACKET_NUMBERS_H
#define WEFT_TLM_INTERCONNECT_PACKET_PACKET_NUMBERS_H

#include <cstdint>
#include <vector>

#include "tlm_interconnect/protocol/packet_pool.h"

namespace weft::packet {

class PacketNumbers {
 public:
  /// No packet has been met.
  void clear() {
    met_ = 0;
    ++stamp_;
  }
  uint64_t of(fabric::PacketRef ref) {
    if (ref >= numbers_.size()) numbers_.resize(ref + ref / 2 + 64);
    Number& n = numbers_[ref];
    if (n.stamp != stamp_) n = {stamp_, ++met_};
    return n.number;
  }

 private:
  struct Number {
    uint64_t stamp = 0;  ///< another one than stamp_: not met
    uint64_t number = 0;
  };
  std::vector<Number> numbers_;  ///< by reference
  uint64_t stamp_ = 1;
  uint64_t met_ = 0;
};

}  // namespace weft::packet

#endif
