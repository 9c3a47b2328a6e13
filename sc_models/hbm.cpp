// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_models/hbm.h"

#include <cmath>

namespace weft {

MemoryTiming hbm_timing(const HbmConfig& config) {
  return {config.bandwidth, config.latency, config.capacity, config.efficiency};
}

Hbm::Hbm(sc_core::sc_module_name name, const MemoryTiming& timing, uint32_t sockets, vcd::Waves* waves)
    : MemoryTarget(name, timing.capacity, sockets, waves), timing_(timing) {
  if (timing_.efficiency < 1.0 && timing_.bandwidth.bytes_per_second != 0) {
    timing_.bandwidth = {static_cast<uint64_t>(std::llround(timing.bandwidth.value() * timing.efficiency)),
                         1};
  }
}

void Hbm::begin(Ticket ticket, const Access& access, Picoseconds at) {
  const Picoseconds start = at > free_at_ ? at : free_at_;
  const Picoseconds time =
      timing_.bandwidth.bytes_per_second == 0 ? 0 : transfer_time(access.length, timing_.bandwidth);
  free_at_ = later(start, time);
  busy_ += time;
  if (bytes_probe_) bytes_probe_.set(free_at_, bytes());
  finish(ticket, later(free_at_, timing_.latency));
}

}  // namespace weft
