// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Entries that become due at a time, for modules with one event: push() what arrives, ask next() when to
// wake, pop() what is due. Ties are taken in the order the caller gives, so that a run does not depend on the
// order in which the kernel runs processes. Entries are small (16 bytes with the defaults): the queue is
// touched for every message.

#ifndef WEFT_TLM_INTERCONNECT_PORTS_TIMED_QUEUE_H
#define WEFT_TLM_INTERCONNECT_PORTS_TIMED_QUEUE_H

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "configs/types.h"

namespace weft::fabric {

template <typename Payload = uint32_t, typename Order = uint32_t>
class TimedQueue {
 public:
  struct Entry {
    Picoseconds time = 0;
    Order order{};  ///< among equal times: smaller first; unique
    Payload payload{};
    bool before(const Entry& o) const { return time != o.time ? time < o.time : order < o.order; }
  };

  bool empty() const { return size_ == 0; }
  size_t size() const { return size_; }
  Picoseconds next() const { return size_ == 0 ? kNever : top().time; }
  const Entry& top() const { return *heap(); }

  TimedQueue() = default;
  TimedQueue(const TimedQueue&) = delete;
  TimedQueue& operator=(const TimedQueue&) = delete;

  void push(Picoseconds time, Order order, const Payload& payload) {
    if (size_ == capacity_) grow();
    const Entry entry{time, order, payload};
    Entry* const heap = this->heap();
    uint32_t hole = size_++;
    while (hole > 0) {
      const uint32_t parent = (hole - 1) / 2;
      if (!entry.before(heap[parent])) break;
      heap[hole] = heap[parent];
      hole = parent;
    }
    heap[hole] = entry;
  }

  Entry pop() {
    Entry* const heap = this->heap();
    const Entry result = heap[0];
    const uint32_t n = --size_;
    if (n != 0) {
      const Entry last = heap[n];
      uint32_t hole = 0;
      for (uint32_t child = 1; child < n; child = 2 * hole + 1) {
        if (child + 1 < n && heap[child + 1].before(heap[child])) ++child;
        if (!heap[child].before(last)) break;
        heap[hole] = heap[child];
        hole = child;
      }
      heap[hole] = last;
    }
    return result;
  }

  template <typename F>
  void for_each(F&& f) const {
    for (uint32_t i = 0; i < size_; ++i) f(heap()[i]);
  }

 private:
  void grow() {
    auto larger = std::make_unique<Entry[]>(2 * size_t{capacity_});
    for (uint32_t i = 0; i < size_; ++i) larger[i] = heap()[i];
    outside_ = std::move(larger);
    capacity_ *= 2;
  }

  Entry* heap() { return outside_ == nullptr ? inside_ : outside_.get(); }
  const Entry* heap() const { return outside_ == nullptr ? inside_ : outside_.get(); }

  // A few entries live in the object itself: most modules never have more.
  static constexpr uint32_t kInside = 4;
  uint32_t size_ = 0;
  uint32_t capacity_ = kInside;
  std::unique_ptr<Entry[]> outside_;  ///< null: inside_
  Entry inside_[kInside];
};

}  // namespace weft::fabric

#endif
