// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// The critical path inside a packet network. The packet that completes a message is followed over the links:
// PacketHops notes when its tail leaves each, and share_passage() makes of that what the causal log is told.

#ifndef WEFT_SC_MODELS_PACKET_HOPS_H
#define WEFT_SC_MODELS_PACKET_HOPS_H

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "insight/causal_log.h"
#include "tlm_interconnect/packet/burst_watch.h"

namespace weft {

/// A packet's way over one link.
struct PacketHop {
  uint32_t link = 0;          ///< in the log
  Picoseconds latency = 0;    ///< of the link
  Ticks flit_time = 0;        ///< of the link
  Picoseconds tail_gone = 0;  ///< the link has carried the last flit
};

/// The hops of the packets of one network.
class PacketHops final : public packet::ArrivalWatch {
 public:
  void passed(fabric::PacketRef packet, const PacketHop& hop);
  void arrived(fabric::PacketRef packet, uint32_t message, Ticks at) override;
  /// Of the packet that arrived last of the message that is complete now. Empty: it crossed no link that
  /// is watched.
  std::vector<PacketHop> take();

 private:
  struct Latest {
    std::vector<PacketHop> hops;
    Ticks at = 0;
  };
  std::vector<std::vector<PacketHop>> hops_;   ///< by packet, of those on their way
  std::unordered_map<uint32_t, Latest> open_;  ///< by message, of the packet that is the latest so far
  uint32_t complete_ = 0;                      ///< message of the latest packet
};

/// A message was in a packet network in [submitted, at]. Alone it would have taken `latency` to the first
/// flit and `serialise` for all flits on the slowest link.
struct NetworkPassage {
  Picoseconds submitted = 0;
  Picoseconds at = 0;
  Picoseconds latency = 0;
  Picoseconds serialise = 0;
};

/// What the passage is made of, in the order of time; the parts add up to it exactly.
struct HopShare {
  uint32_t link = 0;
  Picoseconds queueing = 0;
  Picoseconds serialise = 0;
  Picoseconds latency = 0;
};
/// The first share is the time in routers and interfaces, with `network` as its link; the others are those of
/// `hops`. The link that serialises is the slowest one: what the tail waits there and at the links before it
/// is first of all the time of the message itself, since a slow link holds up those before it. What is left
/// of the wait at each link is queueing there.
std::vector<HopShare> share_passage(const NetworkPassage& passage, uint32_t network,
                                    const std::vector<PacketHop>& hops);

}  // namespace weft

#endif
