// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "bench/packet/train_bench.h"

#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <systemc>
#include <type_traits>
#include <utility>
#include <vector>

#include "tlm_interconnect/packet/packet_network.h"

namespace weft::bench {
namespace {

using packet::Message;

/// Who sends what after what: in an all-reduce a rank goes on to step s + 1 when it has received everything
/// of step s; otherwise all messages of a rank wait at its interface from the beginning.
class Traffic final : public packet::PacketSink {
 public:
  Traffic(const TrainBench& bench, packet::PacketNetwork& network)
      : bench_(bench), network_(network), ranks_(network.ranks()), received_(network.ranks()) {
    for (uint32_t n = 1; n < ranks_; n *= 2) ++rounds_;
    for (uint32_t r = 0; r < ranks_; ++r) network.ni(r).set_sink(this);
    if (all_reduce()) {
      for (uint32_t r = 0; r < ranks_; ++r) send(r, 0, 0);
    } else {
      send_at_once();
    }
  }

  bool takes_trains() const override { return true; }
  void packet_arrives(const fabric::Packet&, uint32_t, Ticks) override {}
  void train_arrives(const packet::TrainArrivals&) override {}
  void message_arrives(const Message& message, Picoseconds at) override {
    ++messages;
    finished = std::max(finished, at);
    hash += hash64(hash64(at) ^ hash64(message.injected) ^ message.id_low << 40 ^
                   uint64_t{message.source} << 20 ^ message.destination);
    if (!all_reduce()) return;
    const auto step = static_cast<uint32_t>(message.id_low);
    Step& s = received_[message.destination][step];
    s.last = std::max(s.last, at);
    if (++s.messages == partners()) send(message.destination, step + 1, s.last);
  }

  uint64_t expected() const {
    if (bench_.traffic == "incast") return uint64_t{ranks_ - 1} * bench_.steps;
    if (bench_.traffic == "permutation") return uint64_t{ranks_} * bench_.steps;
    return uint64_t{ranks_} * steps() * partners();
  }

  uint64_t messages = 0;
  Picoseconds finished = 0;
  uint64_t hash = 0;  ///< of every message's times: any difference shows

 private:
  struct Step {
    uint32_t messages = 0;
    Picoseconds last = 0;
  };

  bool all_reduce() const { return bench_.traffic != "incast" && bench_.traffic != "permutation"; }
  uint32_t steps() const {
    const uint32_t all = bench_.traffic == "ring"     ? 2 * (ranks_ - 1)
                         : bench_.traffic == "direct" ? 2
                                                      : 2 * rounds_;
    return std::min(bench_.steps, all);
  }
  /// Messages a rank receives in a step.
  uint32_t partners() const { return bench_.traffic == "direct" ? ranks_ - 1 : 1; }

  void send_at_once() {
    std::vector<uint32_t> to(ranks_, 0);
    if (bench_.traffic == "permutation") {
      std::iota(to.begin(), to.end(), 0u);
      packet::Random random(1, 1);
      // Sattolo's: one cycle, so that nobody sends to itself.
      for (uint32_t i = ranks_ - 1; i > 0; --i) std::swap(to[i], to[random.below(i)]);
    }
    for (uint32_t r = 0; r < ranks_; ++r) {
      if (to[r] == r) continue;
      Message m;
      m.submitted = r * Picoseconds{137777};
      m.destination = to[r];
      m.bytes = bench_.bytes;
      for (uint32_t step = 0; step < bench_.steps; ++step) {
        m.id_low = step;
        network_.ni(r).submit(m);
      }
    }
  }

  void send(uint32_t rank, uint32_t step, Picoseconds at) {
    if (step == steps()) return;
    Message m;
    m.id_low = step;
    m.submitted = at;
    m.bytes = bench_.bytes / ranks_;
    if (bench_.traffic == "halving_doubling") {
      const uint32_t round = step < rounds_ ? step : 2 * rounds_ - 1 - step;
      m.destination = rank ^ (ranks_ >> (round + 1));
      m.bytes = bench_.bytes >> (round + 1);
      network_.ni(rank).submit(m);
      return;
    }
    for (uint32_t k = 1; k <= partners(); ++k) {
      m.destination = (rank + k) % ranks_;
      network_.ni(rank).submit(m);
    }
  }

