// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// The memory that a rank's process shares with `weft emulate`: an anonymous file, whose descriptor goes with
// the first frame. Bulk data lies there; frames have offsets. It vanishes with the processes.

#ifndef WEFT_EMULATION_CLIENT_SHARED_MEMORY_H
#define WEFT_EMULATION_CLIENT_SHARED_MEMORY_H

#include <cstddef>
#include <cstdint>
#include <map>

namespace weft::emulation {

class SharedMemory {
 public:
  /// On failure descriptor() is -1, and allocate() fails.
  SharedMemory();
  ~SharedMemory();
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;

  int descriptor() const { return file_; }
  /// The offset of so many bytes; ~0 when there is no memory.
  uint64_t allocate(uint64_t bytes);
  void release(uint64_t offset);
  /// Valid until the next allocate().
  uint8_t* at(uint64_t offset) { return base_ + offset; }

 private:
  bool grow(uint64_t bytes);

  int file_ = -1;
  uint8_t* base_ = nullptr;
  uint64_t size_ = 0;
  std::map<uint64_t, uint64_t> free_;  ///< bytes by offset; neighbours are joined
  std::map<uint64_t, uint64_t> used_;
};

}  // namespace weft::emulation

#endif
