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
#include <utility>
#include <vector>

#include "vcd/value.h"

namespace weft::vcd {

/// The list of each instant: open addressing with linear probing, because every value that is known ahead
/// asks for its instant.
class InstantTable {
 public:
  static constexpr uint32_t kNone = ~uint32_t{0};

  /// Where the list of `t` is kept: kNone if the instant is new. Valid until the next call.
  uint32_t& at(Time t) {
    if (2 * (used_ + 1) > cells_.size()) grow();
    Cell& cell = cells_[find(t)];
    if (cell.list == kNone) {
      cell.time = t;
      ++used_;
    }
    return cell.list;
  }

  /// The instant must be there.
  void erase(Time t) {
    size_t hole = find(t);
    --used_;
    // What was pushed on by the cell that falls free moves back, so that probing still finds it.
    for (size_t i = (hole + 1) & mask(); cells_[i].list != kNone; i = (i + 1) & mask()) {
      const size_t home = home_of(cells_[i].time);
      if (((i - home) & mask()) < ((i - hole) & mask())) continue;
      cells_[hole] = cells_[i];
      hole = i;
    }
    cells_[hole].list = kNone;
  }

 private:
  struct Cell {
    Time time = 0;
    uint32_t list = kNone;
  };

  size_t mask() const { return cells_.size() - 1; }
  size_t home_of(Time t) const { return (t * 0x9e3779b97f4a7c15u) >> 32 & mask(); }

  size_t find(Time t) const {
    size_t i = home_of(t);
    while (cells_[i].list != kNone && cells_[i].time != t) i = (i + 1) & mask();
    return i;
  }

  void grow() {
    std::vector<Cell> old(cells_.empty() ? 64 : 2 * cells_.size());
    old.swap(cells_);
    for (const Cell& cell : old)
      if (cell.list != kNone) cells_[find(cell.time)] = cell;
  }

  std::vector<Cell> cells_;
  size_t used_ = 0;
};

template <class Entry>
class TimeQueue {
 public:
  using Entries = std::vector<Entry>;

  bool empty() const { return heap_.empty(); }
  /// The earliest instant; there must be one.
  Time next() const { return heap_.front().time; }
  /// Entries of all instants.
  size_t size() const { return size_; }

  /// `fields`: those of the entry, which is built in its place.
  template <class... Fields>
  void push(Time t, Fields... fields) {
    ++size_;
    if (t != last_time_ || last_list_ == InstantTable::kNone) {
      uint32_t& list = instants_.at(t);
      if (list == InstantTable::kNone) list = open(t);
      last_time_ = t;
      last_list_ = list;
    }
    lists_[last_list_].emplace_back(fields...);
  }

  /// Takes out the earliest instant and puts its entries into `entries`, whose former content is lost.
  void take(Entries& entries) {
    const Instant first = heap_.front();
    std::pop_heap(heap_.begin(), heap_.end(), std::greater<>());
    heap_.pop_back();
    instants_.erase(first.time);
    if (first.time == last_time_) last_list_ = InstantTable::kNone;
    entries.clear();
    entries.swap(lists_[first.list]);
    free_.push_back(first.list);
    size_ -= entries.size();
  }

  /// Takes out the entries of which `dead(entry)`. An instant may be left without entries.
  template <typename F>
  void remove_if(F&& dead) {
    for (Entries& list : lists_) {
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
  std::vector<Entries> lists_;
  std::vector<uint32_t> free_;  ///< of lists_
  InstantTable instants_;
  size_t size_ = 0;
  Time last_time_ = 0;  ///< of the last push: most often that of the next one, too
  uint32_t last_list_ = InstantTable::kNone;
};

}  // namespace weft::vcd

#endif
