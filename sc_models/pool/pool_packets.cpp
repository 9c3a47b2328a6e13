// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_models/pool/pool_packets.h"

#include <fmt/format.h>

#include <stdexcept>
#include <utility>

#include "configs/packet_timing.h"
#include "sc_models/pool/pool_access_state.h"
#include "sc_models/pool/pool_causes.h"
#include "sc_models/pool/pool_guests.h"
#include "tlm_interconnect/packet/message_order.h"

namespace weft {

using pool::PoolLayout;

/// Joins the links of the pool's own network.
class PoolPackets::Joiner final : public NetworkJoiner {
 public:
  Joiner(LinkCuts& cuts, RouterBlocks& blocks, const PoolLayout& layout)
      : NetworkJoiner(cuts, blocks), layout_(layout) {}

 private:
  std::string block_name(const packet::LinkToJoin& link, uint32_t router) const override {
    return "pool." + link.topology.routers[router].name;
  }
  std::string link_name(const packet::LinkToJoin& link, uint32_t router, uint32_t port) const override {
    const uint32_t node = layout_.npus() + router;
    const std::vector<PoolLayout::Port>& ports = layout_.ports(node);
    const std::string to = port < ports.size() ? "to_" + layout_.node(ports[port].peer).name
                                               : fmt::format("own{}", port - ports.size());
    return fmt::format("{}.{}.{}", link.network.get_parent_object()->name(), layout_.node(node).name, to);
  }
  /// Its messages are those of accesses, and a recording tells of collectives.
  bool recordable() const override { return false; }

