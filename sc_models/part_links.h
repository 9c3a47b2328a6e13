// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// A machine in parts: several processes simulate it, each of them some of its NPUs (docs/parts.md). A link
// whose ends are in different parts is cut. Each of its ends is joined with a PartEnd, which hands what the
// end sends to the other part, and sends on what comes from there.

#ifndef WEFT_SC_MODELS_PART_LINKS_H
#define WEFT_SC_MODELS_PART_LINKS_H

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <systemc>
#include <vector>

#include "tlm_interconnect/fabric/direct_fabric.h"
#include "tlm_interconnect/protocol/fabric_protocol.h"
#include "tlm_interconnect/protocol/packet_pool.h"

namespace weft {

/// A message that one part hands to a packet network, and that comes out of it in another one.
struct AnnouncedMessage {
  Picoseconds submitted = 0;
  uint32_t handle = 0;  ///< where it was handed over (packet::MessagePool)
  uint32_t place = 0;   ///< .. the NPU there
  uint32_t source = 0;  ///< rank of the network
  uint32_t destination = 0;
  uint8_t virtual_network = 0;
  uint8_t flags = 0;
};

/// What goes from one part to another.
struct PartTransfer {
  enum class Kind : uint8_t {
    message,    ///< `transfer` and `packet`, of a link of whole messages
    flits,      ///< `transfer`, of a link of a packet network; with a head flit its `packet`
    announced,  ///< `announced`, and its message `packet`: before its first flit
    ended       ///< `announced.handle`: that message has arrived
  };
  PartTransfer() : transfer{} {}

  uint32_t link = 0;  ///< the number of the link (message, flits) or of the network
  Kind kind = Kind::message;
  Picoseconds acts = 0;  ///< it does nothing in the other part before that
  union {
    fabric::Transfer transfer;
    AnnouncedMessage announced;
  };
  fabric::Packet packet;
};

/// Which NPUs are in which part, and the way to the other parts.
class PartBorder {
 public:
  virtual ~PartBorder() = default;
  virtual uint32_t parts() const = 0;
  /// The part that this process simulates.
  virtual uint32_t self() const = 0;
  virtual uint32_t part_of(uint32_t rank) const = 0;
  /// Not before the other part's time has reached the next window does the transfer act there.
  virtual void post(uint32_t part, const PartTransfer& transfer) = 0;
};

/// One end of a cut link.
class PartEnd : public fabric::FabricEndpoint {
 public:
  ~PartEnd() override = default;
  /// From the other part to the end that is in this one.
  virtual void deliver(fabric::Transfer& transfer) = 0;
};

/// What gets the flits of a link of a packet network, or the messages of such a network, from other parts.
class PacketPart {
 public:
  virtual void take(const PartTransfer& from_there) = 0;

 protected:
  ~PacketPart() = default;
};

/// The cut links of one part. Links are numbered as they are cut: every part cuts the same ones in the same
/// order.
class PartLinks {
 public:
  /// Both outlive the object.
  PartLinks(PartBorder& border, fabric::PacketPool& pool) : border_(border), pool_(pool) {}

  bool own(uint32_t rank) const { return border_.part_of(rank) == border_.self(); }
  uint32_t self() const { return border_.self(); }
  uint32_t parts() const { return border_.parts(); }
  uint32_t part_of(uint32_t rank) const { return border_.part_of(rank); }

  /// A link of `latency` between two parts; null: that end is in another part than this.
  void cut(fabric::fabric_initiator_base* from, uint32_t from_part, fabric::fabric_target_base* to,
           uint32_t to_part, Picoseconds latency);

  /// The members of a carrier that are in other parts, as one more member of it. `rank_of`: of a member.
  void cut_members(fabric::DirectFabric& direct, std::function<uint32_t(uint32_t)> rank_of,
                   Picoseconds latency);

  /// A switch whose NPUs are in several parts has an image in each of them, whose outputs lead to the NPUs of
  /// that part. `next`: the part in which the message's next NPU is.
  using NextPart = std::function<uint32_t(const fabric::Packet& packet)>;
  /// The input of the image from an NPU of this part (`from` is not null), or of another one.
  void cut_input(fabric::fabric_initiator_base* from, fabric::fabric_target_base* image, NextPart next,
                 Picoseconds latency);

  /// Of a switch that has no image in this part: so many inputs of its images in others.
  void skip(uint32_t inputs, Picoseconds latency) {
    for (uint32_t i = 0; i < inputs; ++i) take_number(latency);
  }

  /// A link of a packet network: so much later than in one process a part hears of what another one
  /// does in it.
  void cut_packets(Picoseconds lateness) {
    lookahead_ = std::min(lookahead_, lateness);
    ++packet_links_;
  }
  /// The number of a cut link of a packet network, or of such a network. Null: nothing comes here by it.
  uint32_t number(PacketPart* taker) {
    packet_parts_.push_back(taker);
    return static_cast<uint32_t>(packet_parts_.size() - 1);
  }
  /// To another part; `acts` is set.
  void post(uint32_t part, const PartTransfer& transfer) { border_.post(part, transfer); }
  /// When what is posted without a time of its own is to act: no earlier than the other part's next window.
  Picoseconds next_window() const { return later(sc_core::sc_time_stamp().value(), lookahead_); }
  fabric::PacketPool& messages() { return pool_; }

  /// What comes from another part.
  void receive(const PartTransfer& from_there);

  /// The smallest latency of a cut link: so long does what happens in one part not touch another one. kNever:
  /// no link is cut.
  Picoseconds lookahead() const { return lookahead_; }
  uint32_t count() const { return static_cast<uint32_t>(ends_.size()) + packet_links_; }

  /// For the ends: the transfer leaves this part.
  void post(uint32_t part, uint32_t link, const fabric::Transfer& transfer);

 private:
  uint32_t take_number(Picoseconds latency);

  PartBorder& border_;
  fabric::PacketPool& pool_;
  std::vector<std::unique_ptr<PartEnd>> ends_;  ///< by number; null: neither end is in this part
  std::vector<PacketPart*> packet_parts_;       ///< by number
  uint32_t packet_links_ = 0;
  Picoseconds lookahead_ = kNever;
};

}  // namespace weft

#endif
