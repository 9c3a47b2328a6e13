// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_models/pool/pool_switch.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "sc_models/message_time.h"
#include "sc_models/pool/pool_data.h"

namespace weft {

using pool::PoolLayout;

PoolSwitch::PoolSwitch(sc_core::sc_module_name name, uint32_t node, PoolContext& context,
                       SwitchContext switch_context)
    : SwitchModel(name, std::move(switch_context)), node_(node), context_(context) {
  const auto& layout_ports = context.layout.ports(node);
  inputs_.resize(layout_ports.size());
  ready_.resize(layout_ports.size());
  credits_.assign(layout_ports.size(), context.pool.buffer);
  for (uint32_t p = 0; context.layout.folded() && p < layout_ports.size(); ++p)
    if (layout_ports[p].peer >= context.layout.group_node(0)) group_port_ = p;
}

size_t PoolSwitch::in_flight() const {
  size_t waiting = queue_.size() + pieces_.size();
  for (const auto& input : inputs_) waiting += input.size();
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
  queue_.push(arrival.tail, static_cast<uint64_t>(arrival.port) << 32 | arrivals_++,
              {arrival.tail, arrival.packet, arrival.port});
  if (!working()) wake_at(arrival.tail);
}

void PoolSwitch::control(uint32_t port, const fabric::Transfer& transfer) {
  queue_.push(transfer.first, static_cast<uint64_t>(port) << 32 | arrivals_++,
              {transfer.first, fabric::kNoPacket, port});
  if (!working()) wake_at(transfer.first);
}

void PoolSwitch::work(Picoseconds now) {
  bool sums = false;
  while (queue_.next() <= now) {
    const Held held = queue_.pop().payload;
    if (held.packet == fabric::kNoPacket) {
      ++credits_[held.port];
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
        inputs_[held.port].push_back(held.packet);
        sums = true;
        break;
    }
  }
  while (leaving_.next() <= now) {
    leaving_.pop();
    --places_;
    sums = true;
  }
  if (sums) {
    take_contributions(now);
    send_sums(now);
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
    forward(ref, out, now, tail);
  }
}

void PoolSwitch::copy_to_all(fabric::PacketRef ref, Picoseconds now, Picoseconds tail) {
  const PoolHeader header = PoolHeader::of(packet(ref));
  const std::vector<uint16_t>& children = tree(header, packet(ref).source).children[node_];
  for (size_t i = 0; i < children.size(); ++i) {
    fabric::PacketRef copy = ref;
    if (i + 1 < children.size()) {
      copy = packets().acquire();
      const fabric::Packet original = packets()[ref];
      fabric::Packet& fresh = packets()[copy];
      fresh = original;
      fresh.references = 1;
      if (context_.data != nullptr) fresh.data = context_.data->copy(original.data);
    }
    forward(copy, children[i], now, tail);
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
  message_in_time(name(), packet(pieces_.front()), [&] {
    const fabric::Link::Slot slot = port.link.occupy(now, bytes);
    for (size_t i = 0; i < count; ++i) {
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

bool PoolSwitch::is_next(const PoolHeader& header) {
  // The first chunk in the order of all NPUs that passes here and has had no place yet.
  for (;;) {
    const PoolTransfer* const scatter = context_.events.scatter(next_scatter_);
    if (scatter == nullptr) return false;
    if (next_chunk_ >= scatter->chunks.size()) {
      ++next_scatter_;
      next_chunk_ = 0;
      continue;
    }
    const PoolTransfer::Chunk& chunk = scatter->chunks[next_chunk_];
    if (context_.layout.tree(chunk.group, chunk.way).children[node_].empty()) {
      ++next_chunk_;
      continue;
    }
    if (scatter->id != header.transfer || next_chunk_ != header.chunk) return false;
    ++next_chunk_;
    return true;
  }
}

void PoolSwitch::take_contributions(Picoseconds now) {
  for (bool again = true; again;) {
    again = false;
    for (uint32_t port = 0; port < inputs_.size(); ++port)
      while (!inputs_[port].empty() && take(port, now)) again = bounded();
  }
}

bool PoolSwitch::take(uint32_t port, Picoseconds now) {
  const fabric::PacketRef ref = inputs_[port].front();
  const fabric::Packet& p = packet(ref);
  const PoolHeader header = PoolHeader::of(p);
  auto it = sums_.find(p.id_low);
  const std::vector<uint16_t>& children = tree(header, p.destination).children[node_];
  if (it == sums_.end()) {
    if (bounded() && (places_ >= context_.pool.buffer || !is_next(header))) return false;
    it = sums_.emplace(p.id_low, Sum{}).first;
    it->second.parts.resize(children.size());
    if (bounded()) ready_[parent_port(header, p.destination)].push_back(it->first);
    ++places_;
    most_sums_ = std::max<size_t>(most_sums_, places_);
  }
  Sum& sum = it->second;
  const auto child = static_cast<size_t>(
      std::find(children.begin(), children.end(), static_cast<uint16_t>(port)) - children.begin());
  sum.parts[child] = ref;
  inputs_[port].pop_front();
  if (++sum.here == sum.parts.size()) {
    sum.ready = true;
    if (!bounded()) ready_[parent_port(header, p.destination)].push_back(it->first);
  }
  if (bounded()) {
    fabric::Transfer credit;
    credit.kind = fabric::Transfer::Kind::credit;
    credit.first = later(now, ports()[port].link.latency());
    ports()[port].send(credit);
  }
  return true;
}

uint32_t PoolSwitch::parent_port(const PoolHeader& header, uint32_t group_node) const {
  const uint32_t port = tree(header, group_node).parent[node_];
  if (context_.layout.ports(node_)[port].peer < context_.layout.group_node(0)) return port;
  return context_.layout.next(node_, group_node, header.way);
}

void PoolSwitch::send_sums(Picoseconds now) {
  for (uint32_t port = 0; port < ready_.size(); ++port) {
    const bool to_group = context_.layout.ports(node_)[port].peer >= context_.layout.group_node(0);
    while (!ready_[port].empty() && (!bounded() || to_group || credits_[port] > 0)) {
      const auto it = sums_.find(ready_[port].front());
      const Sum& sum = it->second;
      if (!sum.ready) break;
      ready_[port].pop_front();
      const fabric::PacketRef result = sum.parts.front();
      if (context_.data != nullptr) {
        std::vector<uint32_t> parts;
        for (const fabric::PacketRef ref : sum.parts) parts.push_back(packet(ref).data);
        context_.data->combine(parts);
      }
      for (size_t i = 1; i < sum.parts.size(); ++i) packets().release(sum.parts[i]);
      sums_.erase(it);
      if (bounded() && !to_group) --credits_[port];
      const fabric::Link::Slot slot = forward(result, port, now, now);
      leaving_.push(slot.end, arrivals_++, 0);
    }
  }
}

}  // namespace weft
