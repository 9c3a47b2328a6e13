// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_models/crossbar.h"

namespace weft {

void Crossbar::arrive(const Arrival& arrival) {
  const Picoseconds time = ready(arrival);
  // Whichever process ran first.
  const uint64_t order = static_cast<uint64_t>(turn(arrival)) << 32 | arrivals_++;
  queue_.push(time, order, {arrival.tail, arrival.packet});
  if (!working()) wake_at(time);
}

void Crossbar::work(Picoseconds now) {
  while (queue_.next() <= now) {
    const Held held = queue_.pop().payload;
    forward(held.packet, output(held.packet), now, held.tail);
  }
  wake_at(queue_.next());
}

}  // namespace weft
