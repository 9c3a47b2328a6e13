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
#include <fstream>
#endif

namespace weft {

#if defined(WEFT_OTHER_HEAP)

bool put_heap_in_large_pages() {
  return false;
}

#else

namespace {

constexpr size_t kLargePage = size_t{2} << 20;
constexpr int kMappings = 65536;  ///< blocks of malloc() that may be mappings of their own: its default

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

/// Addresses without memory count as memory (vm.overcommit_memory: 2).
bool addresses_are_counted() {
  std::ifstream file("/proc/sys/vm/overcommit_memory");
  int mode = 0;
  return !(file >> mode) || mode == 2;
}

size_t wanted() {
  const auto pages = static_cast<uint64_t>(std::max(0L, sysconf(_SC_PHYS_PAGES)));
  const uint64_t memory = pages * static_cast<uint64_t>(std::max(0L, sysconf(_SC_PAGESIZE)));
  const uint64_t most =
      addresses_are_counted() ? std::min<uint64_t>(uint64_t{1} << 30, memory / 8) : memory / 2;
  return static_cast<size_t>(most / kLargePage * kLargePage);
}

/// The heap's end can be moved by so many bytes.
bool can_grow(size_t size) {
  const auto step = static_cast<intptr_t>(size);
  if (sbrk(step) == reinterpret_cast<void*>(-1)) return false;
  return sbrk(-step) != reinterpret_cast<void*>(-1);
}

}  // namespace

/// malloc() moves the heap's end by a little at a time, and every move makes pages of its own kind. One large
/// move comes first; the pages of it are asked for before any is used.
bool put_heap_in_large_pages() {
  const size_t size = wanted();
  // What is freed at the heap's end stays there: malloc() would give the move back.
  if (size == 0 || limited() || mallopt(M_TRIM_THRESHOLD, -1) == 0) return false;
  const uintptr_t before = heap_end();
  if (!can_grow(size)) return false;
  // The move: a block that may not be a mapping of its own, whatever its size. (Volatile: the compiler may
  // leave out a block that nobody uses.)
  mallopt(M_MMAP_MAX, 0);
  void* volatile block = std::malloc(size);
  std::free(block);
  mallopt(M_MMAP_MAX, kMappings);
  // From here on only very large blocks are mappings.
  mallopt(M_MMAP_THRESHOLD, 4 << 20);
  const uintptr_t begin = (before + kLargePage - 1) / kLargePage * kLargePage;
  const uintptr_t end = heap_end() / kLargePage * kLargePage;
  return begin < end && madvise(reinterpret_cast<void*>(begin), end - begin, MADV_HUGEPAGE) == 0;
}

#endif

}  // namespace weft
