// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Entries that wait for their time. Many are due at one instant, so a heap holds each instant once, with a
// list of its entries in the order in which they came.

#ifndef WEFT_VCD_TIME_QUEUE_H
#define WEFT_VCD_TIME_QUEUE_H

#include <algorithm>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include "vcd/value.h"

namespace weft::vcd {

/// The list of each instant: open addressing with linear probing, because every value that is known ahead
/// asks for its instant. A cell is the list's number alone: the table is small, and whoever finds a list
/// needs it anyway. `lists[number].time` is the list's instant.
class InstantTable {
 public:
  static constexpr uint32_t kNone = ~uint32_t{0};

  /// kNone: the instant is not there.
  template <class Lists>
  uint32_t list_of(Time t, const Lists& lists) const {
    return cells_[find(t, lists)];
  }

  /// The list's instant must not be there.
  template <class Lists>
  void insert(uint32_t list, const Lists& lists) {
    if (2 * (used_ + 1) > cells_.size()) grow(lists);
    cells_[find(lists[list].time, lists)] = list;
    ++used_;
  }

  /// The instant must be there.
  template <class Lists>
  void erase(Time t, const Lists& lists) {
    size_t hole = find(t, lists);
    --used_;
    // What was pushed on by the cell that falls free moves back, so that probing still finds it.
    for (size_t i = (hole + 1) & mask(); cells_[i] != kNone; i = (i + 1) & mask()) {
      const size_t home = home_of(lists[cells_[i]].time);
      if (((i - home) & mask()) < ((i - hole) & mask())) continue;
      cells_[hole] = cells_[i];
      hole = i;
    }
    cells_[hole] = kNone;
  }

 private:
  size_t mask() const { return cells_.size() - 1; }
  // The upper bits of the product: those spread times that are a period apart.
  size_t home_of(Time t) const { return (t * 0x9e3779b97f4a7c15u) >> shift_; }

  template <class Lists>
  size_t find(Time t, const Lists& lists) const {
    size_t i = home_of(t);
    while (cells_[i] != kNone && lists[cells_[i]].time != t) i = (i + 1) & mask();
    return i;
  }

  template <class Lists>
  [[gnu::noinline]] void grow(const Lists& lists) {
    std::vector<uint32_t> old(2 * cells_.size(), kNone);
    old.swap(cells_);
    --shift_;
    for (const uint32_t list : old)
      if (list != kNone) cells_[find(lists[list].time, lists)] = list;
  }

  std::vector<uint32_t> cells_ = std::vector<uint32_t>(64, kNone);  ///< always a power of two
  unsigned shift_ = 58;                                             ///< leaves the bits that number them
  size_t used_ = 0;
};

/// What a vector of small entries does, with a short way to append: what is rare is not inlined.
template <class Entry>
class EntryList {
  static_assert(std::is_trivially_copyable_v<Entry>);

 public:
  bool empty() const { return size_ == 0; }
  size_t size() const { return size_; }
  const Entry& operator[](size_t i) const { return entries_[i]; }
  const Entry* begin() const { return entries_.get(); }
  const Entry* end() const { return entries_.get() + size_; }

  void push(Entry entry) {
    if (size_ == capacity_) return push_grown(entry);
    entries_[size_++] = entry;
  }

  void clear() { size_ = 0; }

  template <typename F>
  void remove_if(F&& dead) {
    Entry* const first = entries_.get();
    size_ = static_cast<uint32_t>(std::remove_if(first, first + size_, dead) - first);
  }

  void swap(EntryList& o) noexcept {
    entries_.swap(o.entries_);
    std::swap(size_, o.size_);
    std::swap(capacity_, o.capacity_);
  }

 private:
  [[gnu::noinline]] void push_grown(Entry entry) {
    const uint32_t capacity = std::max<uint32_t>(4, 2 * capacity_);
    auto entries = std::make_unique<Entry[]>(capacity);
    std::copy_n(entries_.get(), size_, entries.get());
    entries_ = std::move(entries);
    capacity_ = capacity;
    entries_[size_++] = entry;
  }

  std::unique_ptr<Entry[]> entries_;
  uint32_t size_ = 0;
  uint32_t capacity_ = 0;
};

/// The instants that have a list, the earliest first. A parent has four children, which share a line of the
/// cache: half as many levels as with two, and each level is one miss.
class InstantHeap {
 public:
  struct Instant {
    Time time;
    uint32_t list;
  };

