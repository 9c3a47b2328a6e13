// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// How many bursts a second of processor time does an HBM of model `banked` schedule? One stack of each
// preset, sequential, random and mixed blocks, below and at the load that it takes. Each measurement is a
// process of its own.
//
//   dram_bench [--block BYTES] [--bursts N] [--repeat N] [--preset NAME]

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <systemc>
#include <vector>

#include "configs/dram_spec.h"
#include "sc_models/banked_hbm.h"
#include "sc_models/memory_traffic.h"

namespace {

struct Pattern {
  const char* name;
  bool random;
  double reads;
};
constexpr Pattern kPatterns[] = {{"sequential", false, 1}, {"random", true, 1}, {"mixed", true, 0.5}};
constexpr double kLoads[] = {0.1, 0.3, 1};

double processor_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_utime.tv_sec) + 1e-6 * static_cast<double>(usage.ru_utime.tv_usec);
}

struct Options {
  uint64_t block = 64;
  uint64_t bursts = 200'000;
  int repeat = 3;
  std::string preset;
};

/// Million bursts a second.
double measure(const weft::DramSpec& spec, const Pattern& pattern, double load, const Options& options) {
  weft::BankedHbm hbm("hbm", spec, 1, 0, 1, nullptr);
  weft::MemoryTraffic::Config c;
  c.pattern.random = pattern.random;
  c.pattern.reads = pattern.reads;
  c.pattern.block = c.pattern.stride = options.block;
  const uint64_t bursts_a_block = (options.block + spec.burst_bytes - 1) / spec.burst_bytes;
  c.blocks = std::max<uint64_t>(1, options.bursts / bursts_a_block);
  c.rate = load < 1 ? load * spec.stack_peak() * 1e-12 : 0;
  // As `weft memory`: all windows twice over.
  c.outstanding = static_cast<uint32_t>(
      std::max<uint64_t>(64, 2 * 64 * spec.channels * spec.pseudo_channels / bursts_a_block));
  weft::MemoryTraffic traffic("traffic", c);
  traffic.socket.bind(hbm.socket(0));
  traffic.start(0);
  sc_core::sc_start(sc_core::SC_ZERO_TIME);
  const double begin = processor_seconds();
  sc_core::sc_start();
  const double seconds = processor_seconds() - begin;
  return static_cast<double>(c.blocks * bursts_a_block) / seconds * 1e-6;
}

/// The same in a child process; below 0: it failed.
double measured(const weft::DramSpec& spec, const Pattern& pattern, double load, const Options& options) {
  int ends[2];
  if (pipe(ends) != 0) return -1;
  const pid_t child = fork();
  if (child == 0) {
    const double rate = measure(spec, pattern, load, options);
    const bool told = write(ends[1], &rate, sizeof(rate)) == sizeof(rate);
    _exit(told ? 0 : 1);
  }
  close(ends[1]);
  double rate = -1;
  if (read(ends[0], &rate, sizeof(rate)) != sizeof(rate)) rate = -1;
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  return status == 0 ? rate : -1;
}

}  // namespace

int sc_main(int argc, char** argv) {
  Options options;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string name = argv[i];
    if (name == "--block") {
      options.block = std::strtoull(argv[i + 1], nullptr, 10);
    } else if (name == "--bursts") {
      options.bursts = std::strtoull(argv[i + 1], nullptr, 10);
    } else if (name == "--repeat") {
      options.repeat = std::max(1, std::atoi(argv[i + 1]));
    } else if (name == "--preset") {
      options.preset = argv[i + 1];
    } else {
      argc = 0;
    }
  }
  if (argc % 2 == 0 || options.block == 0) {
    std::fprintf(stderr, "usage: dram_bench [--block BYTES] [--bursts N] [--repeat N] [--preset NAME]\n");
    return 2;
  }
  std::printf("million bursts a second of processor time, median of %d; blocks of %llu B\n", options.repeat,
              static_cast<unsigned long long>(options.block));
  std::printf("%-8s %-10s", "preset", "pattern");
  for (const double load : kLoads) std::printf("  load %4.1f", load);
  std::printf("\n");
  for (const weft::DramSpec& spec : weft::dram_specs()) {
    if (!options.preset.empty() && spec.name != options.preset) continue;
    for (const Pattern& pattern : kPatterns) {
      std::printf("%-8s %-10s", std::string(spec.name).c_str(), pattern.name);
      for (const double load : kLoads) {
        std::vector<double> rates;
        for (int i = 0; i < options.repeat; ++i) {
          std::fflush(stdout);
          rates.push_back(measured(spec, pattern, load, options));
        }
        std::sort(rates.begin(), rates.end());
        if (rates.front() < 0) return 1;
        std::printf("  %9.2f", rates[rates.size() / 2]);
      }
      std::printf("\n");
    }
  }
  return 0;
}
