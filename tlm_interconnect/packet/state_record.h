// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// The state of the modules along one path, written down so that two moments can be compared: times relative
// to a reference, packets by the order in which they are met.

#ifndef WEFT_TLM_INTERCONNECT_PACKET_STATE_RECORD_H
#define WEFT_TLM_INTERCONNECT_PACKET_STATE_RECORD_H

#include <algorithm>
#include <cstdint>
#include <vector>

#include "configs/ticks.h"
#include "tlm_interconnect/protocol/packet_pool.h"

namespace weft::packet {

class StateRecord {
 public:
  /// Starts a new record at time `now`; times are noted relative to `reference`.
  void begin(Ticks now, Ticks reference) {
    now_ = now;
    reference_ = reference;
    words_.clear();
    packets_ = 0;
    ++stamp_;
  }
  Ticks now() const { return now_; }

  void number(uint64_t n) { words_.push_back(n); }
  void time(Ticks t) { words_.push_back(t - reference_); }
  /// A time that matters only while it lies in the future: all past ones are the same.
  void deadline(Ticks t) { time(std::max(t, now_)); }
  /// Which packet it is does not matter, only where else in the record it occurs.
  void packet(fabric::PacketRef ref) {
    if (ref >= numbers_.size()) numbers_.resize(ref + ref / 2 + 64);
    Number& n = numbers_[ref];
    if (n.stamp != stamp_) n = {stamp_, ++packets_};
    words_.push_back(n.number);
  }

  const std::vector<uint64_t>& words() const { return words_; }

 private:
  struct Number {
    uint64_t stamp = 0;
    uint64_t number = 0;
  };
  Ticks now_ = 0;
  Ticks reference_ = 0;
  uint64_t stamp_ = 0;
  uint64_t packets_ = 0;
  std::vector<uint64_t> words_;
  std::vector<Number> numbers_;  ///< by packet
};

}  // namespace weft::packet

#endif
