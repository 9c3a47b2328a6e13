// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_models/graph_switch.h"

namespace weft {

void GraphSwitch::arrive(const Arrival& arrival) {
  const Picoseconds time = ready(arrival);
  // Equal times are served in the order of the ports, whichever process ran first.
  queue_.push(time, static_cast<uint64_t>(arrival.port) << 32 | arrivals_++, {arrival.tail, arrival.packet});
  if (!working()) wake_at(time);
}

void GraphSwitch::work(Picoseconds now) {
  while (queue_.next() <= now) {
    const Held held = queue_.pop().payload;
    forward(held.packet, output(held.packet), now, held.tail);
  }
  wake_at(queue_.next());
}

}  // namespace weft
