// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_models/fabric_switch.h"

#include <utility>

#include "sc_models/message_time.h"
#include "sc_models/switch_ways.h"

namespace weft {

FabricSwitch::FabricSwitch(sc_core::sc_module_name name, uint32_t dimension, uint32_t base,
                           const FabricContext& fabric, fabric::LinkType& link_type, const UnitContext* unit)
    : sc_core::sc_module(name),
      socket("port"),
      dimension_(dimension),
      base_(base),
      geometry_(fabric.geometry),
      pool_(fabric.pool),
      cut_through_(fabric.config.fabric_dimensions()[dimension].switching == Switching::cut_through),
      out_(fabric.config.fabric_dimensions()[dimension].size, fabric::Link(link_type)) {
  socket.bind(static_cast<fabric::fabric_fw_if&>(*this));
  fabric.wheel.add(*this);
  if (unit != nullptr) {
    UnitPorts& ports = *this;
    unit_ = make_unit("unit", {dimension, fabric, *unit, ports});
  }
}

Picoseconds FabricSwitch::send(uint32_t port, fabric::PacketRef result, uint32_t, Picoseconds now) {
  fabric::Transfer transfer;
  const fabric::Link::Slot slot = put_on_link(pool_, result, out_[port], now, false, transfer);
  fabric::FabricPhase phase = fabric::FabricPhase::transfer;
  sc_core::sc_time zero;
  socket[static_cast<int>(port)]->nb_transport_bw(transfer, phase, zero);
  return slot.end;
}

void FabricSwitch::receive(const fabric::Transfer& transfer) {
  const fabric::Packet& packet = pool_[transfer.packet];
  if (UnitModel::addressed(packet)) {
    unit_->receive(transfer);
    return;
  }
  const Picoseconds tail = transfer.first + transfer.flit_time;
  const Picoseconds time = cut_through_ ? transfer.first : tail;
  // Equal times are served in the order of the senders, whichever process ran first.
  queue_.push(time, static_cast<uint64_t>(packet.source) << 32 | arrivals_++, {tail, transfer.packet});
  if (!running()) wake_at(time);
}

void FabricSwitch::activate(Picoseconds now) {
  ++activations_;
  while (queue_.next() <= now) {
    const Arrived arrived = queue_.pop().payload;
    fabric::Packet& packet = pool_[arrived.packet];
    const uint32_t port = geometry_.coordinate(packet.destination, dimension_);
    fabric::Link& link = out_[port];
    message_in_time(name(), packet, [&] {
      const fabric::Link::Slot slot = link.occupy(now, packet.bytes, arrived.tail, packet.id_low);
      packet.queued += slot.start - now;
      packet.latency += link.latency();
      fabric::Transfer transfer;
      transfer.leave(slot.start, link.latency(), slot.end - slot.start);
      transfer.packet = arrived.packet;
      fabric::FabricPhase phase = fabric::FabricPhase::transfer;
      sc_core::sc_time zero;
      socket[static_cast<int>(port)]->nb_transport_bw(transfer, phase, zero);
    });
  }
  wake_at(queue_.next());
}

void FabricSwitch::count(Counters& counters) const {
  counters.activations += activations_;
  counters.in_flight += in_flight();
  for (const fabric::Link& link : out_) {
    counters.link_bytes += link.bytes();
    counters.link_messages += link.messages();
  }
}

LinkReport FabricSwitch::report(uint32_t port) const {
  SwitchLink link = line_link(geometry_, dimension_, base_, port);
  LinkReport report(out_[port]);
  report.name = name() + link.name;
  report.to = std::move(link.to);
  report.dimension = link.dimension;
  return report;
}

void FabricSwitch::for_each_link(const LinkVisitor& visit) const {
  for (uint32_t p = 0; p < out_.size(); ++p) visit(report(p));
}

}  // namespace weft
