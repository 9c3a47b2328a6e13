// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// How many flits a buffer holds at any time, when arrivals and departures become known ahead of their times,
// as runs: `count` flits, the first at `first`, one every `stride`. Kernel-free.

#ifndef WEFT_TLM_INTERCONNECT_PACKET_BUFFER_METER_H
#define WEFT_TLM_INTERCONNECT_PACKET_BUFFER_METER_H

#include <cstdint>
#include <vector>

#include "configs/ticks.h"
#include "tlm_interconnect/packet/state_record.h"

namespace weft::packet {

class BufferMeter {
 public:
  /// Runs may be told in any order and may overlap, but none may begin at or before settled().
  void arrive(Ticks first, uint32_t count, Ticks stride) { add(arrivals_, first, count, stride); }
  void depart(Ticks first, uint32_t count, Ticks stride) { add(departures_, first, count, stride); }

  /// Everything up to and including `t` is known and need not be asked for again. Going back does nothing.
  void settle(Ticks t);
  Ticks settled() const { return settled_; }

  /// Flits in the buffer at `t`, arrivals and departures of that instant included. `t`: not before settled().
  int64_t occupancy(Ticks t) const;

  /// The earliest time, settled() at the soonest, at which the buffer holds at least (at most) `level` flits,
  /// by what is known; kNever: at no time.
  Ticks when_at_least(int64_t level) const;
  Ticks when_at_most(int64_t level) const;

  /// Flits that have arrived or will, by what is known, and will not have left.
  int64_t at_the_end() const;

  /// For packet trains: all of it, or all of it later. Everything before state.now() must be known.
  void write(StateRecord& state);
  void shift(Ticks by);

 private:
  struct Run {
    Ticks first;
    uint32_t count;
    Ticks stride;
  };
  static void add(std::vector<Run>& runs, Ticks first, uint32_t count, Ticks stride);
  /// Flits of a run up to and including `t`.
  static uint32_t up_to(const Run& run, Ticks t);
  static uint64_t total(const std::vector<Run>& runs);
  static uint64_t take(std::vector<Run>& runs, Ticks t);
  template <typename Reached>
  Ticks when(Reached reached) const;

  Ticks settled_ = 0;
  int64_t level_ = 0;          ///< at settled_
  std::vector<Run> arrivals_;  ///< after settled_; a few
  std::vector<Run> departures_;
  mutable std::vector<Run> ahead_arrivals_;  ///< scratch of when()
  mutable std::vector<Run> ahead_departures_;
};

}  // namespace weft::packet

#endif
