// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// One end of a full-duplex fabric link: a socket of either kind behind one send(). The peer's interface is
// looked up once, at the end of elaboration, so that a transfer costs one virtual call. Where the peer is a
// FabricEndpoint it is called without the arguments that it does not need.

#ifndef WEFT_TLM_INTERCONNECT_PACKET_LINK_PORT_H
#define WEFT_TLM_INTERCONNECT_PACKET_LINK_PORT_H

#include <memory>
#include <string>

#include "tlm_interconnect/protocol/fabric_protocol.h"

namespace weft::packet {

enum class LinkEnd : uint8_t { initiator, target };

class LinkPort {
 public:
  /// Creates the socket under the module being constructed and exports `endpoint` on it.
  LinkPort(const std::string& name, LinkEnd end, fabric::FabricEndpoint& endpoint);

  fabric::fabric_initiator_socket& initiator() { return *initiator_; }
  fabric::fabric_target_socket& target() { return *target_; }
  LinkEnd end() const { return initiator_ ? LinkEnd::initiator : LinkEnd::target; }

  /// Something stands in the link that every packet must pass.
  void set_cut() { cut_ = true; }
  bool cut() const { return cut_; }

  /// Call in end_of_elaboration().
  void resolve();

  void send(fabric::Transfer& transfer) {
    if (peer_ != nullptr) {
      peer_->receive(transfer);
      return;
    }
    fabric::FabricPhase phase = fabric::FabricPhase::transfer;
    sc_core::sc_time none;
    if (forward_ != nullptr) {
      forward_->nb_transport_fw(transfer, phase, none);
    } else {
      backward_->nb_transport_bw(transfer, phase, none);
    }
  }

 private:
  fabric::FabricEndpoint* peer_ = nullptr;  ///< null: something else is at the other end
  std::unique_ptr<fabric::fabric_initiator_socket> initiator_;
  std::unique_ptr<fabric::fabric_target_socket> target_;
  fabric::fabric_fw_if* forward_ = nullptr;
  fabric::fabric_bw_if* backward_ = nullptr;
  bool cut_ = false;
};

}  // namespace weft::packet

#endif
