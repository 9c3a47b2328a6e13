// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// A memory, model `bandwidth`: a FIFO server of bytes / (efficiency x bandwidth) with a latency behind it.
// Serves as an NPU's HBM and, with other figures, as the remote memory it reaches.

#ifndef WEFT_SC_MODELS_HBM_H
#define WEFT_SC_MODELS_HBM_H

#include "configs/config.h"
#include "sc_models/memory_target.h"

namespace weft {

struct MemoryTiming {
  Rate bandwidth;  ///< 0: unlimited
  Picoseconds latency = 0;
  uint64_t capacity = 0;    ///< bytes; 0: unlimited
  double efficiency = 1.0;  ///< of the bandwidth, (0, 1]
};

MemoryTiming hbm_timing(const HbmConfig& config);

class Hbm final : public MemoryTarget {
 public:
  /// One socket an initiator.
  Hbm(sc_core::sc_module_name name, const MemoryTiming& timing, uint32_t sockets, vcd::Waves* waves);

  Picoseconds busy() const override { return busy_; }

 private:
  void begin(Ticket ticket, const Access& access, Picoseconds at) override;

  MemoryTiming timing_;
  Picoseconds free_at_ = 0;
  Picoseconds busy_ = 0;
};

}  // namespace weft

#endif
