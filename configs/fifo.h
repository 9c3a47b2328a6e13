// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// A first-in, first-out queue for modules of which there are many: without memory of its own until its first
// item. An empty std::deque takes some 600 bytes.

#ifndef WEFT_CONFIGS_FIFO_H
#define WEFT_CONFIGS_FIFO_H

#include <cstddef>
#include <utility>
#include <vector>

namespace weft {

/// Items move when others are added or taken.
template <typename T>
class Fifo {
 public:
  bool empty() const { return first_ == items_.size(); }
  size_t size() const { return items_.size() - first_; }
  T& front() { return items_[first_]; }
  const T& front() const { return items_[first_]; }
  T& back() { return items_.back(); }
  T& operator[](size_t i) { return items_[first_ + i]; }
  const T& operator[](size_t i) const { return items_[first_ + i]; }
  const T* begin() const { return items_.data() + first_; }
  const T* end() const { return items_.data() + items_.size(); }

  void push_back(T item) { items_.push_back(std::move(item)); }
  T pop_front() {
    T item = std::move(items_[first_++]);
    // No more items are moved than have been taken since they were moved last.
    if (2 * first_ >= items_.size()) {
      items_.erase(items_.begin(), items_.begin() + static_cast<std::ptrdiff_t>(first_));
      first_ = 0;
    }
    return item;
  }
  /// Takes item `i`; those before it move.
  T take(size_t i) {
    for (; i > 0; --i) std::swap((*this)[i], (*this)[i - 1]);
    return pop_front();
  }
  void clear() {
    items_.clear();
    first_ = 0;
  }

 private:
  std::vector<T> items_;  ///< those before first_ have been taken
  size_t first_ = 0;
};

}  // namespace weft

#endif
