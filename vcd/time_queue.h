// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Entries that wait for their time. Many are due at one instant, so a heap holds each instant once, with a
// list of its entries in the order in which they came.

#ifndef WEFT_VCD_TIME_QUEUE_H
#define WEFT_VCD_TIME_QUEUE_H

#include <algorithm>
#include <cstdint>
#include <functional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "vcd/value.h"

namespace weft::vcd {

class TimeQueue {
 public:
  using Slots = std::vector<uint32_t>;

  bool empty() const { return heap_.empty(); }
  /// The earliest instant; there must be one.
  Time next() const { return heap_.front().time; }
  /// Entries of all instants.
  size_t size() const { return size_; }

  void push(Time t, uint32_t slot) {
    ++size_;
    if (heap_.empty() || t != last_time_ || lists_[last_list_].empty()) {
      const auto [known, fresh] = instants_.try_emplace(t, 0);
      if (fresh) known->second = open(t);
      last_time_ = t;
      last_list_ = known->second;
    }
    lists_[last_list_].push_back(slot);
  }

  /// Takes out the earliest instant and puts its entries into `slots`, whose former content is lost.
  void take(Slots& slots) {
    const Instant first = heap_.front();
    std::pop_heap(heap_.begin(), heap_.end(), std::greater<>());
    heap_.pop_back();
    instants_.erase(first.time);
    slots.clear();
    slots.swap(lists_[first.list]);
    free_.push_back(first.list);
    size_ -= slots.size();
  }

  /// Takes out the entries of which `dead(slot)`. An instant may be left without entries.
  template <typename F>
  void remove_if(F&& dead) {
    for (Slots& list : lists_) {
      const auto end = std::remove_if(list.begin(), list.end(), dead);
      size_ -= static_cast<size_t>(list.end() - end);
      list.erase(end, list.end());
    }
  }

  void clear() { *this = TimeQueue(); }

 private:
  struct Instant {
    Time time;
    uint32_t list;
    bool operator>(const Instant& o) const { return time > o.time; }
  };

  uint32_t open(Time t) {
    uint32_t list = 0;
    if (free_.empty()) {
      list = static_cast<uint32_t>(lists_.size());
      lists_.emplace_back();
    } else {
      list = free_.back();
      free_.pop_back();
    }
    heap_.push_back({t, list});
    std::push_heap(heap_.begin(), heap_.end(), std::greater<>());
    return list;
  }

  std::vector<Instant> heap_;
  std::vector<Slots> lists_;
  std::vector<uint32_t> free_;                   ///< of lists_
  std::unordered_map<Time, uint32_t> instants_;  ///< their lists
  size_t size_ = 0;
  Time last_time_ = 0;  ///< of the last push: most often that of the next one, too
  uint32_t last_list_ = 0;
};

}  // namespace weft::vcd

#endif
