// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// The state of the modules along one path, written down so that two moments can be compared: times relative
// to a reference, packets by the order in which they are met. To compare is to write again, word by word
// beside the record, up to the first word that differs.

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
    words_.clear();
    start(now, reference, nullptr);
  }
  /// From now on what is written is compared with `earlier`, which must not change meanwhile.
  void compare(Ticks now, Ticks reference, const std::vector<uint64_t>& earlier) {
    start(now, reference, &earlier);
  }
  Ticks now() const { return now_; }

  void number(uint64_t n) {
    ++written_;
    if (earlier_ == nullptr) {
      words_.push_back(n);
    } else {
      differs_ = differs_ || written_ > earlier_->size() || (*earlier_)[written_ - 1] != n;
    }
  }
  void time(Ticks t) { number(t - reference_); }
  /// A time that matters only while it lies in the future: all past ones are the same.
  void deadline(Ticks t) { time(std::max(t, now_)); }
  /// Which packet it is does not matter, only where else in the record it occurs.
  void packet(fabric::PacketRef ref) {
    if (ref >= numbers_.size()) numbers_.resize(ref + ref / 2 + 64);
    Number& n = numbers_[ref];
    if (n.stamp != stamp_) n = {stamp_, ++packets_};
    number(n.number);
  }

  const std::vector<uint64_t>& words() const { return words_; }
  /// How many words have been written or compared.
  uint64_t written() const { return written_; }
  /// A word was another one than in the earlier record: what follows need not be written.
  bool differs() const { return differs_; }
  /// Every word of the earlier record came again.
  bool equal() const { return !differs_ && earlier_ != nullptr && written_ == earlier_->size(); }

 private:
  void start(Ticks now, Ticks reference, const std::vector<uint64_t>* earlier) {
    now_ = now;
    reference_ = reference;
    earlier_ = earlier;
    written_ = 0;
    differs_ = false;
    packets_ = 0;
    ++stamp_;
  }

  struct Number {
    uint64_t stamp = 0;
    uint64_t number = 0;
  };
  Ticks now_ = 0;
  Ticks reference_ = 0;
  uint64_t stamp_ = 0;
  uint64_t packets_ = 0;
  uint64_t written_ = 0;
  bool differs_ = false;
  const std::vector<uint64_t>* earlier_ = nullptr;  ///< null: this is the record
  std::vector<uint64_t> words_;
  std::vector<Number> numbers_;  ///< by packet
};

}  // namespace weft::packet

#endif
