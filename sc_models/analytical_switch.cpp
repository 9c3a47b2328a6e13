// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_models/analytical_switch.h"

namespace weft {

AnalyticalSwitch::AnalyticalSwitch(sc_core::sc_module_name name, uint32_t dimension,
                                   const FabricContext& fabric, fabric::LinkType& link_type,
                                   const UnitContext& context)
    : sc_core::sc_module(name),
      socket("port"),
      pool_(fabric.pool),
      out_(fabric.config.fabric_dimensions()[dimension].size, fabric::Link(link_type)),
      unit_("unit", dimension, fabric, context, *this) {
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

}  // namespace weft
