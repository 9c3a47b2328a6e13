// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "tlm_interconnect/packet/traffic.h"

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstring>
#include <ctime>
#include <map>
#include <memory>
#include <utility>

#include "configs/stop.h"
#include "configs/units.h"
#include "tlm_interconnect/packet/packet_network.h"
#include "tlm_interconnect/packet/traffic_source.h"

namespace weft::packet {
namespace {

[[noreturn]] void fail(const std::string& message) {
  throw UserError(ExitCode::usage, message);
}

constexpr uint64_t kStallCycles = 20000;  ///< nothing arrived for so long: a stall, not congestion

/// The same where the links are so long that a packet alone may be under way for longer.
Ticks stall_time(const PacketTopology& t, const PacketConfig& network) {
  Ticks slowest = 0;
  for (const LinkTiming& link : t.links) {
    slowest = std::max(slowest, link.latency + std::max(link.latency, link.credit_latency) + link.flit_time);
  }
  uint64_t hops = t.dimensions.empty() ? t.levels == 0 ? t.routers.size() : 2 * t.levels : 0;
  for (const TopologyDimension& d : t.dimensions) {
    hops += d.kind == DimensionKind::ring || d.kind == DimensionKind::mesh ? d.size
            : d.tree != nullptr                                            ? 2 * d.tree->levels()
                                                                           : 2;
  }
  return std::max(kStallCycles * network.cycle, 2 * (hops + 1) * slowest);
}

/// Longer than an interface may have decided ahead.
Ticks decided_ahead(const PacketTopology& t, Ticks cycle) {
  Ticks longest = 0;
  for (const LinkTiming& link : t.links)
    longest = std::max(longest, std::max(link.latency, link.credit_latency));
  return longest + 3 * cycle;
}

/// Latencies by the cycle; the last bin is open.
class Histogram {
 public:
  void add(uint64_t value) {
    const uint64_t bin = std::min<uint64_t>(value, kBins - 1);
    if (bins_.size() <= bin) bins_.resize(bin + 1, 0);
    ++bins_[bin];
    ++count_;
    sum_ += value;
    min_ = std::min(min_, value);
    max_ = std::max(max_, value);
  }
  uint64_t count() const { return count_; }
  double mean() const { return count_ == 0 ? 0 : static_cast<double>(sum_) / static_cast<double>(count_); }
  uint64_t min() const { return count_ == 0 ? 0 : min_; }
  uint64_t max() const { return max_; }
  double percentile(double p) const {
    uint64_t seen = 0;
    for (uint64_t bin = 0; bin < bins_.size(); ++bin) {
      seen += bins_[bin];
      if (static_cast<double>(seen) >= p * static_cast<double>(count_)) {
        return static_cast<double>(bin + 1 == kBins ? max_ : bin);
      }
    }
    return 0;
  }

 private:
  static constexpr uint64_t kBins = 1u << 20;
  std::vector<uint64_t> bins_;
  uint64_t count_ = 0;
  uint64_t sum_ = 0;
  uint64_t min_ = ~uint64_t{0};
  uint64_t max_ = 0;
};

class Monitor final : public PacketSink {
 public:
  Monitor(Ticks cycle, Ticks from, Ticks to) : cycle_(cycle), from_(from), to_(to) {}

  void packet_arrives(const fabric::Packet& packet, uint32_t, Ticks at) override {
    // Order-independent, and only up to the end of the measurement: a router may announce arrivals in any
    // order, and how far ahead depends on how long its bursts are.
    if (at < to_) digest_ += hash64(hash64(packet.id_low) ^ hash64(at) ^ packet.destination);
    if (packet.submitted < from_ || packet.submitted >= to_) return;
    const uint64_t latency = (at - packet.submitted) / cycle_;
    ++measured_;
    last_ = std::max(last_, at);
    if (at < to_) {
      latency_.add(latency);
    } else {
      late_.emplace_back(at, latency);
    }
  }
  void flits_arrive(uint32_t flits, Ticks first, Ticks flit_time) override {
    const Ticks last = first + static_cast<Ticks>(flits - 1) * flit_time;
    if (first >= from_ && last < to_) {
      flits_ += flits;
    } else if (last >= from_ && first < to_) {
      for (uint32_t i = 0; i < flits; ++i) {
        const Ticks t = first + static_cast<Ticks>(i) * flit_time;
        if (t >= from_ && t < to_) ++flits_;
      }
    }
  }
  void message_arrives(const Message&, Picoseconds) override {}

