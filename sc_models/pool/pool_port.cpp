// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_models/pool/pool_port.h"

#include <fmt/format.h>

#include <algorithm>

#include "sc_models/message_time.h"
#include "sc_models/pool/pool_data.h"

namespace weft {

PoolPort::PoolPort(sc_core::sc_module_name name, uint32_t npu, PoolContext& context,
                   const std::vector<fabric::LinkType*>& types, const std::vector<fabric::Link*>& shared)
    : sc_core::sc_module(name),
      npu_(npu),
      context_(context),
      ends_(types.size()),
      striping_(pool::make_striping(context.pool.striping, context.pool.groups, context.layout.ways())) {
  for (uint32_t e = 0; e < ends_.size(); ++e) {
    End& end = ends_[e];
    end.owner = this;
    end.number = e;
    end.link = fabric::Link(*types[e]);
    end.shared = shared[e];
    end.credits = context.pool.buffer;
    end.socket = std::make_unique<fabric::fabric_initiator_socket>(("port" + std::to_string(e)).c_str());
    end.socket->bind(static_cast<fabric::fabric_bw_if&>(end));
  }
  context.wheel.add(*this);
}

void PoolPort::store(PoolTransfer& transfer) {
  Store store;
  store.transfer = transfer.id;
  store.left = transfer.tensor;
  const bool spread = context_.pool.split == PoolSplit::fluid && !context_.layout.folded();
  if (spread && !in_switch(transfer.operation)) {
    const uint64_t groups = context_.pool.groups;
    uint64_t offset = 0;
    for (uint64_t r = 0; r < groups; ++r) {
      store.group_left.push_back(transfer.bytes / groups + (r < transfer.bytes % groups ? 1 : 0));
      store.group_offset.push_back(offset);
      offset += store.group_left.back();
    }
  }
  stores_.push_back(std::move(store));
  if (!running()) wake_at(sc_core::sc_time_stamp().value());
}

void PoolPort::take(uint32_t end, const fabric::Transfer& transfer) {
  const Picoseconds tail = transfer.first + transfer.flit_time;
  if (transfer.kind == fabric::Transfer::Kind::credit) {
    credits_coming_.push(tail, arrivals_++, end);
    if (!running()) wake_at(tail);
    return;
  }
  const fabric::Packet& packet = context_.packets[transfer.packet];
  const PoolHeader header = PoolHeader::of(packet);
  PoolTransfer& access = context_.events.transfer(header.transfer);
  if (context_.data != nullptr) context_.data->receive(access, npu_, header.offset, packet.data);
  const uint64_t bytes = packet.bytes;
  context_.packets.release(transfer.packet);
  context_.events.loaded(access, npu_, bytes, tail);
}

void PoolPort::choose() {
  if (piece_ || stores_.empty()) return;
  Store& store = stores_.front();
  PoolTransfer& transfer = context_.events.transfer(store.transfer);
  piece_ = next_piece(store, transfer);
  const uint32_t group = context_.layout.group_node(piece_->group);
  piece_->sum = in_switch(transfer.operation);
  piece_->end = piece_->sum ? context_.layout.tree(piece_->group, piece_->way).parent[npu_]
                            : context_.layout.next(npu_, group, piece_->way);
}

bool PoolPort::has_credit() const {
  return context_.pool.buffer == 0 || !piece_->sum || ends_[piece_->end].credits > 0;
}

void PoolPort::activate(Picoseconds now) {
  ++activations_;
  while (credits_coming_.next() <= now) ++ends_[credits_coming_.pop().payload].credits;
  for (choose(); piece_ && has_credit() && ends_[piece_->end].free_at <= now; choose()) send(now);
  Picoseconds next = credits_coming_.next();
  if (piece_ && has_credit()) next = std::min(next, ends_[piece_->end].free_at);
  wake_at(next);
}

/// `split: fluid`: this NPU's part of a chunk of each link.
PoolPort::Piece PoolPort::next_of_round(Store& store, PoolTransfer& transfer) {
  StoreRound& round = context_.round;
  const Wide room = static_cast<Wide>(context_.layout.round_links()) * context_.pool.chunk;
  const Wide rounds = (static_cast<Wide>(store.left) * std::max(1u, round.active) + room - 1) / room;
  Piece piece;
  piece.offset = store.offset;
  piece.bytes = static_cast<uint64_t>((store.left + rounds - 1) / rounds);
  round.bytes += piece.bytes;
  round.bytes -= transfer.piece;
  transfer.piece = piece.bytes;
  piece.chunk = store.chunk++;
  return piece;
}

/// .. of a chunk of one group; the groups take turns, from another one on at each NPU.
PoolPort::Piece PoolPort::next_of_groups(Store& store) {
  const uint32_t groups = context_.pool.groups;
  Piece piece;
  do {
    piece.group = (store.chunk + npu_) % groups;
    piece.chunk = store.chunk++;
  } while (store.group_left[piece.group] == 0);
  const Wide left = store.group_left[piece.group];
  const Wide rounds =
      (left * std::max(1u, context_.round.active) + context_.pool.chunk - 1) / context_.pool.chunk;
  piece.way = context_.layout.fluid_way(piece.group, npu_);
  piece.offset = store.group_offset[piece.group];
  piece.bytes = static_cast<uint64_t>((left + rounds - 1) / rounds);
  store.group_left[piece.group] -= piece.bytes;
  store.group_offset[piece.group] += piece.bytes;
  return piece;
}

PoolPort::Piece PoolPort::next_piece(Store& store, PoolTransfer& transfer) {
  if (in_switch(transfer.operation)) {
    const PoolTransfer::Chunk& chunk = transfer.chunks[store.chunk];
    return {chunk.group, chunk.way, chunk.offset, chunk.bytes, store.chunk++};
  }
  if (context_.layout.folded()) return next_of_round(store, transfer);
  if (context_.pool.split == PoolSplit::fluid) return next_of_groups(store);
  const pool::Place place = striping_->place(npu_, store.chunk);
  return {place.group, place.way, store.offset, std::min(context_.pool.chunk, store.left), store.chunk++};
}

void PoolPort::send(Picoseconds now) {
  Store& store = stores_.front();
  PoolTransfer& transfer = context_.events.transfer(store.transfer);
  const Piece piece = *piece_;
  End& end = ends_[piece.end];
  PoolHeader header;
  header.transfer = store.transfer;
  header.chunk = piece.chunk;
  header.way = piece.way;
  header.offset = piece.offset;
  header.kind = piece.sum ? PoolMessage::scatter : PoolMessage::single;
  const fabric::PacketRef ref =
      make_pool_message(context_, header, npu_, context_.layout.group_node(piece.group), piece.bytes);
  fabric::Packet& packet = context_.packets[ref];
  if (context_.data != nullptr) packet.data = context_.data->send(transfer, npu_, piece.offset, piece.bytes);
  if (piece.sum && context_.pool.buffer != 0) --end.credits;
  message_in_time(name(), packet, [&] {
    fabric::Link& link = end.sends();
    const fabric::Link::Slot slot = link.occupy(now, piece.bytes);
    end.free_at = link.free_at();
    fabric::Transfer out;
    out.leave(slot.start, link.latency(), slot.end - slot.start);
    out.packet = ref;
    fabric::FabricPhase phase = fabric::FabricPhase::transfer;
    sc_core::sc_time zero;
    store.offset += piece.bytes;
    store.left -= piece.bytes;
    if (store.left == 0) stores_.pop_front();
    piece_.reset();
    (*end.socket)->nb_transport_fw(out, phase, zero);
  });
}

void PoolPort::count(Counters& counters) const {
  counters.activations += activations_;
  counters.in_flight += stores_.size();
  for (const End& end : ends_) {
    counters.link_bytes += end.link.bytes();
    counters.link_messages += end.link.messages();
  }
}

std::string PoolPort::stall_text() const {
  if (stores_.empty()) return {};
  return fmt::format("{}: {} B of a store are not sent{}\n", name(), stores_.front().left,
                     !piece_ || has_credit() ? "" : ": no credit for partial sums");
}

}  // namespace weft
