// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_models/packet_switch.h"

#include <fmt/format.h>

#include <algorithm>

#include "sc_models/message_causes.h"

namespace weft {

PacketSwitch::PacketSwitch(sc_core::sc_module_name module_name, uint32_t dimension, uint32_t base,
                           const FabricContext& fabric, PacketFabric& packets, const UnitContext& context)
    : sc_core::sc_module(module_name),
      dimension_(dimension),
      config_(fabric.config),
      packets_(packets),
      pool_(fabric.pool),
      lanes_(fabric.geometry.size(dimension)),
      unit_(make_unit("unit", {dimension, fabric, context, *this})) {
  for (uint32_t port = 0; port < lanes_.size(); ++port) {
    Lane& lane = lanes_[port];
    lane.owner = this;
    lane.place = fabric.geometry.with_coordinate(base, dimension, port);
    lane.interface = &packets.attach_unit(lane.place, dimension, lane);
  }
}

/// A contribution is complete.
void PacketSwitch::Lane::message_arrives(const packet::Message& message, Picoseconds at) {
  const auto ref = static_cast<fabric::PacketRef>(message.id_low);
  fabric::Packet& packet = owner->pool_[ref];
  const uint32_t peer = kUnitPeer | owner->dimension_;
  const PacketFabric::Unloaded alone = owner->packets_.unloaded(place, peer, message.bytes);
  // What is neither way nor its own flits was waiting.
  const Picoseconds passed = at - message.submitted;
  const Picoseconds latency = std::min(passed, alone.latency);
  packet.latency += latency;
  if (insight::CausalLog* const causes = owner->pool_.causes(); causes != nullptr) {
    if (owner->cause_link_ == 0)
      owner->cause_link_ =
          causes->add_link({owner->name(), fmt::format("routers of dimension {}", owner->dimension_)});
    tell_network(*causes, packet, ref, owner->cause_link_,
                 {message.submitted, at, alone.latency, alone.serialise}, owner->packets_.take_hops(place));
  }
  if (passed - latency > alone.serialise) packet.queued += passed - latency - alone.serialise;
  owner->unit_->receive(ref, at, at, alone.serialise);
}

Picoseconds PacketSwitch::send(uint32_t port, fabric::PacketRef result, uint32_t block, Picoseconds now) {
  const fabric::Packet& packet = pool_[result];
  packet::Message message;
  message.bytes = packet.bytes;
  message.id_low = result;
  message.id_high = static_cast<uint64_t>(block) << 32 | kUnitPeer | dimension_;
  message.submitted = now;
  message.data = packet.data;
  message.virtual_network = static_cast<uint8_t>(config_.packet.collectives_network);
  packets_.send_result(*lanes_[port].interface, lanes_[port].place, message);
  return kNever;
}

void PacketSwitch::Lane::message_sent(const packet::Message& message, Picoseconds at) {
  owner->unit_->left(static_cast<uint32_t>(message.id_high >> 32), at);
}

}  // namespace weft
