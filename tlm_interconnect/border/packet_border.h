// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Where a packet network ends. The border stands in a link, in the place of the router or interface at the
// link's other side. What the network sends to it leaves as FlitCrossings; what stands behind the border (an
// RTL router behind a pin adapter, a recording, another kernel) puts crossings in.
//
// The contract:
//
// 1. A packet crosses as one or more runs of flits of one virtual channel, in order and without another
//    packet between them. The first run has the packet's head. When the tail has crossed, the packet has left
//    the network: it is released.
// 2. A packet that is put in is a new one, made from its head.
// 3. Who stands behind the border has a buffer of `depth` flits for each virtual channel, and so has the
//    network. Each side sends a flit only against a credit of that channel, and gives one back for every flit
//    that has left its buffer: a crossing of kind `credits`.
// 4. Times are absolute, in ticks, at the receiving end: the link's latency is in them, and so are the
//    repetitions of damaged flits, which its sender draws. What crosses has arrived whole.
// 5. Crossings are told ahead: flits at least the link's latency before the first one arrives, credits and
//    pauses the latency of the way back. Call enter() as early. Routers of this library tell by some cycles
//    earlier and count on it; where a block stands at the border they do not (Joint::block).
// 6. Pauses and resumes of a virtual network come in turns. From the time of a pause on its receiver begins
//    no packet of that network on this link.

#ifndef WEFT_TLM_INTERCONNECT_BORDER_PACKET_BORDER_H
#define WEFT_TLM_INTERCONNECT_BORDER_PACKET_BORDER_H

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tlm_interconnect/border/border_socket.h"
#include "tlm_interconnect/border/flit_crossing.h"
#include "tlm_interconnect/protocol/fabric_protocol.h"

namespace weft::fabric {

/// What the two sides of a link of a packet network know of it.
struct PacketLinkTerms {
  uint32_t vcs = 1;          ///< virtual channels
  uint32_t depth = 1;        ///< flits of each one's buffer, on both sides
  Ticks latency = 0;         ///< of flits
  Ticks credit_latency = 0;  ///< of credits and pauses
};

class PacketBorder final : private FabricEndpoint {
 public:
  /// Which socket the border has: the one that its link lacks.
  using Side = BorderSocket::Side;
  using Leaves = std::function<void(const FlitCrossing&)>;

  /// Within the constructor of a module. `leaves` is called for everything that leaves the network here.
  /// `pool`: the network's. All outlive the border.
  PacketBorder(const char* name, Side side, const PacketLinkTerms& terms, PacketPool& pool, Leaves leaves);
  ~PacketBorder() override;

  /// To be bound to the link's other end; null: the border has the other kind.
  fabric_initiator_socket* initiator() { return socket_.initiator(); }
  fabric_target_socket* target() { return socket_.target(); }

  /// Puts flits, credits or a pause into the network. Throws std::logic_error for what breaks the contract:
  /// too late, out of order, without credit.
  void enter(const FlitCrossing& crossing);

  const PacketLinkTerms& terms() const { return terms_; }
  uint64_t left() const { return left_; }        ///< packets whose tail has left the network here
  uint64_t entered() const { return entered_; }  ///< .. has come in

 private:
  /// One virtual channel, both ways.
  struct Channel {
    uint32_t leaving_next = 0;       ///< number of the flit that leaves next; 0: a head
    PacketRef entering = kNoPacket;  ///< the packet that is coming in; none: a head is next
    uint32_t entering_next = 0;
    uint32_t entering_flits = 0;
    uint32_t credits = 0;  ///< flits that may enter
    uint32_t owed = 0;     ///< flits that have left, and whose credits have not come back
  };
  void receive(const Transfer& transfer) override;
  void enter_flits(const FlitCrossing& crossing, Transfer& transfer);
  [[noreturn]] void refuse(const FlitCrossing& crossing, const std::string& why) const;

  const PacketLinkTerms terms_;
  PacketPool& pool_;
  Leaves leaves_;
  BorderSocket socket_;
  std::vector<Channel> channels_;
  uint64_t left_ = 0;
  uint64_t entered_ = 0;
};

/// Cuts a link of a packet network in two, as Loopback does at `message` fidelity: what leaves at one border
/// comes in again at the other, by way of its bytes, at the same instant.
class PacketLoopback final : public sc_core::sc_module {
 public:
  /// `watch`: sees everything that crosses; empty: nobody does.
  PacketLoopback(sc_core::sc_module_name name, const PacketLinkTerms& terms, PacketPool& pool,
                 FlitWatch watch = {});

  /// Stands for the module at the target side: bound by the link's initiator.
  fabric_target_socket& near() { return *near_.target(); }
  /// Stands for the module at the initiator side: to be bound to the link's target.
  fabric_initiator_socket& far() { return *far_.initiator(); }

  /// Packets that have crossed, both ways.
  uint64_t crossed() const { return near_.left() + far_.left(); }

 private:
  void cross(bool forward, const FlitCrossing& crossing);

  FlitWatch watch_;
  PacketBorder near_;
  PacketBorder far_;
};

}  // namespace weft::fabric

#endif
