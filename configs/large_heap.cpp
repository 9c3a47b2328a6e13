// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "configs/large_heap.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>

#if defined(__SANITIZE_ADDRESS__)
#define WEFT_OTHER_HEAP 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define WEFT_OTHER_HEAP 1
#endif
#endif
#if !defined(__GLIBC__) || !defined(__linux__)
#define WEFT_OTHER_HEAP 1
#endif

#if !defined(WEFT_OTHER_HEAP)
#include <malloc.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#endif

namespace weft {

#if defined(WEFT_OTHER_HEAP)

bool put_heap_in_large_pages() {
  return false;
}

#else

namespace {

constexpr size_t kLargePage = size_t{2} << 20;
constexpr size_t kSmall = size_t{64} << 10;  ///< below the size at which malloc() leaves the heap

uintptr_t heap_end() {
  return reinterpret_cast<uintptr_t>(sbrk(0));
}

/// Addresses are counted (ulimit -v, -d): none are taken that may stay unused.
bool limited() {
  for (const auto kind : {RLIMIT_AS, RLIMIT_DATA}) {
    rlimit limit{};
    if (getrlimit(kind, &limit) != 0 || limit.rlim_cur != RLIM_INFINITY) return true;
  }
  return false;
}

size_t wanted() {
  const auto pages = static_cast<uint64_t>(std::max(0L, sysconf(_SC_PHYS_PAGES)));
  const uint64_t memory = pages * static_cast<uint64_t>(std::max(0L, sysconf(_SC_PAGESIZE)));
  return static_cast<size_t>(std::min<uint64_t>(uint64_t{1} << 30, memory / 8));
}

}  // namespace

/// malloc() moves the heap's end by a little at a time, and every move makes pages of its own kind. One large
/// move comes first; the pages of it are asked for before any is used.
bool put_heap_in_large_pages() {
  const size_t size = wanted() / kLargePage * kLargePage;
  const uintptr_t before = heap_end();
  // What is freed at the heap's end stays there: malloc() would give the move back.
  if (size == 0 || limited() || mallopt(M_TRIM_THRESHOLD, -1) == 0 ||
      mallopt(M_TOP_PAD, static_cast<int>(size)) == 0)
    return false;
  // What is left of the present heap is less than these together.
  void* blocks[8] = {};
  for (void*& block : blocks) block = heap_end() == before ? std::malloc(kSmall) : nullptr;
  for (void* block : blocks) std::free(block);
  // From here on the heap grows as it always does. malloc() has stopped to adapt when blocks become mappings
  // of their own; only very large ones shall.
  mallopt(M_TOP_PAD, 128 << 10);
  mallopt(M_MMAP_THRESHOLD, 4 << 20);
  const uintptr_t begin = (before + kLargePage - 1) / kLargePage * kLargePage;
  const uintptr_t end = heap_end() / kLargePage * kLargePage;
  return begin < end && madvise(reinterpret_cast<void*>(begin), end - begin, MADV_HUGEPAGE) == 0;
}

#endif

}  // namespace weft