  /// Measured packets whose arrival is announced, and the last of these arrivals.
  uint64_t measured() const { return measured_; }
  Ticks last() const { return last_; }
  /// Of those that arrive before `end`, at the earliest the end of the measurement.
  Histogram latency(Ticks end) const {
    Histogram all = latency_;
    for (const auto& [at, latency] : late_)
      if (at < end) all.add(latency);
    return all;
  }
  uint64_t flits() const { return flits_; }
  uint64_t digest() const { return digest_; }

 private:
  const Ticks cycle_;
  const Ticks from_;
  const Ticks to_;
  Histogram latency_;
  std::vector<std::pair<Ticks, uint64_t>> late_;  ///< after the measurement: arrival, latency
  uint64_t measured_ = 0;
  Ticks last_ = 0;
  uint64_t flits_ = 0;
  uint64_t digest_ = 0;
};

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

// -- results through a pipe

void put(std::string& out, const void* data, size_t n) {
  out.append(static_cast<const char*>(data), n);
}
void put(std::string& out, const std::string& s) {
  const uint64_t n = s.size();
  put(out, &n, sizeof n);
  out += s;
}

struct Flat {
  double load, avg, p50, p99, min, max, accepted, wall, cpu, paused;
  uint64_t seed, packets, hops, activations, digest, pauses, overruns;
  uint64_t saturated, marked, notifications, slowed;
};

std::string pack(const TrafficPoint& p) {
  const Flat flat{
      p.load,           p.avg_latency,   p.p50,         p.p99,          p.min_latency, p.max_latency,
      p.accepted,       p.wall_s,        p.cpu_s,       p.paused_share, p.seed,        p.packets,
      p.packet_hops,    p.activations,   p.digest,      p.pauses,       p.overruns,    p.saturated ? 1u : 0u,
      p.packets_marked, p.notifications, p.flows_slowed};
  std::string out(1, 'p');
  put(out, &flat, sizeof flat);
  put(out, p.stall);
  return out;
}

bool unpack(const std::string& in, TrafficPoint& p) {
  Flat flat;
  uint64_t n = 0;
  if (in.size() < 1 + sizeof flat + sizeof n || in[0] != 'p') return false;
  std::memcpy(&flat, in.data() + 1, sizeof flat);
  std::memcpy(&n, in.data() + 1 + sizeof flat, sizeof n);
  if (in.size() != 1 + sizeof flat + sizeof n + n) return false;
  p.stall = in.substr(1 + sizeof flat + sizeof n);
  p.load = flat.load;
  p.avg_latency = flat.avg;
  p.p50 = flat.p50;
  p.p99 = flat.p99;
  p.min_latency = flat.min;
  p.max_latency = flat.max;
  p.accepted = flat.accepted;
  p.wall_s = flat.wall;
  p.cpu_s = flat.cpu;
  p.seed = flat.seed;
  p.packets = flat.packets;
  p.packet_hops = flat.hops;
  p.activations = flat.activations;
  p.digest = flat.digest;
  p.pauses = flat.pauses;
  p.paused_share = flat.paused;
  p.overruns = flat.overruns;
  p.saturated = flat.saturated != 0;
  p.packets_marked = flat.marked;
  p.notifications = flat.notifications;
  p.flows_slowed = flat.slowed;
  return true;
}

void write_all(int fd, const std::string& text) {
  size_t at = 0;
  while (at < text.size()) {
    const ssize_t n = write(fd, text.data() + at, text.size() - at);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return;
    at += static_cast<size_t>(n);
  }
}

std::string read_all(int fd) {
  std::string text;
  char buffer[4096];
  for (;;) {
    const ssize_t n = read(fd, buffer, sizeof buffer);
    if (n < 0 && errno == EINTR && !stop_requested()) continue;
    if (n <= 0) return text;
    text.append(buffer, static_cast<size_t>(n));
  }
}

struct Child {
  pid_t pid = -1;
  int fd = -1;
  size_t run = 0;
};

Child start(const TrafficConfig& config, double load, uint64_t seed, size_t run, const Advance& advance) {
  int fds[2];
  if (pipe(fds) != 0) throw UserError(ExitCode::internal, fmt::format("pipe: {}", std::strerror(errno)));
  const pid_t pid = fork();
  if (pid < 0) {
    close(fds[0]);
    close(fds[1]);
    throw UserError(ExitCode::internal, fmt::format("fork: {}", std::strerror(errno)));
  }
  if (pid == 0) {
    close(fds[0]);
    std::string answer;
    try {
      answer = pack(run_traffic_point(config, load, seed, advance));
    } catch (const UserError& e) {
      answer = fmt::format("e{}{}", static_cast<int>(e.code()), e.what());
    } catch (const std::exception& e) {
      answer = fmt::format("e{}{}", static_cast<int>(ExitCode::internal), e.what());
    }
    write_all(fds[1], answer);
    close(fds[1]);
    _exit(0);  // nothing of the parent's is torn down here
  }
  close(fds[1]);
  return {pid, fds[0], run};
}

void finish(const Child& child, TrafficPoint& point) {
  const std::string answer = read_all(child.fd);
  close(child.fd);
  if (stop_requested()) kill(child.pid, SIGKILL);
  int status = 0;
  while (waitpid(child.pid, &status, 0) < 0 && errno == EINTR) {
  }
  if (unpack(answer, point)) return;
  if (answer.size() > 2 && answer[0] == 'e') {
    throw UserError(static_cast<ExitCode>(answer[1] - '0'), answer.substr(2));
  }
  throw UserError(ExitCode::internal,
                  fmt::format("a traffic run ended without a result (status {})", status));
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
  Ticks moved = 0;
  const Ticks patience = stall_time(network.topology(), network_config);
  // Advances to `target`; false: nothing has arrived for that long although something is on its way.
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
        point.stall = network.explain_stall();
        return false;
      }
    }
    return true;
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
  while (moving && !hopeless && now < limit && !all_measured()) moving = advance_to(now + 200 * cycle);
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
    moving = advance_to(now + 200 * cycle);
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
  std::vector<Child> running;
  const size_t jobs = std::max<uint32_t>(1, config.jobs);
  std::vector<bool> done(tasks.size(), false);
  size_t next = 0;
  std::exception_ptr error;
  while (next < tasks.size() || !running.empty()) {
    while (next < tasks.size() && running.size() < jobs && !error && !stop_requested()) {
      running.push_back(start(config, tasks[next].load, tasks[next].seed, next, advance));
      ++next;
    }
    if (running.empty()) break;
    // In order of start: runs of a sweep take about the same time, so little is lost by not taking the first
    // to end.
    const Child child = running.front();
    running.erase(running.begin());
    if (stop_requested()) kill(child.pid, SIGKILL);
    try {
      finish(child, result.runs[child.run]);
      done[child.run] = true;
    } catch (...) {
      if (stop_requested()) continue;
      if (!error) error = std::current_exception();
      next = tasks.size();
    }
  }
  if (error) std::rethrow_exception(error);

  for (size_t i = 0; i < loads.size(); ++i) {
    const auto first = done.begin() + static_cast<std::ptrdiff_t>(i * config.seeds);
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
