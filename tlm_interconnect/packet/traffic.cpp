// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "tlm_interconnect/packet/traffic.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <ctime>
#include <map>
#include <memory>
#include <utility>

#include "configs/stop.h"
#include "configs/units.h"
#include "tlm_interconnect/packet/packet_network.h"
#include "tlm_interconnect/packet/traffic_monitor.h"
#include "tlm_interconnect/packet/traffic_process.h"
#include "tlm_interconnect/packet/traffic_source.h"

namespace weft::packet {
namespace {

[[noreturn]] void fail(const std::string& message) {
  throw UserError(ExitCode::usage, message);
}

constexpr uint64_t kStallCycles = 20000;  ///< no flit moved for so long, or longer: a stall, not congestion

/// Longer than an interface may have decided ahead.
Ticks decided_ahead(const PacketTopology& t, Ticks cycle) {
  Ticks longest = 0;
  for (const LinkTiming& link : t.links)
    longest = std::max(longest, std::max(link.latency, link.credit_latency));
  return longest + 3 * cycle;
}

void check(const TrafficConfig& c) {
  if (c.packet_flits == 0) fail("a packet needs at least one flit");
  if (c.injection != "bernoulli" && c.injection != "periodic") {
    fail(fmt::format("unknown injection '{}': use bernoulli or periodic", c.injection));
  }
  if (c.seeds == 0) fail("at least one seed is needed");
  if (c.measure_cycles == 0) fail("the measurement needs at least one cycle");
  for (const double load : c.loads) {
    if (!(load > 0) || load > 1) {
      fail(fmt::format("load {}: it is in flits per rank and cycle, above 0 and at most 1", load));
    }
  }
  if (c.network.strict_cut_through && c.packet_flits > c.network.buffer_flits) {
    fail(fmt::format("strict cut-through: a packet of {} flits never fits a buffer of {}: enlarge the buffer",
                     c.packet_flits, c.network.buffer_flits));
  }
  if (c.network.vc_classes == "bubble" && 2 * c.packet_flits > c.network.buffer_flits) {
    fail(fmt::format("vc_classes bubble: two packets of {} flits must fit a buffer, which has {}: enlarge it",
                     c.packet_flits, c.network.buffer_flits));
  }
  if (c.loads.empty() && !c.find_saturation) fail("no load is given");
  const uint64_t cycles = c.warmup_cycles + c.measure_cycles + c.drain_cycles;
  if (cycles > ticks(kLongestTickTime) / c.network.cycle) {
    fail(
        fmt::format("warm-up, measurement and drain of {} cycles of {} are longer than {}: give fewer cycles",
                    cycles, print_ticks(c.network.cycle), print_time(kLongestTickTime)));
  }
  const TrafficPattern pattern(c.pattern, c.topology);
}

double cpu_seconds() {
  timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

}  // namespace

TrafficPoint run_traffic_point(const TrafficConfig& config, double load, uint64_t seed,
                               const Advance& advance) {
  PacketConfig network_config = config.network;
  network_config.seed = seed;
  const Ticks cycle = network_config.cycle;
  const Ticks from = config.warmup_cycles * cycle;
  const Ticks to = from + config.measure_cycles * cycle;

  Segmentation packets;  // which the sources make: it says how long the longest is
  packets.flit_bytes = config.flit_bytes;
  packets.packet_bytes = config.packet_flits * packets.flit_bytes;
  PacketNetwork network("network", network_config, config.topology, packets);
  const TrafficPattern pattern(config.pattern, network.topology());
  Monitor monitor(cycle, from, to);
  std::vector<std::unique_ptr<TrafficSource>> sources;
  uint32_t active = 0;
  for (uint32_t r = 0; r < network.ranks(); ++r) {
    sources.push_back(std::make_unique<TrafficSource>(pattern, r, load / config.packet_flits,
                                                      config.injection == "periodic", config.packet_flits,
                                                      cycle, seed));
    sources[r]->count_between(from, to);
    network.ni(r).set_sink(&monitor);
    network.ni(r).set_source(sources[r].get());
    if (!pattern.silent(r)) ++active;
  }

  TrafficPoint point;
  point.load = load;
  point.seed = seed;
  const auto wall = std::chrono::steady_clock::now();
  const double cpu = cpu_seconds();
  Ticks now = 0;
  uint64_t received = 0;
  uint64_t sent = 0;
  Ticks moved = 0;
  const Ticks patience = std::max(kStallCycles * cycle, 2 * network.longest_pause());
  // Advances to `target`; false: no flit has moved for that long although something is on its way.
  const auto advance_to = [&](Ticks target) {
    while (now < target) {
      const Ticks step = std::min<Ticks>(target - now, kStallCycles / 4 * cycle);
      advance(picoseconds(now + step) - picoseconds(now));
      now += step;
      const uint64_t n = network.flits_received();
      if (n != received || network.packets_in_flight() == 0) {
        received = n;
        moved = now;
      } else if (now - moved >= patience) {
        const uint64_t flits = network.flits_moved();
        if (flits == sent) {
          point.stall = network.explain_stall();
          return false;
        }
        sent = flits;
        moved = now;
      }
    }
    return true;
  };
  // Some cycles further, or a multiple of that up to the next event: in between nothing changes.
  const Ticks step = 200 * cycle;
  const auto next_look = [&](Ticks end) {
    const Ticks idle =
        sc_core::sc_pending_activity() ? ticks(sc_core::sc_time_to_pending_activity().value()) : patience;
    return now + std::max<Ticks>(1, std::min({idle, end - now, patience}) / step) * step;
  };
  const auto all_measured = [&] {
    uint64_t created = 0;
    for (uint32_t r = 0; r < network.ranks(); ++r) {
      if (!pattern.silent(r) && sources[r]->newest() < to) return false;
      created += sources[r]->counted();
    }
    // Announced is not yet arrived, and how far ahead arrivals are announced depends on how long bursts are.
    return monitor.measured() == created && monitor.last() < now;
  };

  bool moving = advance_to(to);
  const std::string midway = network.broken_invariant(false);
  if (!midway.empty()) throw UserError(ExitCode::internal, "broken invariant: " + midway);
  // Far above saturation the measured packets would take for ever to come out of the source queues.
  const double offered = load * active / network.ranks();
  point.accepted = static_cast<double>(monitor.flits()) /
                   (static_cast<double>(config.measure_cycles) * static_cast<double>(network.ranks()));
  const Ticks limit = to + config.drain_cycles * cycle;
  // Few packets scatter: that is no saturation.
  const double scatter = 4 * std::sqrt(offered * config.packet_flits /
                                       (static_cast<double>(config.measure_cycles) * network.ranks()));
  const bool hopeless = point.accepted < 0.9 * offered - scatter;
  while (moving && !hopeless && now < limit && !all_measured())
    moving = advance_to(next_look(monitor.last() > now ? std::min(monitor.last(), limit) : limit));
  point.saturated = !moving || hopeless || !all_measured();
  const Histogram latency = monitor.latency(now);
  point.packets = latency.count();
  point.avg_latency = latency.mean();
  point.p50 = latency.percentile(0.5);
  point.p99 = latency.percentile(0.99);
  point.min_latency = static_cast<double>(latency.min());
  point.max_latency = static_cast<double>(latency.max());

  // Every run ends drained, and with its invariants checked.
  for (uint32_t r = 0; r < network.ranks(); ++r) network.ni(r).close_source();
  if (moving)
    moving = advance_to(now + decided_ahead(network.topology(), cycle));  // what sources may still send
  while (moving && (network.packets_in_flight() > 0 || !network.broken_invariant(true).empty())) {
    const bool empty = network.packets_in_flight() == 0;
    moving = advance_to(empty ? now + step : next_look(kNever));
    if (empty) break;
  }
  point.packet_hops = network.packet_hops();
  point.activations = network.activations();
  point.packets_marked = network.packets_marked();
  point.notifications = network.notifications();
  for (uint32_t n = 0; n < network.nis(); ++n) point.flows_slowed += network.ni(n).flow_records().size();
  const PacketNetwork::PfcFigures pfc = network.pfc();
  point.pauses = pfc.pauses;
  point.overruns = pfc.overruns;
  if (pfc.senders != 0 && now != 0)
    point.paused_share = static_cast<double>(pfc.paused) / static_cast<double>(now) / pfc.senders;
  point.digest = monitor.digest();
  point.wall_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - wall).count();
  point.cpu_s = cpu_seconds() - cpu;
  const std::string broken = network.broken_invariant(moving);
  if (!broken.empty()) throw UserError(ExitCode::internal, "broken invariant: " + broken);
  return point;
}

TrafficResult run_traffic(const TrafficConfig& config, const Advance& advance) {
  check(config);
  const auto wall = std::chrono::steady_clock::now();
  std::vector<double> loads = config.loads;
  if (config.find_saturation) loads.push_back(1.0);
  struct Task {
    double load;
    uint64_t seed;
  };
  std::vector<Task> tasks;
  for (const double load : loads) {
    for (uint32_t s = 0; s < config.seeds; ++s) tasks.push_back({load, config.network.seed + s});
  }
  TrafficResult result;
  result.runs.resize(tasks.size());
  SimulatedTimes times(tasks.size());
  std::vector<bool> finished(tasks.size(), false);
  const auto tell = [&] {
    if (!config.progress) return;
    // Of each run warm-up and measurement count, and a tenth of them for what comes after it until it ends.
    const uint64_t measured = config.warmup_cycles + config.measure_cycles;
    const uint64_t whole = measured + measured / 10;
    Picoseconds simulated = 0;
    uint64_t done = 0;
    for (size_t i = 0; i < tasks.size(); ++i) {
      simulated += times.of(i);
      done += finished[i] ? whole : std::min(ticks(times.of(i)) / config.network.cycle, measured);
    }
    config.progress(simulated, done, whole * tasks.size());
  };
  std::vector<TrafficProcess> running;
  const size_t jobs = std::max<uint32_t>(1, config.jobs);
  size_t next = 0;
  std::exception_ptr error;
  while (next < tasks.size() || !running.empty()) {
    while (next < tasks.size() && running.size() < jobs && !error && !stop_requested()) {
      running.emplace_back(config, tasks[next].load, tasks[next].seed, next, advance, times);
      ++next;
    }
    if (running.empty()) break;
    // In order of start: runs of a sweep take about the same time, so little is lost by not taking the first
    // to end.
    TrafficProcess child = running.front();
    running.erase(running.begin());
    try {
      result.runs[child.run()] = child.finish(tell);
      finished[child.run()] = true;
      tell();
    } catch (...) {
      if (stop_requested()) continue;
      if (!error) error = std::current_exception();
      next = tasks.size();
    }
  }
  if (error) std::rethrow_exception(error);

  for (size_t i = 0; i < loads.size(); ++i) {
    const auto first = finished.begin() + static_cast<std::ptrdiff_t>(i * config.seeds);
    if (!std::all_of(first, first + config.seeds, [](bool d) { return d; })) continue;  // asked to stop
    TrafficPoint mean;
    mean.load = loads[i];
    const double n = config.seeds;
    double with_packets = 0;  // seeds without a measured packet have no latency
    for (uint32_t s = 0; s < config.seeds; ++s)
      with_packets += result.runs[i * config.seeds + s].packets != 0 ? 1 : 0;
    const double of_latency = std::max(1.0, with_packets);
    for (uint32_t s = 0; s < config.seeds; ++s) {
      const TrafficPoint& p = result.runs[i * config.seeds + s];
      if (!p.stall.empty()) throw UserError(ExitCode::stall, p.stall);
      mean.accepted += p.accepted / n;
      if (p.packets != 0) {
        mean.avg_latency += p.avg_latency / of_latency;
        mean.p50 += p.p50 / of_latency;
        mean.p99 += p.p99 / of_latency;
        mean.min_latency = mean.packets == 0 ? p.min_latency : std::min(mean.min_latency, p.min_latency);
      }
      mean.max_latency = std::max(mean.max_latency, p.max_latency);
      mean.saturated = mean.saturated || p.saturated;
      mean.packets += p.packets;
      mean.packet_hops += p.packet_hops;
      mean.activations += p.activations;
      mean.packets_marked += p.packets_marked;
      mean.notifications += p.notifications;
      mean.flows_slowed += p.flows_slowed;
      mean.wall_s += p.wall_s;
      mean.cpu_s += p.cpu_s;
      mean.digest += p.digest;
      mean.pauses += p.pauses;
      mean.paused_share += p.paused_share / n;
      mean.overruns += p.overruns;
      result.packet_hops += p.packet_hops;
    }
    if (config.find_saturation && i + 1 == loads.size()) {
      result.saturation = mean.accepted;
      result.overruns += mean.overruns;
      continue;
    }
    result.overruns += mean.overruns;
    result.points.push_back(mean);
  }
  result.wall_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - wall).count();
  return result;
}

