// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "cosim/record/router_replay.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace weft::cosim {
namespace {

using Kind = fabric::FlitCrossing::Kind;

const fabric::FlitCrossing& crossing_of(const RecordedEvent& event) {
  return std::get<fabric::FlitCrossing>(event.what);
}

Ticks ticks_now() {
  return ticks(sc_core::sc_time_stamp().value());
}

}  // namespace

RouterReplay::RouterReplay(sc_core::sc_module_name module_name, const Recording& recording, const Make& make,
                           const ReplayOptions& options)
    : sc_core::sc_module(module_name),
      recording_(recording),
      options_(options),
      report_(recording),
      next_("next") {
  check_kind(recording, "router", "packet");
  const RecordingHeader& header = recording.header;
  for (const RecordedPort& port : header.ports) vcs_ = std::max(vcs_, port.vcs);
  learn();
  RouterPlace place{header.block, {}, {}, pool_, {}, {}};
  place.config.cycle = header.cycle;
  place.config.virtual_networks = header.virtual_networks;
  place.config.vcs = vcs_ / header.virtual_networks;
  for (const RecordedPort& port : header.ports) {
    RouterPlace::Port described;
    described.terms = {port.vcs, port.depth, port.flit_latency, port.credit_latency};
    described.flit_time = port.flit_time;
    described.initiator = port.initiator;
    place.ports.push_back(described);
    place.config.buffer_flits = std::max(place.config.buffer_flits, port.depth);
    for (uint32_t v = 0; v < vcs_; ++v) {
      channels_.emplace_back();
      channels_.back().may_send.resize(port.depth, 0);
    }
  }
  place.way = [this](uint32_t, uint32_t, const fabric::PacketHead& head) { return way(head); };
  router_ = make("block", std::move(place));
  using Side = fabric::PacketBorder::Side;
  for (uint32_t p = 0; p < header.ports.size(); ++p) {
    const RecordedPort& port = header.ports[p];
    borders_.push_back(std::make_unique<fabric::PacketBorder>(
        fmt::format("port{}", p).c_str(), port.initiator ? Side::target : Side::initiator,
        fabric::PacketLinkTerms{port.vcs, port.depth, port.flit_latency, port.credit_latency}, pool_,
        [this, p](const fabric::FlitCrossing& crossing) { left(p, crossing); }));
    if (port.initiator) {
      router_->border(p).initiator()->bind(*borders_[p]->target());
    } else {
      borders_[p]->initiator()->bind(*router_->border(p).target());
    }
  }
  SC_HAS_PROCESS(RouterReplay);
  SC_METHOD(drive);
  sensitive << next_;
}

RouterReplay::~RouterReplay() = default;

/// What the recorded router has sent, packet by packet.
void RouterReplay::learn() {
  std::map<std::pair<uint32_t, uint32_t>, Packet*> leaving;
  for (const RecordedEvent& event : recording_.events) {
    const fabric::FlitCrossing& crossing = crossing_of(event);
    if (crossing.kind == Kind::pause || crossing.kind == Kind::resume)
      throw UserError(
          ExitCode::usage,
          fmt::format("the recorded router '{}' has links with `flow_control: pfc`, and pauses are not "
                      "replayed; record a job without it",
                      recording_.header.block));
    if (crossing.kind != Kind::flits || event.into) continue;
    Packet*& packet = leaving[{event.port, crossing.vc}];
    if (crossing.has_head()) {
      packets_.emplace_back();
      packet = &packets_.back();
      packet->head = &event;
      alike_[key_of(crossing.head)].packets.push_back(packets_.size() - 1);
      by_destination_[crossing.head.destination] = event.port;
    }
    if (packet == nullptr) continue;
    for (uint32_t i = 0; i < crossing.count; ++i)
      packet->flits.push_back(crossing.first + i * crossing.stride);
  }
}

/// The way that the packet took in the recording.
packet::RouteCandidate RouterReplay::way(const fabric::PacketHead& head) {
  const auto found = alike_.find(key_of(head));
  if (found != alike_.end() && found->second.routed < found->second.packets.size()) {
    const RecordedEvent& event = *packets_[found->second.packets[found->second.routed++]].head;
    return {event.port, uint32_t{1} << crossing_of(event).vc, false};
  }
  // It had not left when the recording ended.
  const auto other = by_destination_.find(head.destination);
  return {other == by_destination_.end() ? 0 : other->second, uint32_t{1}, false};
}

void RouterReplay::drive() {
  const Picoseconds now = sc_core::sc_time_stamp().value();
  const std::vector<RecordedEvent>& events = recording_.events;
  for (; position_ < events.size() && events[position_].at <= now; ++position_) {
    const RecordedEvent& event = events[position_];
    if (!event.into) continue;
    const fabric::FlitCrossing& crossing = crossing_of(event);
    Channel& channel = channels_[size_t{event.port} * vcs_ + crossing.vc];
    (crossing.kind == Kind::flits ? channel.flits : channel.credits).push_back(&event);
    go_on(event.port, channel);
  }
  // What waited for the block.
  for (size_t c = 0; c < channels_.size(); ++c) go_on(static_cast<uint32_t>(c / vcs_), channels_[c]);
  if (position_ < events.size()) next_.notify(sc_core::sc_time::from_value(events[position_].at - now));
}