  const TrainBench bench_;
  packet::PacketNetwork& network_;
  const uint32_t ranks_;
  std::vector<std::map<uint32_t, Step>> received_;
  uint32_t rounds_ = 0;
};

struct Answer {
  Picoseconds finished = 0;
  uint64_t hash = 0;
  uint64_t messages = 0;
  uint64_t hops = 0;
  packet::PacketTrains::Counters trains;
  double cpu = 0;
  bool sound = false;
};

double user_seconds() {
  rusage use{};
  getrusage(RUSAGE_SELF, &use);
  return static_cast<double>(use.ru_utime.tv_sec) + static_cast<double>(use.ru_utime.tv_usec) * 1e-6;
}

Answer simulate(const TrainBench& bench, bool trains) {
  packet::PacketConfig config;
  config.trains = trains;
  config.buffer_flits = bench.buffer_flits;
  config.vcs = bench.vcs;
  config.cycle = bench.cycle;
  packet::LinkTiming link;
  link.latency = ticks(bench.latency);
  link.flit_time = bench.flit_time;
  link.pfc = bench.pfc;
  packet::Segmentation cut;
  cut.packet_bytes = bench.packet_bytes;
  cut.flit_bytes = 64;
  packet::PacketNetwork network("network", config, packet::make_from_notation(bench.notation, link, link),
                                cut);
  const double begin = user_seconds();
  Traffic run(bench, network);
  while (network.messages_in_flight() > 0) sc_core::sc_start(sc_core::sc_time::from_value(1000000000));
  Answer a;
  a.cpu = user_seconds() - begin;
  a.finished = run.finished;
  a.hash = run.hash;
  a.messages = run.messages;
  a.hops = network.packet_hops();
  for (uint32_t r = 0; r < network.routers(); ++r) {
    const packet::Router& router = network.router(r);
    for (uint32_t p = 0; p < router.ports(); ++p)
      a.hash += hash64(hash64(uint64_t{r} << 32 | p) ^ hash64(router.flits_sent(p)) ^ router.queued(p));
  }
  a.sound = network.broken_invariant(true).empty() && run.messages == run.expected();
  if (network.trains() != nullptr) a.trains = network.trains()->counters();
  return a;
}

bool in_child(const TrainBench& bench, bool trains, Answer& answer) {
  int fds[2];
  if (pipe(fds) != 0) return false;
  const pid_t pid = fork();
  if (pid == 0) {
    const Answer a = simulate(bench, trains);
    const bool ok = write(fds[1], &a, sizeof a) == static_cast<ssize_t>(sizeof a);
    _exit(ok ? 0 : 1);
  }
  close(fds[1]);
  const bool ok = pid > 0 && read(fds[0], &answer, sizeof answer) == static_cast<ssize_t>(sizeof answer);
  close(fds[0]);
  if (pid > 0) waitpid(pid, nullptr, 0);
  return ok;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const size_t n = values.size();
  return n % 2 == 1 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

void check(const TrainBench& bench) {
  const std::vector<std::string> known = {"ring", "direct", "halving_doubling", "permutation", "incast"};
  if (std::find(known.begin(), known.end(), bench.traffic) == known.end())
    throw UserError(ExitCode::usage,
                    fmt::format("trains: '{}': one of {}", bench.traffic, fmt::join(known, ", ")));
  const packet::PacketTopology topology = packet::make_from_notation(bench.notation, {}, {});
  const uint32_t ranks = topology.ranks();
  if (ranks < 2) throw UserError(ExitCode::usage, "trains: at least 2 ranks");
  if (bench.traffic == "halving_doubling" && (ranks & (ranks - 1)) != 0)
    throw UserError(ExitCode::usage, "trains: halving_doubling needs a power of two of ranks");
}

}  // namespace

int compare_trains(const TrainBench& bench, uint32_t pairs, double* ratio) {
  check(bench);
  fmt::print("{} of {:.3g} MiB on {}, {} B packets, {} a flit of 64 B, {} ns, {} VCs of {} flits{}\n",
             bench.traffic, static_cast<double>(bench.bytes) / (1 << 20), bench.notation, bench.packet_bytes,
             print_ticks(bench.flit_time), bench.latency / 1000, bench.vcs, bench.buffer_flits,
             bench.steps == ~0u ? "" : fmt::format(", {} messages a rank", bench.steps));
  std::vector<double> cpu[2];
  std::vector<double> ratios;
  bool same = true;
  Answer a[2];
  // Of short runs more pairs: they differ more from each other.
  constexpr double kLongEnough = 0.3;
  constexpr uint32_t kMostPairs = 15;
  double all = 0;
  for (uint32_t pair = 0; pair < pairs || (pairs > 1 && all < kLongEnough && pair < kMostPairs); ++pair) {
    for (const size_t trains : {(pair + 1) % 2, pair % 2}) {
      const Answer before = a[trains];
      if (!in_child(bench, trains == 1, a[trains]))
        throw UserError(ExitCode::internal, "trains: a run failed");
      cpu[trains].push_back(a[trains].cpu);
      all += a[trains].cpu;
      same = same && a[trains].sound && (pair == 0 || before.hash == a[trains].hash);
    }
    ratios.push_back(cpu[1].back() / cpu[0].back());
    same = same && a[0].finished == a[1].finished && a[0].hash == a[1].hash && a[0].hops == a[1].hops &&
           a[0].messages == a[1].messages;
  }
  for (const size_t trains : {1, 0}) {
    const double seconds = median(cpu[trains]);
    fmt::print("  {:8}{:10.3f} s: {:7.2f} M packet-hops/s", trains == 1 ? "with" : "without", seconds,
               static_cast<double>(a[trains].hops) / seconds / 1e6);
    if (trains == 1) {
      const packet::PacketTrains::Counters& t = a[1].trains;
      fmt::print(
          "; {} trains, {} split ({} and {} of them joint), {:.1f} % of {} hops; {} records, {:.1f} words a "
          "hop",
          t.trains, t.splits, t.joint, t.joint_splits,
          100.0 * static_cast<double>(t.hops) / static_cast<double>(a[1].hops), a[1].hops, t.looks,
          static_cast<double>(t.work) / static_cast<double>(a[1].hops));
      fmt::print("\n          packets one by one:");
      static const char* const kReasons[] = {"last",      "never",    "filling",  "account", "company",
                                             "unsettled", "stepping", "compared", "replayed"};
      for (size_t i = 0; i < t.ordinary.size(); ++i) {
        if (t.ordinary[i] != 0) fmt::print(" {} {}", t.ordinary[i], kReasons[i]);
      }
    }
    fmt::print("\n");
  }
  fmt::print("  processor time with / without: {:.3f} (median of {}); {:.6f} ms simulated: {}\n",
             median(ratios), ratios.size(), static_cast<double>(a[1].finished) / 1e9,
             same ? "every time and counter is the same" : "RESULTS DIFFER");
  std::fflush(stdout);
  if (ratio != nullptr) *ratio = median(ratios);
  return same ? 0 : 1;
}

int compare_pfc(uint32_t pairs) {
  TrainBench bench;
  bench.notation = "Clos(hosts=8,leaves=16,spines=8)";
  bench.traffic = "permutation";
  bench.steps = 1;
  bench.bytes = uint64_t{8} << 20;
  bench.latency = 600000;
  bench.cycle = bench.flit_time = ticks(1280);
  int status = 0;
  for (const auto& [vcs, buffer] :
       {std::pair{1u, 4096u}, std::pair{1u, 1408u}, std::pair{4u, 4096u}, std::pair{4u, 1408u}}) {
    bench.vcs = vcs;
    bench.buffer_flits = buffer;
    std::vector<double> per_hop[2];
    for (uint32_t pair = 0; pair < pairs; ++pair) {
      for (const size_t pfc : {pair % 2, (pair + 1) % 2}) {
        bench.pfc = pfc == 1;
        Answer a;
        if (!in_child(bench, false, a)) throw UserError(ExitCode::internal, "pfc: a run failed");
        if (!a.sound) status = 1;
        per_hop[pfc].push_back(a.cpu / static_cast<double>(a.hops));
      }
    }
    const double credits = median(per_hop[0]);
    const double pauses = median(per_hop[1]);
    fmt::print(
        "permutation of 8 MiB, {}, {} VCs of {} flits: credits {:.2f}, with PFC {:.2f} M packet-hops/s: "
        "{:.2f} x\n",
        bench.notation, vcs, buffer, 1e-6 / credits, 1e-6 / pauses, pauses / credits);
    std::fflush(stdout);
  }
  return status;
}

int compare_drawn_trains(uint32_t jobs, uint64_t seed, uint32_t pairs, uint32_t only) {
  packet::Random random(seed, 9);
  const auto pick = [&](auto... values) {
    const std::common_type_t<decltype(values)...> all[] = {values...};
    return all[random.below(sizeof...(values))];
  };
  std::vector<double> ratios;
  int status = 0;
  for (uint32_t job = 0; job < jobs; ++job) {
    TrainBench b;
    b.notation = pick("Switch(16)", "Switch(64)", "Clos(hosts=4,leaves=8,spines=4)",
                      "Clos(hosts=8,leaves=8,spines=4)", "FatTree(4,3)", "Ring(8)_Switch(4)",
                      "FullyConnected(8)_Switch(4)", "Mesh(8)_Mesh(4)", "Ring(4)_Ring(4)_Ring(4)");
    b.traffic = pick("ring", "direct", "halving_doubling", "permutation", "permutation", "incast");
    b.packet_bytes = pick(256u, 1024u, 4096u);
    b.latency = pick(20000u, 250000u, 600000u);
    b.cycle = pick(ticks(640) / 9, ticks(1280), ticks(1000));
    b.flit_time = b.cycle * pick(10u, 10u, 10u, 20u, 13u) / 10;
    const bool ring = b.notation.find("Ring") != std::string::npos;
    b.vcs = ring ? pick(2u, 4u) : pick(1u, 2u, 4u);
    // Of 64 flits up to what a round trip holds.
    const Ticks round_trip = 2 * (ticks(b.latency) + 8 * b.cycle);
    b.buffer_flits = std::max<uint32_t>(
        128, static_cast<uint32_t>(pick(uint64_t{0}, round_trip / b.flit_time, round_trip / b.flit_time)));
    b.steps = pick(2u, 4u);
    const uint64_t packets = uint64_t{b.packet_bytes} * pick(100u, 500u, 2000u);
    const uint32_t ranks = packet::make_from_notation(b.notation, {}, {}).ranks();
    b.bytes = b.traffic == "ring"               ? packets * ranks
              : b.traffic == "direct"           ? packets * ranks / 16
              : b.traffic == "halving_doubling" ? 4 * packets
                                                : packets;
    if (only != 0 && job + 1 != only) continue;
    double ratio = 0;
    status |= compare_trains(b, pairs, &ratio);
    ratios.push_back(ratio);
  }
  if (ratios.empty()) throw UserError(ExitCode::usage, fmt::format("trains: job {} of {}", only, jobs));
  std::sort(ratios.begin(), ratios.end());
  fmt::print(
      "{} drawn jobs, seed {}: processor time with trains / without: {:.2f} least, {:.2f} median, {:.2f} "
      "most; {} above 1.05: {}\n",
      ratios.size(), seed, ratios.front(), median(ratios), ratios.back(),
      std::count_if(ratios.begin(), ratios.end(), [](double r) { return r > 1.05; }),
      status == 0 ? "every time and counter is the same" : "RESULTS DIFFER");
  return status;
}

int compare_all_trains(uint32_t pairs, uint32_t only) {
  TrainBench good;
  good.bytes = uint64_t{128} << 20;
  TrainBench far = good;  // 900 GB/s and 250 ns
  far.bytes = uint64_t{256} << 20;
  far.packet_bytes = 256;
  far.latency = 250000;
  far.cycle = far.flit_time = ticks(640) / 9;
  far.buffer_flits = 16384;
  far.steps = 2;
  TrainBench far_long = far;
  far_long.bytes = uint64_t{1} << 30;
  far_long.steps = 1;
  TrainBench far_one = far_long;
  far_one.vcs = 1;
  TrainBench far_steps = far_long;  // a rank's next message follows its last one
  far_steps.steps = 4;
  TrainBench far_direct = far;
  far_direct.traffic = "direct";
  far_direct.bytes = uint64_t{2} << 20;
  TrainBench clos = far;  // 50 GB/s and 600 ns
  clos.notation = "Clos(hosts=8,leaves=16,spines=8)";
  clos.traffic = "permutation";
  clos.steps = 4;
  clos.bytes = uint64_t{2} << 20;
  clos.packet_bytes = 4096;
  clos.latency = 600000;
  clos.cycle = clos.flit_time = ticks(1280);
  clos.buffer_flits = 2048;
  TrainBench clos_one = clos;
  clos_one.vcs = 1;
  TrainBench clos_one_long = clos_one;
  clos_one_long.steps = 1;
  clos_one_long.bytes = uint64_t{16} << 20;
  TrainBench clos_one_longer = clos_one_long;
  clos_one_longer.bytes = uint64_t{32} << 20;
  TrainBench clos_small = clos;
  clos_small.bytes = uint64_t{128} << 10;
  clos_small.packet_bytes = 256;
  TrainBench near = clos;  // the same, but of 20 ns
  near.latency = 20000;
  near.buffer_flits = 128;
  TrainBench incast = far;
  incast.notation = "Switch(16)";
  incast.traffic = "incast";
  incast.steps = 4;
  incast.bytes = uint64_t{4} << 20;
  TrainBench incast_near = incast;
  incast_near.packet_bytes = 4096;
  incast_near.latency = 50000;
  incast_near.bytes = uint64_t{32} << 20;
  int status = 0;
  uint32_t number = 0;
  for (const TrainBench& bench : {good, far, far_long, far_one, far_direct, clos, clos_one, clos_small, near,
                                  incast, incast_near, far_steps, clos_one_long, clos_one_longer}) {
    if (++number == only || only == 0) status |= compare_trains(bench, pairs);
  }
  return status;
}

}  // namespace weft::bench