std::vector<uint64_t> zero_load_latencies(const PacketTopology& topology, const PacketConfig& network_config,
                                          uint32_t packet_flits, const Advance& advance) {
  /// Sends to one destination after the other, each packet alone in the network.
  class OneByOne final : public PacketSource {
   public:
    OneByOne(uint32_t rank, uint32_t ranks, uint32_t flits, Ticks gap)
        : rank_(rank), ranks_(ranks), flits_(flits), gap_(gap) {}
    bool next(Spec& spec) override {
      if (next_ == ranks_) return false;
      spec.ready = (static_cast<Ticks>(rank_) * ranks_ + next_) * gap_;
      spec.destination = next_++;
      spec.flits = flits_;
      spec.bytes = flits_;
      return true;
    }

   private:
    uint32_t rank_, ranks_, flits_;
    Ticks gap_;
    uint32_t next_ = 0;
  };
  class Times final : public PacketSink {
   public:
    Times(std::vector<uint64_t>& times, uint32_t ranks, Ticks cycle)
        : times_(times), ranks_(ranks), cycle_(cycle) {}
    void packet_arrives(const fabric::Packet& packet, uint32_t, Ticks at) override {
      times_[static_cast<size_t>(packet.source) * ranks_ + packet.destination] =
          (at - packet.submitted) / cycle_;
    }
    void message_arrives(const Message&, Picoseconds) override {}

   private:
    std::vector<uint64_t>& times_;
    uint32_t ranks_;
    Ticks cycle_;
  };
  PacketNetwork network("zero_load", network_config, topology);
  const uint32_t ranks = network.ranks();
  std::vector<uint64_t> times(static_cast<size_t>(ranks) * ranks, 0);
  Times sink(times, ranks, network_config.cycle);
  const Ticks gap =
      (static_cast<Ticks>(network.routers()) * 20 + 8 * packet_flits + 100) * network_config.cycle;
  std::vector<std::unique_ptr<OneByOne>> sources;
  for (uint32_t r = 0; r < ranks; ++r) {
    sources.push_back(std::make_unique<OneByOne>(r, ranks, packet_flits, gap));
    network.ni(r).set_sink(&sink);
    network.ni(r).set_source(sources[r].get());
  }
  advance(picoseconds(gap * (static_cast<Ticks>(ranks) * ranks + 1)));
  const std::string broken = network.broken_invariant(true);
  if (!broken.empty()) throw UserError(ExitCode::internal, "broken invariant: " + broken);
  return times;
}

