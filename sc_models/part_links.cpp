// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_models/part_links.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>

namespace weft {
namespace {

template <typename Socket>
void hand_forward(Socket& socket, fabric::Transfer& transfer) {
  fabric::FabricPhase phase = fabric::FabricPhase::transfer;
  sc_core::sc_time zero;
  socket->nb_transport_fw(transfer, phase, zero);
}

template <typename Socket>
void hand_back(Socket& socket, fabric::Transfer& transfer) {
  fabric::FabricPhase phase = fabric::FabricPhase::transfer;
  sc_core::sc_time zero;
  socket->nb_transport_bw(transfer, phase, zero);
}

std::string end_name(uint32_t number) {
  return fmt::format("part_link{}", number);
}

/// The initiator of the link is in this part.
class BehindInitiator final : public PartEnd {
 public:
  BehindInitiator(PartLinks& links, uint32_t number, uint32_t to, fabric::fabric_initiator_base& from)
      : links_(links), number_(number), to_(to), socket_(end_name(number).c_str()) {
    socket_.bind(static_cast<fabric::fabric_fw_if&>(*this));
    fabric::join(from, socket_);
  }
  void receive(const fabric::Transfer& transfer) override { links_.post(to_, number_, transfer); }
  void deliver(fabric::Transfer& transfer) override { hand_back(socket_, transfer); }

 private:
  PartLinks& links_;
  const uint32_t number_;
  const uint32_t to_;
  fabric::fabric_target_socket socket_;
};

/// Its target is.
class BeforeTarget final : public PartEnd {
 public:
  BeforeTarget(PartLinks& links, uint32_t number, uint32_t to, fabric::fabric_target_base& target)
      : links_(links), number_(number), to_(to), socket_(end_name(number).c_str()) {
    socket_.bind(static_cast<fabric::fabric_bw_if&>(*this));
    fabric::join(socket_, target);
  }
  void receive(const fabric::Transfer& transfer) override { links_.post(to_, number_, transfer); }
  void deliver(fabric::Transfer& transfer) override { hand_forward(socket_, transfer); }

 private:
  PartLinks& links_;
  const uint32_t number_;
  const uint32_t to_;
  fabric::fabric_initiator_socket socket_;
};

/// The carrier's members in other parts.
class FarMembers final : public PartEnd {
 public:
  FarMembers(PartLinks& links, uint32_t number, fabric::DirectFabric& direct,
             std::function<uint32_t(uint32_t)> rank_of)
      : links_(links),
        number_(number),
        direct_(direct),
        rank_of_(std::move(rank_of)),
        socket_(end_name(number).c_str()) {
    socket_.bind(static_cast<fabric::fabric_bw_if&>(*this));
    direct.bind_member(socket_);
  }
  void receive(const fabric::Transfer& transfer) override {
    links_.post(links_.part_of(rank_of_(transfer.target)), number_, transfer);
  }
  void deliver(fabric::Transfer& transfer) override { direct_.deliver(transfer); }

 private:
  PartLinks& links_;
  const uint32_t number_;
  fabric::DirectFabric& direct_;
  const std::function<uint32_t(uint32_t)> rank_of_;
  fabric::fabric_initiator_socket socket_;
};

/// Between an NPU of this part and a switch that has images: a message goes to the image of the part in which
/// its next NPU is.
class ImageInput final : public PartEnd {
 public:
  ImageInput(PartLinks& links, uint32_t number, PartLinks::NextPart next, fabric::PacketPool& pool,
             fabric::fabric_initiator_base& from, fabric::fabric_target_base& image)
      : links_(links),
        number_(number),
        next_(std::move(next)),
        pool_(pool),
        back_(*this),
        in_(end_name(number).c_str()),
        out_((end_name(number) + "_image").c_str()) {
    in_.bind(static_cast<fabric::fabric_fw_if&>(*this));
    fabric::join(from, in_);
    out_.bind(static_cast<fabric::fabric_bw_if&>(back_));
    fabric::join(out_, image);
  }
  void receive(const fabric::Transfer& transfer) override {
    const uint32_t part = next_(pool_[transfer.packet]);
    if (part != links_.self()) return links_.post(part, number_, transfer);
    fabric::Transfer copy = transfer;
    hand_forward(out_, copy);
  }
  void deliver(fabric::Transfer&) override {
    throw std::logic_error("the input of a switch's image got a message of its own NPU from another part");
  }

