// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "workload/collectives/payload_pool.h"

#include <stdexcept>

namespace weft::collectives {

uint32_t PayloadPool::acquire() {
  if (free_.empty()) {
    payloads_.push_back(std::make_unique<Payload>());
    free_.push_back(static_cast<uint32_t>(payloads_.size()));
  }
  const uint32_t handle = free_.back();
  free_.pop_back();
  (*this)[handle].references = 1;
  ++live_;
  return handle;
}

void PayloadPool::release(uint32_t handle) {
  if (!valid(handle)) throw std::logic_error("a payload is released that nobody holds");
  Payload& payload = (*this)[handle];
  if (--payload.references != 0) return;
  payload.source = 0;
  payload.sequence = 0;
  payload.blocks = BlockSet{};
  payload.reduce = false;
  payload.interval = false;
  payload.offset = 0;
  payload.origins.clear();
  payload.bytes.clear();
  --live_;
  free_.push_back(handle);
}

}  // namespace weft::collectives
