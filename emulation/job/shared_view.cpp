// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "emulation/job/shared_view.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <utility>

#include "emulation/protocol/frame.h"

namespace weft::emulation {

SharedView::~SharedView() {
  if (base_ != nullptr) munmap(base_, size_);
  if (file_ >= 0) close(file_);
}

SharedView::SharedView(SharedView&& other) noexcept
    : file_(std::exchange(other.file_, -1)),
      base_(std::exchange(other.base_, nullptr)),
      size_(std::exchange(other.size_, 0)) {}

SharedView& SharedView::operator=(SharedView&& other) noexcept {
  std::swap(file_, other.file_);
  std::swap(base_, other.base_);
  std::swap(size_, other.size_);
  return *this;
}

const char* SharedView::refusal() const {
  if (file_ < 0) return nullptr;
  const int seals = fcntl(file_, F_GET_SEALS);
  return seals >= 0 && (seals & F_SEAL_SHRINK) != 0
             ? nullptr
             : "the shared memory is no memfd that is sealed against shrinking";
}

uint8_t* SharedView::at(uint64_t offset, uint64_t bytes) {
  if (offset + bytes >= offset && offset + bytes <= size_) return base_ + offset;
  struct stat status {};
  if (file_ < 0 || fstat(file_, &status) != 0)
    throw ProtocolError("data was announced without shared memory");
  const auto size = static_cast<uint64_t>(status.st_size);
  if (offset + bytes < offset || offset + bytes > size)
    throw ProtocolError("data at " + std::to_string(offset) + ", " + std::to_string(bytes) +
                        " bytes, lies outside of the shared memory of " + std::to_string(size) + " bytes");
  if (base_ != nullptr) munmap(base_, size_);
  void* base = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, file_, 0);
  base_ = base == MAP_FAILED ? nullptr : static_cast<uint8_t*>(base);
  size_ = base_ == nullptr ? 0 : size;
  if (base_ == nullptr) throw ProtocolError("the shared memory cannot be mapped");
  return base_ + offset;
}

std::vector<uint8_t> SharedView::read(uint64_t offset, uint64_t bytes) {
  if (bytes == 0) return {};
  const uint8_t* from = at(offset, bytes);
  return {from, from + bytes};
}

void SharedView::write(uint64_t offset, const uint8_t* data, uint64_t bytes) {
  if (bytes != 0) std::memcpy(at(offset, bytes), data, bytes);
}

}  // namespace weft::emulation