 private:
  /// What the image sends to the NPU.
  struct Back final : fabric::FabricEndpoint {
    explicit Back(ImageInput& input) : of(input) {}
    void receive(const fabric::Transfer& transfer) override {
      fabric::Transfer copy = transfer;
      hand_back(of.in_, copy);
    }
    ImageInput& of;
  };

  PartLinks& links_;
  const uint32_t number_;
  const PartLinks::NextPart next_;
  const fabric::PacketPool& pool_;
  Back back_;
  fabric::fabric_target_socket in_;
  fabric::fabric_initiator_socket out_;
};

/// The input of an image from an NPU of another part. The image's output to that NPU is not used.
class FarInput final : public PartEnd {
 public:
  FarInput(uint32_t number, fabric::fabric_target_base& image) : socket_(end_name(number).c_str()) {
    socket_.bind(static_cast<fabric::fabric_bw_if&>(*this));
    fabric::join(socket_, image);
  }
  void receive(const fabric::Transfer&) override {
    throw std::logic_error("the image of a switch sent a message to an NPU of another part");
  }
  void deliver(fabric::Transfer& transfer) override { hand_forward(socket_, transfer); }

 private:
  fabric::fabric_initiator_socket socket_;
};

}  // namespace

uint32_t PartLinks::take_number(Picoseconds latency) {
  lookahead_ = std::min(lookahead_, latency);
  ends_.emplace_back();
  return static_cast<uint32_t>(ends_.size() - 1);
}

void PartLinks::cut(fabric::fabric_initiator_base* from, uint32_t from_part, fabric::fabric_target_base* to,
                    uint32_t to_part, Picoseconds latency) {
  const uint32_t number = take_number(latency);
  if (from != nullptr) ends_[number] = std::make_unique<BehindInitiator>(*this, number, to_part, *from);
  if (to != nullptr) ends_[number] = std::make_unique<BeforeTarget>(*this, number, from_part, *to);
}

void PartLinks::cut_members(fabric::DirectFabric& direct, std::function<uint32_t(uint32_t)> rank_of,
                            Picoseconds latency) {
  const uint32_t number = take_number(latency);
  ends_[number] = std::make_unique<FarMembers>(*this, number, direct, std::move(rank_of));
}

void PartLinks::cut_input(fabric::fabric_initiator_base* from, fabric::fabric_target_base* image,
                          NextPart next, Picoseconds latency) {
  const uint32_t number = take_number(latency);
  if (image == nullptr) return;
  if (from != nullptr)
    ends_[number] = std::make_unique<ImageInput>(*this, number, std::move(next), pool_, *from, *image);
  else
    ends_[number] = std::make_unique<FarInput>(number, *image);
}

void PartLinks::post(uint32_t part, uint32_t link, const fabric::Transfer& transfer) {
  PartTransfer crossing;
  crossing.link = link;
  crossing.acts = transfer.first;
  crossing.transfer = transfer;
  crossing.packet = pool_[transfer.packet];
  border_.post(part, crossing);
  // Whoever waits for the message to be injected has a reference of its own.
  pool_.release(transfer.packet);
}

void PartLinks::receive(const PartTransfer& from_there) {
  if (from_there.kind != PartTransfer::Kind::message) return packet_parts_[from_there.link]->take(from_there);
  const fabric::PacketRef ref = pool_.acquire();
  pool_[ref] = from_there.packet;
  pool_[ref].references = 1;
  fabric::Transfer transfer = from_there.transfer;
  transfer.packet = ref;
  ends_[from_there.link]->deliver(transfer);
}

}  // namespace weft
