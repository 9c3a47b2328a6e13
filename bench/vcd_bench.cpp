// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// The cost of a step of the push writer: time moves, and some of the traced signals change.

#include <cstdint>
#include <filesystem>
#include <random>
#include <string>
#include <vector>

#include "benchmark/benchmark.h"
#include "vcd/waves.h"

namespace {

using weft::vcd::FutureHandle;
using weft::vcd::Probe;
using weft::vcd::ProbeHub;
using weft::vcd::Time;
using weft::vcd::VcdWriter;
using weft::vcd::Waves;
using weft::vcd::WavesOptions;

class Recording {
 public:
  explicit Recording(int64_t signals)
      : path_((std::filesystem::temp_directory_path() / "weft_vcd_bench.vcd").string()), waves_(options()) {
    waves_.listen(hub_);
    for (int64_t i = 0; i < signals; ++i) {
      const std::string name = "npu" + std::to_string(i / 16) + ".nmu.s" + std::to_string(i % 16);
      probes_.push_back(hub_.number(name, 32));
    }
    // Which signals change is drawn before, so that the random numbers are not timed.
    std::mt19937 random(1);
    for (uint32_t& pick : picks_) pick = random() % static_cast<uint32_t>(signals);
  }
  ~Recording() {
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
  }
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;

  const Probe& next() { return probes_[picks_[++next_ % kPicks]]; }
  const VcdWriter& writer() const { return *waves_.writer(); }
  Time now = 0;

 private:
  static constexpr size_t kPicks = 65536;
  WavesOptions options() {
    WavesOptions o;
    o.selection = "*";
    o.view = false;
    o.writer.path = path_;
    o.writer.max_bytes = uint64_t{1} << 40;
    o.writer.clock = [this] { return now; };
    return o;
  }
  std::string path_;
  ProbeHub hub_;
  Waves waves_;
  std::vector<Probe> probes_;
  std::vector<uint32_t> picks_ = std::vector<uint32_t>(kPicks);
  size_t next_ = 0;
};

/// range(0) signals are traced, range(1) change at each step.
void step(benchmark::State& state) {
  Recording recording(state.range(0));
  for (auto _ : state) {
    recording.now += 1000;
    for (int64_t i = 0; i < state.range(1); ++i)
      recording.next().set(recording.now, recording.now / 1000 + i);
  }
  state.counters["bytes/step"] =
      benchmark::Counter(static_cast<double>(recording.writer().bytes()), benchmark::Counter::kAvgIterations);
}
BENCHMARK(step)
    ->ArgNames({"signals", "changes"})
    ->Args({100, 5})
    ->Args({20000, 5})
    ->Args({200000, 5})
    ->Args({20000, 50});

/// As step, with every change committed ahead of its time and half of them revoked and committed again.
void step_with_commitments(benchmark::State& state) {
  Recording recording(state.range(0));
  uint64_t value = 0;
  for (auto _ : state) {
    recording.now += 1000;
    for (int64_t i = 0; i < state.range(1); ++i) {
      const Probe& probe = recording.next();
      FutureHandle handle = probe.at(recording.now + 5000, ++value & 0xffffffff);
      if ((i & 1) != 0) {
        probe.revoke(handle);
        probe.at(recording.now + 7000, value & 0xffffffff);
      }
    }
  }
}
BENCHMARK(step_with_commitments)->ArgNames({"signals", "changes"})->Args({20000, 5});

/// What an unselected signal costs.
void empty_probe(benchmark::State& state) {
  Probe probe;
  benchmark::DoNotOptimize(probe);
  Time now = 0;
  for (auto _ : state) {
    if (probe) probe.set(++now, now);
    benchmark::DoNotOptimize(now);
  }
}
BENCHMARK(empty_probe);

}  // namespace

BENCHMARK_MAIN();
