// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// The server's view of the memory that a rank's process shares.

#ifndef WEFT_EMULATION_JOB_SHARED_VIEW_H
#define WEFT_EMULATION_JOB_SHARED_VIEW_H

#include <cstdint>
#include <vector>

namespace weft::emulation {

class SharedView {
 public:
  SharedView() = default;
  /// Takes the descriptor over; -1: there is no shared memory.
  explicit SharedView(int file) : file_(file) {}
  ~SharedView();
  SharedView(SharedView&& other) noexcept;
  SharedView& operator=(SharedView&& other) noexcept;

  /// Why the file cannot be trusted; null: it can. It must be sealed against shrinking: reading beyond its
  /// end would kill the server.
  const char* refusal() const;
  /// Throws ProtocolError for a place outside of the file.
  std::vector<uint8_t> read(uint64_t offset, uint64_t bytes);
  /// Throws ProtocolError, too.
  void check(uint64_t offset, uint64_t bytes) {
    if (bytes != 0) at(offset, bytes);
  }
  void write(uint64_t offset, const uint8_t* data, uint64_t bytes);

 private:
  uint8_t* at(uint64_t offset, uint64_t bytes);

  int file_ = -1;
  uint8_t* base_ = nullptr;
  uint64_t size_ = 0;
};

}  // namespace weft::emulation

#endif
