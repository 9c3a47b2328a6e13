// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Collectives one after another, where emulated ranks are still in one when a real rank joins the next. The
// machine is not idle then: the next one meets what is left of those before. Such a chain is measured as a
// whole. With each join it is simulated anew from its begin, with the joins so far. What that simulation says
// of the time until the next join is what happens.

#ifndef WEFT_EMULATION_ENVIRONMENT_COLLECTIVE_CHAIN_H
#define WEFT_EMULATION_ENVIRONMENT_COLLECTIVE_CHAIN_H

#include <deque>
#include <memory>
#include <utility>
#include <vector>

#include "emulation/environment/idle_times.h"
#include "emulation/environment/running_collective.h"

namespace weft::emulation {

class CollectiveChain {
 public:
  explicit CollectiveChain(IdleTimes& idle) : idle_(idle) {}

  /// A collective whose first member joins now. `alone`: that member is in no other one; `only`: nobody is.
  /// True: its times come from the chain.
  bool add(const std::shared_ptr<RunningCollective>& collective, Picoseconds now, bool alone, bool only);
  /// Members have joined: the times are to be measured anew.
  void joined() { stale_ = true; }
  bool stale() const { return stale_; }
  /// Sets `exact`, `first` and `last_end` of all its collectives.
  void measure();
  const std::deque<std::shared_ptr<RunningCollective>>& collectives() const { return collectives_; }
  /// Those that add() has taken out before all their members had joined: the chain does not tell their times
  /// any more.
  std::vector<std::shared_ptr<RunningCollective>> take_dropped() { return std::move(dropped_); }

 private:
  bool makes_room(double messages, Picoseconds now);
  void drop();

  IdleTimes& idle_;
  std::deque<std::shared_ptr<RunningCollective>> collectives_;
  std::vector<std::shared_ptr<RunningCollective>> dropped_;
  bool stale_ = false;
};

}  // namespace weft::emulation

#endif
