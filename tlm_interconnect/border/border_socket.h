// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// The socket of a border: of the kind that its link lacks.

#ifndef WEFT_TLM_INTERCONNECT_BORDER_BORDER_SOCKET_H
#define WEFT_TLM_INTERCONNECT_BORDER_BORDER_SOCKET_H

#include <cstdint>
#include <memory>

#include "tlm_interconnect/protocol/fabric_protocol.h"

namespace weft::fabric {

class BorderSocket {
 public:
  enum class Side : uint8_t { initiator, target };

  /// Within the constructor of a module. `endpoint` gets what comes by the link, and outlives the socket.
  BorderSocket(const char* name, Side side, FabricEndpoint& endpoint) {
    if (side == Side::initiator) {
      initiator_ = std::make_unique<fabric_initiator_socket>(name);
      initiator_->bind(static_cast<fabric_bw_if&>(endpoint));
    } else {
      target_ = std::make_unique<fabric_target_socket>(name);
      target_->bind(static_cast<fabric_fw_if&>(endpoint));
    }
  }

  /// Null: it is of the other kind.
  fabric_initiator_socket* initiator() { return initiator_.get(); }
  fabric_target_socket* target() { return target_.get(); }

  void send(Transfer& transfer) {
    FabricPhase phase = FabricPhase::transfer;
    sc_core::sc_time none;
    if (initiator_) {
      (*initiator_)->nb_transport_fw(transfer, phase, none);
    } else {
      (*target_)->nb_transport_bw(transfer, phase, none);
    }
  }

 private:
  std::unique_ptr<fabric_initiator_socket> initiator_;
  std::unique_ptr<fabric_target_socket> target_;
};

}  // namespace weft::fabric

#endif
