// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Cuts a link in two: what leaves the fabric at one border comes in again at the other, by way of its bytes.
// No time passes, so results do not change. It shows that a border loses nothing, and is the pattern for what
// carries crossings further.

#ifndef WEFT_TLM_INTERCONNECT_BORDER_LOOPBACK_H
#define WEFT_TLM_INTERCONNECT_BORDER_LOOPBACK_H

#include <systemc>

#include "tlm_interconnect/border/border.h"

namespace weft::fabric {

class Loopback final : public sc_core::sc_module {
 public:
  /// `watch`: sees every message that crosses; empty: nobody does.
  Loopback(sc_core::sc_module_name name, PacketPool& pool, CrossingElements* elements = nullptr,
           CrossingWatch watch = {});

  /// Stands for the module at the target side: bound by the link's initiator.
  fabric_target_socket& near() { return *near_.target(); }
  /// Stands for the module at the initiator side: to be bound to the link's target.
  fabric_initiator_socket& far() { return *far_.initiator(); }

  /// Messages that have crossed, both ways.
  uint64_t crossed() const { return near_.left() + far_.left(); }

 private:
  void cross(bool forward, const Crossing& crossing);

  CrossingWatch watch_;
  Border near_;
  Border far_;
};

}  // namespace weft::fabric

#endif
