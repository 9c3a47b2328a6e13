// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Ticks and the kernel's time. Modules of the packet fabric act at multiples of the network's cycle, which
// need not be whole picoseconds; the kernel runs them at the first picosecond at or after. As a cycle lasts
// at least a picosecond, no two cycles share one, and the order of cycles is the kernel's order: the module
// that is run works at the exact time it asked for, and everything before that cycle has been decided by
// everybody.

#ifndef WEFT_TLM_INTERCONNECT_PACKET_TICKS_H
#define WEFT_TLM_INTERCONNECT_PACKET_TICKS_H

#include <systemc>

#include "configs/ticks.h"

namespace weft::packet {

/// The kernel's time.
inline Ticks kernel_time() {
  return ticks(sc_core::sc_time_stamp().value());
}

/// No cycle before this is still to be decided by anybody; the next one after it may be.
inline Ticks kernel_decided() {
  const Ticks t = kernel_time();
  return t == 0 ? 0 : t - (kTicksPerPicosecond - 1);
}

}  // namespace weft::packet

#endif
