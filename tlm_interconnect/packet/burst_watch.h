// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#ifndef WEFT_TLM_INTERCONNECT_PACKET_BURST_WATCH_H
#define WEFT_TLM_INTERCONNECT_PACKET_BURST_WATCH_H

#include <cstdint>

#include "configs/ticks.h"

namespace weft::packet {

/// Hears of the flits that leave by one output of a router, or by an interface. There are no packet trains in
/// a network where somebody does (PacketNetwork::watch).
class BurstWatch {
 public:
  virtual ~BurstWatch() = default;
  /// `flits`, the first one at `first`, one every `stride`; told in the order of the output.
  virtual void sent(Ticks first, uint32_t flits, Ticks stride) = 0;
};

}  // namespace weft::packet

#endif
