// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// The speed gates: all-reduce of 1 MiB at message fidelity on a torus of 4,096 and of 65,536 NPUs. Every run
// is a process of its own, measured from outside: wall time from its start to its end (elaboration and
// teardown included) and its peak memory.
//
//   bench_scale [--repeat N] [--gate NAME] [--weft PATH]     measure, print a table
//   bench_scale --run NAME [--fidelity message|analytical]   one run of the gate in this process, one line of
//                                                            facts

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <systemc>
#include <vector>

#include "configs/large_heap.h"
#include "sc_models/collective_job.h"

namespace {

using Clock = std::chrono::steady_clock;

struct Gate {
  const char* name;
  std::vector<uint32_t> sizes;
  uint32_t chunks;
  double seconds;  ///< limit
  double mebibytes;
  int repeat;
};

const std::vector<Gate>& gates() {
  static const std::vector<Gate> table{
      {"4096x1", {16, 16, 16}, 1, 0.4, 150, 5},
      {"4096x4", {16, 16, 16}, 4, 0.6, 150, 5},
      {"4096x64", {16, 16, 16}, 64, 8, 0, 5},
      {"65536x4", {64, 32, 32}, 4, 60, 2048, 3},
  };
  return table;
}

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// Resident bytes of this process now.
double resident() {
  long pages = 0;
  if (FILE* file = std::fopen("/proc/self/statm", "r")) {
    if (std::fscanf(file, "%*d %ld", &pages) != 1) pages = 0;
    std::fclose(file);
  }
  return static_cast<double>(pages) * static_cast<double>(sysconf(_SC_PAGESIZE));
}

/// Runs the gate here. Leaves without teardown, as `weft` does: SystemC's registries remove linearly.
[[noreturn]] void run_here(const Gate& gate, weft::Fidelity fidelity) {
  weft::put_heap_in_large_pages();
  const auto start = Clock::now();
  const double before = resident();
  weft::Config config;
  for (const uint32_t size : gate.sizes) {
    weft::DimensionConfig d;
    d.kind = weft::DimensionKind::ring;
    d.size = size;
    d.bandwidth = {50'000'000'000ull, 1};
    d.latency = 500'000;
    d.fidelity = fidelity;
    config.dimensions.push_back(d);
  }
  config.collectives.chunks = gate.chunks;
  weft::Machine machine("job", config, weft::CollectiveJob::machine_options());
  weft::CollectiveJob job(machine);
  const double built = seconds_since(start);
  const double memory = resident() - before;
  job.start(weft::CollectiveOp::all_reduce, 1 << 20);
  sc_core::sc_start(sc_core::SC_ZERO_TIME);
  const double elaborated = seconds_since(start);
  sc_core::sc_start();
  const double total = seconds_since(start);
  const weft::RunResult result = job.result();
  if (!job.finished() || !result.broken_invariants.empty()) {
    std::fprintf(stderr, "the run is wrong: %s\n",
                 job.finished() ? result.broken_invariants.front().c_str() : job.stall_report().c_str());
    std::_Exit(1);
  }
  const double npus = config.npus();
  std::printf(
      "npus %.0f messages %llu events %llu time_ps %llu build_us_per_npu %.1f build_bytes_per_npu %.0f "
      "elaborate_s %.3f simulate_s %.3f messages_per_s %.0f\n",
      npus, static_cast<unsigned long long>(result.messages), static_cast<unsigned long long>(result.events),
      static_cast<unsigned long long>(result.time), built / npus * 1e6, memory / npus, elaborated,
      total - elaborated, static_cast<double>(result.messages) / (total - elaborated));
  std::fflush(stdout);
  std::_Exit(0);
}

struct Measured {
  double seconds = 0;
  double processor = 0;  ///< user and system seconds: what a loaded machine disturbs less
  double mebibytes = 0;
  std::string output;
  bool good = false;
};

Measured measure(const std::vector<std::string>& command) {
  int ends[2];
  if (pipe(ends) != 0) return {};
  const auto start = Clock::now();
  const pid_t child = fork();
  if (child == 0) {
    dup2(ends[1], STDOUT_FILENO);
    close(ends[0]);
    close(ends[1]);
    setenv("SYSTEMC_DISABLE_COPYRIGHT_MESSAGE", "1", 1);
    std::vector<char*> arguments;
    for (const std::string& a : command) arguments.push_back(const_cast<char*>(a.c_str()));
    arguments.push_back(nullptr);
    execv(arguments[0], arguments.data());
    std::perror(arguments[0]);
    _exit(127);
  }
  close(ends[1]);
  Measured m;
  char buffer[4096];
  for (ssize_t n = 0; (n = read(ends[0], buffer, sizeof buffer)) > 0;)
    m.output.append(buffer, static_cast<size_t>(n));
  close(ends[0]);
  int status = 0;
  rusage usage{};
  wait4(child, &status, 0, &usage);
  m.seconds = seconds_since(start);
  auto plain = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6;
  };
  m.processor = plain(usage.ru_utime) + plain(usage.ru_stime);
  m.mebibytes = static_cast<double>(usage.ru_maxrss) / 1024;
  m.good = WIFEXITED(status) && WEXITSTATUS(status) == 0;
  return m;
}

std::vector<std::string> weft_command(const std::string& weft, const Gate& gate) {
  std::string topology;
  for (const uint32_t size : gate.sizes)
    topology += (topology.empty() ? "" : "_") + ("Ring(" + std::to_string(size) + ")");
  return {weft,          "collective",
          "--topology",  topology,
          "--bandwidth", "50 GB/s",
          "--latency",   "500 ns",
          "--op",        "all_reduce",
          "--size",      "1 MiB",
          "--chunks",    std::to_string(gate.chunks),
          "--fidelity",  "message",
          "--json"};
}

int table(const std::string& self, const std::string& weft, const std::string& only, int repeat) {
  std::printf("%-10s %9s %9s %9s %9s %8s %8s\n", "gate", "median s", "min s", "max s", "limit s", "MiB",
              "limit");
  bool all_good = true;
  std::vector<std::string> facts;
  for (const Gate& gate : gates()) {
    if (!only.empty() && only != gate.name) continue;
    std::vector<double> seconds;
    std::vector<double> processor;
    double mebibytes = 0;
    for (int i = 0; i < (repeat > 0 ? repeat : gate.repeat); ++i) {
      const Measured m = measure(weft.empty() ? std::vector<std::string>{self, "--run", gate.name}
                                              : weft_command(weft, gate));
      if (!m.good) {
        std::fprintf(stderr, "%s failed: %s\n", gate.name, m.output.c_str());
        return 1;
      }
      seconds.push_back(m.seconds);
      processor.push_back(m.processor);
      mebibytes = std::max(mebibytes, m.mebibytes);
      if (i == 0) facts.push_back(std::string(gate.name) + ": " + m.output);
    }
    std::sort(seconds.begin(), seconds.end());
    std::sort(processor.begin(), processor.end());
    const double median = seconds[seconds.size() / 2];
    const bool good = median < gate.seconds && (gate.mebibytes == 0 || mebibytes < gate.mebibytes);
    all_good = all_good && good;
    char limit[32] = "-";
    if (gate.mebibytes != 0) std::snprintf(limit, sizeof limit, "%.0f", gate.mebibytes);
    std::printf("%-10s %9.3f %9.3f %9.3f %9.3f %9.1f %8.1f %8s%s\n", gate.name, median, seconds.front(),
                seconds.back(), processor[processor.size() / 2], gate.seconds, mebibytes, limit,
                good ? "" : "  MISSED");
    std::fflush(stdout);
  }
  std::printf("\n");
  for (const std::string& line : facts) std::printf("%s", line.c_str());
  return all_good ? 0 : 1;
}

int usage() {
  std::fprintf(stderr,
               "bench_scale [--repeat N] [--gate NAME] [--weft PATH] | bench_scale --run NAME "
               "[--fidelity message|analytical]\n"
               "gates:");
  for (const Gate& gate : gates()) std::fprintf(stderr, " %s", gate.name);
  std::fprintf(stderr, "\n");
  return 2;
}

}  // namespace

