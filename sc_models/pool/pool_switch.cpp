// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_models/pool/pool_switch.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "sc_models/message_time.h"
#include "sc_models/pool/pool_causes.h"
#include "sc_models/pool/pool_data.h"

namespace weft {

using pool::PoolLayout;

PoolSwitch::PoolSwitch(sc_core::sc_module_name name, uint32_t node, PoolContext& context,
                       SwitchContext switch_context)
    : SwitchModel(name, std::move(switch_context)), node_(node), context_(context) {
  const auto& layout_ports = context.layout.ports(node);
  for (uint32_t p = 0; context.layout.folded() && p < layout_ports.size(); ++p)
    if (layout_ports[p].peer >= context.layout.group_node(0)) group_port_ = p;
  if (context.net != nullptr) context.net->attach(node, *this);
}

size_t PoolSwitch::in_flight() const {
  size_t waiting = queue_.size() + pieces_.size();
  for (const auto& members : members_)
    for (const auto& input : members.second.inputs) waiting += input.size();
  for (const auto& sum : sums_) waiting += sum.second.here;
  return waiting;
}

std::string PoolSwitch::explain_stall() const {
  if (sums_.empty()) return {};
  const Sum& sum = sums_.begin()->second;
  return fmt::format(
      "{} partial sums of scatter_store are not complete; the first has {} of {} contributions\n",
      sums_.size(), sum.here, sum.parts.size());
}

void PoolSwitch::arrive(const Arrival& arrival) {
  came(arrival.port, arrival.packet, arrival.tail);
}

void PoolSwitch::hold(const Held& held, Picoseconds at) {
  queue_.push(at, static_cast<uint64_t>(held.port) << 32 | arrivals_++, held);
  if (!working()) wake_at(at);
}

void PoolSwitch::came(uint32_t port, fabric::PacketRef message, Picoseconds at) {
  hold({at, message, port, 0}, at);
}

void PoolSwitch::control(uint32_t port, const fabric::Transfer& transfer) {
  credited(port, transfer.data, transfer.first);
}

void PoolSwitch::credited(uint32_t port, uint32_t set, Picoseconds at) {
  hold({at, fabric::kNoPacket, port, set}, at);
}

void PoolSwitch::left(uint32_t, const fabric::Packet& message, Picoseconds at) {
  if (static_cast<PoolMessage>(message.flags) != PoolMessage::scatter) return;
  leaving_.push(at, arrivals_++, set_of(message));
  if (!working()) wake_at(at);
}

/// A copy or a sum, and its last byte does not leave before `tail`.
void PoolSwitch::send_on(fabric::PacketRef ref, uint32_t port, Picoseconds now, Picoseconds tail) {
  if (context_.net != nullptr) {
    context_.net->send(node_, port, ref, now);
    return;
  }
  const bool sum = static_cast<PoolMessage>(packet(ref).flags) == PoolMessage::scatter;
  const uint32_t set = sum ? set_of(packet(ref)) : 0;
  const fabric::Link::Slot slot = pass_on(ref, port, now, tail);
  if (sum) leaving_.push(slot.end, arrivals_++, set);
}

PoolSwitch::Sums& PoolSwitch::sums_of(uint32_t set) {
  Sums& sums = members_[set];
  if (sums.inputs.empty()) {
    const size_t ports = context_.layout.ports(node_).size();
    sums.inputs.resize(ports);
    sums.ready.resize(ports);
    sums.credits.assign(ports, context_.pool.buffer);
  }
  return sums;
}

void PoolSwitch::give_credit(uint32_t port, uint32_t set, Picoseconds now) {
  if (context_.net != nullptr) {
    context_.net->credit(node_, port, set);
    return;
  }
  fabric::Transfer credit;
  credit.kind = fabric::Transfer::Kind::credit;
  credit.data = set;
  credit.first = later(now, ports()[port].link.latency());
  ports()[port].send(credit);
}

void PoolSwitch::work(Picoseconds now) {
  bool sums = false;
  while (queue_.next() <= now) {
    const Held held = queue_.pop().payload;
    if (held.packet == fabric::kNoPacket) {
      ++sums_of(held.set).credits[held.port];
      sums = true;
      continue;
    }
    switch (static_cast<PoolMessage>(packet(held.packet).flags)) {
      case PoolMessage::single:
        route(held.packet, held.port, now, held.tail);
        break;
      case PoolMessage::gather:
        copy_to_all(held.packet, now, held.tail);
        break;
      case PoolMessage::scatter:
        sums_of(set_of(packet(held.packet))).inputs[held.port].push_back(held.packet);
        sums = true;
        break;
    }
  }
  while (leaving_.next() <= now) {
    --sums_of(leaving_.pop().payload).places;
    sums = true;
  }
  for (auto& [set, of_members] : members_) {
    if (!sums) break;
    take_contributions(set, of_members, now);
    send_sums(of_members, now);
  }
  if (!pieces_.empty()) send_chunk(now);
  wake_at(std::min(queue_.next(), leaving_.next()));
}

void PoolSwitch::route(fabric::PacketRef ref, uint32_t, Picoseconds now, Picoseconds tail) {
  const fabric::Packet& p = packet(ref);
  const uint32_t out = context_.layout.next(node_, p.destination, PoolHeader::of(p).way);
  if (out == group_port_) {
    assemble(ref);
  } else {
    pass_on(ref, out, now, tail);
  }
}

fabric::Link::Slot PoolSwitch::pass_on(fabric::PacketRef ref, uint32_t port, Picoseconds now,
                                       Picoseconds tail) {
  if (context_.causes == nullptr) return forward(ref, port, now, tail);
  insight::AccessPart& part = context_.causes->part(ref);
  const insight::OnBehalf behalf(&context_.causes->log(), &part);
  const Picoseconds latency = ports()[port].sends().latency();
  const fabric::Link::Slot slot = forward(ref, port, now, tail);
  context_.causes->part(ref).came = slot.end + latency;
  return slot;
}

void PoolSwitch::copy_to_all(fabric::PacketRef ref, Picoseconds now, Picoseconds tail) {
  const std::vector<uint16_t>& children = tree(packet(ref), packet(ref).source).children[node_];
  for (size_t i = 0; i < children.size(); ++i) {
    fabric::PacketRef copy = ref;
    if (i + 1 < children.size()) {
      copy = packets().acquire();
      const fabric::Packet original = packets()[ref];
      fabric::Packet& fresh = packets()[copy];
      fresh = original;
      fresh.references = 1;
      if (context_.data != nullptr) fresh.data = context_.data->copy(original.data);
      if (context_.causes != nullptr) context_.causes->copied(ref, copy);
    }
    send_on(copy, children[i], now, tail);
  }
}

void PoolSwitch::assemble(fabric::PacketRef ref) {
  const fabric::Packet& p = packet(ref);
  PoolTransfer& transfer = context_.events.transfer(PoolHeader::of(p).transfer);
  StoreRound& round = context_.round;
  round.pending -= p.bytes;
  transfer.to_assemble -= p.bytes;
  pieces_.push_back(ref);
  pieces_bytes_ += p.bytes;
  if (transfer.to_assemble == 0) --round.active;
}

void PoolSwitch::send_chunk(Picoseconds now) {
  Port& port = ports()[group_port_];
  const StoreRound& round = context_.round;
  const bool complete = pieces_bytes_ >= round.bytes || round.pending == 0;
  if (!complete) return;
  if (port.link.free_at() > now) {
    wake_at(port.link.free_at());
    return;
  }
  uint64_t bytes = 0;
  size_t count = 0;
  while (count < pieces_.size() && (count == 0 || bytes < round.bytes))
    bytes += packet(pieces_[count++]).bytes;
  insight::AccessPart part;  // of the piece that came last
  if (context_.causes != nullptr) part = context_.causes->part(pieces_[count - 1]);
  message_in_time(name(), packet(pieces_.front()), [&] {
    const insight::OnBehalf behalf(context_.causes == nullptr ? nullptr : &context_.causes->log(), &part);
    const fabric::Link::Slot slot = port.link.occupy(now, bytes);
    part.came = slot.end + port.link.latency();
    for (size_t i = 0; i < count; ++i) {
      if (context_.causes != nullptr) context_.causes->part(pieces_.front()) = part;
      fabric::Transfer transfer;
      transfer.leave(slot.start, port.link.latency(), slot.end - slot.start);
      transfer.packet = pieces_.front();
      pieces_.pop_front();
      port.send(transfer);
    }
  });
  pieces_bytes_ -= bytes;
  if (!pieces_.empty()) wake_at(port.link.free_at());
}

bool PoolSwitch::is_next(uint32_t set, Sums& sums, const PoolHeader& header) {
  // The first chunk in the order of all members that passes here and has had no place yet.
  for (;;) {
    const PoolTransfer* const scatter = context_.events.scatter(set, sums.next_scatter);
    if (scatter == nullptr) return false;
    if (sums.next_chunk >= scatter->chunks.size()) {
      ++sums.next_scatter;
      sums.next_chunk = 0;
      continue;
    }
    const PoolTransfer::Chunk& chunk = scatter->chunks[sums.next_chunk];
    if (context_.layout.tree(chunk.group, chunk.way, set).children[node_].empty()) {
      ++sums.next_chunk;
      continue;
    }
    if (scatter->id != header.transfer || sums.next_chunk != header.chunk) return false;
    ++sums.next_chunk;
    return true;
  }
}

void PoolSwitch::take_contributions(uint32_t set, Sums& sums, Picoseconds now) {
  for (bool again = true; again;) {
    again = false;
    for (uint32_t port = 0; port < sums.inputs.size(); ++port)
      while (!sums.inputs[port].empty() && take(set, sums, port, now)) again = bounded();
  }
}

bool PoolSwitch::take(uint32_t set, Sums& sums, uint32_t port, Picoseconds now) {
  // Packets of different virtual channels may have overtaken each other: the first one that can be taken.
  for (size_t i = 0; i < sums.inputs[port].size(); ++i)
    if (take_one(set, sums, port, i, now)) return true;
  return false;
}

bool PoolSwitch::take_one(uint32_t set, Sums& sums, uint32_t port, size_t place, Picoseconds now) {
  const fabric::PacketRef ref = sums.inputs[port][place];
  const fabric::Packet& p = packet(ref);
  auto it = sums_.find(p.id_low);
  const std::vector<uint16_t>& children = tree(p, p.destination).children[node_];
  if (it == sums_.end()) {
    if (bounded() && (sums.places >= context_.pool.buffer || !is_next(set, sums, PoolHeader::of(p))))
      return false;
    it = sums_.emplace(p.id_low, Sum{}).first;
    it->second.parts.resize(children.size());
    if (bounded()) sums.ready[parent_port(p)].push_back(it->first);
    ++sums.places;
    most_sums_ = std::max<size_t>(most_sums_, sums.places);
  }
  Sum& sum = it->second;
  const auto child = static_cast<size_t>(
      std::find(children.begin(), children.end(), static_cast<uint16_t>(port)) - children.begin());
  sum.parts[child] = ref;
  sums.inputs[port].erase(sums.inputs[port].begin() + static_cast<std::ptrdiff_t>(place));
  if (++sum.here == sum.parts.size()) {
    sum.ready = true;
    if (context_.causes != nullptr) context_.causes->copied(ref, sum.parts.front());
    if (!bounded()) sums.ready[parent_port(p)].push_back(it->first);
  }
  if (bounded()) give_credit(port, set, now);
  return true;
}

uint32_t PoolSwitch::parent_port(const fabric::Packet& packet) const {
  const uint32_t port = tree(packet, packet.destination).parent[node_];
  if (context_.layout.ports(node_)[port].peer < context_.layout.group_node(0)) return port;
  return context_.layout.next(node_, packet.destination, PoolHeader::of(packet).way);
}

void PoolSwitch::send_sums(Sums& sums, Picoseconds now) {
  for (uint32_t port = 0; port < sums.ready.size(); ++port) {
    const bool to_group = context_.layout.ports(node_)[port].peer >= context_.layout.group_node(0);
    while (!sums.ready[port].empty() && (!bounded() || to_group || sums.credits[port] > 0)) {
      const auto it = sums_.find(sums.ready[port].front());
      const Sum& sum = it->second;
      if (!sum.ready) break;
      sums.ready[port].pop_front();
      const fabric::PacketRef result = sum.parts.front();
      if (context_.data != nullptr) {
        std::vector<uint32_t> parts;
        for (const fabric::PacketRef ref : sum.parts) parts.push_back(packet(ref).data);
        context_.data->combine(parts);
      }
      for (size_t i = 1; i < sum.parts.size(); ++i) packets().release(sum.parts[i]);
      sums_.erase(it);
      if (bounded() && !to_group) --sums.credits[port];
      send_on(result, port, now, now);
    }
  }
}

}  // namespace weft
