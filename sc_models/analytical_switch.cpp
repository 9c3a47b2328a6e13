// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_models/analytical_switch.h"

#include <utility>

#include "sc_models/switch_ways.h"

namespace weft {

AnalyticalSwitch::AnalyticalSwitch(sc_core::sc_module_name name, uint32_t dimension, uint32_t base,
                                   const FabricContext& fabric, fabric::LinkType& link_type,
                                   const UnitContext& context)
    : sc_core::sc_module(name),
      socket("port"),
      dimension_(dimension),
      base_(base),
      geometry_(fabric.geometry),
      pool_(fabric.pool),
      out_(fabric.config.fabric_dimensions()[dimension].size, fabric::Link(link_type)),
      unit_(make_unit("unit", {dimension, fabric, context, *this})) {
  socket.bind(static_cast<fabric::fabric_bw_if&>(*this));
}

Picoseconds AnalyticalSwitch::send(uint32_t port, fabric::PacketRef result, uint32_t, Picoseconds now) {
  fabric::Transfer transfer;
  const fabric::Link::Slot slot = put_on_link(pool_, result, out_[port], now, true, transfer);
  fabric::FabricPhase phase = fabric::FabricPhase::transfer;
  sc_core::sc_time zero;
  socket->nb_transport_fw(transfer, phase, zero);
  return slot.end;
}

void AnalyticalSwitch::count(Counters& counters) const {
  for (const fabric::Link& link : out_) {
    counters.link_bytes += link.bytes();
    counters.link_messages += link.messages();
  }
}

LinkReport AnalyticalSwitch::report(uint32_t port) const {
  SwitchLink link = line_link(geometry_, dimension_, base_, port);
  LinkReport report(out_[port]);
  report.name = name() + link.name;
  report.to = std::move(link.to);
  report.dimension = link.dimension;
  report.fidelity = Fidelity::analytical;
  return report;
}

void AnalyticalSwitch::for_each_link(const LinkVisitor& visit) const {
  for (uint32_t p = 0; p < out_.size(); ++p) visit(report(p));
}

}  // namespace weft
