// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_models/crossbar.h"

namespace weft {

void Crossbar::arrive(const Arrival& arrival) {
  const Picoseconds time = ready(arrival);
  // Whichever process ran first.
  const uint64_t order = static_cast<uint64_t>(turn(arrival)) << 32 | arrivals_++;
  queue_.push(time, order, {arrival.tail, arrival.packet, output(arrival.packet)});
  if (!working()) wake_at(time);
}

void Crossbar::work(Picoseconds now) {
  // A large switch has thousands of messages, each with a packet, a port and a receiver that the caches do
  // not hold: they are asked for some messages ahead.
  constexpr uint32_t kFar = 7, kNear = 3;
  static_assert(kFar < kAhead);
  while (queue_.next() <= now) {
    const Held held = queue_.pop().payload;
    if (const auto* const far = queue_.ahead(kFar)) {
      fetch_packet(far->payload.packet);
      fetch_port(far->payload.port);
    }
    if (const auto* const near = queue_.ahead(kNear)) fetch_receiver(near->payload.port);
    forward(held.packet, held.port, now, held.tail);
  }
  wake_at(queue_.next());
}

}  // namespace weft
