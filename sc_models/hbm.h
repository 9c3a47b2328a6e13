// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// A memory, model `bandwidth`: a server of bytes / (efficiency x bandwidth) with a latency behind it.
// Accesses of one initiator are served one after the other; initiators that have accesses waiting share the
// bandwidth in equal parts. Serves as an NPU's HBM and, with other figures, as the remote memory it reaches.

#ifndef WEFT_SC_MODELS_HBM_H
#define WEFT_SC_MODELS_HBM_H

#include <cstdint>
#include <vector>

#include "configs/config.h"
#include "configs/fifo.h"
#include "sc_models/memory_target.h"

namespace weft {

struct MemoryTiming {
  Rate bandwidth;  ///< 0: unlimited
  Picoseconds latency = 0;
  uint64_t capacity = 0;    ///< bytes; 0: unlimited
  double efficiency = 1.0;  ///< of the bandwidth, (0, 1]
  bool in_order = false;    ///< accesses are served as they come; else initiators share it equally
};

MemoryTiming hbm_timing(const HbmConfig& config);

class Hbm final : public MemoryTarget {
 public:
  /// One socket an initiator.
  Hbm(sc_core::sc_module_name name, const MemoryTiming& timing, uint32_t sockets, vcd::ProbeHub* probes);

  Picoseconds busy() const override { return busy_; }

 private:
  struct Waiting {
    Ticket ticket = 0;
    uint32_t client = 0;
    uint64_t length = 0;
    Wide left = 0;  ///< of its time alone, in units of 1 / scale_ ps
  };

  void begin(Ticket ticket, const Access& access, Picoseconds at) override;
  void work(Picoseconds now) override;
  void join(const Waiting& access, Picoseconds now);
  void serve(Picoseconds now);
  Picoseconds next_end() const;
  /// Of an access alone.
  Picoseconds time_of(uint64_t bytes) const;

  MemoryTiming timing_;
  Picoseconds free_at_ = 0;  ///< with what has come so far
  Picoseconds busy_ = 0;

  // With several initiators.
  std::vector<Fifo<Waiting>> clients_;
  fabric::TimedQueue<Waiting, uint64_t> arrivals_;  ///< later than now
  uint64_t arrived_ = 0;
  uint64_t scale_ = 1;   ///< a picosecond's service divides by the number of initiators
  uint32_t active_ = 0;  ///< initiators with accesses waiting
  Picoseconds served_until_ = 0;
  uint64_t moved_ = 0;  ///< bytes
};

}  // namespace weft

#endif
