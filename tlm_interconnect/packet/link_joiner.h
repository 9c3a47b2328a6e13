// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Who joins the two ends of the links of a packet network: usually the network itself, or what puts borders
// into some of them.

#ifndef WEFT_TLM_INTERCONNECT_PACKET_LINK_JOINER_H
#define WEFT_TLM_INTERCONNECT_PACKET_LINK_JOINER_H

#include <algorithm>
#include <cstdint>

#include "tlm_interconnect/border/packet_border.h"
#include "tlm_interconnect/packet/topology.h"
#include "tlm_interconnect/protocol/fabric_protocol.h"

namespace weft::packet {

class PacketNetwork;

/// A link that is to be joined: that of a router's port, whose socket is the initiator. All but `terms`
/// outlives the network's construction.
struct LinkToJoin {
  const PacketTopology& topology;
  uint32_t router = 0;
  uint32_t port = 0;
  fabric::PacketLinkTerms terms;
  fabric::PacketPool& pool;  ///< the network's
  PacketNetwork& network;    ///< which has its routers, but not all of its interfaces yet
};

enum class Joint : uint8_t {
  bound,   ///< the sockets are bound to each other
  border,  ///< something stands between them, and every packet must pass it (no packet trains)
  block,   ///< likewise, and what comes from there is told no earlier than it must be (PacketBorder)
  part     ///< the other end is in another process (lateness_of())
};

/// What crosses a link to another process is told there so much later: half of the shortest way over it.
inline Ticks lateness_of(const fabric::PacketLinkTerms& terms) {
  return std::min(terms.latency, terms.credit_latency) / 2;
}

class LinkJoiner {
 public:
  virtual ~LinkJoiner() = default;
  /// Binds the sockets, or something between them. Within the network's constructor.
  virtual Joint join(const LinkToJoin& link, fabric::fabric_initiator_socket& from,
                     fabric::fabric_target_socket& to) = 0;
};

}  // namespace weft::packet

#endif
