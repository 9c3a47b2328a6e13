// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// The waveform `state` of a switch's input at `message` fidelity: what the furthest of its messages does.

#ifndef WEFT_SC_MODELS_SWITCH_INPUT_STATE_H
#define WEFT_SC_MODELS_SWITCH_INPUT_STATE_H

#include <cstdint>
#include <map>

#include "configs/types.h"
#include "vcd/probe.h"

namespace weft {

/// `idle`: no message is there. `waiting`: a message's head is there and none leaves. `sending`: one leaves.
/// Moments are told ahead of time and in any order. Each costs a walk over the moments still to come.
class SwitchInputState {
 public:
  enum class State : uint8_t { idle, waiting, sending };

  SwitchInputState() = default;
  explicit SwitchInputState(vcd::Probe probe) : probe_(probe) {}

  /// A message's head is there at `head` (>= now).
  void arrives(Picoseconds head);
  /// A message that has arrived leaves from `start` to `end`; now <= start <= end, and its head <= start.
  void leaves(Picoseconds now, Picoseconds start, Picoseconds end);

 private:
  struct Level {
    int32_t held = 0;     ///< messages whose head is there
    int32_t sending = 0;  ///< .. of which so many leave
    State state() const;
  };
  struct Moment {
    Level change;
    State told = State::idle;  ///< valid with a handle
    vcd::FutureHandle handle;  ///< empty: the state goes on, or nobody can take it back
  };
  void tell(Picoseconds from);

  vcd::Probe probe_;
  Level past_;                             ///< before all moments
  std::map<Picoseconds, Moment> moments_;  ///< to come
};

}  // namespace weft

#endif
