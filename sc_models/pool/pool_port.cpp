// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_models/pool/pool_port.h"

#include <fmt/format.h>

#include <algorithm>

#include "sc_models/message_time.h"
#include "sc_models/pool/pool_causes.h"
#include "sc_models/pool/pool_data.h"

namespace weft {
namespace {

/// Chunks that an NPU sends at once, at packet fidelity, where links to groups are slower than its own.
constexpr double kMostChunks = 64;
/// Chunks for which it asks groups, at packet fidelity: enough for all of them to have some.
constexpr uint32_t kMostAsked = 64;

}  // namespace

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
    if (context.net != nullptr) continue;
    end.socket = std::make_unique<fabric::fabric_initiator_socket>(("port" + std::to_string(e)).c_str());
    end.socket->bind(static_cast<fabric::fabric_bw_if&>(end));
  }
  if (context.net != nullptr) {
    context.net->attach(npu, *this);
    const double own = context.pool.in_node_bandwidth.value();
    const uint32_t group = context.layout.group_node(0);
    const double slowest =
        context.layout.rate(context.layout.links()[context.layout.ports(group)[0].link]).value();
    most_backlog_ = context.pool.chunk * static_cast<uint64_t>(std::clamp(own / slowest, 1.0, kMostChunks));
  }
  context.wheel.add(*this);
}

void PoolPort::store(PoolTransfer& transfer) {
  Store store;
  store.transfer = transfer.id;
  store.left = transfer.tensor;
  const bool spread = context_.pool.split == PoolSplit::fluid && !context_.layout.folded();
  if (spread && !in_switch(transfer.operation) && !transfer.external)
    store.shares = context_.layout.shares(transfer.bytes, npu_);
  stores_.push_back(std::move(store));
  if (!running()) wake_at(sc_core::sc_time_stamp().value());
}

void PoolPort::credited(uint32_t end, uint32_t set, Picoseconds at) {
  credits_coming_.push(at, arrivals_++, {end, set});
  if (!running()) wake_at(at);
}

void PoolPort::left(uint32_t port, const fabric::Packet& message, Picoseconds at) {
  const bool single = PoolHeader::of(message).kind == PoolMessage::single;
  departures_.push(at, arrivals_++, {single ? 0 : message.bytes, port});
  if (!running()) wake_at(at);
}

void PoolPort::granted(fabric::PacketRef message) {
  granted_.push_back(message);
  if (!running()) wake_at(sc_core::sc_time_stamp().value());
}

void PoolPort::came(uint32_t, fabric::PacketRef ref, Picoseconds at) {
  const fabric::Packet& packet = context_.packets[ref];
  const PoolHeader header = PoolHeader::of(packet);
  PoolTransfer& access = context_.events.transfer(header.transfer);
  if (context_.data != nullptr) context_.data->receive(access, npu_, header.offset, packet.data);
  const uint64_t bytes = packet.bytes;
  if (context_.causes != nullptr) context_.causes->loaded(access.member(npu_), ref, at);
  context_.packets.release(ref);
  context_.events.loaded(access, npu_, bytes, at);
}

void PoolPort::choose() {
  if (piece_) return;
  size_t s = 0;
  while (s < stores_.size() && !has_credit(stores_[s])) ++s;
  if (s == stores_.size()) return;
  PoolTransfer& transfer = context_.events.transfer(stores_[s].transfer);
  const bool sum = in_switch(transfer.operation);
  const uint32_t end = sum ? end_of(stores_[s], transfer) : 0;
  piece_ = next_piece(stores_[s], transfer);
  piece_->store = s;
  piece_->sum = sum;
  piece_->end =
      sum ? end : context_.layout.next(npu_, context_.layout.group_node(piece_->group), piece_->way);
}

uint32_t PoolPort::end_of(const Store& store, const PoolTransfer& transfer) const {
  const PoolTransfer::Chunk& chunk = transfer.chunks[store.chunk];
  return context_.layout.tree(chunk.group, chunk.way, transfer.set).parent[npu_];
}

bool PoolPort::has_credit(const Store& store) const {
  if (context_.pool.buffer == 0) return true;
  const PoolTransfer& transfer = context_.events.transfer(store.transfer);
  if (!in_switch(transfer.operation)) return true;
  const auto& used = ends_[end_of(store, transfer)].used;
  const auto it = used.find(transfer.set);
  return it == used.end() || it->second < context_.pool.buffer;
}

