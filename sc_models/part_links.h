// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// A machine in parts: several processes simulate it, each of them some of its NPUs (docs/parts.md). A link
// whose ends are in different parts is cut. Each of its ends is joined with a PartEnd, which hands what the
// end sends to the other part, and sends on what comes from there.

#ifndef WEFT_SC_MODELS_PART_LINKS_H
#define WEFT_SC_MODELS_PART_LINKS_H

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "tlm_interconnect/fabric/direct_fabric.h"
#include "tlm_interconnect/protocol/fabric_protocol.h"
#include "tlm_interconnect/protocol/packet_pool.h"

namespace weft {

/// A transfer between parts, with its message.
struct PartTransfer {
  uint32_t link = 0;  ///< its number: PartLinks
  fabric::Transfer transfer;
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

  /// What comes from another part.
  void receive(const PartTransfer& from_there);

  /// The smallest latency of a cut link: so long does what happens in one part not touch another one. kNever:
  /// no link is cut.
  Picoseconds lookahead() const { return lookahead_; }
  uint32_t count() const { return static_cast<uint32_t>(ends_.size()); }

  /// For the ends: the transfer leaves this part.
  void post(uint32_t part, uint32_t link, const fabric::Transfer& transfer);

 private:
  uint32_t take_number(Picoseconds latency);

  PartBorder& border_;
  fabric::PacketPool& pool_;
  std::vector<std::unique_ptr<PartEnd>> ends_;  ///< by number; null: neither end is in this part
  Picoseconds lookahead_ = kNever;
};

}  // namespace weft

#endif
