// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "tlm_interconnect/packet/link_port.h"

namespace weft::packet {

LinkPort::LinkPort(const std::string& name, LinkEnd end, fabric::FabricEndpoint& endpoint) {
  if (end == LinkEnd::initiator) {
    initiator_ = std::make_unique<fabric::fabric_initiator_socket>(name.c_str());
    initiator_->bind(static_cast<fabric::fabric_bw_if&>(endpoint));
  } else {
    target_ = std::make_unique<fabric::fabric_target_socket>(name.c_str());
    target_->bind(static_cast<fabric::fabric_fw_if&>(endpoint));
  }
}

void LinkPort::resolve() {
  if (initiator_) {
    forward_ = (*initiator_)[0];
    peer_ = dynamic_cast<fabric::FabricEndpoint*>(forward_);
  } else {
    backward_ = (*target_)[0];
    peer_ = dynamic_cast<fabric::FabricEndpoint*>(backward_);
  }
}

}  // namespace weft::packet
