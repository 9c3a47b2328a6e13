// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "tlm_interconnect/fabric/mirror_fabric.h"

namespace weft::fabric {

MirrorFabric::MirrorFabric(sc_core::sc_module_name name, uint32_t rank, PacketPool& pool)
    : sc_core::sc_module(name), socket("port"), rank_(rank), pool_(pool) {
  socket.bind(static_cast<fabric_fw_if&>(*this));
}

void MirrorFabric::receive(const Transfer& transfer) {
  Packet& packet = pool_[transfer.packet];
  packet.source = packet.destination;  // by symmetry the peer's like; which one of them does not matter
  packet.destination = rank_;
  Transfer copy = transfer;
  FabricPhase phase = FabricPhase::transfer;
  sc_core::sc_time zero;
  socket->nb_transport_bw(copy, phase, zero);
}

}  // namespace weft::fabric
