// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// The shortcut of streams against burst by burst: drawn streams on two memories that differ in nothing else,
// alone and beside small accesses. The last stream ends within 1 % of the same time.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "sc_models/banked_hbm.h"
#include "sc_models/memory_traffic.h"
#include "tests/support/isolated.h"
#include "tests/support/memory_initiators.h"

namespace weft {
namespace {

using test::Dma;
using test::isolated;

/// What one memory gets.
struct Load {
  std::vector<std::pair<uint64_t, bool>> streams;  ///< bytes, written
  double small_rate = 0;                           ///< bytes a picosecond; 0: none
  MemoryPattern small;
  uint64_t small_blocks = 0;
};

std::shared_ptr<const DramDevice> device(const DramSpec& spec, bool detailed) {
  auto d = std::make_shared<DramDevice>();
  d->spec = spec;
  d->policies = default_dram_policies(d->spec, 1);
  d->detailed_streams = detailed;
  return d;
}

struct Side {
  Side(const std::string& name, const DramSpec& spec, bool detailed, const Load& load)
      : dma((name + "_dma").c_str(), 8, 0),
        hbm((name + "_hbm").c_str(), device(spec, detailed), 1, 0, 2, nullptr) {
    dma.dma.socket.bind(hbm.socket(0));
    MemoryTraffic::Config c;
    c.pattern = load.small;
    c.rate = load.small_rate > 0 ? load.small_rate : 1;
    c.blocks = std::max<uint64_t>(1, load.small_blocks);
    small = std::make_unique<MemoryTraffic>((name + "_small").c_str(), c);
    small->socket.bind(hbm.socket(1));
    if (load.small_blocks != 0) small->start(0);
    dma.script = [this, &load] {
      for (uint32_t i = 0; i < load.streams.size(); ++i)
        dma.dma.start(i, load.streams[i].second, load.streams[i].first);
    };
  }
  Picoseconds end() const {
    Picoseconds last = 0;
    for (const auto& [token, times] : dma.done) last = std::max(last, times.back());
    return last;
  }
  double small_latency() const {
    double sum = 0;
    for (const Picoseconds t : small->latencies()) sum += static_cast<double>(t);
    return small->latencies().empty() ? 0 : sum / static_cast<double>(small->latencies().size()) / 1000;
  }
  Dma dma;
  BankedHbm hbm;
  std::unique_ptr<MemoryTraffic> small;
};

struct Case {
  std::string name;
  DramSpec spec;
  Load load;
};

/// Empty when both agree. Prints the row.
std::string compare(const Case& c) {
  Side fast("fast", c.spec, false, c.load);
  Side slow("slow", c.spec, true, c.load);
  sc_core::sc_start();
  const double ratio = static_cast<double>(fast.end()) / static_cast<double>(slow.end());
  std::printf("%-58s %9.3f us  detailed %9.3f us  %+6.2f %%   small %7.1f / %7.1f ns\n", c.name.c_str(),
              static_cast<double>(fast.end()) * 1e-6, static_cast<double>(slow.end()) * 1e-6,
              100 * (ratio - 1), fast.small_latency(), slow.small_latency());
  std::fflush(stdout);
  std::string text;
  if (std::abs(ratio - 1) > 0.01) text += c.name + ": " + std::to_string(ratio) + "\n";
  if (fast.hbm.bytes() != slow.hbm.bytes()) text += c.name + ": other bytes\n";
  if (fast.hbm.outstanding() + slow.hbm.outstanding() != 0) text += c.name + ": something is left\n";
  return text;
}

/// About `time` of streams, of sizes between one and `most` units.
void add_streams(Load& load, const DramSpec& spec, double time, uint64_t most, double writes,
                 std::mt19937_64& random) {
  const uint64_t unit =
      uint64_t{spec.channels} * spec.pseudo_channels * spec.bank_groups * 8 * spec.burst_bytes;
  const double rate = spec.stack_peak() * 1e-12;
  for (double total = 0; total < time * rate;) {
    const uint64_t bytes = unit + random() % (unit * most);
    load.streams.emplace_back(bytes, static_cast<double>(random() % 1000) < 1000 * writes);
    total += static_cast<double>(bytes);
  }
}

DramSpec two_channels(const DramSpec& any) {
  DramSpec spec = any;
  spec.channels = 2;
  return spec;
}

TEST(StreamShortcut, StreamsAloneEndWhenTheyDoBurstByBurst) {
  for (const DramSpec& any : dram_specs()) {
    for (const double writes : {0.0, 1.0}) {
      for (const bool per_bank : {false, true}) {
        std::mt19937_64 random(3);
        Case c;
        c.spec = two_channels(any);
        c.spec.per_bank_refresh = per_bank;
        c.name =
            std::string(any.name) + (per_bank ? ", per bank" : "") + (writes > 0 ? ", writes" : ", reads");
        add_streams(c.load, c.spec, 200e6, 200, writes, random);
        EXPECT_SILENT(isolated([&] { return compare(c); }));
      }
    }
  }
}

TEST(StreamShortcut, ReadsAndWritesInTurnPayTheTurnaround) {
  for (const DramSpec& any : dram_specs()) {
    for (const uint64_t most : {1, 8, 100}) {
      std::mt19937_64 random(5);
      Case c;
      c.spec = two_channels(any);
      c.name = std::string(any.name) + ", both directions, up to " + std::to_string(most) + " units";
      add_streams(c.load, c.spec, 200e6, most, 0.5, random);
      EXPECT_SILENT(isolated([&] { return compare(c); }));
    }
  }
}

TEST(StreamShortcut, BesideSmallAccesses) {
  for (uint32_t seed = 1; seed <= 25; ++seed) {
    std::mt19937_64 random(seed);
    Case c;
    const DramSpec& any = dram_specs()[seed % dram_specs().size()];
    c.spec = two_channels(any);
    const double writes = seed % 3 == 0 ? 0.5 : seed % 3 == 1 ? 0 : 1;
    add_streams(c.load, c.spec, 150e6, 100, writes, random);
    const double share = std::vector<double>{0.001, 0.01, 0.05, 0.2, 0.5}[random() % 5];
    c.load.small.random = random() % 4 != 0;
    c.load.small.block = uint64_t{32} << random() % 6;
    c.load.small.stride = c.load.small.block;
    c.load.small.range = uint64_t{1} << 30;
    c.load.small.reads = std::vector<double>{1, 0, 0.5}[random() % 3];
    c.load.small_rate = share * c.spec.stack_peak() * 1e-12;
    c.load.small_blocks =
        static_cast<uint64_t>(150e6 * c.load.small_rate / static_cast<double>(c.load.small.block)) + 1;
    c.name = std::to_string(seed) + " " + std::string(any.name) +
             (writes > 0.6 ? ", writes"
              : writes > 0 ? ", both"
                           : ", reads") +
             ", " + std::to_string(c.load.small.block) + " B " +
             (c.load.small.random ? "random" : "in turn") + " " +
             std::to_string(c.load.small.reads).substr(0, 3) + " read, load " +
             std::to_string(share).substr(0, 5);
    EXPECT_SILENT(isolated([&] { return compare(c); }));
  }
}

/// Streams at addresses of a pattern, as fast as the memory takes them.
struct Placed {
  Placed(const std::string& name, const DramSpec& spec, bool detailed, const MemoryTraffic::Config& config)
      : hbm((name + "_hbm").c_str(), device(spec, detailed), 1, 0, 1, nullptr),
        traffic((name + "_traffic").c_str(), config) {
    traffic.socket.bind(hbm.socket(0));
    traffic.start(0);
  }
  BankedHbm hbm;
  MemoryTraffic traffic;
};

std::string compare_placed(const std::string& name, const DramSpec& spec,
                           const MemoryTraffic::Config& config) {
  Placed fast("fast", spec, false, config), slow("slow", spec, true, config);
  sc_core::sc_start();
  const double ratio = static_cast<double>(fast.traffic.time()) / static_cast<double>(slow.traffic.time());
  std::printf("%-66s %9.3f us  detailed %9.3f us  %+6.2f %%\n", name.c_str(),
              static_cast<double>(fast.traffic.time()) * 1e-6,
              static_cast<double>(slow.traffic.time()) * 1e-6, 100 * (ratio - 1));
  std::fflush(stdout);
  return std::abs(ratio - 1) > 0.01 ? name + ": " + std::to_string(ratio) + "\n" : "";
}

// Streams whose rows lie in the same banks have to wait until these are closed and opened.
TEST(StreamShortcut, AtDrawnAddresses) {
  std::mt19937_64 random(11);
  for (const DramSpec& any : dram_specs()) {
    for (uint32_t i = 0; i < 16; ++i) {
      const DramSpec spec = two_channels(any);
      const uint64_t unit =
          uint64_t{spec.channels} * spec.pseudo_channels * spec.bank_groups * 8 * spec.burst_bytes;
      MemoryTraffic::Config c;
      c.pattern.random = i % 2 == 0;
      c.pattern.reads = std::vector<double>{0.5, 0.5, 1, 0, 0.8, 0.5, 0.3, 0.5}[i / 2];
      c.pattern.block = (1 + random() % 24) * unit + (i % 3 == 0 ? random() % unit / 32 * 32 : 0);
      if (i % 4 == 3) c.pattern.block *= 8;
      c.pattern.stride = c.pattern.block;
      c.pattern.range = 1ull << 28;
      c.seed = 1 + i;
      c.outstanding = 8;
      c.blocks =
          std::max<uint64_t>(20, static_cast<uint64_t>(120e6 * spec.stack_peak() * 1e-12) / c.pattern.block);
      const std::string name =
          std::string(any.name) + (c.pattern.random ? " random" : " in turn") + ", " +
          std::to_string(c.pattern.block) + " B (" +
          std::to_string(static_cast<double>(c.pattern.block) / static_cast<double>(unit)).substr(0, 5) +
          " units), " + std::to_string(c.pattern.reads).substr(0, 3) + " read";
      EXPECT_SILENT(isolated([&] { return compare_placed(name, spec, c); }));
    }
  }
}

/// Two initiators, whose streams take turns.
struct Turns {
  Turns(const std::string& name, const DramSpec& spec, bool detailed, const MemoryTraffic::Config& one,
        const MemoryTraffic::Config& two)
      : hbm((name + "_hbm").c_str(), device(spec, detailed), 1, 0, 2, nullptr),
        first((name + "_first").c_str(), one),
        second((name + "_second").c_str(), two) {
    first.socket.bind(hbm.socket(0));
    second.socket.bind(hbm.socket(1));
    first.start(0);
    second.start(0);
  }
  Picoseconds end() const { return std::max(first.time(), second.time()); }
  BankedHbm hbm;
  MemoryTraffic first, second;
};

TEST(StreamShortcut, TurnsOfTwoInitiators) {
  std::mt19937_64 random(17);
  for (const DramSpec& any : dram_specs()) {
    for (uint32_t i = 0; i < 6; ++i) {
      const DramSpec spec = two_channels(any);
      const uint64_t unit =
          uint64_t{spec.channels} * spec.pseudo_channels * spec.bank_groups * 8 * spec.burst_bytes;
      MemoryTraffic::Config c[2];
      for (MemoryTraffic::Config& of : c) {
        of.pattern.reads = static_cast<double>(random() % 3) / 2;
        of.pattern.block = (12 + random() % 200) * unit;
        of.pattern.stride = of.pattern.block;
        of.pattern.range = 1ull << 28;
        of.outstanding = 8;
        of.blocks = static_cast<uint64_t>(60e6 * spec.stack_peak() * 1e-12) / of.pattern.block + 1;
      }
      const std::string name = std::string(any.name) + " turns, " +
                               std::to_string(c[0].pattern.block / unit) + " and " +
                               std::to_string(c[1].pattern.block / unit) + " units, " +
                               std::to_string(c[0].pattern.reads).substr(0, 3) + " and " +
                               std::to_string(c[1].pattern.reads).substr(0, 3) + " read";
      EXPECT_SILENT(isolated([&] {
        Turns fast("fast", spec, false, c[0], c[1]), slow("slow", spec, true, c[0], c[1]);
        sc_core::sc_start();
        const double ratio = static_cast<double>(fast.end()) / static_cast<double>(slow.end());
        std::printf("%-66s %9.3f us  detailed %9.3f us  %+6.2f %%\n", name.c_str(),
                    static_cast<double>(fast.end()) * 1e-6, static_cast<double>(slow.end()) * 1e-6,
                    100 * (ratio - 1));
        std::fflush(stdout);
        return std::abs(ratio - 1) > 0.01 ? name + ": " + std::to_string(ratio) + "\n" : std::string();
      }));
    }
  }
}

}  // namespace
}  // namespace weft
