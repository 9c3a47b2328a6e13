// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Which memory of a configuration `weft memory` measures, and the measurement: a memory of its own for each
// load, one after the other in one simulation.

#ifndef WEFT_SC_MAIN_MEMORY_BENCH_H
#define WEFT_SC_MAIN_MEMORY_BENCH_H

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "configs/config.h"
#include "sc_models/memory_target.h"
#include "sc_models/memory_traffic.h"

namespace weft::cli {

/// The part of a device that is measured; 0: all of it, of stacks one.
struct MemoryPart {
  uint32_t stacks = 0;
  uint32_t channels = 0, pseudo_channels = 0, bank_groups = 0, banks = 0;
  bool given() const { return (stacks | channels | pseudo_channels | bank_groups | banks) != 0; }
};

/// What can be measured of a memory.
struct MeasuredMemory {
  std::string title;         ///< "HBM3, one stack, .."
  std::string model;         ///< "banked"
  double peak = 0;           ///< bytes a picosecond
  uint32_t burst_bytes = 0;  ///< 0: the model has none
  uint64_t range = 0;        ///< bytes
  Picoseconds latency = 0;   ///< about, of an access
  uint32_t windows = 1;      ///< pseudo-channels, each with a window of its own
  /// Of its refreshes. Two memories behave the same if their first uses are a multiple of it apart.
  Picoseconds period = 1;
  std::function<std::unique_ptr<MemoryTarget>(const char* name)> make;
};

/// The names that `--memory` takes, with what they mean.
const std::vector<std::pair<std::string, std::string>>& measured_memories();
/// Errors: UserError(usage) for a name that there is not, for a memory that the configuration has not, and
/// for a part of what has no parts.
MeasuredMemory measured_memory(const std::string& name, const Config& config, const MemoryPart& part);

struct MemoryPoint {
  double load = 0;         ///< of the peak; 1: as fast as the memory takes it
  double bandwidth = 0;    ///< bytes a picosecond
  double avg_latency = 0;  ///< ps
  double p50 = 0, p99 = 0;
  uint64_t blocks = 0;
  bool saturated = false;  ///< offered more than it took
};

struct MemoryMeasurement {
  std::vector<MemoryPoint> points;
  uint64_t bursts = 0;  ///< of all points; without bursts, blocks
  /// Of reads one at a time, in ps; 0: not measured (models with bursts).
  double idle_latency = 0;
  double wall_s = 0;
};

struct MemoryBench {
  MemoryPattern pattern;
  std::vector<double> loads;
  uint64_t blocks = 0;       ///< of a load
  uint32_t outstanding = 0;  ///< blocks at load 1
  uint64_t seed = 1;
};

/// Runs the simulation, with a progress line. After a signal: the finished points.
MemoryMeasurement measure(const MeasuredMemory& memory, const MemoryBench& bench);

}  // namespace weft::cli

#endif