uint32_t hops_between(const PacketTopology& topology, const PacketConfig& network, uint32_t source,
                      uint32_t destination) {
  const auto routing =
      make_routing_policy(network.routing.empty() ? topology.routing : network.routing, topology, network);
  // Breadth first over what the policy permits.
  struct State {
    uint32_t router, port, vc, hops;
  };
  std::vector<State> queue{{topology.nis[source].router, topology.nis[source].port, 0, 1}};
  std::map<std::pair<uint32_t, uint32_t>, bool> seen;
  std::vector<RouteCandidate> candidates;
  for (size_t i = 0; i < queue.size(); ++i) {
    const State s = queue[i];
    candidates.clear();
    routing->route({s.router, s.port, s.vc, source, destination, 0}, candidates);
    for (const RouteCandidate& c : candidates) {
      const TopologyPort& out = topology.routers[s.router].ports[c.port];
      if (out.ni) {
        if (out.peer == destination) return s.hops;
        continue;
      }
      const uint32_t vc = static_cast<uint32_t>(__builtin_ctz(c.vc_mask));
      bool& known = seen[{out.peer, out.peer_port * 32 + vc}];
      if (known) continue;
      known = true;
      queue.push_back({out.peer, out.peer_port, vc, s.hops + 1});
    }
  }
  return 0;
}

}  // namespace weft::packet
