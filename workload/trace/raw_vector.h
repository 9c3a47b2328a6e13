// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// A growable array of plain values for the per-node tables of a trace. It grows by realloc, which remaps
// large blocks instead of copying them, so that building a table of hundreds of megabytes never holds it
// twice.

#ifndef WEFT_WORKLOAD_TRACE_RAW_VECTOR_H
#define WEFT_WORKLOAD_TRACE_RAW_VECTOR_H

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <new>
#include <type_traits>
#include <utility>

namespace weft::trace {

template <typename T>
class RawVector {
  static_assert(std::is_trivially_copyable<T>::value, "values are moved by realloc");

 public:
  RawVector() = default;
  RawVector(const RawVector&) = delete;
  RawVector& operator=(const RawVector&) = delete;
  RawVector(RawVector&& other) noexcept { swap(other); }
  RawVector& operator=(RawVector&& other) noexcept {
    RawVector tmp(std::move(other));
    swap(tmp);
    return *this;
  }
  ~RawVector() {
    if (!shared_) std::free(data_);
  }

  /// The values of another vector, which outlives this one and no longer changes. Nothing may be added.
  void share(const RawVector& other) {
    RawVector().swap(*this);
    data_ = other.data_;
    size_ = other.size_;
    shared_ = true;
  }

  /// The values of another vector, in memory of its own.
  void copy(const RawVector& other) {
    RawVector().swap(*this);
    reset(other.size_);
    if (size_ != 0) std::memcpy(data_, other.data_, size_ * sizeof(T));
  }

  void push_back(T value) {
    if (size_ == capacity_) set_capacity(capacity_ + capacity_ / 2 + 16);
    data_[size_++] = value;
  }

  /// Drops the content and holds `n` zeros; pages that are never written stay unallocated.
  void reset(size_t n) {
    std::free(data_);
    data_ = nullptr;
    size_ = capacity_ = 0;
    if (n == 0) return;
    data_ = static_cast<T*>(std::calloc(n, sizeof(T)));
    if (data_ == nullptr) throw std::bad_alloc();
    size_ = capacity_ = n;
  }

  void shrink() {
    if (capacity_ != size_) set_capacity(size_);
  }

  /// Are the values another vector's?
  bool shared() const { return shared_; }

  size_t size() const { return size_; }
  size_t bytes() const { return capacity_ * sizeof(T); }
  T& operator[](size_t i) { return data_[i]; }
  const T& operator[](size_t i) const { return data_[i]; }
  T* data() { return data_; }
  const T* begin() const { return data_; }
  const T* end() const { return data_ + size_; }

  void swap(RawVector& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(capacity_, other.capacity_);
    std::swap(shared_, other.shared_);
  }

 private:
  void set_capacity(size_t n) {
    if (n == 0) {
      std::free(data_);
      data_ = nullptr;
    } else {
      void* p = std::realloc(data_, n * sizeof(T));
      if (p == nullptr) throw std::bad_alloc();
      data_ = static_cast<T*>(p);
    }
    capacity_ = n;
  }

  T* data_ = nullptr;
  size_t size_ = 0;
  size_t capacity_ = 0;
  bool shared_ = false;  ///< another vector's values
};

}  // namespace weft::trace

#endif
