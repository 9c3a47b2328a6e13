// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "configs/large_pages.h"

#include <algorithm>
#include <cstdint>
#include <new>
#include <unordered_map>

#if defined(__linux__)
#include <sys/mman.h>
#endif

#if defined(__SANITIZE_ADDRESS__)
#define WEFT_BLOCKS_APART 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define WEFT_BLOCKS_APART 1
#endif
#endif

namespace weft {
namespace {

constexpr std::size_t kLine = 64;
constexpr std::size_t kPair = 2 * kLine;
constexpr std::size_t kSmallBlock = std::size_t{16} << 10;  ///< of those there are many
/// Between the two, blocks are allocations of their own: vectors that grow leave them behind.
constexpr std::size_t kLargeBlock = std::size_t{256} << 10;

std::size_t rounded(std::size_t bytes) {
  return (std::max<std::size_t>(bytes, 1) + kLine - 1) / kLine * kLine;
}

bool apart(std::size_t size) {
#if defined(WEFT_BLOCKS_APART)
  (void)size;
  return true;
#else
  return size > kSmallBlock && size < kLargeBlock;
#endif
}

/// Blocks come from regions, which grow with what has been asked for: a small machine takes little, and the
/// pages of a large one are large.
class Regions {
 public:
  void* take(std::size_t size) {
    Free*& free = free_of(size);
    if (free != nullptr) {
      Free* const block = free;
      free = block->next;
      return block;
    }
    if (size % kPair == 0) at_ = (at_ + kPair - 1) / kPair * kPair;
    if (at_ + size > end_) add(size);
    const std::uintptr_t block = at_;
    at_ += size;
    return reinterpret_cast<void*>(block);
  }
  void give(void* block, std::size_t size) noexcept {
    Free*& free = free_of(size);
    free = new (block) Free{free};
  }

 private:
  struct Free {
    Free* next = nullptr;
  };
  static constexpr std::size_t kLargePage = std::size_t{2} << 20;

  Free*& free_of(std::size_t size) { return size <= kSmallBlock ? free_[size / kLine] : large_free_[size]; }

  void add(std::size_t wanted) {
    // A limit of the process (ulimit -v) counts the addresses, so that few are taken in advance.
    const std::size_t eighth =
        std::clamp(total_ / 8 / kLargePage, std::size_t{1}, std::size_t{16}) * kLargePage;
    const std::size_t least = total_ < kLargePage / 2 ? kLargePage / 8 : eighth;
    const std::size_t size = wanted <= least ? least : (wanted + kLargePage - 1) / kLargePage * kLargePage;
    at_ = map(size);
    end_ = at_ + size;
    total_ += size;
  }

  /// Nobody writes to memory before it is used, so that what is not used is not there.
  static std::uintptr_t map(std::size_t size) {
#if defined(__linux__)
    const std::size_t slack = size >= kLargePage ? kLargePage : 0;
    void* const memory = mmap(nullptr, size + slack, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc();
    if (slack == 0) return reinterpret_cast<std::uintptr_t>(memory);
    const auto from = reinterpret_cast<std::uintptr_t>(memory);
    const std::uintptr_t at = (from + slack - 1) / slack * slack;
    if (at != from) munmap(memory, at - from);
    if (at != from + slack) munmap(reinterpret_cast<void*>(at + size), from + slack - at);
    madvise(reinterpret_cast<void*>(at), size, MADV_HUGEPAGE);  // without it the pages are small ones
    return at;
#else
    return reinterpret_cast<std::uintptr_t>(::operator new (size, std::align_val_t{kPair}));
#endif
  }

  std::uintptr_t at_ = 0;
  std::uintptr_t end_ = 0;
  std::size_t total_ = 0;
  Free* free_[kSmallBlock / kLine + 1] = {};
  std::unordered_map<std::size_t, Free*> large_free_;  ///< by size
};

/// Never destroyed: modules may outlive every static object of this library.
Regions& regions() {
  static Regions* const instance = new Regions;
  return *instance;
}

}  // namespace

void* LargePages::allocate(std::size_t bytes) {
  const std::size_t size = rounded(bytes);
  return apart(size) ? ::operator new (size, std::align_val_t{kPair}) : regions().take(size);
}

void LargePages::release(void* block, std::size_t bytes) noexcept {
  const std::size_t size = rounded(bytes);
  if (apart(size)) {
    ::operator delete (block, std::align_val_t{kPair});
  } else {
    regions().give(block, size);
  }
}

}  // namespace weft
