// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Memory for what a simulation touches all the time: the state of modules, in large pages where the system
// has them. A message touches some ten places of thousands of modules; with pages of 4 KiB the processor
// waits for their addresses as much as for their contents. Blocks of one size stand side by side.
//
// One thread. Memory that is given back is used again for blocks of its size, and never goes back to the
// system. Under the sanitizers every block is an allocation of its own, so that they see each.

#ifndef WEFT_CONFIGS_LARGE_PAGES_H
#define WEFT_CONFIGS_LARGE_PAGES_H

#include <cstddef>

namespace weft {

class LargePages {
 public:
  /// Aligned to a cache line; a multiple of 128 bytes to 128.
  static void* allocate(std::size_t bytes);
  /// Of allocate(), with the same size.
  static void release(void* block, std::size_t bytes) noexcept;
};

/// For the containers of modules.
template <typename T>
class LargePageAllocator {
 public:
  static_assert(alignof(T) <= 64 || (alignof(T) == 128 && sizeof(T) % 128 == 0));
  using value_type = T;
  LargePageAllocator() = default;
  template <typename U>
  LargePageAllocator(const LargePageAllocator<U>&) {}
  T* allocate(std::size_t count) { return static_cast<T*>(LargePages::allocate(count * sizeof(T))); }
  void deallocate(T* block, std::size_t count) noexcept { LargePages::release(block, count * sizeof(T)); }
  template <typename U>
  bool operator==(const LargePageAllocator<U>&) const {
    return true;
  }
  template <typename U>
  bool operator!=(const LargePageAllocator<U>&) const {
    return false;
  }
};

}  // namespace weft

#endif