  const PoolLayout& layout_;
};

PoolPackets::PoolPackets(const Config& config, const PoolLayout& layout, fabric::PacketPool& messages,
                         packet::PacketNetwork* host, LinkCuts* cuts)
    : config_(config),
      layout_(layout),
      messages_(messages),
      network_(host),
      virtual_network_(host != nullptr ? PoolGuests::network(config) : config.packet.point_to_point_network),
      modules_(layout.nodes(), nullptr) {
  if (host != nullptr) {
    ways_ = std::dynamic_pointer_cast<const PoolGuests>(host->topology().guests);
    if (ways_ == nullptr) throw std::logic_error("a memory pool in a network that does not know it");
  } else {
    PoolNetwork network = make_pool_network(config, layout);
    ways_ = network.ways;
    const std::unique_ptr<Joiner> joiner =
        cuts == nullptr || cuts->none() ? nullptr : std::make_unique<Joiner>(*cuts, blocks_, layout);
    own_ = std::make_unique<packet::PacketNetwork>("packet", network.config, std::move(network.topology),
                                                   network.segmentation, joiner.get());
    network_ = own_.get();
  }
  ends_ = std::vector<End>(ways_->ranks());
  for (uint32_t n = 0; n < layout.nodes(); ++n)
    for (uint32_t p = 0; p < layout.ports(n).size(); ++p) join(n, p);
}

void PoolPackets::join(uint32_t node, uint32_t port) {
  End& end = ends_[ways_->rank_of(node, port)];
  end.owner = this;
  end.node = node;
  end.port = port;
  packet::NetworkInterface& ni = network_->ni(ways_->interface_at(node, port));
  if (own_ != nullptr || node >= layout_.npus()) {
    ni.set_sink(&end);
    return;
  }
  shared_ends_.push_back(std::make_unique<SharedEnd>(ni.sink(), end, virtual_network_));
  ni.set_sink(shared_ends_.back().get());
}

void PoolPackets::send(uint32_t node, uint32_t port, fabric::PacketRef ref, Picoseconds at) {
  const fabric::Packet& packet = messages_[ref];
  packet::Message message;
  message.bytes = packet.bytes;
  message.id_low = ref;
  message.submitted = at;
  message.data = packet.data;
  message.virtual_network = static_cast<uint8_t>(virtual_network_);
  if (static_cast<PoolMessage>(packet.flags) == PoolMessage::single) {
    const uint32_t to = packet.destination;
    const uint32_t way = PoolHeader::of(packet).way;
    const uint32_t by = to < layout_.npus() ? 0 : layout_.next(to, packet.source, way);
    message.destination = ways_->destination(to, by, way);
  } else {
    // A switch goes on with whole chunks: the first one is not to wait for others.
    message.flags = packet::kWithoutTurns;
    const PoolLayout::Port& link = layout_.ports(node)[port];
    message.destination = ways_->neighbour(link.peer, link.peer_port);
  }
  network_->ni(ways_->interface_at(node, port)).submit(message);
}

void PoolPackets::credit(uint32_t node, uint32_t port, uint32_t set) {
  const PoolLayout::Port& link = layout_.ports(node)[port];
  const Picoseconds latency = picoseconds(sent_by(node, port).latency);
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

bool PoolPackets::follow(PoolCauses& causes, PacketHops* hops) {
  causes_ = &causes;
  const bool own = own_ != nullptr && config_.run.cut_links.empty() && blocks_.models.empty();
  hops_ = own ? &own_hops_ : hops;
  routers_link_ = causes.log().add_link({std::string(network_->name()), "routers of the pool"});
  if (own) {
    network_->watch();
    for (uint32_t i = 0; i < network_->nis(); ++i) network_->ni(i).watch_arrivals(own_hops_);
  }
  return hops_ != nullptr;
}

void PoolPackets::watch(const LinkReport& link) {
  const packet::PacketTopology& topology = network_->topology();
  packet::NiAttachment at{link.sender.module, link.sender.port, 0};
  if (link.sender.of_interface) at = topology.nis[link.sender.module];
  const packet::LinkTiming& timing = topology.links[topology.routers[at.router].ports[at.port].link];
  PacketHop hop;
  hop.latency = picoseconds(timing.latency == 0 ? network_->config().cycle : timing.latency);
  hop.flit_time = timing.flit_time;
  tellers_.push_back(std::make_unique<BurstTeller>(
      causes_->log(), link, static_cast<uint32_t>(config_.packet.flit_bytes), hop, hops_));
  if (link.sender.of_interface) {
    network_->ni(link.sender.module).watch(*tellers_.back());
  } else {
    network_->router(link.sender.module).watch(link.sender.port, *tellers_.back());
  }
}

void PoolPackets::tell_passage(const packet::Message& message, Picoseconds at) {
  const auto ref = static_cast<fabric::PacketRef>(message.id_low);
  const std::vector<PacketHop> hops = hops_ == nullptr ? std::vector<PacketHop>{} : hops_->take();
  // Ends of links take a flit's time for the first one, routers between them their stages.
  const Ticks cycle = network_->config().cycle;
  Ticks stages = 0;
  Ticks slowest = 0;
  Picoseconds latency = 0;
  for (const PacketHop& hop : hops) {
    latency += hop.latency;
    stages += hop.flit_time - cycle;
    slowest = std::max(slowest, hop.flit_time);
  }
  if (!hops.empty()) stages += (hops.size() - 1) * router_cycles(config_.packet) * cycle;
  const uint64_t flits = message_flits(config_.packet, message.bytes);
  const NetworkPassage passage{message.submitted, at, latency + picoseconds(stages),
                               picoseconds(saturated(static_cast<Wide>(flits) * slowest))};
  insight::AccessPart& part = causes_->part(ref);
  Picoseconds from = message.submitted;
  if (part.came < from && !hops.empty()) {
    // Before that it waited for its turn: at the link that it leaves by, or until its group let it come.
    const bool store =
        messages_[ref].destination >= layout_.group_node(0) && messages_[ref].destination < layout_.nodes();
    insight::Activity wait;
    wait.ready = part.came;
    wait.begin = wait.end = from;
    causes_->log().pass(part, store ? hops.back().link : hops.front().link, wait);
  }
  for (const HopShare& share : share_passage(passage, routers_link_, hops)) {
    insight::Activity stage;
    stage.ready = from;
    stage.begin = from + share.queueing;
    stage.end = stage.begin + share.serialise;
    from = stage.end + share.latency;
    causes_->log().pass(part, share.link, stage);
    part.came = from;
  }
}

void PoolPackets::End::message_arrives(const packet::Message& message, Picoseconds at) {
  if (owner->causes_ != nullptr) owner->tell_passage(message, at);
  owner->modules_[node]->came(port, static_cast<fabric::PacketRef>(message.id_low), at);
}

void PoolPackets::SharedEnd::train_arrives(const packet::TrainArrivals& train) {
  packet::PacketSink* const sink = train.packet.virtual_network == network ? &pool : nmu;
  if (sink != nullptr) sink->train_arrives(train);
}

void PoolPackets::SharedEnd::packet_arrives(const fabric::Packet& packet, uint32_t flits, Ticks at) {
  if (packet.virtual_network != network && nmu != nullptr) nmu->packet_arrives(packet, flits, at);
}

void PoolPackets::SharedEnd::flits_arrive(uint32_t flits, Ticks first, Ticks flit_time) {
  if (nmu != nullptr) nmu->flits_arrive(flits, first, flit_time);
}

void PoolPackets::SharedEnd::message_sent(const packet::Message& message, Picoseconds at) {
  packet::PacketSink* const sink = message.virtual_network == network ? &pool : nmu;
  if (sink != nullptr) sink->message_sent(message, at);
}

void PoolPackets::SharedEnd::message_arrives(const packet::Message& message, Picoseconds at) {
  packet::PacketSink* const sink = message.virtual_network == network ? &pool : nmu;
  if (sink != nullptr) sink->message_arrives(message, at);
}

/// The link that leaves a node by a port.
const packet::LinkTiming& PoolPackets::sent_by(uint32_t node, uint32_t port) const {
  const packet::PacketTopology& topology = network_->topology();
  const PoolWays::Sender sender = ways_->sender(node, port);
  packet::NiAttachment at{sender.module, sender.port, 0};
  if (sender.of_interface) at = topology.nis[sender.module];
  return topology.links[topology.routers[at.router].ports[at.port].link];
}

uint64_t PoolPackets::payload(uint32_t node, uint32_t port) const {
  const PoolWays::Sender sender = ways_->sender(node, port);
  return sender.of_interface ? network_->ni(sender.module).payload_sent()
                             : network_->router(sender.module).payload_sent(sender.port);
}

LinkReport PoolPackets::report(uint32_t node, uint32_t port) const {
  LinkReport link;
  link.fidelity = Fidelity::packet;
  const PoolWays::Sender sender = ways_->sender(node, port);
  link.sender = {network_, sender.of_interface, sender.module, sender.port};
  packet::PauseAccount::Figures pauses;
  if (!sender.of_interface) {
    const packet::Router& router = network_->router(sender.module);
    link.bytes = router.flits_sent(sender.port) * config_.packet.flit_bytes;
    link.packets = router.packets_sent(sender.port);
    link.marked = router.packets_marked(sender.port);
    link.messages = router.messages_sent(sender.port);
    link.busy = router.busy(sender.port);
    link.queued = router.queued(sender.port) + network_->ni(ways_->interface_at(node, port)).queued();
    pauses = router.pauses(sender.port);
    link.overruns = router.overruns(sender.port);
  } else {
    const packet::NetworkInterface& ni = network_->ni(sender.module);
    link.bytes = ni.flits_sent() * config_.packet.flit_bytes;
    link.packets = ni.packets_sent();
    link.messages = ni.messages_sent();
    link.busy = picoseconds(ni.flits_sent() * sent_by(node, port).flit_time);
    link.queued = ni.queued();
    pauses = ni.pauses();
    link.overruns = ni.overruns();
  }
  link.pauses = pauses.pauses;
  link.paused = picoseconds(pauses.time);
  return link;
}

void PoolPackets::count(Counters& counters) const {
  if (own_ != nullptr) {  // else the machine counts them
    counters.activations += network_->activations();
    counters.in_flight += network_->messages_in_flight();
    counters.packet_hops += network_->packet_hops();
    counters.flits += network_->flits_received();
    if (network_->trains() != nullptr) counters.trains += network_->trains()->counters();
    blocks_.count(counters);
  }
  for (uint32_t n = 0; n < layout_.nodes(); ++n) {
    for (uint32_t p = 0; p < layout_.ports(n).size(); ++p) {
      if (shared(n, p)) continue;
      const LinkReport link = report(n, p);
      counters.link_bytes += link.bytes;
      counters.link_messages += link.messages;
    }
  }
}

std::string PoolPackets::stall_text() const {
  const std::string why = own_ == nullptr ? std::string() : own_->explain_stall();
  return (why.empty() ? why : fmt::format("{}: {}", network_->name(), why)) + blocks_.stall_text();
}

void PoolPackets::find_unbalanced(std::vector<std::string>& lines) const {
  if (own_ == nullptr) return;
  const std::string line = network_->broken_invariant(true);
  if (!line.empty()) lines.push_back(fmt::format("{}: {}", network_->name(), line));
}

}  // namespace weft