int sc_main(int argc, char** argv) {
  std::string weft;
  std::string only;
  std::string run;
  weft::Fidelity fidelity = weft::Fidelity::message;
  int repeat = 0;
  for (int i = 1; i < argc; i += 2) {
    if (i + 1 == argc) return usage();
    const std::string option = argv[i];
    if (option == "--repeat") {
      repeat = std::atoi(argv[i + 1]);
    } else if (option == "--gate") {
      only = argv[i + 1];
    } else if (option == "--weft") {
      weft = argv[i + 1];
    } else if (option == "--run") {
      run = argv[i + 1];
    } else if (option == "--fidelity" && std::strcmp(argv[i + 1], "analytical") == 0) {
      fidelity = weft::Fidelity::analytical;
    } else if (option == "--fidelity" && std::strcmp(argv[i + 1], "message") == 0) {
      fidelity = weft::Fidelity::message;
    } else {
      return usage();
    }
  }
  const std::string name = run.empty() ? only : run;
  const auto gate =
      std::find_if(gates().begin(), gates().end(), [&](const Gate& g) { return name == g.name; });
  if (!name.empty() && gate == gates().end()) return usage();
  if (!run.empty()) run_here(*gate, fidelity);
  return table("/proc/self/exe", weft, only, repeat);
}
