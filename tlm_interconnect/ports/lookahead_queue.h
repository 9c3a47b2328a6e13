// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// A TimedQueue whose next few entries are known in their order, so that their memory can be asked for before
// they are due. These are in a ring of their own, all others in the heap behind it.

#ifndef WEFT_TLM_INTERCONNECT_PORTS_LOOKAHEAD_QUEUE_H
#define WEFT_TLM_INTERCONNECT_PORTS_LOOKAHEAD_QUEUE_H

#include <cstddef>
#include <cstdint>

#include "configs/types.h"
#include "tlm_interconnect/ports/timed_queue.h"

namespace weft::fabric {

/// `kAhead`: how many are known, a power of two. The rest as in TimedQueue.
template <typename Payload, typename Order, uint32_t kAhead>
class LookaheadQueue {
  static_assert((kAhead & (kAhead - 1)) == 0, "a power of two");

 public:
  using Entry = typename TimedQueue<Payload, Order>::Entry;

  bool empty() const { return count_ == 0; }
  size_t size() const { return count_ + behind_.size(); }
  Picoseconds next() const { return count_ == 0 ? kNever : at(0).time; }
  /// The entry that is popped after `i` others if nothing is pushed until then; null: there is none, or
  /// `i` >= kAhead.
  const Entry* ahead(uint32_t i) const { return i < count_ ? &at(i) : nullptr; }

  void push(Picoseconds time, Order order, const Payload& payload) {
    const Entry entry{time, order, payload};
    if (count_ == kAhead) {
      if (!entry.before(at(kAhead - 1))) return behind_.push(time, order, payload);
      const Entry& last = at(--count_);
      behind_.push(last.time, last.order, last.payload);
    }
    uint32_t place = count_++;
    for (; place > 0 && entry.before(at(place - 1)); --place) at(place) = at(place - 1);
    at(place) = entry;
  }

  /// Not of an empty queue.
  Entry pop() {
    const Entry result = at(0);
    ++first_;
    if (behind_.empty()) {
      if (--count_ == 0) first_ = 0;  // so that a short queue uses few cache lines
    } else {
      at(kAhead - 1) = behind_.pop();
    }
    return result;
  }

 private:
  Entry& at(uint32_t i) { return ahead_[(first_ + i) % kAhead]; }
  const Entry& at(uint32_t i) const { return ahead_[(first_ + i) % kAhead]; }

  uint32_t first_ = 0;
  uint32_t count_ = 0;  ///< kAhead unless behind_ is empty
  Entry ahead_[kAhead];
  TimedQueue<Payload, Order> behind_;
};

}  // namespace weft::fabric

#endif
