// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// An NMU's way into packet networks, and out of them.

#include <algorithm>

#include "sc_models/message_bits.h"
#include "sc_models/message_causes.h"
#include "sc_models/nmu_parts.h"

namespace weft {

/// Into a packet network, when all of the message is here: it is cut into packets there.
void Nmu::transmit_packets(fabric::PacketRef ref, const Route& leg, Picoseconds ready) {
  if (ready > now()) {
    push(ready, kSend, ref);
    return;
  }
  const fabric::Packet& packet = pool_[ref];
  packet::Message message;
  message.bytes = packet.bytes;
  message.id_low = ref;
  message.id_high = place_;
  message.submitted = ready;
  if (probes_ != nullptr && packet.source == index(rank_)) probes_->inject_queue.add({ready}, -1);
  message.data = packet.data;
  const bool collective = kind_of(packet.id_low) != MessageId::Kind::point_to_point;
  message.virtual_network = static_cast<uint8_t>(collective ? config_.packet.collectives_network
                                                            : config_.packet.point_to_point_network);
  packet_ends_[leg.packet - 1u]->fabric.send(place_, leg.target, (packet.flags & kReverse) != 0,
                                             flow_id(packet.id_low), message);
}

/// A message has come to the end of its way through packet networks: `at` is when its last flit is here.
void Nmu::receive_packets(PacketEnd& end, const packet::Message& message, Picoseconds at) {
  const auto ref = static_cast<fabric::PacketRef>(message.id_low);
  fabric::Packet& packet = pool_[ref];
  // What is neither way nor its own flits was waiting, at the sender or between others' packets.
  const Picoseconds passed = at - message.submitted;
  const PacketFabric::Unloaded alone =
      end.fabric.unloaded(static_cast<uint32_t>(message.id_high), place_, message.bytes);
  const Picoseconds latency = std::min(passed, alone.latency);
  if (causes_ != nullptr) tell_arrival(end, message, at, alone);
  packet.latency += latency;
  if (passed - latency > alone.serialise) packet.queued += passed - latency - alone.serialise;
  if (packet.destination == place_) {
    if (probes_ != nullptr) probes_->receive_queue.add({at}, 1);
    push_received(timed(packet, [&] { return ready_at(packet, at); }), end.port, ref);
    return;
  }
  Picoseconds delay = 0;
  if (config_.packet.forwarding == PacketForwarding::software) {
    // Sent again by this NPU, if it goes on in the same networks.
    const Route& next = route(packet.destination, variant_of(packet));
    if (next.packet != 0 && packet_ends_[next.packet - 1u].get() == &end) delay = ends_of(packet).end;
  }
  packet.latency += delay;
  if (causes_ != nullptr && delay != 0)
    causes_->submitted(ref, causes_->stretch(insight::ActivityKind::endpoint, causes_->last(ref),
                                             index(rank_), cause_stream(packet), at, at + delay));
  push_received(at + delay, end.port, ref);
}

void Nmu::PacketEnd::message_sent(const packet::Message& message, Picoseconds at) {
  const auto ref = static_cast<fabric::PacketRef>(message.id_low);
  if (nmu.pool_[ref].flags & (kNotifyInjected | kHolds)) nmu.announce_injection(ref, at);
}

}  // namespace weft
