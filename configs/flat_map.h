// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// A hash table with open addressing, for modules of which there are many: without memory of its own until its
// first entry, and nothing is allocated for an entry. For what comes and goes all the time.

#ifndef WEFT_CONFIGS_FLAT_MAP_H
#define WEFT_CONFIGS_FLAT_MAP_H

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace weft {

/// Keys are integers other than kNoKey, of up to 128 bits (Wide). Values move when entries are added or
/// removed. The order of for_each() says nothing.
template <typename Key, typename T>
class FlatMap {
 public:
  static constexpr Key kNoKey = static_cast<Key>(~Key{0});

  bool empty() const { return size_ == 0; }
  size_t size() const { return size_; }
  uint64_t memory_bytes() const { return places_.capacity() * sizeof(Place); }

  /// Null: there is no such entry.
  T* find(Key key) {
    if (size_ == 0) return nullptr;
    for (size_t at = home(key);; at = next(at)) {
      if (places_[at].key == kNoKey) return nullptr;
      if (places_[at].key == key) return &places_[at].value;
    }
  }
  const T* find(Key key) const { return const_cast<FlatMap*>(this)->find(key); }

  /// Adds an entry, of a key that has none.
  T& insert(Key key, T value) {
    if (4 * (size_ + 1) > 3 * places_.size()) grow();
    size_t at = home(key);
    while (places_[at].key != kNoKey) at = next(at);
    places_[at] = {key, std::move(value)};
    ++size_;
    return places_[at].value;
  }

  /// A fresh one if there is none.
  T& operator[](Key key) {
    T* const value = find(key);
    return value != nullptr ? *value : insert(key, T{});
  }

  /// Of a key that has an entry.
  void erase(Key key) {
    size_t hole = home(key);
    while (places_[hole].key != key) hole = next(hole);
    // Those behind it that could not have its place move up.
    for (size_t at = next(hole); places_[at].key != kNoKey; at = next(at)) {
      if (((at - home(places_[at].key)) & mask()) < ((at - hole) & mask())) continue;
      places_[hole] = std::move(places_[at]);
      hole = at;
    }
    places_[hole] = {};
    --size_;
  }

  template <typename F>
  void for_each(F&& f) const {
    for (const Place& place : places_)
      if (place.key != kNoKey) f(place.key, place.value);
  }

 private:
  struct Place {
    Key key = kNoKey;
    T value{};
  };

  size_t mask() const { return places_.size() - 1; }
  size_t next(size_t at) const { return (at + 1) & mask(); }
  size_t home(Key key) const {
    auto word = static_cast<uint64_t>(key);
    if constexpr (sizeof(Key) > sizeof word) word ^= static_cast<uint64_t>(key >> 64) * 0xc2b2ae3d27d4eb4full;
    return (word * 0x9e3779b97f4a7c15ull) >> shift_;
  }

  void grow() {
    std::vector<Place> old = std::exchange(places_, {});
    places_.resize(old.empty() ? 4 : 2 * old.size());
    shift_ = static_cast<uint32_t>(__builtin_clzll(places_.size()) + 1);
    size_ = 0;
    for (Place& place : old)
      if (place.key != kNoKey) insert(place.key, std::move(place.value));
  }

  std::vector<Place> places_;  ///< a power of two of them
  size_t size_ = 0;
  uint32_t shift_ = 0;
};

}  // namespace weft

#endif
