// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_models/switch_input_state.h"

namespace weft {

SwitchInputState::State SwitchInputState::Level::state() const {
  if (sending > 0) return State::sending;
  return held > 0 ? State::waiting : State::idle;
}

void SwitchInputState::arrives(Picoseconds head) {
  if (!probe_) return;
  ++moments_[head].change.held;
  tell(head);
}

void SwitchInputState::leaves(Picoseconds now, Picoseconds start, Picoseconds end) {
  if (!probe_) return;
  while (!moments_.empty() && moments_.begin()->first < now) {
    past_.held += moments_.begin()->second.change.held;
    past_.sending += moments_.begin()->second.change.sending;
    moments_.erase(moments_.begin());
  }
  ++moments_[start].change.sending;
  Level& last = moments_[end].change;
  --last.held;
  --last.sending;
  tell(start);
}

void SwitchInputState::tell(Picoseconds from) {
  Level level = past_;
  State before = level.state();
  for (auto& [time, moment] : moments_) {
    level.held += moment.change.held;
    level.sending += moment.change.sending;
    const State state = level.state();
    const bool changes = state != before;
    before = state;
    if (time < from || (moment.handle && changes && moment.told == state)) continue;
    if (moment.handle) probe_.revoke(moment.handle);
    if (!changes) continue;
    moment.handle = probe_.at(time, state);
    moment.told = state;
  }
}

}  // namespace weft
