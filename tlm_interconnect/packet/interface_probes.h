// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// The waveforms of one network interface: the credits that it has for each VC of its router
// (<interface>.vc1_credits), the messages that wait for their first packet (<interface>.queue), and, where
// its link is one of the results, that link's.

#ifndef WEFT_TLM_INTERCONNECT_PACKET_INTERFACE_PROBES_H
#define WEFT_TLM_INTERCONNECT_PACKET_INTERFACE_PROBES_H

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "tlm_interconnect/packet/router_probes.h"

namespace weft::packet {

struct InterfaceProbes {
  std::vector<vcd::Probe> credits;  ///< by VC; empty: none is declared
  vcd::Probe queue;
  std::unique_ptr<fabric::LinkSignals> link;
  uint64_t waiting = 0;  ///< messages of which no packet has begun

  bool any() const {
    bool wanted = queue || link != nullptr;
    for (const vcd::Probe& probe : credits) wanted = wanted || probe;
    return wanted;
  }
  void count(uint32_t vc, Ticks first, uint32_t n, Ticks stride, int by) const {
    if (!credits.empty()) credits[vc].add({first, n, stride, kTicksPerPicosecond}, by);
  }
  /// A message more, or less, waits from `t` on.
  void wait(Ticks t, int by) {
    waiting = waiting + static_cast<uint64_t>(static_cast<int64_t>(by));
    queue.add({t, 1, 0, kTicksPerPicosecond}, by);
  }
};

}  // namespace weft::packet

#endif
