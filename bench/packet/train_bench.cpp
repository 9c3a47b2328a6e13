// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "bench/packet/train_bench.h"

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <systemc>
#include <vector>

#include "tlm_interconnect/packet/packet_network.h"

namespace weft::bench {
namespace {

using packet::Message;

/// Who sends what after what: a rank goes on to step s + 1 when it has received everything of step s.
class AllReduce final : public packet::PacketSink {
 public:
  AllReduce(const TrainBench& bench, packet::PacketNetwork& network)
      : bench_(bench), network_(network), ranks_(bench.ranks) {
    for (uint32_t n = 1; n < bench.ranks; n *= 2) ++rounds_;
    for (uint32_t r = 0; r < bench.ranks; ++r) network.ni(r).set_sink(this);
    for (uint32_t r = 0; r < bench.ranks; ++r) send(r, 0, 0);
  }

  bool takes_trains() const override { return true; }
  void packet_arrives(const fabric::Packet&, uint32_t, Ticks) override {}
  void train_arrives(const packet::TrainArrivals&) override {}
  void message_arrives(const Message& message, Picoseconds at) override {
    ++messages;
    finished = std::max(finished, at);
    sum += at;
    const auto step = static_cast<uint32_t>(message.id_low);
    Step& s = ranks_[message.destination][step];
    s.last = std::max(s.last, at);
    if (++s.received == partners()) send(message.destination, step + 1, s.last);
  }

  uint32_t steps() const {
    if (bench_.algorithm == "ring") return 2 * (bench_.ranks - 1);
    return bench_.algorithm == "direct" ? 2 : 2 * rounds_;
  }
  /// Messages a rank receives in a step.
  uint32_t partners() const { return bench_.algorithm == "direct" ? bench_.ranks - 1 : 1; }

  uint64_t messages = 0;
  Picoseconds finished = 0;
  uint64_t sum = 0;  ///< of all arrival times: any difference shows

 private:
  struct Step {
    uint32_t received = 0;
    Picoseconds last = 0;
  };

  void send(uint32_t rank, uint32_t step, Picoseconds at) {
    if (step == steps()) return;
    Message m;
    m.id_low = step;
    m.submitted = at;
    m.bytes = bench_.bytes / bench_.ranks;
    if (bench_.algorithm == "halving_doubling") {
      const uint32_t round = step < rounds_ ? step : 2 * rounds_ - 1 - step;
      m.destination = rank ^ (bench_.ranks >> (round + 1));
      m.bytes = bench_.bytes >> (round + 1);
      network_.ni(rank).submit(m);
      return;
    }
    for (uint32_t k = 1; k <= partners(); ++k) {
      m.destination = (rank + k) % bench_.ranks;
      network_.ni(rank).submit(m);
    }
  }

  const TrainBench bench_;
  packet::PacketNetwork& network_;
  std::vector<std::map<uint32_t, Step>> ranks_;
  uint32_t rounds_ = 0;
};

struct Answer {
  Picoseconds finished = 0;
  uint64_t sum = 0;
  uint64_t messages = 0;
  uint64_t hops = 0;
  uint64_t trains = 0;
  uint64_t splits = 0;
  uint64_t by_train = 0;
  double wall = 0;
  bool sound = false;
};

Answer simulate(const TrainBench& bench, bool trains) {
  packet::PacketConfig config;
  config.trains = trains;
  config.buffer_flits = 256;
  packet::LinkTiming link;
  link.latency = ticks(50000);
  link.flit_time = ticks(bench.flit_time);
  packet::Segmentation cut;
  cut.packet_bytes = 4096;
  cut.flit_bytes = 64;
  packet::PacketNetwork network(
      "network", config, packet::make_from_notation(fmt::format("Switch({})", bench.ranks), link, link), cut);
  const auto start = std::chrono::steady_clock::now();
  AllReduce run(bench, network);
  while (network.messages_in_flight() > 0) sc_core::sc_start(sc_core::sc_time::from_value(1000000000));
  Answer a;
  a.wall = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  a.finished = run.finished;
  a.sum = run.sum;
  a.messages = run.messages;
  a.hops = network.packet_hops();
  a.sound = network.broken_invariant(true).empty() &&
            run.messages == static_cast<uint64_t>(bench.ranks) * run.steps() * run.partners();
  if (network.trains() != nullptr) {
    a.trains = network.trains()->counters().trains;
    a.splits = network.trains()->counters().splits;
    a.by_train = network.trains()->counters().hops;
  }
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

}  // namespace

int compare_trains(const TrainBench& bench) {
  if (bench.ranks < 2 ||
      (bench.algorithm != "ring" && bench.algorithm != "direct" && bench.algorithm != "halving_doubling")) {
    throw UserError(ExitCode::usage, "trains: at least 2 ranks; ring, direct or halving_doubling");
  }
  if (bench.algorithm == "halving_doubling" && (bench.ranks & (bench.ranks - 1)) != 0) {
    throw UserError(ExitCode::usage, "trains: halving_doubling needs a power of two of ranks");
  }
  fmt::print("{} all-reduce of {:.0f} MiB on Switch({}), 4 KiB packets of 64 flits, {} ps a flit\n",
             bench.algorithm, static_cast<double>(bench.bytes) / (1 << 20), bench.ranks, bench.flit_time);
  Answer a[2];
  for (const bool trains : {true, false}) {
    Answer& answer = a[trains ? 1 : 0];
    if (!in_child(bench, trains, answer)) throw UserError(ExitCode::internal, "trains: a run failed");
    fmt::print(
        "{:8} {:.6f} ms simulated, {} packet-hops in {:.3f} s: {:.1f} M packet-hops/s; {} trains, {} split, "
        "{:.2f} % of the hops{}\n",
        trains ? "with" : "without", static_cast<double>(answer.finished) / 1e9, answer.hops, answer.wall,
        static_cast<double>(answer.hops) / answer.wall / 1e6, answer.trains, answer.splits,
        100.0 * static_cast<double>(answer.by_train) / static_cast<double>(answer.hops),
        answer.sound ? "" : "  UNSOUND");
    std::fflush(stdout);
  }
  const bool same = a[0].finished == a[1].finished && a[0].sum == a[1].sum && a[0].hops == a[1].hops &&
                    a[0].messages == a[1].messages && a[0].sound && a[1].sound;
  fmt::print(
      "difference in time: {} ps at the end, {} ps summed over the {} messages; {:.0f} times as fast\n",
      static_cast<int64_t>(a[1].finished - a[0].finished), static_cast<int64_t>(a[1].sum - a[0].sum),
      a[0].messages, a[0].wall / a[1].wall);
  return same ? 0 : 1;
}

}  // namespace weft::bench
