// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_models/message_crossings.h"

#include "sc_models/message_bits.h"
#include "sc_models/nmu_parts.h"

namespace weft {

fabric::Crossing MessageCrossings::crossing(fabric::PacketRef message, Picoseconds first) {
  fabric::Packet& packet = pool_[message];
  fabric::Crossing crossing;
  crossing.first = first;
  crossing.bytes = packet.bytes;
  crossing.id_low = packet.id_low;
  crossing.id_high = packet.id_high;
  crossing.submitted = packet.submitted;
  crossing.queued = packet.queued;
  crossing.latency = packet.latency;
  crossing.source = packet.source;
  crossing.destination = packet.destination;
  crossing.flags = packet.flags;
  crossing.plane = packet.plane;
  crossing.has_elements = packet.data != 0 && elements_ != nullptr;
  if (crossing.has_elements) {
    crossing.elements = elements_->take(packet.data);
    packet.data = elements_->put(crossing.elements);
  }
  return crossing;
}

Message message_of(const fabric::Crossing& crossing, const Geometry& geometry, uint32_t data) {
  const bool unit = (crossing.destination & kUnitPeer) != 0;
  Message message;
  message.peer = NpuId{unit ? crossing.destination : geometry.rank_at(crossing.destination)};
  message.id = unpack(crossing.id_low, crossing.id_high);
  message.bytes = crossing.bytes;
  message.op = (crossing.flags & kReduce) != 0 ? ReduceOp::sum : ReduceOp::none;
  message.reverse = (crossing.flags & kReverse) != 0;
  message.data = data;
  return message;
}

bool of_full_exchange(const fabric::Crossing& crossing) {
  return (crossing.flags & kExchange) != 0;
}

void leave_full_exchange(fabric::Crossing& crossing) {
  crossing.flags = static_cast<uint8_t>(crossing.flags & ~kExchange);
}

}  // namespace weft
