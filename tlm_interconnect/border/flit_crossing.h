// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// What crosses a border of a packet network: flits, credits and pauses in plain data, without any handle of a
// pool.

#ifndef WEFT_TLM_INTERCONNECT_BORDER_FLIT_CROSSING_H
#define WEFT_TLM_INTERCONNECT_BORDER_FLIT_CROSSING_H

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "configs/ticks.h"

namespace weft::fabric {

/// A packet, as its head flit tells it.
struct PacketHead {
  uint64_t bytes = 0;      ///< payload
  uint64_t id_low = 0;     ///< opaque to the network: the message's id
  uint64_t id_high = 0;    ///< opaque: the message at its interfaces, and whether this is its last packet
  Ticks submitted = 0;     ///< when its message was ready to be sent
  uint64_t interface = 0;  ///< number of the one that sent it
  uint32_t source = 0;     ///< rank of the network
  uint32_t destination = 0;
  uint32_t elements = 0;  ///< opaque: those of its message, which do not cross
  uint8_t virtual_network = 0;
  uint8_t flags = 0;    ///< opaque
  bool marked = false;  ///< by a router (ECN)
};

/// Flits of one packet, back to back; or credits; or a pause of a virtual network. Times are ticks, absolute,
/// at the receiving end of the link.
struct FlitCrossing {
  enum class Kind : uint8_t { flits, credits, pause, resume };

  Kind kind = Kind::flits;
  uint8_t vc = 0;      ///< virtual channel; of a pause: the first one of its virtual network
  Ticks first = 0;     ///< of the first flit or credit; from when on the pause holds
  Ticks stride = 0;    ///< from one flit or credit to the next
  uint32_t count = 1;  ///< flits or credits
  // Flits only:
  uint32_t first_flit = 0;    ///< its number in the packet
  uint32_t packet_flits = 0;  ///< of the whole packet
  PacketHead head;            ///< where first_flit is 0

  bool has_head() const { return kind == Kind::flits && first_flit == 0; }
  bool has_tail() const { return kind == Kind::flits && first_flit + count == packet_flits; }
  /// When the last flit (credit) is here.
  Ticks last() const { return first + static_cast<Ticks>(count - 1) * stride; }
};

/// Sees what crosses a link. `forward`: away from the link's initiator.
using FlitWatch = std::function<void(bool forward, const FlitCrossing&)>;

/// The bytes of a crossing, independent of the machine's layout, and back. Throws std::invalid_argument for
/// bytes that are no crossing.
std::vector<std::byte> to_bytes(const FlitCrossing& crossing);
FlitCrossing flits_from_bytes(const std::vector<std::byte>& bytes);

}  // namespace weft::fabric

#endif