void PoolPort::activate(Picoseconds now) {
  ++activations_;
  while (credits_coming_.next() <= now) {
    const Credit credit = credits_coming_.pop().payload;
    --ends_[credit.end].used[credit.set];
  }
  while (departures_.next() <= now) {
    const Departure departure = departures_.pop().payload;
    if (departure.bytes == 0) --asked_;
    ends_[departure.end].backlog -= departure.bytes;
  }
  for (; !granted_.empty(); granted_.pop_front()) {
    const fabric::Packet& packet = context_.packets[granted_.front()];
    context_.net->send(npu_, context_.layout.next(npu_, packet.destination, PoolHeader::of(packet).way),
                       granted_.front(), now);
  }
  for (choose(); piece_ && free(*piece_, now); choose()) send(now);
  Picoseconds next = std::min(credits_coming_.next(), departures_.next());
  if (piece_ && context_.net == nullptr) next = std::min(next, ends_[piece_->end].free_at);
  wake_at(next);
}

bool PoolPort::free(const Piece& piece, Picoseconds now) const {
  const End& end = ends_[piece.end];
  if (context_.net == nullptr) return end.free_at <= now;
  return piece.sum ? end.backlog < most_backlog_ : asked_ < kMostAsked;
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

/// .. of a chunk of one group, or of one of its links; they take turns, from another one on at each NPU.
PoolPort::Piece PoolPort::next_of_shares(Store& store) {
  const uint64_t count = store.shares.size();
  const uint64_t first = context_.layout.spreads_ways() ? npu_ * count / context_.layout.npus() : npu_;
  Piece piece;
  uint64_t at = 0;
  do {
    at = (store.chunk + first) % count;
    piece.chunk = store.chunk++;
  } while (store.shares[at].bytes == 0);
  pool::PoolLayout::Share& share = store.shares[at];
  const Wide rounds =
      (share.bytes * std::max(1u, context_.round.active) + context_.pool.chunk - 1) / context_.pool.chunk;
  piece.group = share.group;
  piece.way = share.way;
  piece.offset = static_cast<uint64_t>(share.offset);
  piece.bytes = static_cast<uint64_t>((share.bytes + rounds - 1) / rounds);
  share.bytes -= piece.bytes;
  share.offset += piece.bytes;
  return piece;
}

PoolPort::Piece PoolPort::next_piece(Store& store, PoolTransfer& transfer) {
  if (in_switch(transfer.operation)) {
    const PoolTransfer::Chunk& chunk = transfer.chunks[store.chunk];
    return {chunk.group, chunk.way, chunk.offset, chunk.bytes, store.chunk++};
  }
  if (transfer.external) return {transfer.group, transfer.way, 0, store.left, store.chunk++};
  if (context_.layout.folded()) return next_of_round(store, transfer);
  if (context_.pool.split == PoolSplit::fluid) return next_of_shares(store);
  const pool::Place place = striping_->place(npu_, store.chunk);
  return {place.group, place.way, store.offset, std::min(context_.pool.chunk, store.left), store.chunk++};
}

void PoolPort::send(Picoseconds now) {
  const Piece piece = *piece_;
  Store& store = stores_[piece.store];
  PoolTransfer& transfer = context_.events.transfer(store.transfer);
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
  if (context_.causes != nullptr) context_.causes->part(ref) = transfer.member(npu_).part;
  if (piece.sum && context_.pool.buffer != 0) ++end.used[transfer.set];
  store.offset += piece.bytes;
  store.left -= piece.bytes;
  if (store.left == 0) stores_.erase(stores_.begin() + static_cast<std::ptrdiff_t>(piece.store));
  piece_.reset();
  if (context_.net != nullptr && piece.sum) {
    end.backlog += piece.bytes;
    context_.net->send(npu_, piece.end, ref, now);
    return;
  }
  if (context_.net != nullptr) {
    ++asked_;
    context_.net->ask(ref);
    return;
  }
  message_in_time(name(), packet, [&] {
    fabric::Link& link = end.sends();
    const insight::OnBehalf behalf(context_.causes == nullptr ? nullptr : &context_.causes->log(),
                                   context_.causes == nullptr ? nullptr : &context_.causes->part(ref));
    const fabric::Link::Slot slot = link.occupy(now, piece.bytes);
    if (context_.causes != nullptr) context_.causes->part(ref).came = slot.end + link.latency();
    end.free_at = link.free_at();
    fabric::Transfer out;
    out.leave(slot.start, link.latency(), slot.end - slot.start);
    out.packet = ref;
    fabric::FabricPhase phase = fabric::FabricPhase::transfer;
    sc_core::sc_time zero;
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
                     has_credit(stores_.front()) ? "" : ": no credit for partial sums");
}

}  // namespace weft
