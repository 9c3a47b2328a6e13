// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// The clock of an RTL block. It stops while the block has nothing to do, and no time in the simulation
// changes by that. Four rules make sure of it:
//
//  1. Edges are on the grid phase + k * period, k >= 0, after time 0. A clock that is woken at a time goes on
//     at the first edge strictly after that time.
//  2. What is handed to an adapter at time t can be seen at its pins by edges after t only. An edge at t
//  itself
//     does not see it, whether it runs before or after the call.
//  3. The clock stops only after `quiet_edges` edges in a row at which every user is quiet: adapters hold
//     nothing, no TVALID is high, and `qactive`, where the block has such a pin, is low.
//  4. A block may count edges (timers, free-running counters). Then a stopped clock changes what it does. So
//     the policy is `free` unless `qactive` is wired, or the block's author says `gated`.
//
// With policy `gated` and without `qactive`, `quiet_edges` must be at least the longest time, in edges, that
// the block works without showing it at its pins.
//
// A free clock would keep the simulation alive for ever. It therefore stops, too, when nothing but clocks is
// left in the simulation and no user has moved anything for `patience` edges: then the job is over, or stuck.

#ifndef WEFT_COSIM_CLOCK_BLOCK_CLOCK_H
#define WEFT_COSIM_CLOCK_BLOCK_CLOCK_H

#include <cstdint>
#include <functional>
#include <queue>
#include <string>
#include <systemc>
#include <vector>

#include "configs/implementation.h"
#include "configs/types.h"
#include "tlm_interconnect/ports/wires.h"

namespace weft::cosim {

/// What works at a block's edges: adapters, checkers.
class ClockUser {
 public:
  virtual ~ClockUser() = default;
  /// A rising edge. Pins still have the values before it; what is written is seen right after it, and sampled
  /// by the block at the next edge. `reset`: the block's reset is active at this edge.
  virtual void edge(Picoseconds now, bool reset) {
    (void)now;
    (void)reset;
  }
  /// Nothing is held or queued, and no pin says that there will be. Asked after the edge, when all pins have
  /// settled.
  virtual bool quiet() const = 0;
};

class BlockClock final : public sc_core::sc_module {
 public:
  enum class Policy : uint8_t {
    automatic,  ///< gated if `qactive` is wired, else free
    free,
    gated
  };

  struct Options {
    Picoseconds period = 1000;
    Policy policy = Policy::automatic;
    uint32_t quiet_edges = 16;
    Picoseconds phase = 0;
    uint32_t reset_cycles = 4;  ///< edges with active reset, from the first one on; 0: no reset
    bool reset_active_low = true;
    uint64_t patience = 100000;
  };

  /// Errors: UserError(usage) for a period under 2 ps, or quiet_edges or patience of 0.
  BlockClock(sc_core::sc_module_name name, const Options& options);
  ~BlockClock() override;

  /// Binds the block's clock and reset pins. Any number of each.
  void clock(sc_core::sc_in<bool>& pin) { pin.bind(clock_); }
  void reset(sc_core::sc_in<bool>& pin) { pin.bind(reset_); }
  /// Binds the pin by which the block says that it has something to do. High: the clock runs. A block that
  /// begins by itself, without anything from outside, must hold it high while it waits to begin.
  void qactive(sc_core::sc_out<bool>& pin);
  const sc_core::sc_signal<bool>& clock_signal() const { return clock_; }
  const sc_core::sc_signal<bool>& reset_signal() const { return reset_; }

  /// Before the simulation starts. Users are called in the order in which they are added.
  void add(ClockUser& user) { users_.push_back(&user); }
  /// Two clocks of one block: each runs while the other has something to do, and both are woken together.
  void together(BlockClock& other);

  /// There is something to do from `at` on (now, if that is past): the clock runs at the first grid edge
  /// strictly after `at`.
  void wake(Picoseconds at);
  /// Something has moved at the block's pins: it is not stuck.
  void progress() { still_ = 0; }

  /// The first grid edge strictly after `time`.
  Picoseconds edge_after(Picoseconds time) const;
  /// The number of grid edges at or before `time`: the same at an edge, whether the clock has ever stopped or
  /// not.
  uint64_t cycle(Picoseconds time) const;

  /// Rising edges of the start: those with active reset, and quiet_edges more, which every policy has.
  uint64_t start_edges() const { return edges_ < start_edges_ ? edges_ : start_edges_; }
  /// All later ones.
  uint64_t edges() const { return edges_ - start_edges(); }
  /// For the stall report: that it has stopped because nothing moved for its patience, and what to do; ""
  /// where it has not.
  std::string stall_line() const;
  bool in_reset() const { return reset_left_ != 0; }
  bool running() const { return running_; }
  /// False: it stops. Final when the simulation starts.
  bool free() const;
  Picoseconds period() const { return options_.period; }
  const Options& options() const { return options_; }

 private:
  void turn();
  void rise(Picoseconds now);
  void fall(Picoseconds now);
  void at_edge();
  void look_around();
  void schedule(Picoseconds rising);
  void wake_alone(Picoseconds at);
  void rest();
  bool quiet() const;
  bool still() const { return !running_ || still_ >= patience(); }
  /// Edges without a beat after which the block counts as stuck. One that says that it works has longer.
  uint64_t patience() const;
  bool rests_long_enough() const { return !running_ || quiet_for_ >= options_.quiet_edges; }
  const std::vector<BlockClock*>& all();
  const BlockClock* first_running();

  Options options_;
  fabric::BitWire clock_;
  fabric::BitWire reset_;
  fabric::BitWire qactive_;
  sc_core::sc_event turn_;  ///< the clock's pin changes
  sc_core::sc_event look_;
  bool has_qactive_ = false;
  std::vector<ClockUser*> users_;
  std::vector<BlockClock*> peers_;
  /// Times of wake() that no edge has passed yet, the earliest first.
  std::priority_queue<Picoseconds, std::vector<Picoseconds>, std::greater<Picoseconds>> wakes_;
  Picoseconds next_turn_ = kNever;  ///< kNever: the clock stands
  bool high_ = false;
  bool started_ = false;
  bool running_ = true;
  bool resting_ = false;  ///< stops at the next falling edge
  uint32_t reset_left_ = 0;
  uint32_t quiet_for_ = 0;
  uint32_t looks_ = 0;
  uint64_t still_ = 0;  ///< edges since something has moved
  Picoseconds gave_up_at_ = kNever;
  uint64_t start_edges_ = 0;
  uint64_t edges_ = 0;
  std::vector<BlockClock*> all_;  ///< of the simulation, once it was asked for
};

/// "free", "gated", "gated(8)", or "automatic". Errors: UserError(usage) says what is allowed; `where` begins
/// it.
void set_policy(BlockClock::Options& options, const std::string& text, const std::string& where);
/// Reads the parameters `period`, `clock` (free | gated | gated(N) | automatic), `phase` and `patience` of a
/// module; `defaults` hold where one is absent.
BlockClock::Options read_clock(Parameters& parameters, BlockClock::Options defaults);

}  // namespace weft::cosim

#endif
