// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#ifndef WEFT_TLM_INTERCONNECT_PACKET_FLIT_SENDER_H
#define WEFT_TLM_INTERCONNECT_PACKET_FLIT_SENDER_H

#include <cstdint>

namespace weft::packet {

class PacketNetwork;

/// What sends on a link of a packet network: an output of a router, or an interface.
struct FlitSender {
  const PacketNetwork* network = nullptr;  ///< null: nothing sends flits
  bool of_interface = false;
  uint32_t module = 0;  ///< number of the router or interface
  uint32_t port = 0;    ///< of a router
};

}  // namespace weft::packet

#endif
