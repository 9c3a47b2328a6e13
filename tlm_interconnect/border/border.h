// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Where the fabric ends. A border stands in a link, in the place of the module at the link's other side. What
// the fabric sends to it leaves the fabric as a Crossing; what stands behind the border (RTL behind a pin
// adapter, a recording, another kernel, a remote process) puts crossings into the fabric.
//
// The contract:
//
// 1. A message that reaches a border has left the fabric. Its packet and its elements are released.
// 2. A message that is put in is a new packet. Nothing is in two places.
// 3. The sender's side keeps the link's timing. A crossing's times are those at the receiving end of the
// link.
// 4. `first` is never in the past. Call enter() at that time or before; later throws.
// 5. The messages of a link leave in the order of their heads. Who puts messages in keeps that order.
// 6. Only whole messages cross. Flits of a packet network have a border of their own (packet_border.h).

#ifndef WEFT_TLM_INTERCONNECT_BORDER_BORDER_H
#define WEFT_TLM_INTERCONNECT_BORDER_BORDER_H

#include <cstdint>
#include <functional>
#include <memory>

#include "tlm_interconnect/border/border_socket.h"
#include "tlm_interconnect/border/crossing.h"
#include "tlm_interconnect/protocol/fabric_protocol.h"

namespace weft::fabric {

/// Rule 1: the message leaves the fabric. `elements`: null where messages carry sizes only.
Crossing take_out(const Transfer& transfer, PacketPool& pool, CrossingElements* elements);
/// Rule 2: what is sent to the link's end. Throws std::logic_error when its head is in the past.
Transfer put_in(const Crossing& crossing, PacketPool& pool, CrossingElements* elements);

class Border final : private FabricEndpoint {
 public:
  /// Which socket the border has: the one that its link lacks.
  using Side = BorderSocket::Side;
  using Leaves = std::function<void(const Crossing&)>;

  /// Within the constructor of a module. `leaves` is called for every message that leaves the fabric here.
  /// `elements` may be null: messages then carry sizes only. All outlive the border.
  Border(const char* name, Side side, PacketPool& pool, Leaves leaves, CrossingElements* elements = nullptr);
  ~Border() override;

  /// To be bound to the link's other end; null: the border has the other kind.
  fabric_initiator_socket* initiator() { return socket_.initiator(); }
  fabric_target_socket* target() { return socket_.target(); }

  /// Puts a message into the fabric. Throws std::logic_error when its head is in the past.
  void enter(const Crossing& crossing);

  uint64_t left() const { return left_; }        ///< messages that have left the fabric here
  uint64_t entered() const { return entered_; }  ///< .. that have come in

 private:
  void receive(const Transfer& transfer) override;

  PacketPool& pool_;
  Leaves leaves_;
  CrossingElements* elements_ = nullptr;
  BorderSocket socket_;
  uint64_t left_ = 0;
  uint64_t entered_ = 0;
};

}  // namespace weft::fabric

#endif
