// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_models/program_unit.h"

#include <fmt/format.h>

#include <stdexcept>

#include "insight/activity_listener.h"
#include "insight/causal_log.h"
#include "sc_models/message_bits.h"
#include "sc_models/message_causes.h"

namespace weft {

ProgramUnit::ProgramUnit(sc_core::sc_module_name module_name, const UnitPlace& place)
    : UnitModel(module_name),
      dimension_(place.dimension),
      geometry_(place.fabric.geometry),
      pool_(place.fabric.pool),
      ports_(place.ports) {
  place.fabric.wheel.add(*this);
}

void ProgramUnit::receive(fabric::PacketRef ref, Picoseconds, Picoseconds tail, Picoseconds) {
  // Equal times in the order of the senders and of what each has sent.
  const fabric::Packet& packet = pool_[ref];
  queue_.push(tail, static_cast<uint64_t>(packet.source) << 32 | sequence_of(packet.id_high), ref);
  if (!running()) wake_at(tail);
}

void ProgramUnit::activate(Picoseconds now) {
  ++activations_;
  insight::CausalLog* const causes = pool_.causes();
  while (queue_.next() <= now) {
    const fabric::PacketRef ref = queue_.pop().payload;
    const fabric::Packet& packet = pool_[ref];
    if (sink_ == nullptr) throw std::logic_error(fmt::format("{}: a message came and nobody hears", name()));
    Completion completion;
    completion.id = unpack(packet.id_low, packet.id_high);
    completion.source = NpuId{packet.source};
    completion.bytes = packet.bytes;
    completion.data = packet.data;
    completion.submitted = packet.submitted;
    completion.split.queue = packet.queued;
    completion.split.latency = packet.latency;
    completion.split.serialise = now - packet.submitted - packet.queued - packet.latency;
    ++arrivals_;
    bytes_in_ += packet.bytes;
    if (causes != nullptr) {
      causes->because(causes->last(ref));
      if (causes->listener() != nullptr) causes->listener()->combined(ref, cause_stream(packet), now);
    }
    pool_.release(ref);
    sink_->completed(completion);
  }
  wake_at(queue_.next());
}

void ProgramUnit::send(const Message& message) {
  const Picoseconds now = sc_core::sc_time_stamp().value();
  const uint32_t place = geometry_.place(index(message.peer));
  const fabric::PacketRef ref = pool_.acquire();
  fabric::Packet& packet = pool_[ref];
  packet.bytes = message.bytes;
  packet.id_low = pack_low(message.id);
  packet.id_high = pack_high(message.id, sent_++);
  packet.source = kUnitPeer | dimension_;
  packet.destination = place;
  packet.data = message.data;
  packet.submitted = now;
  bytes_out_ += message.bytes;
  if (insight::CausalLog* const causes = pool_.causes(); causes != nullptr) {
    causes->submitted(ref);
    if (causes->listener() != nullptr) causes->listener()->submitted(ref);
  }
  (void)ports_.send(geometry_.coordinate(place, dimension_), ref, 0, now);
}

void ProgramUnit::count(Counters& counters) const {
  counters.activations += activations_;
  counters.in_flight += queue_.size();
  counters.unit_messages_in += arrivals_;
  counters.unit_messages_out += sent_;
  counters.unit_bytes_in += bytes_in_;
  counters.unit_bytes_out += bytes_out_;
}

}  // namespace weft
