// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Synthetic traffic on a packet network: open-loop sources, warm-up, measurement and drain, load-latency
// points.
//
// SystemC elaborates once a process, so every point (one load, one seed) runs in a child process of its own;
// run_traffic() starts them, some at a time, and gathers what they measured. The library does not start the
// simulation: the caller says how (`Advance`), usually sc_core::sc_start.

#ifndef WEFT_TLM_INTERCONNECT_PACKET_TRAFFIC_H
#define WEFT_TLM_INTERCONNECT_PACKET_TRAFFIC_H

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "tlm_interconnect/packet/packet_config.h"
#include "tlm_interconnect/packet/topology.h"
#include "tlm_interconnect/packet/traffic_pattern.h"

namespace weft::packet {

/// How far all runs together are: simulated time, and cycles of warm-up, measurement and the rest.
using TrafficProgress = std::function<void(Picoseconds simulated, uint64_t done, uint64_t total)>;

struct TrafficConfig {
  PacketTopology topology;
  PacketConfig network;
  PatternConfig pattern;
  uint32_t packet_flits = 8;
  uint32_t flit_bytes = 16;             ///< what ECN and DCQCN count
  std::string injection = "bernoulli";  ///< bernoulli | periodic
  std::vector<double> loads;            ///< flits per rank and cycle, in (0, 1]
  uint32_t seeds = 1;                   ///< runs per load, with seeds network.seed, network.seed + 1, ...
  uint64_t warmup_cycles = 5000;
  uint64_t measure_cycles = 20000;
  uint64_t drain_cycles = 200000;  ///< longest wait for the measured packets
  bool find_saturation = true;     ///< one more point at load 1
  uint32_t jobs = 2;               ///< child processes at a time
  TrafficProgress progress = {};   ///< called while runs are waited for, several times a second
};

/// One load and one seed. Times in cycles, rates in flits per rank and cycle.
struct TrafficPoint {
  double load = 0;
  uint64_t seed = 0;
  double avg_latency = 0;  ///< creation to arrival of the tail, source queue included
  double p50 = 0;
  double p99 = 0;
  double min_latency = 0;
  double max_latency = 0;
  double accepted = 0;
  bool saturated = false;    ///< the measured packets did not all arrive: latency has no meaning
  uint64_t packets = 0;      ///< measured; 0: there is no latency
  uint64_t packet_hops = 0;  ///< whole run
  uint64_t activations = 0;  ///< whole run
  double wall_s = 0;         ///< simulation only
  double cpu_s = 0;
  uint64_t packets_marked = 0;  ///< by ECN, at every router; whole run
  uint64_t notifications = 0;   ///< of DCQCN; whole run
  uint64_t flows_slowed = 0;
  uint64_t pauses = 0;      ///< whole run: by priority flow control
  double paused_share = 0;  ///< .. of the time of a link that has it, over virtual networks, on average
  uint64_t overruns = 0;    ///< .. packets that found a full buffer without having been paused
  uint64_t digest = 0;      ///< of the arrivals up to the end of the measurement (rank, time, packet)
  std::string stall;        ///< not empty: nothing moved any more, and why
};

struct TrafficResult {
  std::vector<TrafficPoint> points;  ///< per load: the mean over its seeds
  std::vector<TrafficPoint> runs;    ///< every run
  double saturation = 0;             ///< accepted at load 1, 0 if not asked for
  uint64_t packet_hops = 0;
  uint64_t overruns = 0;
  double wall_s = 0;  ///< of all, children in parallel
};

/// Simulates this many picoseconds more: [](Picoseconds t) {
/// sc_core::sc_start(sc_core::sc_time::from_value(t)); }.
using Advance = std::function<void(Picoseconds)>;

/// Throws UserError before anything runs when the configuration is unsound, and ExitCode::stall when a run
/// hangs: the message is the explanation. A broken invariant is ExitCode::internal.
TrafficResult run_traffic(const TrafficConfig& config, const Advance& advance);
/// One point in this process, which must not have elaborated anything before.
TrafficPoint run_traffic_point(const TrafficConfig& config, double load, uint64_t seed,
                               const Advance& advance);

/// The zero-load latency of every pair, in cycles: ranks x ranks, one packet at a time, in this process.
std::vector<uint64_t> zero_load_latencies(const PacketTopology& topology, const PacketConfig& network,
                                          uint32_t packet_flits, const Advance& advance);
/// Routers a packet crosses: the fewest over the permitted ways.
uint32_t hops_between(const PacketTopology& topology, const PacketConfig& network, uint32_t source,
                      uint32_t destination);

}  // namespace weft::packet

#endif
