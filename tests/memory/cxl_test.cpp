// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// The CXL link against its formulas: the share of the wire that is data, idle latencies, credits as Little's
// law says, replays, the device's DRAM as the bottleneck.

#include "sc_models/cxl/cxl_memory.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "cosim/tlm/base_protocol_checker.h"
#include "tests/support/isolated.h"
#include "tests/support/memory_initiators.h"

namespace weft {
namespace {

constexpr uint64_t kMiB = 1 << 20;

CxlConfig config(const std::string& text) {
  const Implementation wanted = parse_implementation("cxl(" + text + ")");
  Parameters parameters(wanted, "test");
  CxlConfig c = cxl_config(parameters);
  parameters.finish();
  return c;
}

/// Bytes per second of one long access.
double sustained(const CxlConfig& c, bool write, uint64_t bytes = 16 * kMiB) {
  CxlLink link(c);
  const Picoseconds first = link.access(64, write, 0);
  const Picoseconds last = link.access(bytes, write, 0);
  return static_cast<double>(bytes) / (static_cast<double>(last - first) * 1e-12);
}

TEST(CxlLink, ShareOfTheWireThatIsData) {
  // CXL 2.0 flits of 68 B: 86.9 and 75.3 %; CXL 3.x flits of 256 B: 87.5 and 75 %.
  const struct {
    const char* preset;
    double reads, writes;
  } rows[] = {{"cxl2_x8", 0.869, 0.753},
              {"cxl2_x16", 0.869, 0.753},
              {"cxl3_x8", 0.875, 0.75},
              {"cxl3_x16", 0.875, 0.75}};
  for (const auto& row : rows) {
    const CxlConfig c = config(std::string("preset=") + row.preset + ", dram_bandwidth=1 TB/s");
    EXPECT_NEAR(c.read_bandwidth() / c.raw_bandwidth(), row.reads, 0.0006) << row.preset;
    EXPECT_NEAR(c.write_bandwidth() / c.raw_bandwidth(), row.writes, 0.0006) << row.preset;
    EXPECT_NEAR(sustained(c, false) / c.raw_bandwidth(), row.reads, 0.002) << row.preset;
    EXPECT_NEAR(sustained(c, true) / c.raw_bandwidth(), row.writes, 0.002) << row.preset;
  }
  EXPECT_DOUBLE_EQ(config("preset=cxl2_x16").raw_bandwidth(), 64e9);
  EXPECT_DOUBLE_EQ(config("preset=cxl3_x16").raw_bandwidth(), 128e9);
}

TEST(CxlLink, IdleLoadToUse) {
  // Direct 170 to 250 ns, behind one level of switches 300 to 400, two levels 450 to 600.
  const struct {
    int switches;
    double low, high;
  } rows[] = {{0, 170, 250}, {1, 300, 400}, {2, 450, 600}};
  for (const CxlPreset& preset : cxl_presets()) {
    for (const auto& row : rows) {
      const CxlConfig c =
          config(std::string("preset=") + preset.name + ", switches=" + std::to_string(row.switches));
      const double ns = static_cast<double>(c.idle_latency()) * 1e-3;
      EXPECT_GE(ns, row.low) << preset.name << " " << row.switches;
      EXPECT_LE(ns, row.high) << preset.name << " " << row.switches;
    }
  }
}

TEST(CxlLink, CreditsLimitReadsAsLittlesLawSays) {
  // 55 GB/s at about 400 ns needs about 22 KB.
  const std::string machine = "preset=cxl2_x16, switches=1, switch_latency=105 ns, dram_bandwidth=1 TB/s";
  const double round_trip = static_cast<double>(config(machine).idle_latency()) * 1e-12;
  EXPECT_NEAR(round_trip, 400e-9, 10e-9);
  const double full = config(machine).read_bandwidth();
  const int needed = static_cast<int>(std::ceil(full * round_trip / 64));
  EXPECT_NEAR(needed * 64, 22'000, 1'000);
  EXPECT_NEAR(sustained(config(machine + ", read_credits=" + std::to_string(needed)), false), full,
              0.01 * full);
  for (const double share : {0.5, 0.25, 0.1}) {
    const int credits = static_cast<int>(needed * share);
    const double expected = credits * 64 / round_trip;
    EXPECT_NEAR(sustained(config(machine + ", read_credits=" + std::to_string(credits)), false), expected,
                0.02 * expected)
        << share;
  }
  // One credit: a line a round trip.
  EXPECT_NEAR(sustained(config(machine + ", read_credits=1"), false, 64 * 100), 64 / round_trip,
              0.01 * 64 / round_trip);
}

TEST(CxlLink, CreditsLimitWritesAsLittlesLawSays) {
  const std::string machine = "preset=cxl3_x16, switches=2, dram_bandwidth=1 TB/s";
  const CxlConfig c = config(machine);
  // A write's credit comes back when the device has written it: both ways, the controller, the message.
  const double round_trip =
      1e-12 * (2 * (30'000 + 2 * 70'000) + 40'000) + 64 / c.write_bandwidth() + 64 / 1e12;
  const double full = c.write_bandwidth();
  const int needed = static_cast<int>(std::ceil(full * round_trip / 224));
  EXPECT_NEAR(sustained(config(machine + ", write_credits=" + std::to_string(needed + 1)), true), full,
              0.01 * full);
  const int half = needed / 2;
  const double expected = std::floor(half * 224 / 64) * 64 / round_trip;
  EXPECT_NEAR(sustained(config(machine + ", write_credits=" + std::to_string(half)), true), expected,
              0.02 * expected);
}

TEST(CxlLink, TheDevicesDramCanBeTheBottleneck) {
  const CxlConfig c = config("preset=cxl3_x16, dram_bandwidth=50 GB/s");
  EXPECT_NEAR(sustained(c, false), 50e9, 0.2e9);
  EXPECT_NEAR(sustained(c, true), 50e9, 0.2e9);
}

TEST(CxlLink, ReadsAndWritesTakeBothDirections) {
  const CxlConfig c = config("preset=cxl2_x16, dram_bandwidth=1 TB/s");
  CxlLink both(c), alone(c);
  Picoseconds read = 0, write = 0;
  for (int i = 0; i < 256; ++i) {
    read = both.access(4096, false, 0);
    write = both.access(4096, true, 0);
  }
  Picoseconds serial = 0;
  for (int i = 0; i < 256; ++i) serial = alone.access(4096, false, 0);
  const double bytes = 256.0 * 4096 * 2;
  const double rate = bytes / (static_cast<double>(std::max(read, write)) * 1e-12);
  EXPECT_GT(rate, 1.4 * c.read_bandwidth());
  // The direction down carries a slot for each read and five for each write.
  EXPECT_LT(rate, 2 * c.raw_bandwidth() * 64 / (17.0 * 6) * 1.01);
  EXPECT_LT(serial, std::max(read, write));
}

TEST(CxlLink, CorruptedFlitsAreSentAgain) {
  const std::string machine = "preset=cxl2_x16, dram_bandwidth=1 TB/s";
  EXPECT_EQ(
      [&] {
        CxlLink link(config(machine));
        link.access(16 * kMiB, false, 0);
        return link.replays();
      }(),
      0u);
  const auto run = [&](const std::string& more) {
    CxlLink link(config(machine + more));
    const Picoseconds end = link.access(16 * kMiB, false, 0);
    return std::pair<uint64_t, Picoseconds>(link.replays(), end);
  };
  const auto clean = run("");
  const auto noisy = run(", bit_error_rate=1e-6");
  // 262,144 lines: 13/3 slots up and one down each, four slots a flit, 544 bits a flit.
  const double flits = 262'144 * (13.0 / 3 + 1) / 4;
  const double expected = flits * (1 - std::pow(1 - 1e-6, 544));
  EXPECT_NEAR(static_cast<double>(noisy.first), expected, 4 * std::sqrt(expected));
  EXPECT_GT(noisy.second, clean.second);
  // Each replay costs at most the link's round trip.
  EXPECT_LE(noisy.second, clean.second + noisy.first * 60'000);
  EXPECT_EQ(run(", bit_error_rate=1e-6"), noisy);
  EXPECT_NE(run(", bit_error_rate=1e-6, seed=2"), noisy);
}

/// When the last of some random accesses ends.
Picoseconds end_of_random(const CxlConfig& c, uint64_t seed) {
  CxlLink link(c);
  uint64_t state = seed;
  Picoseconds at = 0, last = 0;
  for (int i = 0; i < 400; ++i) {
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    at += (state >> 40) % 40'000;
    last = std::max(last, link.access(64 + (state >> 50) % 3000, (state >> 33) % 3 == 0, at));
  }
  return last;
}

TEST(CxlLink, MoreIsNeverSlower) {
  const CxlConfig base =
      config("preset=cxl2_x8, read_credits=40, write_credits=40, dram_bandwidth=20 GB/s, switches=1");
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    const Picoseconds time = end_of_random(base, seed);
    const auto better = [&](auto change) {
      CxlConfig c = base;
      change(c);
      return end_of_random(c, seed);
    };
    EXPECT_LE(better([](CxlConfig& c) { c.lanes *= 2; }), time);
    EXPECT_LE(better([](CxlConfig& c) { c.dram_bandwidth.bytes_per_second *= 2; }), time);
    EXPECT_LE(better([](CxlConfig& c) { c.read_credits *= 2; }), time);
    EXPECT_LE(better([](CxlConfig& c) { c.write_credits *= 2; }), time);
    EXPECT_LE(better([](CxlConfig& c) { c.link_latency /= 2; }), time);
    EXPECT_LE(better([](CxlConfig& c) { c.controller_latency /= 2; }), time);
    EXPECT_LE(better([](CxlConfig& c) { c.switches = 0; }), time);
  }
}

TEST(CxlLink, BadParametersAreNamed) {
  const auto refused = [](const std::string& text, const std::string& part) {
    try {
      config(text);
      ADD_FAILURE() << text;
    } catch (const UserError& e) {
      EXPECT_NE(std::string(e.what()).find(part), std::string::npos) << e.what();
    }
  };
  refused("preset=cxl9", "cxl2_x8, cxl2_x16, cxl3_x8, cxl3_x16");
  refused("read_credits=0", "parameter `read_credits` of cxl: it is 0");
  refused("write_credits=0", "`write_credits` of cxl: it is 0");
  refused("lanes=0", "`lanes` of cxl: it is 0");
  refused("switches=9", "`switches` of cxl: it is 9");
  refused("bit_error_rate=0.1", "`bit_error_rate` of cxl: it is 0.1");
  refused("credits=4", "credits");
}

/// The module on its socket: the times are the link's, and the protocol is kept.
TEST(CxlMemory, AnswersWhenTheLinkSays) {
  const auto result = test::isolated([] {
    const CxlConfig c = config("preset=cxl3_x8, switches=1");
    test::Dma dma("dma", 8, 0);
    cosim::BaseProtocolChecker checker("checker");
    CxlMemory memory("memory", c, {{{1'000'000'000'000ull, 1}, 0, 0, 1.0}, 1, nullptr});
    dma.dma.socket.bind(checker.target);
    checker.initiator.bind(memory.socket(0));
    dma.script = [&] {
      dma.dma.start(1, false, 1'000'000);
      dma.dma.start(2, true, 65);
    };
    sc_core::sc_start();
    checker.finish();
    CxlLink link(c);
    std::string text;
    for (const std::string& line : checker.violations()) text += line + "\n";
    const Picoseconds read = link.access(1'000'000, false, 0), write = link.access(65, true, 0);
    if (dma.done[1].at(0) != read)
      text += "read " + std::to_string(dma.done[1].at(0)) + " " + std::to_string(read);
    if (dma.done[2].at(0) != write)
      text += "write " + std::to_string(dma.done[2].at(0)) + " " + std::to_string(write);
    if (memory.bytes() != 1'000'065) text += "bytes";
    if (memory.link().lines() != 15'625 + 2) text += "lines " + std::to_string(memory.link().lines());
    return text;
  });
  EXPECT_EQ(result.status, 0) << result.text;
  EXPECT_EQ(result.text, "");
}

}  // namespace
}  // namespace weft
