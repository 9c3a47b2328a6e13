// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#ifndef WEFT_TLM_INTERCONNECT_PACKET_BURST_WATCH_H
#define WEFT_TLM_INTERCONNECT_PACKET_BURST_WATCH_H

#include <cstdint>

#include "configs/ticks.h"
#include "tlm_interconnect/protocol/packet_pool.h"

namespace weft::packet {

/// Flits of one packet that leave together: the first at `first`, one every `stride`.
struct SentBurst {
  Ticks first = 0;
  uint32_t flits = 0;
  Ticks stride = 0;
  fabric::PacketRef packet = fabric::kNoPacket;
  bool tail = false;  ///< the packet has left with them
};

/// Hears of the flits that leave by one output of a router, or by an interface. There are no packet trains in
/// a network where somebody does (PacketNetwork::watch).
class BurstWatch {
 public:
  virtual ~BurstWatch() = default;
  /// Told in the order of the output.
  virtual void sent(const SentBurst& burst) = 0;
};

/// Hears of the packets that arrive at an interface.
class ArrivalWatch {
 public:
  virtual ~ArrivalWatch() = default;
  /// Its last flit arrives at `at`. `message`: its handle in the network. The interface tells its sink of a
  /// message right after the call for the packet that completes it.
  virtual void arrived(fabric::PacketRef packet, uint32_t message, Ticks at) = 0;
};

}  // namespace weft::packet

#endif
