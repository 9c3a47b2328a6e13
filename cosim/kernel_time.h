// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// The kernel's time in Weft's unit, and back.

#ifndef WEFT_COSIM_KERNEL_TIME_H
#define WEFT_COSIM_KERNEL_TIME_H

#include <algorithm>
#include <systemc>

#include "configs/types.h"

namespace weft::cosim {

inline Picoseconds now() {
  return sc_core::sc_time_stamp().value();
}

inline sc_core::sc_time time_of(Picoseconds t) {
  return sc_core::sc_time::from_value(t);
}

/// Notifies the event at `at`, or now if that is over.
inline void wake_at(sc_core::sc_event& event, Picoseconds at) {
  event.notify(time_of(at - std::min(at, now())));
}

}  // namespace weft::cosim

#endif
