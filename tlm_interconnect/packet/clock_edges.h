// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// The clock edges of a packet network: one every cycle, from time 0 on or from when it was last restarted.

#ifndef WEFT_TLM_INTERCONNECT_PACKET_CLOCK_EDGES_H
#define WEFT_TLM_INTERCONNECT_PACKET_CLOCK_EDGES_H

#include "configs/ticks.h"

namespace weft::packet {

class ClockEdges {
 public:
  explicit ClockEdges(Ticks cycle) : cycle_(cycle) {}

  /// `t` is one, and there are none before it.
  void start_at(Ticks t) { first_ = t; }
  /// The first one at or after `t`.
  Ticks from(Ticks t) const {
    return t <= first_ ? first_ : first_ + (t - first_ + cycle_ - 1) / cycle_ * cycle_;
  }
  /// The last one at or before `t`.
  Ticks before(Ticks t) const { return t <= first_ ? first_ : t - (t - first_) % cycle_; }

 private:
  const Ticks cycle_;
  Ticks first_ = 0;
};

}  // namespace weft::packet

#endif
