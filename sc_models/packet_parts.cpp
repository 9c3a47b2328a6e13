// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_models/packet_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "tlm_interconnect/border/border_socket.h"
#include "tlm_interconnect/packet/packet_network.h"

namespace weft {
namespace {

constexpr uint32_t kNowhere = ~0u;

}  // namespace

/// One end of a cut link.
class PacketParts::End final : public fabric::FabricEndpoint, public PacketPart {
 public:
  End(PartLinks& links, uint32_t other, const std::string& name, fabric::BorderSocket::Side side,
      const fabric::PacketLinkTerms& terms, fabric::PacketPool& pool)
      : FabricEndpoint(kTicksPerPicosecond),
        links_(links),
        other_(other),
        pool_(pool),
        socket_(name.c_str(), side, *this),
        entering_(terms.vcs, fabric::kNoPacket) {}

  fabric::BorderSocket& socket() { return socket_; }
  void set_number(uint32_t number) { number_ = number; }

  void receive(const fabric::Transfer& transfer) override {
    PartTransfer crossing;
    crossing.kind = PartTransfer::Kind::flits;
    crossing.link = number_;
    crossing.acts = transfer.first / kTicksPerPicosecond;
    crossing.transfer = transfer;
    const bool flits = transfer.kind == fabric::Transfer::Kind::burst;
    if (flits && transfer.first_flit == 0) crossing.packet = pool_[transfer.packet];
    if (flits && transfer.first_flit + transfer.flits == transfer.packet_flits)
      pool_.release(transfer.packet);
    links_.post(other_, crossing);
  }

  /// A packet is a new one here, made with its first flit.
  void take(const PartTransfer& from_there) override {
    fabric::Transfer transfer = from_there.transfer;
    if (transfer.kind == fabric::Transfer::Kind::burst) {
      fabric::PacketRef& entering = entering_[index(transfer.vc)];
      if (transfer.first_flit == 0) {
        entering = pool_.acquire();
        pool_[entering] = from_there.packet;
        pool_[entering].references = 1;
      }
      transfer.packet = entering;
    }
    socket_.send(transfer);
  }

