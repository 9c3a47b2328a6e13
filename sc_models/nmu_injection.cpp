// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// When an NMU's own messages leave it, where something limits that: queues of its ports, its DMA, or a model
// that derives from it.

#include <fmt/format.h>

#include <stdexcept>

#include "sc_models/message_bits.h"
#include "sc_models/nmu_parts.h"

namespace weft {

void Nmu::shape_departures() {
  shaped_ = true;
  limited_injection_ = submits_aside_ = true;
  if (!injection_) injection_ = std::make_unique<std::deque<fabric::PacketRef>>();
}

void Nmu::use_datapath(Datapath& datapath) {
  datapath_ = &datapath;
  has_datapath_ = true;
  arrives_aside_ = true;
  limited_injection_ = submits_aside_ = true;
  if (!injection_) injection_ = std::make_unique<std::deque<fabric::PacketRef>>();
}

void Nmu::departed(fabric::PacketRef ref, Picoseconds ready) {
  const Picoseconds t = now();
  pool_[ref].queued += t - ready;
  push(t, kInject, ref);
}

void Nmu::arrived(fabric::PacketRef ref, uint32_t port) {
  push_received(timed(pool_[ref], [&] { return ready_at(pool_[ref], now()); }), static_cast<uint8_t>(port),
                ref);
}

Picoseconds Nmu::shaped(fabric::PacketRef ref, Picoseconds ready) {
  if (!shaped_) return ready;
  Departing message;
  const uint32_t destination = pool_[ref].destination;
  message.destination = NpuId{(destination & kUnitPeer) != 0 ? destination : geometry_.rank_at(destination)};
  message.id = unpack(pool_[ref].id_low, pool_[ref].id_high);
  message.bytes = pool_[ref].bytes;
  message.ready = ready;
  const Picoseconds at = departs(message);
  if (at < ready)
    throw std::logic_error(fmt::format("{}: {} was to leave at {} ps, before it is ready at {} ps", name(),
                                       describe(pool_[ref]), at, ready));
  pool_[ref].queued += at - ready;
  return at;
}

void Nmu::inject(fabric::PacketRef ref) {
  injection_->push_back(ref);
  if (injection_->size() == 1) inject_next();
}

void Nmu::inject_next() {
  const Picoseconds t = now();
  while (!injection_->empty()) {
    const fabric::PacketRef ref = injection_->front();
    fabric::Packet& packet = pool_[ref];
    if (config_.nmu.injection_queue != 0) {
      Port& port = port_[first_port(packet)];
      if (port.held >= config_.nmu.injection_queue) return;  // its next release comes back here
      ++port.held;
      packet.flags |= kHolds;
    }
    injection_->pop_front();
    if (dma_type_.rate().bytes_per_second == 0) {
      transmit(ref, t, t);
      continue;
    }
    const fabric::Link::Slot slot =
        timed(packet, [&] { return dma_.occupy(t, packet.bytes, 0, packet.id_low, ref); });
    tails_.push_back({ref, slot.end});
    cut_through_tails_ = true;
    packet.queued += slot.start - t;
    push(slot.start, kSend, ref);
  }
}

}  // namespace weft
