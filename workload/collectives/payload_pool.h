// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// The elements that messages carry in data-carrying mode. A payload belongs to whoever holds its handle: the
// sender's engine acquires it and gives it away with Message::data; the fabric passes the handle on unread;
// the receiver's engine gets it with Completion::data and releases it when it has applied it. Who copies a
// message on the way (a switch that multicasts) adds a reference for every copy; who combines messages
// releases those it has used. A payload is not changed once it is submitted. None is left when nothing is in
// flight any more: an invariant of every run.

#ifndef WEFT_WORKLOAD_COLLECTIVES_PAYLOAD_POOL_H
#define WEFT_WORKLOAD_COLLECTIVES_PAYLOAD_POOL_H

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "workload/collectives/algorithm.h"

namespace weft::collectives {

struct Payload {
  uint32_t source = 0;    ///< index of the contributor along the phase's axis
  uint32_t sequence = 0;  ///< of the sender's messages of this chunk: orders several from one source
  BlockSet blocks;        ///< which blocks of the phase, in the order of `bytes`
  bool reduce = false;    ///< combine with the receiver's own
  bool interval = false;  ///< `bytes` begin `offset` bytes behind block 0, whatever the blocks (in_switch)
  uint64_t offset = 0;
  /// All-to-all: by whom each block was brought in (index along the axis); it travels on with that name.
  std::vector<uint32_t> origins;
  std::vector<std::byte> bytes;
  uint32_t references = 0;
};

/// Handles are stable and start at 1 (kNoData is none).
class PayloadPool {
 public:
  /// A fresh payload with one reference.
  uint32_t acquire();
  void add_reference(uint32_t handle) { ++(*this)[handle].references; }
  /// Drops one reference; the last one empties the payload (its memory is used again).
  void release(uint32_t handle);

  Payload& operator[](uint32_t handle) { return *payloads_[handle - 1]; }
  const Payload& operator[](uint32_t handle) const { return *payloads_[handle - 1]; }
  bool valid(uint32_t handle) const {
    return handle != 0 && handle <= payloads_.size() && payloads_[handle - 1]->references != 0;
  }

  uint64_t live() const { return live_; }

 private:
  std::vector<std::unique_ptr<Payload>> payloads_;
  std::vector<uint32_t> free_;
  uint64_t live_ = 0;
};

}  // namespace weft::collectives

#endif
