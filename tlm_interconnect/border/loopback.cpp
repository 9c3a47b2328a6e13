// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "tlm_interconnect/border/loopback.h"

#include <utility>

namespace weft::fabric {

Loopback::Loopback(sc_core::sc_module_name module_name, PacketPool& pool, CrossingElements* elements,
                   CrossingWatch watch)
    : sc_core::sc_module(module_name),
      watch_(std::move(watch)),
      near_(
          "near", Border::Side::target, pool, [this](const Crossing& crossing) { cross(true, crossing); },
          elements),
      far_(
          "far", Border::Side::initiator, pool, [this](const Crossing& crossing) { cross(false, crossing); },
          elements) {}

void Loopback::cross(bool forward, const Crossing& crossing) {
  if (watch_) watch_(forward, crossing);
  (forward ? far_ : near_).enter(from_bytes(to_bytes(crossing)));
}

}  // namespace weft::fabric
