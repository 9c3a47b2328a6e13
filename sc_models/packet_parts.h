// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// A packet network whose NPUs are in several parts (docs/parts.md). Every part builds all of it, and runs the
// routers and interfaces that are its own. A link between two parts is cut: what crosses it is told to the
// other part for its next window. Of a message that ends in another part that one is told when the message is
// handed over, and the sender's part when it has arrived.

#ifndef WEFT_SC_MODELS_PACKET_PARTS_H
#define WEFT_SC_MODELS_PACKET_PARTS_H

#include <cstdint>
#include <memory>
#include <vector>

#include "sc_models/part_links.h"
#include "sc_models/router_model.h"
#include "tlm_interconnect/packet/link_joiner.h"
#include "tlm_interconnect/packet/network_interface.h"

namespace weft {

class PacketParts final : public packet::LinkJoiner, private PacketPart, private packet::MessageEnds {
 public:
  /// `parts`: by rank of the network. `links` outlives the object.
  PacketParts(PartLinks& links, std::vector<uint32_t> parts, const packet::PacketTopology& topology);
  ~PacketParts() override;

  packet::Joint join(const packet::LinkToJoin& link, fabric::fabric_initiator_socket& from,
                     fabric::fabric_target_socket& to) override;
  /// The network has been built.
  void divide(packet::PacketNetwork& network);
  /// An interface of this part has been given the message. `message.destination` is a rank of the network.
  void submitted(uint32_t handle, const packet::NetworkInterface& interface, const packet::Message& message);

 private:
  class End;
  void place_routers(const packet::PacketTopology& topology);
  /// Of another part's message, or one of this part's that has arrived there.
  void take(const PartTransfer& from_there) override;
  void ended(uint32_t handle) override;

  PartLinks& links_;
  const std::vector<uint32_t> parts_;  ///< by rank
  std::vector<uint32_t> routers_;      ///< part, by router
  std::vector<std::unique_ptr<End>> ends_;
  std::vector<std::unique_ptr<ParkedEnd>> parked_;  ///< ends of links whose module is in another part
  packet::PacketNetwork* network_ = nullptr;
  uint32_t number_ = 0;
};

}  // namespace weft

#endif
