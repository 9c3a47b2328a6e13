// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// What an NMU tells the causal log.

#include <fmt/format.h>

#include <algorithm>

#include "insight/activity_listener.h"
#include "sc_models/message_bits.h"
#include "sc_models/message_causes.h"
#include "sc_models/nmu_parts.h"

namespace weft {

void Nmu::keep_causes(insight::CausalLog& log) {
  causes_ = &log;
  cause_links_ = std::make_unique<Causes>();
  watched_ = submits_aside_ = true;
  engine_.keep_causes(&log);
  if (memory_ != nullptr) memory_->keep_causes(&log);
  if (dma_type_.rate().bytes_per_second == 0) return;
  cause_links_->dma = std::make_unique<LinkCauses>(log, std::string(name()) + ".dma", "injection", nullptr);
  dma_.observe(cause_links_->dma.get());
}

insight::AccessPart Nmu::tell_reduction(fabric::PacketRef ref) {
  if (!causes_->keeps()) return {};
  const fabric::Packet& packet = pool_[ref];
  const MessageId id = unpack(packet.id_low, packet.id_high);
  insight::Activity message;
  message.kind = static_cast<uint32_t>(insight::ActivityKind::message);
  message.where = index(rank_);
  message.what = cause_stream(packet);
  message.before = static_cast<uint32_t>(id.chunk) << 8 | id.phase;
  message.begin = message.end = now();
  message.ready = now() - ends_of(packet).end;
  insight::Activity access = message;
  access.foreign = 1;
  return causes_->begin_access(access, causes_->follow(ref, message), now());
}

void Nmu::tell_access(fabric::PacketRef ref, Picoseconds at) {
  const insight::ActivityId by = causes_->take_answer();
  Causes::Reduced& last = cause_links_->reduced[ref];
  if (at >= last.at) last = {by, at};
}

/// Number of a last link, or of the routers of a packet network, in the log.
uint32_t Nmu::cause_link(const void* of, const std::string& name, const std::string& link_class) {
  uint32_t& number = cause_links_->links[of];
  if (number == 0) number = causes_->add_link({name, link_class});
  return number;
}

void Nmu::tell_turn(const Port& port, fabric::PacketRef ref, uint32_t link, Picoseconds wait_of_head,
                    Picoseconds wait_of_tail) {
  const fabric::Packet& packet = pool_[ref];
  // Its turn comes at the head of what goes on at once, else when it has been received.
  const bool on_head = packet.destination != place_ && port.cut_through;
  Picoseconds tail = now();
  if (on_head) {
    for (const Tail& t : tails_) tail = t.packet == ref ? t.tail : tail;
  } else if (packet.destination == place_) {
    tail = now() - ends_of(packet).end - (packet.flags & kReduce ? reduction_time(packet.bytes) : 0);
  }
  insight::Activity passage;
  passage.kind = static_cast<uint32_t>(insight::ActivityKind::last_link);
  passage.what = cause_stream(packet);
  passage.where = cause_link(&port.last(link), fmt::format("{}.in{}.{}", name(), port.number, link),
                             fmt::format("dimension {}", port.dimension));
  passage.ready = on_head ? now() : tail - std::min(tail, port.last(link).time_of(packet.bytes));
  const insight::Activity* const before = causes_->find(causes_->last(ref));
  // The head left when its first link began to carry it.
  if (!on_head && before != nullptr &&
      (before->of_kind() == insight::ActivityKind::crossing ||
       before->of_kind() == insight::ActivityKind::way))
    passage.ready = tail - (before->end - before->begin);
  passage.begin = passage.ready + wait_of_head;
  passage.end = tail + wait_of_tail;
  causes_->follow(ref, passage);
}

/// Analytical: over several links to the place `to` as if it were alone, with the latency of all of them and
/// the time of the slowest. On a graph they are all of one class, and `to` does not matter.
void Nmu::tell_way(fabric::PacketRef ref, uint32_t to, const fabric::Transfer& transfer,
                   Picoseconds latency) {
  std::string dimensions;
  uint64_t key = 1;
  for (uint32_t d = 0; d < geometry_.dimensions(); ++d) {
    if (on_graph_ || geometry_.coordinate(place_, d) == geometry_.coordinate(to, d)) continue;
    dimensions += fmt::format("{}{}", dimensions.empty() ? "" : "+", d);
    key |= uint64_t{2} << d;
  }
  insight::Activity way;
  way.kind = static_cast<uint32_t>(insight::ActivityKind::way);
  way.what = cause_stream(pool_[ref]);
  const std::string text = fmt::format("{}.way{}", name(), dimensions);
  way.where = cause_link(reinterpret_cast<const void*>(key), text,
                         "dimension " + (on_graph_ ? std::string("0") : dimensions));
  way.ready = way.begin = transfer.first - latency;
  way.end = way.begin + transfer.flit_time;
  causes_->follow(ref, way);
}

void Nmu::tell_exchange(const Port& port, fabric::PacketRef ref, Picoseconds carried) {
  const fabric::Packet& packet = pool_[ref];
  insight::Activity round;
  round.kind = static_cast<uint32_t>(insight::ActivityKind::exchange);
  round.what = cause_stream(packet);
  const insight::Activity* const way = causes_->find(causes_->last(ref));
  round.where = way == nullptr ? 0 : way->where;
  round.end = carried - ends_of(packet).end - (packet.flags & kReduce ? reduction_time(packet.bytes) : 0);
  round.ready = packet.submitted;
  const Picoseconds latency = (*planes_[packet.plane].dimensions)[port.dimension].latency;
  round.begin = std::max(round.ready, round.end - std::min(round.end, latency));
  causes_->follow(ref, round);
}

/// It is whole, has been reduced, and is handed over now: what begins now begins because of it.
void Nmu::tell_delivery(fabric::PacketRef ref, Picoseconds reduce) {
  const fabric::Packet& packet = pool_[ref];
  const MessageId id = unpack(packet.id_low, packet.id_high);
  const uint32_t stream = cause_stream(packet);
  const Picoseconds end = now();
  const Picoseconds ready = end - reduce - ends_of(packet).end;
  if (causes_->keeps()) {
    insight::Activity message;
    message.kind = static_cast<uint32_t>(insight::ActivityKind::message);
    message.where = index(rank_);
    message.what = stream;
    message.before = static_cast<uint32_t>(id.chunk) << 8 | id.phase;
    message.end = end;
    message.begin = end - reduce;
    message.ready = ready;
    const auto reduced = cause_links_->reduced.find(ref);
    const insight::ActivityId by =
        reduced == cause_links_->reduced.end() ? insight::kNoActivity : reduced->second.by;
    if (by != insight::kNoActivity) {  // its stages say the rest
      message.ready = message.begin = end;
      message.cause = by;
      causes_->because(causes_->add(message));
    } else {
      causes_->because(causes_->follow(ref, message));
    }
    if (reduced != cause_links_->reduced.end()) cause_links_->reduced.erase(reduced);
  }
  if (causes_->listener() != nullptr)
    causes_->listener()->delivered({ref, stream, index(rank_), packet.source, id.chunk, id.phase, id.round,
                                    packet.bytes, packet.queued, ready, reduce, end});
}

void Nmu::tell_arrival(const PacketEnd& end, const packet::Message& message, Picoseconds at,
                       const PacketFabric::Unloaded& alone) {
  const auto ref = static_cast<fabric::PacketRef>(message.id_low);
  std::string dimensions;
  for (const uint32_t d : end.fabric.dimensions())
    dimensions += fmt::format("{}{}", dimensions.empty() ? "" : "+", d);
  const uint32_t link =
      cause_link(&end, std::string(name()) + ".network", "routers of dimension " + dimensions);
  tell_network(*causes_, pool_[ref], ref, link, {message.submitted, at, alone.latency, alone.serialise},
               end.fabric.take_hops(place_));
}

}  // namespace weft
