// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// How many flits a buffer holds at any time, when arrivals and departures become known ahead of their times,
// as runs: `count` flits, the first at `first`, one every `stride`. Kernel-free.
//
// A long link has thousands of runs on it, and the router asks at every burst. So runs are kept in the order
// of time, with running counts: most questions cost a comparison or a binary search. Where runs of one kind
// overlap (several VCs to slow outputs, several inputs of one output) the answers are found step by step.

#ifndef WEFT_TLM_INTERCONNECT_PACKET_BUFFER_METER_H
#define WEFT_TLM_INTERCONNECT_PACKET_BUFFER_METER_H

#include <cstdint>
#include <vector>

#include "tlm_interconnect/packet/flit_queue.h"
#include "tlm_interconnect/packet/state_record.h"
#include "tlm_interconnect/packet/ticks.h"

namespace weft::packet {

class BufferMeter {
 public:
  /// Runs may be told in any order and may overlap, but none may begin at or before settled().
  void arrive(Ticks first, uint32_t count, Ticks stride) { arrivals_.add(first, count, stride, settled_); }
  void depart(Ticks first, uint32_t count, Ticks stride) { departures_.add(first, count, stride, settled_); }

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
  int64_t at_the_end() const { return level_ + arrivals_.total() - departures_.total(); }

  /// For packet trains: all of it, or all of it later. Everything before state.now() must be known.
  void write(StateRecord& state);
  void shift(Ticks by);

 private:
  struct Run {
    Ticks first = 0;
    uint32_t count = 0;
    Ticks stride = 0;
    uint64_t before = 0;  ///< flits of the waiting runs before this one, from some fixed point on

    Ticks last() const { return first + static_cast<Ticks>(count - 1) * stride; }
    /// Flits up to and including `t`.
    uint32_t up_to(Ticks t) const;
    /// Removes them.
    uint32_t take(Ticks t);
  };

  /// Arrivals, or departures, after settled().
  class Runs {
   public:
    void add(Ticks first, uint32_t count, Ticks stride, Ticks settled);
    /// Removes what happens up to and including `t` and answers how much that was.
    int64_t take(Ticks t);
    int64_t total() const { return total_; }
    /// The last of them; of the past if there are none.
    Ticks end() const { return end_; }
    /// No two runs overlap after `settled`.
    bool sequential(Ticks settled) const { return overlap_end_ <= settled; }
    /// How many come up to and including `t`; `in_order`: they are sequential.
    int64_t up_to(Ticks t, bool in_order) const;
    /// When the n-th (from 1) comes; they are sequential, and so many.
    Ticks time_of(int64_t n) const;
    void write(StateRecord& state) const;
    void shift(Ticks by);

   private:
    friend class BufferMeter;
    uint32_t first_after(Ticks t) const;

    std::vector<Run> begun_;  ///< have lost some flits
    Ring<Run, 2> waiting_;    ///< have not, in the order of their first flits
    int64_t total_ = 0;
    uint64_t added_ = 0;     ///< Run::before of the next one
    Ticks end_ = 0;          ///< last flit of all
    Ticks overlap_end_ = 0;  ///< last flit of those that overlap with others
  };

  template <bool kAtLeast>
  Ticks scan(int64_t level, Ticks end) const;

  Ticks settled_ = 0;
  int64_t level_ = 0;  ///< at settled_
  Runs arrivals_;
  Runs departures_;
  mutable std::vector<Run> coming_;  ///< scratch of scan()
  mutable std::vector<Run> going_;
};

}  // namespace weft::packet

#endif
