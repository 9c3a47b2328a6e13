// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// One run of synthetic traffic: a network, its sources, and what is measured.

#include <algorithm>
#include <chrono>
#include <cmath>
#include <ctime>
#include <memory>
#include <string>
#include <vector>

#include "tlm_interconnect/packet/packet_network.h"
#include "tlm_interconnect/packet/traffic.h"
#include "tlm_interconnect/packet/traffic_monitor.h"
#include "tlm_interconnect/packet/traffic_source.h"

namespace weft::packet {
namespace {

constexpr uint64_t kStallCycles = 20000;  ///< no flit moved for so long, or longer: a stall, not congestion

/// Longer than an interface may have decided ahead.
Ticks decided_ahead(const PacketTopology& t, Ticks cycle) {
  Ticks longest = 0;
  for (const LinkTiming& link : t.links)
    longest = std::max(longest, std::max(link.latency, link.credit_latency));
  return longest + 3 * cycle;
}

double cpu_seconds() {
  timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

/// The longest packet that the sources make.
Segmentation packets_of(const TrafficConfig& config) {
  Segmentation packets;
  packets.flit_bytes = config.flit_bytes;
  packets.packet_bytes = config.packet_flits * packets.flit_bytes;
  return packets;
}

PacketConfig with_seed(PacketConfig config, uint64_t seed) {
  config.seed = seed;
  return config;
}

void check_invariants(const PacketNetwork& network, bool drained) {
  const std::string broken = network.broken_invariant(drained);
  if (!broken.empty()) throw UserError(ExitCode::internal, "broken invariant: " + broken);
}

class TrafficRun {
 public:
  TrafficRun(const TrafficConfig& config, double load, uint64_t seed, const Advance& advance)
      : config_(config),
        advance_(advance),
        cycle_(config.network.cycle),
        from_(config.warmup_cycles * cycle_),
        to_(from_ + config.measure_cycles * cycle_),
        network_("network", with_seed(config.network, seed), config.topology, packets_of(config)),
        pattern_(config.pattern, network_.topology()),
        monitor_(cycle_, from_, to_),
        patience_(std::max(kStallCycles * cycle_, 2 * network_.longest_pause())) {
    point_.load = load;
    point_.seed = seed;
    for (uint32_t r = 0; r < network_.ranks(); ++r) {
      const TrafficSource::Load offered{load / config.packet_flits, config.injection == "periodic",
                                        config.packet_flits, cycle_};
      sources_.push_back(std::make_unique<TrafficSource>(pattern_, r, offered, seed));
      sources_[r]->count_between(from_, to_);
      network_.ni(r).set_sink(&monitor_);
      network_.ni(r).set_source(sources_[r].get());
      if (!pattern_.silent(r)) ++active_;
    }
  }

  TrafficPoint run() {
    const auto wall = std::chrono::steady_clock::now();
    const double cpu = cpu_seconds();
    bool moving = measure();
    note_latencies();
    moving = moving && drain();
    note_counters();
    point_.wall_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - wall).count();
    point_.cpu_s = cpu_seconds() - cpu;
    check_invariants(network_, moving);
    return point_;
  }

 private:
  /// Advances to `target`; false: no flit has moved for that long although something is on its way.
  bool advance_to(Ticks target) {
    while (now_ < target) {
      const Ticks step = std::min<Ticks>(target - now_, kStallCycles / 4 * cycle_);
      advance_(picoseconds(now_ + step) - picoseconds(now_));
      now_ += step;
      const uint64_t n = network_.flits_received();
      if (n != received_ || network_.packets_in_flight() == 0) {
        received_ = n;
        moved_ = now_;
      } else if (now_ - moved_ >= patience_) {
        const uint64_t flits = network_.flits_moved();
        if (flits == sent_) {
          point_.stall = network_.explain_stall();
          return false;
        }
        sent_ = flits;
        moved_ = now_;
      }
    }
    return true;
  }

  /// Some cycles further, or a multiple of that up to the next event: in between nothing changes.
  Ticks next_look(Ticks end) const {
    const Ticks idle =
        sc_core::sc_pending_activity() ? ticks(sc_core::sc_time_to_pending_activity().value()) : patience_;
    return now_ + std::max<Ticks>(1, std::min({idle, end - now_, patience_}) / step()) * step();
  }

  bool all_measured() const {
    uint64_t created = 0;
    for (uint32_t r = 0; r < network_.ranks(); ++r) {
      if (!pattern_.silent(r) && sources_[r]->newest() < to_) return false;
      created += sources_[r]->counted();
    }
    // Announced is not yet arrived, and how far ahead arrivals are announced depends on how long bursts are.
    return monitor_.measured() == created && monitor_.last() < now_;
  }

  /// Warm-up and measurement, until all measured packets have arrived or the network is found saturated.
  /// False: it hangs.
  bool measure() {
    bool moving = advance_to(to_);
    check_invariants(network_, false);
    // Far above saturation the measured packets would take for ever to come out of the source queues.
    const double offered = point_.load * active_ / network_.ranks();
    const auto cycles = static_cast<double>(config_.measure_cycles);
    point_.accepted =
        static_cast<double>(monitor_.flits()) / (cycles * static_cast<double>(network_.ranks()));
    const Ticks limit = to_ + config_.drain_cycles * cycle_;
    // Few packets scatter: that is no saturation.
    const double scatter = 4 * std::sqrt(offered * config_.packet_flits / (cycles * network_.ranks()));
    const bool hopeless = point_.accepted < 0.9 * offered - scatter;
    while (moving && !hopeless && now_ < limit && !all_measured())
      moving = advance_to(next_look(monitor_.last() > now_ ? std::min(monitor_.last(), limit) : limit));
    point_.saturated = !moving || hopeless || !all_measured();
    return moving;
  }

  void note_latencies() {
    const Histogram latency = monitor_.latency(now_);
    point_.packets = latency.count();
    point_.avg_latency = latency.mean();
    point_.p50 = latency.percentile(0.5);
    point_.p99 = latency.percentile(0.99);
    point_.min_latency = static_cast<double>(latency.min());
    point_.max_latency = static_cast<double>(latency.max());
    for (uint32_t r = 0; r < network_.ranks(); ++r) network_.ni(r).close_source();
  }

  /// Every run ends drained, so that its invariants can be checked. False: it hangs.
  bool drain() {
    bool moving =
        advance_to(now_ + decided_ahead(network_.topology(), cycle_));  // what sources may still send
    while (moving && (network_.packets_in_flight() > 0 || !network_.broken_invariant(true).empty())) {
      const bool empty = network_.packets_in_flight() == 0;
      moving = advance_to(empty ? now_ + step() : next_look(kNever));
      if (empty) break;
    }
    return moving;
  }

  void note_counters() {
    point_.packet_hops = network_.packet_hops();
    point_.activations = network_.activations();
    point_.packets_marked = network_.packets_marked();
    point_.notifications = network_.notifications();
    for (uint32_t n = 0; n < network_.nis(); ++n) point_.flows_slowed += network_.ni(n).flow_records().size();
    const PacketNetwork::PfcFigures pfc = network_.pfc();
    point_.pauses = pfc.pauses;
    point_.overruns = pfc.overruns;
    if (pfc.senders != 0 && now_ != 0)
      point_.paused_share = static_cast<double>(pfc.paused) / static_cast<double>(now_) / pfc.senders;
    point_.digest = monitor_.digest();
  }

  Ticks step() const { return 200 * cycle_; }

  const TrafficConfig& config_;
  const Advance& advance_;
  const Ticks cycle_;
  const Ticks from_;  ///< the measurement's begin ..
  const Ticks to_;    ///< .. and end
  PacketNetwork network_;
  const TrafficPattern pattern_;
  Monitor monitor_;
  std::vector<std::unique_ptr<TrafficSource>> sources_;
  const Ticks patience_;  ///< without a moving flit: then the network hangs
  uint32_t active_ = 0;   ///< ranks that send
  Ticks now_ = 0;
  Ticks moved_ = 0;  ///< when a flit moved last, or nothing was on its way
  uint64_t received_ = 0;
  uint64_t sent_ = 0;
  TrafficPoint point_;
};

}  // namespace

TrafficPoint run_traffic_point(const TrafficConfig& config, double load, uint64_t seed,
                               const Advance& advance) {
  return TrafficRun(config, load, seed, advance).run();
}

}  // namespace weft::packet
