// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "tlm_interconnect/fabric/mirror_fabric.h"

namespace weft::fabric {

MirrorFabric::MirrorFabric(sc_core::sc_module_name name, uint32_t rank, Line& line,
                           const MessageImages& images, PacketPool& pool)
    : sc_core::sc_module(name), socket("port"), rank_(rank), line_(line), images_(images), pool_(pool) {
  socket.bind(static_cast<fabric_fw_if&>(*this));
  line[rank] = this;
}

void MirrorFabric::receive(const Transfer& transfer) {
  Packet& packet = pool_[transfer.packet];
  images_.apply(packet);
  MirrorFabric* const at = packet.destination == rank_ ? this : line_.at(packet.destination);
  Transfer copy = transfer;
  FabricPhase phase = FabricPhase::transfer;
  sc_core::sc_time zero;
  at->socket->nb_transport_bw(copy, phase, zero);
}

}  // namespace weft::fabric