 private:
  PartLinks& links_;
  const uint32_t other_;  ///< part
  fabric::PacketPool& pool_;
  fabric::BorderSocket socket_;
  std::vector<fabric::PacketRef> entering_;  ///< by VC
  uint32_t number_ = 0;
};

PacketParts::PacketParts(PartLinks& links, std::vector<uint32_t> parts,
                         const packet::PacketTopology& topology)
    : links_(links), parts_(std::move(parts)) {
  place_routers(topology);
}

PacketParts::~PacketParts() = default;

/// The router of an NPU is where that is, a switch where most of its neighbours are. Switches with as many
/// here as there take turns.
void PacketParts::place_routers(const packet::PacketTopology& topology) {
  routers_.assign(topology.routers.size(), kNowhere);
  for (uint32_t r = 0; r < topology.routers.size(); ++r)
    if (topology.routers[r].role == packet::RouterRole::npu) routers_[r] = parts_[topology.routers[r].rank];
  uint32_t turn = 0;
  for (bool more = true; more;) {
    more = false;
    std::vector<uint32_t> next = routers_;
    for (uint32_t r = 0; r < topology.routers.size(); ++r) {
      if (routers_[r] != kNowhere) continue;
      std::vector<uint32_t> neighbours(links_.parts(), 0);
      for (const packet::TopologyPort& port : topology.routers[r].ports) {
        const uint32_t part = !port.ni ? routers_[port.peer]
                              : topology.nis[port.peer].rank < parts_.size()
                                  ? parts_[topology.nis[port.peer].rank]
                                  : kNowhere;
        if (part != kNowhere) ++neighbours[part];
      }
      const uint32_t most = *std::max_element(neighbours.begin(), neighbours.end());
      if (most == 0) continue;
      std::vector<uint32_t> equal;
      for (uint32_t part = 0; part < neighbours.size(); ++part)
        if (neighbours[part] == most) equal.push_back(part);
      next[r] = equal.size() == 1 ? equal[0] : equal[turn++ % equal.size()];
      more = true;
    }
    routers_ = std::move(next);
  }
  for (uint32_t& part : routers_)
    if (part == kNowhere) part = 0;
}

packet::Joint PacketParts::join(const packet::LinkToJoin& link, fabric::fabric_initiator_socket& from,
                                fabric::fabric_target_socket& to) {
  using Side = fabric::BorderSocket::Side;
  const packet::TopologyPort& port = link.topology.routers[link.router].ports[link.port];
  const uint32_t here = routers_[link.router];
  const uint32_t rank = port.ni ? link.topology.nis[port.peer].rank : 0;
  const uint32_t there = !port.ni ? routers_[port.peer] : rank < parts_.size() ? parts_[rank] : here;
  if (here == there) {
    from.bind(to);
    return packet::Joint::bound;
  }
  links_.cut_packets(packet::lateness_of(link.terms) / kTicksPerPicosecond);
  const uint32_t self = links_.self();
  if (here != self && there != self) {
    links_.number(nullptr);
    from.bind(to);
    return packet::Joint::bound;
  }
  const bool of_router = here == self;
  const std::string name = fmt::format("part_end{}", ends_.size());
  ends_.push_back(std::make_unique<End>(links_, of_router ? there : here, name,
                                        of_router ? Side::target : Side::initiator, link.terms, link.pool));
  End& end = *ends_.back();
  end.set_number(links_.number(&end));
  parked_.push_back(
      std::make_unique<ParkedEnd>((name + "_parked").c_str(), of_router ? Side::initiator : Side::target));
  if (of_router) {
    from.bind(*end.socket().target());
    parked_.back()->initiator()->bind(to);
  } else {
    from.bind(*parked_.back()->target());
    end.socket().initiator()->bind(to);
  }
  return packet::Joint::part;
}

void PacketParts::divide(packet::PacketNetwork& network) {
  network_ = &network;
  network.messages().divide(links_.self(), links_.parts(), *this);
  number_ = links_.number(this);
}

void PacketParts::submitted(uint32_t handle, const packet::NetworkInterface& interface,
                            const packet::Message& message) {
  const uint32_t part = parts_[message.destination];
  if (part == links_.self()) return;
  PartTransfer transfer;
  transfer.kind = PartTransfer::Kind::announced;
  transfer.link = number_;
  transfer.acts = links_.next_window();
  transfer.announced = {};
  AnnouncedMessage& announced = transfer.announced;
  announced.submitted = message.submitted;
  announced.handle = handle;
  announced.place = static_cast<uint32_t>(message.id_high);
  announced.source = interface.rank();
  announced.destination = message.destination;
  announced.virtual_network = message.virtual_network;
  announced.flags = message.flags;
  transfer.packet = links_.messages()[static_cast<fabric::PacketRef>(message.id_low)];
  links_.post(part, transfer);
}

void PacketParts::take(const PartTransfer& from_there) {
  const AnnouncedMessage& announced = from_there.announced;
  packet::MessagePool& messages = network_->messages();
  if (from_there.kind == PartTransfer::Kind::ended) {
    links_.messages().release(static_cast<fabric::PacketRef>(messages[announced.handle].message.id_low));
    messages.release(announced.handle);
    return;
  }
  const fabric::PacketRef ref = links_.messages().acquire();
  links_.messages()[ref] = from_there.packet;
  links_.messages()[ref].references = 1;
  packet::Message message;
  message.bytes = from_there.packet.bytes;
  message.id_low = ref;
  message.id_high = announced.place;
  message.submitted = announced.submitted;
  message.source = announced.source;
  message.destination = announced.destination;
  message.virtual_network = announced.virtual_network;
  message.flags = announced.flags;
  messages.expect(announced.handle, message, network_->ni(0).segmentation().packets(message.bytes));
}

void PacketParts::ended(uint32_t handle) {
  PartTransfer transfer;
  transfer.kind = PartTransfer::Kind::ended;
  transfer.link = number_;
  transfer.acts = links_.next_window();
  transfer.announced = {};
  transfer.announced.handle = handle;
  links_.post(network_->messages().sender(handle), transfer);
}

}  // namespace weft
