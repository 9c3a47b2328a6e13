// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#ifndef WEFT_SC_MODELS_WHEEL_ALARM_H
#define WEFT_SC_MODELS_WHEEL_ALARM_H

#include <functional>
#include <utility>

#include "sc_models/activation_wheel.h"

namespace weft {

/// Calls when a time has come, as one of the fabric's modules: in their part of the instant (InstantPart),
/// after those that were added to the wheel before it.
class WheelAlarm final : private Wakeable {
 public:
  explicit WheelAlarm(ActivationWheel& wheel) { wheel.add(*this); }

  /// Empty: nobody hears.
  void on(std::function<void(Picoseconds now)> call) { call_ = std::move(call); }
  /// At `time` (>= now). The earliest time that was set counts; set the others again then.
  void set(Picoseconds time) { wake_at(time); }

 private:
  void activate(Picoseconds now) override {
    if (call_) call_(now);
  }

  std::function<void(Picoseconds)> call_;
};

}  // namespace weft

#endif
