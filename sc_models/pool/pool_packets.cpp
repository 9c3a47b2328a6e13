// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_models/pool/pool_packets.h"

#include <fmt/format.h>

#include "sc_models/pool/pool_access_state.h"
#include "tlm_interconnect/packet/message_order.h"

namespace weft {

using pool::PoolLayout;

PoolPackets::PoolPackets(const Config& config, const PoolLayout& layout, fabric::PacketPool& messages)
    : config_(config), layout_(layout), messages_(messages), modules_(layout.nodes(), nullptr) {
  PoolNetwork network = make_pool_network(config, layout);
  ways_ = network.ways;
  network_ = std::make_unique<packet::PacketNetwork>("packet", network.config, std::move(network.topology),
                                                     network.segmentation);
  ends_ = std::vector<End>(ways_->ranks());
  for (uint32_t n = 0; n < layout.nodes(); ++n) {
    for (uint32_t p = 0; p < layout.ports(n).size(); ++p) {
      const uint32_t rank = ways_->rank_of(n, p);
      ends_[rank].owner = this;
      ends_[rank].node = n;
      ends_[rank].port = p;
      network_->ni(rank).set_sink(&ends_[rank]);
    }
  }
}

void PoolPackets::send(uint32_t node, uint32_t port, fabric::PacketRef ref, Picoseconds at) {
  const fabric::Packet& packet = messages_[ref];
  packet::Message message;
  message.bytes = packet.bytes;
  message.id_low = ref;
  message.submitted = at;
  message.data = packet.data;
  message.virtual_network = static_cast<uint8_t>(config_.packet.point_to_point_network);
  if (static_cast<PoolMessage>(packet.flags) == PoolMessage::single) {
    const uint32_t to = packet.destination;
    const uint32_t way = PoolHeader::of(packet).way;
    const uint32_t by = to < layout_.npus() ? 0 : layout_.next(to, packet.source, way);
    message.destination = ways_->destination(to, by, way);
  } else {
    // A switch goes on with whole chunks: the first one is not to wait for others.
    message.flags = packet::kWithoutTurns;
    const PoolLayout::Port& link = layout_.ports(node)[port];
    message.destination = ways_->rank_of(link.peer, link.peer_port);
  }
  network_->ni(ways_->rank_of(node, port)).submit(message);
}

void PoolPackets::credit(uint32_t node, uint32_t port, uint32_t set) {
  const PoolLayout::Port& link = layout_.ports(node)[port];
  const Picoseconds latency = layout_.classes()[layout_.links()[link.link].cls].latency;
  modules_[link.peer]->credited(link.peer_port, set, later(sc_core::sc_time_stamp().value(), latency));
}

uint32_t PoolPackets::group_port(const fabric::Packet& message) const {
  return layout_.next(message.destination, message.source, PoolHeader::of(message).way);
}

void PoolPackets::ask(fabric::PacketRef ref) {
  const fabric::Packet& message = messages_[ref];
  modules_[message.destination]->asked(group_port(message), ref);
}

void PoolPackets::grant(fabric::PacketRef ref) {
  modules_[messages_[ref].source]->granted(ref);
}

void PoolPackets::End::message_sent(const packet::Message& message, Picoseconds at) {
  owner->modules_[node]->left(port, owner->messages_[static_cast<fabric::PacketRef>(message.id_low)], at);
}

void PoolPackets::End::message_arrives(const packet::Message& message, Picoseconds at) {
  owner->modules_[node]->came(port, static_cast<fabric::PacketRef>(message.id_low), at);
}

uint64_t PoolPackets::payload(uint32_t node, uint32_t port) const {
  if (ways_->is_switch(node)) return network_->router(ways_->router_of(node)).payload_sent(port);
  return network_->ni(ways_->rank_of(node, port)).payload_sent();
}

LinkReport PoolPackets::report(uint32_t node, uint32_t port) const {
  LinkReport link;
  link.fidelity = Fidelity::packet;
  const packet::NetworkInterface& ni = network_->ni(ways_->rank_of(node, port));
  packet::PauseAccount::Figures pauses;
  if (ways_->is_switch(node)) {
    const packet::Router& router = network_->router(ways_->router_of(node));
    link.sender = {network_.get(), false, ways_->router_of(node), port};
    link.bytes = router.flits_sent(port) * config_.packet.flit_bytes;
    link.packets = router.packets_sent(port);
    link.marked = router.packets_marked(port);
    link.messages = router.messages_sent(port);
    link.busy = router.busy(port);
    link.queued = router.queued(port) + ni.queued();
    pauses = router.pauses(port);
    link.overruns = router.overruns(port);
  } else {
    const packet::PacketTopology& topology = network_->topology();
    link.sender = {network_.get(), true, ways_->rank_of(node, port), 0};
    link.bytes = ni.flits_sent() * config_.packet.flit_bytes;
    link.packets = ni.packets_sent();
    link.messages = ni.messages_sent();
    const uint32_t cls = layout_.links()[layout_.ports(node)[port].link].cls;
    link.busy = picoseconds(ni.flits_sent() * topology.links[cls].flit_time);
    link.queued = ni.queued();
    pauses = ni.pauses();
    link.overruns = ni.overruns();
  }
  link.pauses = pauses.pauses;
  link.paused = picoseconds(pauses.time);
  return link;
}

void PoolPackets::count(Counters& counters) const {
  counters.activations += network_->activations();
  counters.in_flight += network_->messages_in_flight();
  counters.packet_hops += network_->packet_hops();
  counters.flits += network_->flits_received();
  for (uint32_t n = 0; n < layout_.nodes(); ++n) {
    for (uint32_t p = 0; p < layout_.ports(n).size(); ++p) {
      const LinkReport link = report(n, p);
      counters.link_bytes += link.bytes;
      counters.link_messages += link.messages;
    }
  }
}

std::string PoolPackets::stall_text() const {
  const std::string why = network_->explain_stall();
  return why.empty() ? why : fmt::format("{}: {}", network_->name(), why);
}

void PoolPackets::find_unbalanced(std::vector<std::string>& lines) const {
  const std::string line = network_->broken_invariant(true);
  if (!line.empty()) lines.push_back(fmt::format("{}: {}", network_->name(), line));
}

}  // namespace weft
