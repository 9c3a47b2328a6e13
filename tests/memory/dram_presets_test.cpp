// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// The timing of the DRAM presets: HBM4's as docs/memory.md lists it, with sources, and the window of four
// activates, which limits random accesses.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>

#include "sc_models/dram_channel.h"
#include "tests/memory/dram_patterns.h"
#include "tests/support/paths.h"

namespace weft {
namespace {

/// The second cell of the table row that begins with `| parameter |`.
std::string documented(const std::string& parameter) {
  std::ifstream in(weft::test::source_dir() + "/docs/memory.md");
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  const std::string begin = "\n| " + parameter + " | ";
  const size_t at = text.find(begin);
  if (at == std::string::npos) return "no row";
  const size_t cell = at + begin.size();
  return text.substr(cell, text.find(" |", cell) - cell);
}

std::string ns(Picoseconds t) {
  return fmt::format("{:g}", static_cast<double>(t) / 1000);
}

TEST(DramPresets, Hbm4IsWhatTheDocumentationSays) {
  const DramSpec& s = *find_dram_spec("HBM4");
  EXPECT_EQ(documented("tFAW"), ns(s.faw) + " ns");
  EXPECT_EQ(documented("tRRD_S, tRRD_L"), fmt::format("{}, {} ns", ns(s.rrd_short), ns(s.rrd_long)));
  EXPECT_EQ(documented("tCCD_S"), ns(s.ccd_short) + " ns");
  EXPECT_EQ(documented("tCCD_L"), ns(s.ccd_long) + " ns");
  EXPECT_EQ(documented("tRTW"), ns(s.rtw) + " ns");
  EXPECT_EQ(documented("tREFI, tRFC, tRFCpb"),
            fmt::format("{} us, {} ns, {} ns", ns(s.refi / 1000), ns(s.rfc), ns(s.rfc_bank)));
  EXPECT_EQ(
      documented("tRCD of reads, writes; tRP, tRAS, tRC"),
      fmt::format("{}, {}; {}, {}, {} ns", ns(s.rcd_read), ns(s.rcd_write), ns(s.rp), ns(s.ras), ns(s.rc)));
  EXPECT_EQ(documented("RL, WL, tRTP, tWR, tWTR_S, tWTR_L"),
            fmt::format("{}, {}, {}, {}, {}, {} ns", ns(s.rl), ns(s.wl), ns(s.rtp), ns(s.wr), ns(s.wtr_short),
                        ns(s.wtr_long)));
  EXPECT_EQ(documented("banks"), fmt::format("{} groups of {}", s.bank_groups, s.banks_per_group));
  EXPECT_EQ(documented("slots of ACT and PRE"), fmt::format("{}, {} clocks", s.act_slots, s.pre_slots));
  EXPECT_EQ(s.channels * s.pseudo_channels * (s.pseudo_channel_peak() / 32e9), 64);  // 32 x 2 x 32 GB/s
}

// Ramulator 2.1's presets of HBM3 to HBM4 keep it in ns: it limits the current of the array, which faster
// pins do not change.
TEST(DramPresets, TheWindowOfFourActivatesKeepsItsNanoseconds) {
  for (const char* name : {"HBM3", "HBM3E", "HBM4"}) EXPECT_EQ(find_dram_spec(name)->faw, 15'000u) << name;
  EXPECT_EQ(find_dram_spec("HBM2")->faw, 16'000u);
}

// One burst of each row: four of them in 15 ns, less the refreshes. 12 ns would give 25 % more.
TEST(DramPresets, Hbm4RandomBursts) {
  const DramSpec spec = test::spec_of("HBM4", 1);
  const test::Pattern rows = test::columns(spec, 1);
  const double formula = spec.stream_efficiency() * 4 * 32 / 15.0;
  EXPECT_NEAR(formula, 7.57, 0.01);
  EXPECT_NEAR(test::bandwidth(spec, rows), formula, 0.05 * formula);
  DramSpec other = spec;
  other.faw = 12'000;
  EXPECT_GT(test::bandwidth(other, rows), 1.15 * formula);
}

}  // namespace
}  // namespace weft
