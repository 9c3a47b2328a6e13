// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "tlm_interconnect/fabric/neighbour_mirror.h"

#include <stdexcept>
#include <string>

namespace weft::fabric {

NeighbourMirror::NeighbourMirror(sc_core::sc_module_name name, uint32_t rank, const Sides& sides, Line* line,
                                 const MessageImages& images, PacketPool& pool)
    : sc_core::sc_module(name), rank_(rank), line_(line), images_(images), pool_(pool) {
  if (sides.above) {
    above_ = std::make_unique<fabric_target_socket>("above");
    above_->bind(static_cast<fabric_fw_if&>(up_));
  }
  if (sides.below) {
    below_ = std::make_unique<fabric_initiator_socket>("below");
    below_->bind(static_cast<fabric_bw_if&>(down_));
  }
  if (line != nullptr) (*line)[rank] = this;
}

void NeighbourMirror::pass(const Transfer& transfer, bool up) {
  Packet& packet = pool_[transfer.packet];
  if (line_ == nullptr)
    throw std::logic_error("rank " + std::to_string(rank_) + " sends to a neighbour that is not built");
  images_.apply(packet);
  const NeighbourMirror& at = packet.destination == rank_ ? *this : *line_->at(packet.destination);
  Transfer copy = transfer;
  FabricPhase phase = FabricPhase::transfer;
  sc_core::sc_time zero;
  if (up) {
    (*at.below_)->nb_transport_fw(copy, phase, zero);
  } else {
    (*at.above_)->nb_transport_bw(copy, phase, zero);
  }
}

}  // namespace weft::fabric
