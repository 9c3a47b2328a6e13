// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "tlm_interconnect/border/packet_border.h"

#include <fmt/format.h>

#include <stdexcept>
#include <utility>

namespace weft::fabric {
namespace {

const char* to_string(FlitCrossing::Kind kind) {
  switch (kind) {
    case FlitCrossing::Kind::flits:
      return "flits";
    case FlitCrossing::Kind::credits:
      return "credits";
    case FlitCrossing::Kind::pause:
      return "a pause";
    default:
      return "a resume";
  }
}

PacketHead head_of(const Packet& packet) {
  PacketHead head;
  head.bytes = packet.bytes;
  head.id_low = packet.id_low;
  head.id_high = packet.id_high;
  head.submitted = packet.submitted;
  head.interface = packet.interface;
  head.source = packet.source;
  head.destination = packet.destination;
  head.elements = packet.data;
  head.virtual_network = packet.virtual_network;
  head.flags = packet.flags;
  head.marked = packet.marked != 0;
  return head;
}

PacketRef packet_of(const PacketHead& head, PacketPool& pool) {
  const PacketRef ref = pool.acquire();
  Packet& packet = pool[ref];
  packet.bytes = head.bytes;
  packet.id_low = head.id_low;
  packet.id_high = head.id_high;
  packet.submitted = head.submitted;
  packet.interface = head.interface;
  packet.source = head.source;
  packet.destination = head.destination;
  packet.data = head.elements;
  packet.virtual_network = head.virtual_network;
  packet.flags = head.flags;
  packet.marked = head.marked ? 1 : 0;
  return ref;
}

FlitCrossing::Kind kind_of(Transfer::Kind kind) {
  switch (kind) {
    case Transfer::Kind::burst:
      return FlitCrossing::Kind::flits;
    case Transfer::Kind::credit:
      return FlitCrossing::Kind::credits;
    case Transfer::Kind::pause:
      return FlitCrossing::Kind::pause;
    default:
      return FlitCrossing::Kind::resume;
  }
}

Transfer::Kind kind_of(FlitCrossing::Kind kind) {
  switch (kind) {
    case FlitCrossing::Kind::flits:
      return Transfer::Kind::burst;
    case FlitCrossing::Kind::credits:
      return Transfer::Kind::credit;
    case FlitCrossing::Kind::pause:
      return Transfer::Kind::pause;
    default:
      return Transfer::Kind::resume;
  }
}

}  // namespace

PacketBorder::PacketBorder(const char* name, Side side, const PacketLinkTerms& terms, PacketPool& pool,
                           Leaves leaves)
    : FabricEndpoint(kTicksPerPicosecond),
      terms_(terms),
      pool_(pool),
      leaves_(std::move(leaves)),
      socket_(name, side, *this),
      channels_(terms.vcs) {
  for (Channel& channel : channels_) channel.credits = terms.depth;
}

PacketBorder::~PacketBorder() = default;

void PacketBorder::receive(const Transfer& transfer) {
  FlitCrossing crossing;
  crossing.kind = kind_of(transfer.kind);
  crossing.vc = static_cast<uint8_t>(index(transfer.vc));
  crossing.first = transfer.first;
  crossing.stride = transfer.flit_time;
  crossing.count = transfer.flits;
  Channel& channel = channels_.at(crossing.vc);
  if (crossing.kind == FlitCrossing::Kind::credits) channel.credits += crossing.count;
  if (crossing.kind != FlitCrossing::Kind::flits) {
    leaves_(crossing);
    return;
  }
  crossing.first_flit = transfer.first_flit;
  crossing.packet_flits = transfer.packet_flits;
  if (crossing.has_head()) crossing.head = head_of(pool_[transfer.packet]);
  channel.owed += crossing.count;
  if (crossing.first_flit != channel.leaving_next || channel.owed > terms_.depth) {
    SC_REPORT_FATAL(
        "weft/tlm_interconnect/border",
        fmt::format("VC {}: flit {} of a packet leaves the network where flit {} was due, with {} "
                    "flits for a buffer of {}",
                    crossing.vc, crossing.first_flit, channel.leaving_next, channel.owed, terms_.depth)
            .c_str());
  }
  channel.leaving_next = crossing.has_tail() ? 0 : crossing.first_flit + crossing.count;
  if (crossing.has_tail()) {
    pool_.release(transfer.packet);
    ++left_;
  }
  leaves_(crossing);
}

void PacketBorder::refuse(const FlitCrossing& crossing, const std::string& why) const {
  throw std::logic_error(fmt::format("at {} ps {} of VC {}, at {} ps, cannot enter a packet network: {}",
                                     sc_core::sc_time_stamp().value(), to_string(crossing.kind), crossing.vc,
                                     picoseconds(crossing.first), why));
}

void PacketBorder::enter_flits(const FlitCrossing& crossing, Transfer& transfer) {
  Channel& channel = channels_[crossing.vc];
  if (crossing.count > channel.credits)
    refuse(crossing, fmt::format("{} flits against {} credits; wait for the credits that the network gives "
                                 "back",
                                 crossing.count, channel.credits));
  if (crossing.first_flit != channel.entering_next ||
      (crossing.first_flit != 0 && crossing.packet_flits != channel.entering_flits) ||
      crossing.packet_flits - crossing.first_flit < crossing.count)
    refuse(crossing,
           fmt::format("{} flits from flit {} of a packet of {}, where flit {} was due; send a "
                       "packet's flits in order, and no other packet between them",
                       crossing.count, crossing.first_flit, crossing.packet_flits, channel.entering_next));
  if (crossing.has_head()) channel.entering = packet_of(crossing.head, pool_);
  channel.entering_flits = crossing.packet_flits;
  channel.credits -= crossing.count;
  transfer.packet = channel.entering;
  transfer.first_flit = crossing.first_flit;
  transfer.packet_flits = crossing.packet_flits;
  channel.entering_next = crossing.has_tail() ? 0 : crossing.first_flit + crossing.count;
  // The tail's receiver has the packet from here on.
  if (!crossing.has_tail()) return;
  channel.entering = kNoPacket;
  ++entered_;
}

void PacketBorder::enter(const FlitCrossing& crossing) {
  const bool flits = crossing.kind == FlitCrossing::Kind::flits;
  const Ticks ahead = flits ? terms_.latency : terms_.credit_latency;
  const Ticks now = ticks(sc_core::sc_time_stamp().value());
  // The kernel is up to a picosecond behind the ticks of a clock that does not fit it.
  if (crossing.first + kTicksPerPicosecond <= now + ahead)
    refuse(crossing, fmt::format("it is told too late; tell it at least {} ps ahead, the latency of the link",
                                 picoseconds(ahead)));
  if (crossing.vc >= terms_.vcs)
    refuse(crossing, fmt::format("the link has {} virtual channels", terms_.vcs));
  if (crossing.count == 0) refuse(crossing, "it is empty");
  Transfer transfer;
  transfer.kind = kind_of(crossing.kind);
  transfer.vc = static_cast<VcId>(crossing.vc);
  transfer.first = crossing.first;
  transfer.flit_time = crossing.stride;
  transfer.flits = crossing.count;
  if (flits) enter_flits(crossing, transfer);
  if (crossing.kind == FlitCrossing::Kind::credits) {
    Channel& channel = channels_[crossing.vc];
    if (crossing.count > channel.owed)
      refuse(crossing,
             fmt::format("{} credits for {} flits that have left the network", crossing.count, channel.owed));
    channel.owed -= crossing.count;
  }
  socket_.send(transfer);
}

PacketLoopback::PacketLoopback(sc_core::sc_module_name module_name, const PacketLinkTerms& terms,
                               PacketPool& pool, FlitWatch watch)
    : sc_core::sc_module(module_name),
      watch_(std::move(watch)),
      near_("near", PacketBorder::Side::target, terms, pool,
            [this](const FlitCrossing& crossing) { cross(true, crossing); }),
      far_("far", PacketBorder::Side::initiator, terms, pool,
           [this](const FlitCrossing& crossing) { cross(false, crossing); }) {}

void PacketLoopback::cross(bool forward, const FlitCrossing& crossing) {
  if (watch_) watch_(forward, crossing);
  (forward ? far_ : near_).enter(flits_from_bytes(to_bytes(crossing)));
}

}  // namespace weft::fabric
