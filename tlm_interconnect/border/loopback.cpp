// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "tlm_interconnect/border/loopback.h"

namespace weft::fabric {

Loopback::Loopback(sc_core::sc_module_name module_name, PacketPool& pool, CrossingElements* elements)
    : sc_core::sc_module(module_name),
      near_(
          "near", Border::Side::target, pool,
          [this](const Crossing& crossing) { far_.enter(from_bytes(to_bytes(crossing))); }, elements),
      far_(
          "far", Border::Side::initiator, pool,
          [this](const Crossing& crossing) { near_.enter(from_bytes(to_bytes(crossing))); }, elements) {}

}  // namespace weft::fabric