  bool empty() const { return instants_.empty(); }
  const Instant& front() const { return instants_.front(); }

  void push(const Instant& instant) {
    size_t hole = instants_.size();
    instants_.push_back(instant);
    while (hole != 0) {
      const size_t parent = (hole - 1) / kChildren;
      if (instants_[parent].time <= instant.time) break;
      instants_[hole] = instants_[parent];
      hole = parent;
    }
    instants_[hole] = instant;
  }

  /// Takes out the earliest one.
  void pop() {
    const Instant last = instants_.back();
    instants_.pop_back();
    const size_t size = instants_.size();
    if (size == 0) return;
    Instant* const at = instants_.data();
    size_t hole = 0;
    for (size_t child = 1; child < size; child = kChildren * hole + 1) {
      const size_t least = child + kChildren <= size ? least_of_four(at, child) : least_of(at, child, size);
      if (at[least].time >= last.time) break;
      at[hole] = at[least];
      hole = least;
    }
    at[hole] = last;
  }

 private:
  static constexpr size_t kChildren = 4;

  // Which one is the least cannot be foreseen, so there is nothing to jump over.
  static size_t least_of_four(const Instant* at, size_t child) {
    const size_t one = child + static_cast<size_t>(at[child + 1].time < at[child].time);
    const size_t other = child + 2 + static_cast<size_t>(at[child + 3].time < at[child + 2].time);
    const auto second = static_cast<size_t>(at[other].time < at[one].time);
    return one + (other - one) * second;
  }

  static size_t least_of(const Instant* at, size_t child, size_t end) {
    size_t least = child;
    while (++child < end)
      if (at[child].time < at[least].time) least = child;
    return least;
  }

  std::vector<Instant> instants_;
};

template <class Entry>
class TimeQueue {
 public:
  using Entries = EntryList<Entry>;

  bool empty() const { return heap_.empty(); }
  /// The earliest instant; there must be one.
  Time next() const { return heap_.front().time; }
  /// Entries of all instants.
  size_t size() const { return size_; }

  // What is rare is called last, so that the common way saves no registers.
  void push(Time t, Entry entry) {
    ++size_;
    if (t != last_time_ || last_list_ == InstantTable::kNone) return push_at(t, entry);
    lists_[last_list_].entries.push(entry);
  }

  /// Takes out the earliest instant and puts its entries into `entries`, whose former content is lost.
  void take(Entries& entries) {
    const InstantHeap::Instant first = heap_.front();
    heap_.pop();
    instants_.erase(first.time, lists_);
    if (first.time == last_time_) last_list_ = InstantTable::kNone;
    entries.clear();
    entries.swap(lists_[first.list].entries);
    free_.push_back(first.list);
    size_ -= entries.size();
    // Most likely the next one that is taken, and it was written long ago.
    if (!heap_.empty()) __builtin_prefetch(lists_[heap_.front().list].entries.begin());
  }

  /// Takes out the entries of which `dead(entry)`. An instant may be left without entries.
  template <typename F>
  void remove_if(F&& dead) {
    for (List& list : lists_) {
      size_ -= list.entries.size();
      list.entries.remove_if(dead);
      size_ += list.entries.size();
    }
  }

  void clear() { *this = TimeQueue(); }

 private:
  /// Of one instant.
  struct alignas(32) List {
    Entries entries;
    Time time = 0;
  };

  [[gnu::noinline]] void push_at(Time t, Entry entry) {
    const uint32_t list = instants_.list_of(t, lists_);
    if (list == InstantTable::kNone) return push_first(t, entry);
    last_time_ = t;
    last_list_ = list;
    lists_[list].entries.push(entry);
  }

  [[gnu::noinline]] void push_first(Time t, Entry entry) {
    uint32_t list = 0;
    if (free_.empty()) {
      list = static_cast<uint32_t>(lists_.size());
      lists_.emplace_back();
    } else {
      list = free_.back();
      free_.pop_back();
    }
    lists_[list].time = t;
    heap_.push({t, list});
    instants_.insert(list, lists_);
    last_time_ = t;
    last_list_ = list;
    lists_[list].entries.push(entry);
  }

  InstantHeap heap_;
  std::vector<List> lists_;
  std::vector<uint32_t> free_;  ///< of lists_
  InstantTable instants_;
  size_t size_ = 0;
  Time last_time_ = 0;  ///< of the last push: most often that of the next one, too
  uint32_t last_list_ = InstantTable::kNone;
};

}  // namespace weft::vcd

#endif
