// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_models/pool/cxl_memory_group.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "sc_models/message_time.h"
#include "sc_models/pool/pool_data.h"

namespace weft {

CxlMemoryGroup::CxlMemoryGroup(sc_core::sc_module_name name, uint32_t group, PoolContext& context,
                               const std::vector<fabric::LinkType*>& types,
                               const std::vector<fabric::Link*>& shared, fabric::LinkType& service)
    : sc_core::sc_module(name),
      group_(group),
      node_(context.layout.group_node(group)),
      context_(context),
      hop_(context.layout.group_hop()),
      ports_(types.size()),
      read_(service),
      write_(service),
      turns_(types.size()) {
  for (uint32_t p = 0; p < ports_.size(); ++p) {
    Port& port = ports_[p];
    port.owner = this;
    port.number = p;
    port.link = fabric::Link(*types[p]);
    port.shared = shared[p];
    port.target = std::make_unique<fabric::fabric_target_socket>(("g" + std::to_string(p)).c_str());
    port.target->bind(static_cast<fabric::fabric_fw_if&>(port));
  }
  context.wheel.add(*this);
}

uint32_t CxlMemoryGroup::add(Load load) {
  uint32_t number = static_cast<uint32_t>(loads_.size());
  if (free_.empty()) {
    loads_.push_back(std::move(load));
  } else {
    number = free_.back();
    free_.pop_back();
    loads_[number] = std::move(load);
  }
  return number;
}

void CxlMemoryGroup::load(PoolTransfer& transfer, Picoseconds at, uint64_t offset, uint64_t bytes) {
  if (bytes == 0) return;
  Load load;
  load.transfer = transfer.id;
  load.npu = transfer.npu;
  load.all = in_switch(transfer.operation);
  load.offset = offset;
  load.left = bytes;
  requests_.push(at, static_cast<uint64_t>(transfer.npu) << 32 | arrivals_++, add(std::move(load)));
  if (!running()) wake_at(at);
}

void CxlMemoryGroup::load(PoolTransfer& transfer, Picoseconds at, std::vector<Chunk> chunks) {
  if (chunks.empty()) return;
  Load load;
  load.transfer = transfer.id;
  load.npu = transfer.npu;
  load.chunks = std::move(chunks);
  requests_.push(at, static_cast<uint64_t>(transfer.npu) << 32 | arrivals_++, add(std::move(load)));
  if (!running()) wake_at(at);
}

void CxlMemoryGroup::gather(PoolTransfer& transfer, Picoseconds at, std::vector<uint32_t> numbers) {
  if (numbers.empty()) return;
  Load load;
  load.transfer = transfer.id;
  load.all = true;
  for (const uint32_t number : numbers) load.chunks.push_back({number, transfer.chunks[number].way});
  requests_.push(at, arrivals_++, add(std::move(load)));
  if (!running()) wake_at(at);
}

void CxlMemoryGroup::arrive(uint32_t port, const fabric::Transfer& transfer) {
  const Picoseconds tail = transfer.first + transfer.flit_time;
  if (!hop_) {
    take(transfer.packet, tail);
    return;
  }
  stores_.push(tail, static_cast<uint64_t>(port) << 32 | arrivals_++, {transfer.packet});
  if (!running()) wake_at(tail);
}

void CxlMemoryGroup::take(fabric::PacketRef ref, Picoseconds at) {
  const fabric::Packet& packet = context_.packets[ref];
  const PoolHeader header = PoolHeader::of(packet);
  PoolTransfer& transfer = context_.events.transfer(header.transfer);
  if (context_.data != nullptr) context_.data->write(transfer, header.offset, packet.data);
  const uint64_t bytes = packet.bytes;
  context_.packets.release(ref);
  context_.events.stored(transfer, bytes, at);
}

Picoseconds CxlMemoryGroup::service_free() const {
  return hop_ ? read_.free_at() : ports_.front().sends().free_at();
}

void CxlMemoryGroup::activate(Picoseconds now) {
  ++activations_;
  while (stores_.next() <= now) {
    const fabric::PacketRef ref = stores_.pop().payload.packet;
    const fabric::Packet& packet = context_.packets[ref];
    message_in_time(name(), packet, [&] { take(ref, write_.occupy(now, packet.bytes).end); });
  }
  while (requests_.next() <= now) {
    const uint32_t number = requests_.pop().payload;
    Load& load = loads_[number];
    if (whole()) {
      for (const Chunk& chunk : load.chunks)
        turns_[port_of(chunk.way)].push({turn_ + chunk.number, load.npu, number, chunk});
      turns_waiting_ += load.chunks.size();
      load.unserved = load.chunks.size();
      load.chunks = {};
    } else {
      waiting_.push_back(number);
    }
  }
  if (whole()) {
    while (turns_waiting_ != 0 && service_free() <= now) serve_chunk(now);
  } else {
    while (!waiting_.empty() && service_free() <= now) serve_round(now);
  }
  Picoseconds next = std::min(stores_.next(), requests_.next());
  if (turns_waiting_ != 0 || !waiting_.empty()) next = std::min(next, std::max(now, service_free()));
  wake_at(next);
}

uint32_t CxlMemoryGroup::port_of(uint32_t way) const {
  return context_.layout.next(node_, 0, way);
}

/// A round: a chunk of each link, in equal parts of the loads that wait.
void CxlMemoryGroup::serve_round(Picoseconds now) {
  Port& port = ports_.front();
  Wide all = 0;
  uint64_t least = ~uint64_t{0};
  uint64_t most = 0;
  for (const uint32_t number : waiting_) {
    const uint64_t left = loads_[number].left;
    all += left;
    least = std::min(least, left);
    most = std::max(most, left);
  }
  const Wide room = static_cast<Wide>(context_.layout.round_links()) * context_.pool.chunk;
  const Wide rounds = (all + room - 1) / room;
  auto budget = static_cast<uint64_t>((all + rounds - 1) / rounds);
  // Those with little left first: what they do not need is the others'.
  std::vector<uint32_t> order = waiting_;
  if (least != most)
    std::stable_sort(order.begin(), order.end(),
                     [&](uint32_t a, uint32_t b) { return loads_[a].left < loads_[b].left; });
  std::vector<uint64_t> parts(loads_.size());
  uint64_t total = 0;
  for (size_t i = 0; i < order.size(); ++i) {
    const uint64_t share = (budget + (order.size() - i) - 1) / (order.size() - i);
    const uint64_t part = std::min(loads_[order[i]].left, share);
    parts[order[i]] = part;
    budget -= std::min(budget, part);
    total += part;
  }
  const std::string first =
      context_.events.transfer(loads_[waiting_.front()].transfer).operation == PoolOperation::gather_load
          ? "gather_load"
          : "load";
  const fabric::Link::Slot slot = in_time(
      [&] { return port.sends().occupy(hop_ ? read_.occupy(now, total).end : now, total); },
      [&] { return fmt::format("{}: a round of {} B of a {}", name(), total, first); }, kMessageRemedy);
  std::vector<uint32_t> still;
  for (const uint32_t number : waiting_) {
    Load& load = loads_[number];
    const uint64_t part = parts[number];
    if (part != 0) {
      send(load, load.offset, part, load.rounds++, context_.layout.fluid_way(group_, load.all ? 0 : load.npu),
           slot, port);
      load.offset += part;
      load.left -= part;
    }
    if (load.left != 0)
      still.push_back(number);
    else
      free_.push_back(number);
  }
  waiting_ = std::move(still);
}

void CxlMemoryGroup::serve_chunk(Picoseconds now) {
  const uint32_t number = next_port();
  const Turn turn = turns_[number].top();
  turns_[number].pop();
  --turns_waiting_;
  turn_ = std::max(turn_, turn.key);
  Load& load = loads_[turn.load];
  const Chunk chunk = turn.chunk;
  const PoolTransfer& transfer = context_.events.transfer(load.transfer);
  uint64_t offset = chunk.number * context_.pool.chunk;
  uint64_t bytes = 0;
  if (load.all) {
    offset = transfer.chunks[chunk.number].offset;
    bytes = transfer.chunks[chunk.number].bytes;
  } else {
    bytes = std::min(context_.pool.chunk, transfer.bytes - offset);
  }
  Port& port = ports_[number];
  const fabric::Link::Slot slot = in_time(
      [&] { return port.sends().occupy(hop_ ? read_.occupy(now, bytes).end : now, bytes); },
      [&] {
        return fmt::format("{}: a chunk of {} B of a {}", name(), bytes, to_string(transfer.operation));
      },
      kMessageRemedy);
  send(load, offset, bytes, chunk.number, chunk.way, slot, port);
  if (--load.unserved == 0) free_.push_back(turn.load);
}

uint32_t CxlMemoryGroup::next_port() const {
  uint32_t best = ~0u;
  for (uint32_t p = 0; p < turns_.size(); ++p) {
    if (turns_[p].empty()) continue;
    if (best == ~0u) {
      best = p;
      continue;
    }
    const Picoseconds free = ports_[p].sends().free_at();
    const Picoseconds best_free = ports_[best].sends().free_at();
    if (free < best_free || (free == best_free && turns_[best].top() > turns_[p].top())) best = p;
  }
  return best;
}

void CxlMemoryGroup::send(Load& load, uint64_t offset, uint64_t bytes, uint32_t chunk, uint32_t way,
                          const fabric::Link::Slot& slot, Port& port) {
  PoolHeader header;
  header.transfer = load.transfer;
  header.chunk = chunk;
  header.way = way;
  header.offset = offset;
  header.kind = load.all ? PoolMessage::gather : PoolMessage::single;
  const fabric::PacketRef ref =
      make_pool_message(context_, header, node_, load.all ? kAllNpus : load.npu, bytes);
  if (context_.data != nullptr)
    context_.packets[ref].data = context_.data->read(context_.events.transfer(load.transfer), offset, bytes);
  fabric::Transfer transfer;
  transfer.leave(slot.start, port.sends().latency(), slot.end - slot.start);
  transfer.packet = ref;
  fabric::FabricPhase phase = fabric::FabricPhase::transfer;
  sc_core::sc_time zero;
  (*port.target)->nb_transport_bw(transfer, phase, zero);
}

void CxlMemoryGroup::count(Counters& counters) const {
  counters.activations += activations_;
  counters.in_flight += stores_.size() + waiting_.size() + turns_waiting_ + requests_.size();
  for (const Port& port : ports_) {
    counters.link_bytes += port.link.bytes();
    counters.link_messages += port.link.messages();
  }
}

std::string CxlMemoryGroup::stall_text() const {
  const size_t held = waiting_.size() + turns_waiting_;
  return held == 0 ? std::string() : fmt::format("{}: {} loads are not served\n", name(), held);
}

}  // namespace weft
