// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "tlm_interconnect/border/border.h"

#include <fmt/format.h>

#include <stdexcept>
#include <utility>

namespace weft::fabric {

Border::Border(const char* name, Side side, PacketPool& pool, Leaves leaves, CrossingElements* elements)
    : pool_(pool), leaves_(std::move(leaves)), elements_(elements), socket_(name, side, *this) {}

Border::~Border() = default;

Crossing take_out(const Transfer& transfer, PacketPool& pool, CrossingElements* elements) {
  if (transfer.kind != Transfer::Kind::burst || transfer.flits != 1) {
    SC_REPORT_FATAL("weft/tlm_interconnect/border",
                    "only whole messages cross a border (`message` fidelity)");
  }
  const Packet& packet = pool[transfer.packet];
  Crossing crossing;
  crossing.first = transfer.first;
  crossing.length = transfer.flit_time;
  crossing.bytes = packet.bytes;
  crossing.id_low = packet.id_low;
  crossing.id_high = packet.id_high;
  crossing.submitted = packet.submitted;
  crossing.queued = packet.queued;
  crossing.latency = packet.latency;
  crossing.source = packet.source;
  crossing.destination = packet.destination;
  crossing.target = transfer.target;
  crossing.flags = packet.flags;
  crossing.plane = packet.plane;
  crossing.has_elements = packet.data != 0;
  if (crossing.has_elements) {
    if (elements == nullptr)
      throw std::logic_error("a message with elements reaches a border that takes sizes only");
    crossing.elements = elements->take(packet.data);
  }
  pool.release(transfer.packet);
  return crossing;
}

Transfer put_in(const Crossing& crossing, PacketPool& pool, CrossingElements* elements) {
  const Picoseconds now = sc_core::sc_time_stamp().value();
  if (crossing.first < now) {
    throw std::logic_error(
        fmt::format("at {} ps a message of {} B from rank {} enters the fabric whose head was due at {} ps; "
                    "put messages in when, or "
                    "before, their heads are due",
                    now, crossing.bytes, crossing.source, crossing.first));
  }
  const PacketRef ref = pool.acquire();
  Packet& packet = pool[ref];
  packet.bytes = crossing.bytes;
  packet.id_low = crossing.id_low;
  packet.id_high = crossing.id_high;
  packet.submitted = crossing.submitted;
  packet.queued = crossing.queued;
  packet.latency = crossing.latency;
  packet.source = crossing.source;
  packet.destination = crossing.destination;
  packet.flags = crossing.flags;
  packet.plane = crossing.plane;
  if (crossing.has_elements) {
    if (elements == nullptr)
      throw std::logic_error("a message with elements enters by a border that takes sizes only");
    packet.data = elements->put(crossing.elements);
  }
  Transfer transfer;
  transfer.first = crossing.first;
  transfer.flit_time = crossing.length;
  transfer.packet = ref;
  transfer.target = crossing.target;
  return transfer;
}

void Border::receive(const Transfer& transfer) {
  const Crossing crossing = take_out(transfer, pool_, elements_);
  ++left_;
  leaves_(crossing);
}

void Border::enter(const Crossing& crossing) {
  Transfer transfer = put_in(crossing, pool_, elements_);
  ++entered_;
  socket_.send(transfer);
}

}  // namespace weft::fabric
