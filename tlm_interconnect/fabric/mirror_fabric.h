// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Stands for all ranks along a dimension that are not built, at one NMU that is. What this sends to one of
// them goes on to the NMU that stands for the receiver, as MessageImages says: of a symmetric collective back
// to the sender, as what its peers send at the same time. So few NMUs, their ports and their collective
// engines tell the time of any number of them exactly.

#ifndef WEFT_TLM_INTERCONNECT_FABRIC_MIRROR_FABRIC_H
#define WEFT_TLM_INTERCONNECT_FABRIC_MIRROR_FABRIC_H

#include <unordered_map>

#include "tlm_interconnect/fabric/message_images.h"
#include "tlm_interconnect/protocol/fabric_protocol.h"

namespace weft::fabric {

class MirrorFabric : public sc_core::sc_module, private FabricEndpoint {
 public:
  /// The mirrors of one dimension, by their NMUs' ranks.
  using Line = std::unordered_map<uint32_t, MirrorFabric*>;

  /// `rank` is the NMU whose initiator socket will be bound. The mirror joins `line`. All outlive it.
  MirrorFabric(sc_core::sc_module_name name, uint32_t rank, Line& line, const MessageImages& images,
               PacketPool& pool);

  fabric_target_socket socket;

 private:
  void receive(const Transfer& transfer) override;

  const uint32_t rank_;
  const Line& line_;
  const MessageImages& images_;
  PacketPool& pool_;
};

}  // namespace weft::fabric

#endif
