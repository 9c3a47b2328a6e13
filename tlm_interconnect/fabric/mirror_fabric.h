// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Stands for all other ranks of a symmetric collective: what the one NMU sends comes back to it as what its
// peers send at the same time. With it one NMU, its ports and its collective engine tell the time of any
// number of them exactly.

#ifndef WEFT_TLM_INTERCONNECT_FABRIC_MIRROR_FABRIC_H
#define WEFT_TLM_INTERCONNECT_FABRIC_MIRROR_FABRIC_H

#include "tlm_interconnect/protocol/fabric_protocol.h"

namespace weft::fabric {

class MirrorFabric : public sc_core::sc_module, private FabricEndpoint {
 public:
  /// `rank` is the NMU whose initiator socket will be bound.
  MirrorFabric(sc_core::sc_module_name name, uint32_t rank, PacketPool& pool);

  fabric_target_socket socket;

 private:
  void receive(const Transfer& transfer) override;

  uint32_t rank_;
  PacketPool& pool_;
};

}  // namespace weft::fabric

#endif
