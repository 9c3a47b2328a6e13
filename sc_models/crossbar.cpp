// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_models/crossbar.h"

#include <algorithm>

namespace weft {

void Crossbar::arrive(const Arrival& arrival) {
  const Picoseconds time = ready(arrival);
  // Whichever process ran first.
  const uint64_t order = static_cast<uint64_t>(turn(arrival)) << 32 | arrivals_++;
  queue_.push(time, order, {arrival.tail, arrival.packet});
  if (!working()) wake_at(time);
}

void Crossbar::work(Picoseconds now) {
  // At many instants a large switch has thousands of messages, each with a packet, a port and a receiver that
  // the caches do not hold: they are asked for some messages ahead, one after the other.
  constexpr size_t kFar = 12, kMiddle = 8, kNear = 4;
  while (queue_.next() <= now) {
    going_.clear();
    while (queue_.next() <= now) going_.push_back({queue_.pop().payload, 0});
    const size_t n = going_.size();
    const auto find_port = [this](Going& going) {
      going.port = output(going.held.packet);
      fetch_port(going.port);
    };
    for (size_t i = 0; i < std::min(kFar, n); ++i) fetch_packet(going_[i].held.packet);
    for (size_t i = 0; i < std::min(kMiddle, n); ++i) find_port(going_[i]);
    for (size_t i = 0; i < n; ++i) {
      if (i + kFar < n) fetch_packet(going_[i + kFar].held.packet);
      if (i + kMiddle < n) find_port(going_[i + kMiddle]);
      if (i + kNear < n) fetch_receiver(going_[i + kNear].port);
      forward(going_[i].held.packet, going_[i].port, now, going_[i].held.tail);
    }
  }
  going_.clear();
  wake_at(queue_.next());
}

}  // namespace weft
