// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "emulation/client/shared_memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <iterator>

namespace weft::emulation {

SharedMemory::SharedMemory() {
  file_ = memfd_create("weft_comm", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  // The server reads it: it must not become smaller under its hands.
  if (file_ >= 0) fcntl(file_, F_ADD_SEALS, F_SEAL_SHRINK);
}

SharedMemory::~SharedMemory() {
  if (base_ != nullptr) munmap(base_, size_);
  if (file_ >= 0) close(file_);
}

bool SharedMemory::grow(uint64_t bytes) {
  const uint64_t size = std::max<uint64_t>({size_ * 2, (size_ + bytes + 4095) / 4096 * 4096, 1 << 20});
  if (file_ < 0 || ftruncate(file_, static_cast<off_t>(size)) != 0) return false;
  void* base = base_ == nullptr ? mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, file_, 0)
                                : mremap(base_, size_, size, MREMAP_MAYMOVE);
  if (base == MAP_FAILED) return false;
  base_ = static_cast<uint8_t*>(base);
  const uint64_t old = size_;
  size_ = size;
  used_[old] = size - old;
  release(old);
  return true;
}

uint64_t SharedMemory::allocate(uint64_t bytes) {
  bytes = std::max<uint64_t>(64, (bytes + 63) / 64 * 64);
  for (int attempt = 0; attempt < 2; ++attempt) {
    const auto fits =
        std::find_if(free_.begin(), free_.end(), [&](const auto& f) { return f.second >= bytes; });
    if (fits != free_.end()) {
      const uint64_t offset = fits->first;
      const uint64_t rest = fits->second - bytes;
      free_.erase(fits);
      if (rest != 0) free_[offset + bytes] = rest;
      used_[offset] = bytes;
      return offset;
    }
    if (!grow(bytes)) break;
  }
  return ~uint64_t{0};
}

void SharedMemory::release(uint64_t offset) {
  const auto used = used_.find(offset);
  if (used == used_.end()) return;
  auto here = free_.emplace(offset, used->second).first;
  used_.erase(used);
  const auto after = std::next(here);
  if (after != free_.end() && here->first + here->second == after->first) {
    here->second += after->second;
    free_.erase(after);
  }
  if (here != free_.begin()) {
    const auto before = std::prev(here);
    if (before->first + before->second == here->first) {
      before->second += here->second;
      free_.erase(here);
    }
  }
}

}  // namespace weft::emulation
