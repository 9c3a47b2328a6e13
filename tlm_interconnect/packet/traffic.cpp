// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "tlm_interconnect/packet/traffic.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <map>
#include <memory>
#include <utility>

#include "configs/stop.h"
#include "configs/units.h"
#include "tlm_interconnect/packet/packet_network.h"
#include "tlm_interconnect/packet/traffic_process.h"
#include "tlm_interconnect/packet/traffic_source.h"

namespace weft::packet {
namespace {

[[noreturn]] void fail(const std::string& message) {
  throw UserError(ExitCode::usage, message);
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

struct Task {
  double load;
  uint64_t seed;
};

/// Runs every task in a process of its own, some at a time. Says which have finished: not all of them after a
/// request to stop.
std::vector<bool> run_tasks(const TrafficConfig& config, const std::vector<Task>& tasks,
                            const Advance& advance, std::vector<TrafficPoint>& runs) {
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
      runs[child.run()] = child.finish(tell);
      finished[child.run()] = true;
      tell();
    } catch (...) {
      if (stop_requested()) continue;
      if (!error) error = std::current_exception();
      next = tasks.size();
    }
  }
  if (error) std::rethrow_exception(error);
  return finished;
}

/// The mean of the runs of one load, one run a seed. Counts are sums. Throws UserError(stall) for a run that
/// hangs.
TrafficPoint mean_of(double load, const TrafficPoint* runs, uint32_t seeds) {
  TrafficPoint mean;
  mean.load = load;
  const double n = seeds;
  double with_packets = 0;  // seeds without a measured packet have no latency
  for (uint32_t s = 0; s < seeds; ++s) with_packets += runs[s].packets != 0 ? 1 : 0;
  const double of_latency = std::max(1.0, with_packets);
  for (uint32_t s = 0; s < seeds; ++s) {
    const TrafficPoint& p = runs[s];
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
  }
  return mean;
}

}  // namespace

TrafficResult run_traffic(const TrafficConfig& config, const Advance& advance) {
  check(config);
  const auto wall = std::chrono::steady_clock::now();
  std::vector<double> loads = config.loads;
  if (config.find_saturation) loads.push_back(1.0);
  std::vector<Task> tasks;
  for (const double load : loads) {
    for (uint32_t s = 0; s < config.seeds; ++s) tasks.push_back({load, config.network.seed + s});
  }
  TrafficResult result;
  result.runs.resize(tasks.size());
  const std::vector<bool> finished = run_tasks(config, tasks, advance, result.runs);
  for (size_t i = 0; i < loads.size(); ++i) {
    const auto first = finished.begin() + static_cast<std::ptrdiff_t>(i * config.seeds);
    if (!std::all_of(first, first + config.seeds, [](bool d) { return d; })) continue;  // asked to stop
    const TrafficPoint mean = mean_of(loads[i], &result.runs[i * config.seeds], config.seeds);
    result.packet_hops += mean.packet_hops;
    result.overruns += mean.overruns;
    if (config.find_saturation && i + 1 == loads.size()) {
      result.saturation = mean.accepted;
    } else {
      result.points.push_back(mean);
    }
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
      const uint32_t vc = lowest_vc(c.vc_mask);
      bool& known = seen[{out.peer, out.peer_port * kMostVcs + vc}];
      if (known) continue;
      known = true;
      queue.push_back({out.peer, out.peer_port, vc, s.hops + 1});
    }
  }
  return 0;
}

}  // namespace weft::packet
