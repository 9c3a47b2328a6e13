// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "tlm_interconnect/protocol/packet_pool.h"

namespace weft::fabric {

PacketPool::PacketPool() = default;

void PacketPool::grow() {
  const auto slab = static_cast<uint32_t>(slabs_.size());
  slabs_.emplace_back(kSlabSize);
  // Handle 0 is "no packet", so the first slab gives out one less. Pushed in reverse: low handles go out
  // first.
  for (uint32_t i = kSlabSize; i-- > (slab == 0 ? 1u : 0u);) free_.push_back((slab << kSlabBits) | i);
}

}  // namespace weft::fabric
