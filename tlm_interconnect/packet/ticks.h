// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#ifndef WEFT_TLM_INTERCONNECT_PACKET_TICKS_H
#define WEFT_TLM_INTERCONNECT_PACKET_TICKS_H

#include "configs/types.h"

namespace weft::packet {

/// The unit of time of the packet fabric: all times of routers, interfaces and the transfers between them.
using Ticks = Picoseconds;

}  // namespace weft::packet

#endif