void RouterReplay::go_on(uint32_t port, Channel& channel) {
  const RecordedPort& terms = recording_.header.ports[port];
  while (!channel.credits.empty() && crossing_of(*channel.credits.front()).count <= channel.owed) {
    const RecordedEvent& event = *channel.credits.front();
    channel.credits.pop_front();
    channel.owed -= crossing_of(event).count;
    enter(event, ticks_now() + terms.credit_latency);
  }
  while (!channel.flits.empty() && crossing_of(*channel.flits.front()).count <= channel.may_send.size()) {
    const RecordedEvent& event = *channel.flits.front();
    const fabric::FlitCrossing& flits = crossing_of(event);
    channel.flits.pop_front();
    Ticks earliest = std::max(ticks_now() + terms.flit_latency, channel.behind);
    for (uint32_t i = 0; i < flits.count; ++i) {
      const Ticks here = channel.may_send.front() + terms.flit_latency;
      channel.may_send.pop_front();
      if (here > i * flits.stride) earliest = std::max(earliest, here - i * flits.stride);
    }
    channel.behind = std::max(flits.first, earliest) + flits.count * flits.stride;
    if (flits.has_head()) ++driven_;
    enter(event, earliest);
  }
}

void RouterReplay::enter(const RecordedEvent& event, Ticks earliest) {
  fabric::FlitCrossing crossing = crossing_of(event);
  crossing.first = std::max(crossing.first, earliest);
  borders_[event.port]->enter(crossing);
}

/// Something has left the block.
void RouterReplay::left(uint32_t port, const fabric::FlitCrossing& crossing) {
  Channel& channel = channels_[size_t{port} * vcs_ + crossing.vc];
  if (crossing.kind == Kind::credits)
    for (uint32_t i = 0; i < crossing.count; ++i)
      channel.may_send.push_back(crossing.first + i * crossing.stride);
  if (crossing.kind == Kind::flits) {
    channel.owed += crossing.count;
    if (Packet* const packet = packet_of(port, crossing)) compare(port, crossing, *packet);
  }
  // The block is at work: neighbours answer when it is through.
  if (!channel.flits.empty() || !channel.credits.empty()) next_.notify(sc_core::SC_ZERO_TIME);
}

/// The recorded packet that flits are of; null: they are of none, which is a difference.
RouterReplay::Packet* RouterReplay::packet_of(uint32_t port, const fabric::FlitCrossing& crossing) {
  Packet*& leaving = channels_[size_t{port} * vcs_ + crossing.vc].leaving;
  if (!crossing.has_head()) return leaving;
  const auto found = alike_.find(key_of(crossing.head));
  if (found != alike_.end() && found->second.come < found->second.packets.size()) {
    leaving = &packets_[found->second.packets[found->second.come++]];
    return leaving;
  }
  leaving = nullptr;
  report_.differs(
      picoseconds(crossing.first), port, {sc_core::sc_time_stamp().value(), port, false, crossing},
      found == alike_.end() ? "is not in the recording" : "comes once more than in the recording");
  return nullptr;
}

void RouterReplay::compare(uint32_t port, const fabric::FlitCrossing& crossing, Packet& packet) {
  const RecordedEvent& recorded = *packet.head;
  const fabric::FlitCrossing& wanted = crossing_of(recorded);
  packet.came += crossing.count;
  if (packet.differs) return;
  const auto differs = [&](Ticks at, const std::string& what) {
    packet.differs = true;
    report_.differs(picoseconds(at), port, recorded, what);
  };
  if (port != recorded.port || crossing.vc != wanted.vc)
    return differs(std::min(crossing.first, wanted.first),
                   fmt::format("leaves by port {} to {} on VC {}; recorded: port {} to {} on VC {}", port,
                               recording_.header.ports[port].peer, crossing.vc, recorded.port,
                               recording_.header.ports[recorded.port].peer, wanted.vc));
  if (crossing.packet_flits != wanted.packet_flits)
    return differs(crossing.first,
                   fmt::format("has {} flits; recorded: {}", crossing.packet_flits, wanted.packet_flits));
  if (crossing.has_head() && crossing.head.bytes != wanted.head.bytes)
    return differs(crossing.first,
                   fmt::format("has {} B; recorded: {} B", crossing.head.bytes, wanted.head.bytes));
  for (uint32_t i = 0; i < crossing.count; ++i) {
    const uint32_t number = crossing.first_flit + i;
    if (number >= packet.flits.size()) continue;  // the recording ended before
    const Ticks is = crossing.first + i * crossing.stride;
    const Ticks was = packet.flits[number];
    const Ticks off = is > was ? is - was : was - is;
    if (off <= ticks(options_.tolerance)) continue;
    return differs(std::min(is, was),
                   fmt::format("flit {} is there at {} ps, {} ps {} than recorded", number, picoseconds(is),
                               picoseconds(off), is > was ? "later" : "earlier"));
  }
  if (crossing.has_tail()) report_.agrees();
}

void RouterReplay::finish() {
  for (const Packet& packet : packets_) {
    if (packet.differs || packet.came >= packet.flits.size()) continue;
    report_.differs(
        picoseconds(packet.flits[packet.came]), packet.head->port, *packet.head,
        packet.came == 0 ? std::string("does not come") : fmt::format("flit {} does not come", packet.came));
  }
}

std::string RouterReplay::stall_text() const {
  return router_->in_flight() == 0 ? std::string() : router_->explain_stall();
}

}  // namespace weft::cosim
