// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// SystemC elaborates once a process, so each run of synthetic traffic has a child process of its own, which
// answers through a pipe and says through shared memory how far it is.

#ifndef WEFT_TLM_INTERCONNECT_PACKET_TRAFFIC_PROCESS_H
#define WEFT_TLM_INTERCONNECT_PACKET_TRAFFIC_PROCESS_H

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <functional>

#include "tlm_interconnect/packet/traffic.h"

namespace weft::packet {

/// Picoseconds that each run has simulated, seen by parent and children.
class SimulatedTimes {
 public:
  /// Throws UserError when there is no memory.
  explicit SimulatedTimes(size_t runs);
  ~SimulatedTimes();
  SimulatedTimes(const SimulatedTimes&) = delete;
  SimulatedTimes& operator=(const SimulatedTimes&) = delete;
  void add(size_t run, Picoseconds time);
  Picoseconds of(size_t run) const;

 private:
  const size_t bytes_;
  void* memory_;
};

class TrafficProcess {
 public:
  /// Starts run_traffic_point(config, load, seed). The child ends with its parent.
  TrafficProcess(const TrafficConfig& config, double load, uint64_t seed, size_t run, const Advance& advance,
                 SimulatedTimes& times);
  size_t run() const { return run_; }
  /// Waits for the answer, calling `waiting` now and then. Throws what the run threw.
  TrafficPoint finish(const std::function<void()>& waiting);

 private:
  pid_t pid_ = -1;
  int pipe_ = -1;
  size_t run_ = 0;
};

}  // namespace weft::packet

#endif
