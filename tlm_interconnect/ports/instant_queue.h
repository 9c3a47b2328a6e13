// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Numbers that become due at times, where many are due at the same few instants. Instants wait in a heap; the
// numbers of the present one are a set of bits, so that each of them costs some ten instructions, however
// many there are. They are taken by time, then by number; what is asked for twice at one time comes once.

#ifndef WEFT_TLM_INTERCONNECT_PORTS_INSTANT_QUEUE_H
#define WEFT_TLM_INTERCONNECT_PORTS_INSTANT_QUEUE_H

#include <cstdint>
#include <vector>

#include "configs/types.h"
#include "tlm_interconnect/ports/lookahead_queue.h"
#include "tlm_interconnect/ports/number_set.h"

namespace weft::fabric {

class InstantQueue {
 public:
  static constexpr uint32_t kNone = NumberSet::kNone;

  /// Numbers below `count` may be pushed. Before the first of them.
  void resize(uint32_t count) { present_.resize(count); }

  bool empty() const { return least_ == kNone && later_.empty(); }
  /// The earliest time; kNever if the queue is empty.
  Picoseconds next() const { return least_ == kNone ? later_.next() : now_; }

  void push(Picoseconds time, uint32_t number) {
    if (time == now_) {
      present_.insert(number);
      if (number < least_) least_ = number;
      return;
    }
    if (time < now_) put_back();
    push_later(time, number);
  }

  /// The least number of the earliest time. Not of an empty queue.
  uint32_t pop() {
    if (least_ == kNone) begin_instant();
    const uint32_t number = least_;
    present_.erase(number);
    least_ = present_.after(number);
    return number;
  }

  /// Those that will probably be popped next at the present time: kNone where it is not known.
  uint32_t peek() const { return least_; }
  uint32_t peek_after(uint32_t number) const { return number == kNone ? kNone : present_.after(number); }
  /// A number of the instant that comes `i` instants after the next one of those that wait; kNone where it is
  /// not known.
  uint32_t peek_later(uint32_t i) const {
    const auto* const entry = later_.ahead(i);
    return entry == nullptr ? kNone : entry->payload;
  }

 private:
  struct Instant {
    Picoseconds time = kNever;
    std::vector<uint32_t> more;  ///< numbers after the first one, which stands in later_
  };

  void push_later(Picoseconds time, uint32_t number) {
    if (recent_ < instants_.size() && instants_[recent_].time == time) {
      instants_[recent_].more.push_back(number);
      return;
    }
    if (2 * (used_ + 1) > table_.size()) grow();
    size_t at = home(time);
    for (; table_[at] != kNone; at = (at + 1) & (table_.size() - 1)) {
      Instant& instant = instants_[table_[at]];
      if (instant.time != time) continue;
      recent_ = table_[at];
      instant.more.push_back(number);
      return;
    }
    uint32_t fresh = 0;
    if (free_.empty()) {
      fresh = static_cast<uint32_t>(instants_.size());
      instants_.emplace_back();
    } else {
      fresh = free_.back();
      free_.pop_back();
    }
    recent_ = fresh;
    instants_[fresh].time = time;
    table_[at] = fresh;
    ++used_;
    later_.push(time, fresh, number);
  }

  void begin_instant() {
    const auto entry = later_.pop();
    const uint32_t i = entry.order;
    Instant& instant = instants_[i];
    now_ = instant.time;
    forget(i);
    instant.time = kNever;
    present_.insert(entry.payload);
    for (const uint32_t number : instant.more) present_.insert(number);
    instant.more.clear();
    least_ = present_.least();
    free_.push_back(i);
  }

  /// Something earlier than the present instant has come, so that this one has to wait.
  void put_back() {
    const Picoseconds time = now_;
    now_ = kNever;
    for (; least_ != kNone; least_ = present_.after(least_)) {
      present_.erase(least_);
      push_later(time, least_);
    }
  }

  size_t home(Picoseconds time) const { return (time * 0x9e3779b97f4a7c15ull) >> shift_; }

  /// Takes the instant out of the table, and moves up those that stand after it because their places were
  /// taken.
  void forget(uint32_t instant) {
    const size_t mask = table_.size() - 1;
    size_t hole = home(instants_[instant].time);
    while (table_[hole] != instant) hole = (hole + 1) & mask;
    for (size_t at = (hole + 1) & mask; table_[at] != kNone; at = (at + 1) & mask) {
      if (((at - home(instants_[table_[at]].time)) & mask) < ((at - hole) & mask)) continue;
      table_[hole] = table_[at];
      hole = at;
    }
    table_[hole] = kNone;
    --used_;
  }

  void grow() {
    const std::vector<uint32_t> old = table_;
    table_.assign(old.empty() ? 16 : 2 * old.size(), kNone);
    shift_ = static_cast<uint32_t>(__builtin_clzll(table_.size()) + 1);
    for (const uint32_t instant : old) {
      if (instant == kNone) continue;
      size_t at = home(instants_[instant].time);
      while (table_[at] != kNone) at = (at + 1) & (table_.size() - 1);
      table_[at] = instant;
    }
  }

  NumberSet present_;       ///< due at now_
  uint32_t least_ = kNone;  ///< of them; kNone: there are none
  Picoseconds now_ = kNever;
  LookaheadQueue<uint32_t, uint32_t, 8> later_;  ///< order: the instant; payload: its first number
  std::vector<Instant> instants_;
  uint32_t recent_ = 0;          ///< the instant that something was pushed for last
  std::vector<uint32_t> free_;   ///< instants that are over
  std::vector<uint32_t> table_;  ///< of waiting instants by time, open addressing
  uint32_t shift_ = 0;
  uint32_t used_ = 0;
};

}  // namespace weft::fabric

#endif
