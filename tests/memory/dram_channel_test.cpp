// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// A DRAM channel: exact times of short sequences, every timing rule on random traffic, and the rates and
// latencies that DRAMSys and Ramulator measured (golden/hbm.json).

#include "sc_models/dram_channel.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <vector>

#include "configs/config.h"
#include "tests/memory/dram_patterns.h"
#include "tests/support/paths.h"

namespace weft {
namespace {

using Kind = DramChannel::Command::Kind;
using test::at_address;
using test::bandwidth;
using test::columns;
using test::latency;
using test::one_bank;
using test::Pattern;
using test::Placed;
using test::random_blocks;
using test::sequential;
using test::simple;
using test::spec_of;

nlohmann::json golden() {
  std::ifstream in(test::data_dir() + "/golden/hbm.json");
  return nlohmann::json::parse(in);
}

/// Prints the row, too: docs/memory.md has them all.
void within(const std::string& what, double value, double reference, double tolerance) {
  std::printf("%-32s %8.2f  reference %8.2f  %+5.1f %%\n", what.c_str(), value, reference,
              100 * (value / reference - 1));
  EXPECT_NEAR(value / reference, 1.0, tolerance) << what << ": " << value << " against " << reference;
}

TEST(DramGolden, BandwidthOfAPseudoChannelIsWithinTenPercent) {
  WEFT_NEEDS_DATA();
  const DramSpec spec = spec_of("HBM2", 1);
  DramSpec no_refresh = spec;
  no_refresh.refi = 0;
  std::mt19937_64 random(3);
  const auto always = [](uint64_t) { return true; };
  const auto half = [&](uint64_t) { return (random() & 1) != 0; };
  const auto third = [&](uint64_t) { return random() % 3 == 0; };
  const auto runs = [](uint64_t i) { return (i / 64 & 1) != 0; };
  const std::map<std::string, double> ours = {
      {"sequential_read", bandwidth(spec, sequential(spec))},
      {"sequential_write", bandwidth(spec, sequential(spec, always))},
      {"random_read_32B", bandwidth(spec, random_blocks(spec, 32))},
      {"random_write_32B", bandwidth(spec, random_blocks(spec, 32, always))},
      {"random_mixed_50_50", bandwidth(spec, random_blocks(spec, 32, half))},
      {"random_mixed_67_33", bandwidth(spec, random_blocks(spec, 32, third))},
      {"sequential_mixed_runs_of_64", bandwidth(spec, sequential(spec, runs))},
      {"random_read_128B", bandwidth(spec, random_blocks(spec, 128))},
      {"random_read_256B", bandwidth(spec, random_blocks(spec, 256))},
      {"random_read_512B", bandwidth(spec, random_blocks(spec, 512))},
      {"random_read_no_refresh", bandwidth(no_refresh, random_blocks(no_refresh, 32))},
      {"one_bank_at_a_time_read", bandwidth(spec, one_bank(spec, false))},
      {"one_bank_at_a_time_write", bandwidth(spec, one_bank(spec, true))},
  };
  const nlohmann::json rows = golden()["hbm2_one_pseudo_channel_peak_16GBps"];
  EXPECT_EQ(rows.size(), ours.size());
  for (const auto& [name, value] : rows.items()) {
    ASSERT_TRUE(ours.count(name)) << name;
    within(name, ours.at(name), value.get<double>(), 0.10);
  }
}

TEST(DramGolden, PseudoChannelsShareTheRowCommands) {
  WEFT_NEEDS_DATA();
  const DramSpec spec = spec_of("HBM2", 2);
  const nlohmann::json rows = golden()["hbm2_two_pseudo_channels_peak_32GBps"];
  within("sequential", bandwidth(spec, sequential(spec)), rows["sequential"], 0.10);
  within("random", bandwidth(spec, random_blocks(spec, 32)), rows["random_32B"], 0.10);
}

TEST(DramGolden, LatencyGrowsWithLoadAsMeasured) {
  WEFT_NEEDS_DATA();
  const DramSpec spec = spec_of("HBM2", 1);
  const nlohmann::json all = golden()["latency_vs_load_ns"];
  EXPECT_EQ(all.size(), 2u);
  for (const auto& [pattern, rows] : all.items()) {
    for (const auto& [load, ns] : rows.items()) {
      const double part = std::stod(load) / 100;
      const double ours =
          latency(spec, pattern == "random" ? random_blocks(spec, 32) : sequential(spec), part);
      within(pattern + " at " + load + " %", ours, ns.get<double>(), part <= 0.6 ? 0.10 : 0.25);
    }
  }
}

TEST(DramGolden, PercentOfPeakAsRamulator) {
  WEFT_NEEDS_DATA();
  const nlohmann::json all = golden()["ramulator_percent_of_peak"];
  for (const auto& [device, preset] : {std::pair{"HBM2-2000", "HBM2"}, std::pair{"HBM3-6400", "HBM3"}}) {
    const DramSpec spec = spec_of(preset, 2);
    const nlohmann::json& rows = all[device];
    const double peak = spec.pseudo_channel_peak() * 2e-9;
    EXPECT_DOUBLE_EQ(peak, rows["peak_GBps"].get<double>());
    const auto percent = [&](const Pattern& pattern) { return 100 * bandwidth(spec, pattern) / peak; };
    // Two reads of one stream, a write of another.
    const Pattern mixed = [&spec](uint64_t i) {
      const bool write = i % 3 == 2;
      return at_address(
          spec, (write ? uint64_t{1} << 28 : 0) + (write ? i / 3 : i - i / 3) * spec.burst_bytes, write);
    };
    within(std::string(device) + " sequential", percent(sequential(spec)), rows["seq_read"], 0.10);
    within(std::string(device) + " mixed", percent(mixed), rows["mixed_67_33_seq"], 0.10);
    within(std::string(device) + " one", percent(columns(spec, 1)), rows["one_column_per_row"], 0.10);
    within(std::string(device) + " two", percent(columns(spec, 2)), rows["two_columns"], 0.10);
    within(std::string(device) + " four", percent(columns(spec, 4)), rows["four_columns"], 0.10);
  }
}

TEST(DramSpecs, RatesAreThoseOfThePins) {
  // Channels x bits x rate of a pin.
  EXPECT_DOUBLE_EQ(find_dram_spec("HBM2")->stack_peak(), 1024 / 8 * 2.0e9);
  EXPECT_DOUBLE_EQ(find_dram_spec("HBM2E")->stack_peak(), 1024 / 8 * 3.2e9);
  EXPECT_DOUBLE_EQ(find_dram_spec("HBM3")->stack_peak(), 1024 / 8 * 6.4e9);
  EXPECT_DOUBLE_EQ(find_dram_spec("HBM3E")->stack_peak(), 1024 / 8 * 8.0e9);
  EXPECT_DOUBLE_EQ(find_dram_spec("HBM4")->stack_peak(), 2048 / 8 * 8.0e9);
  // Five stacks of HBM3 are the 4096 GB/s of the ASTRA-sim 2.0 paper.
  EXPECT_DOUBLE_EQ(5 * find_dram_spec("HBM3")->stack_peak(), 4096e9);
  EXPECT_NEAR(find_dram_spec("HBM2")->stream_efficiency(), 0.936, 0.0005);
  EXPECT_NEAR(find_dram_spec("HBM3")->stream_efficiency(), 0.923, 0.0005);
}

TEST(DramSpecs, SimulationReachesTheFormulas) {
  for (const DramSpec& any : dram_specs()) {
    const DramSpec spec = spec_of(any.name, 1);
    within(std::string(any.name) + " stream", bandwidth(spec, sequential(spec)) * 1e9,
           spec.stream_efficiency() * spec.pseudo_channel_peak(), 0.02);
    within(std::string(any.name) + " random", bandwidth(spec, random_blocks(spec, 32)) * 1e9,
           spec.random_rate(), 0.12);
  }
}

TEST(DramAddressMap, EveryBurstHasItsPlace) {
  const DramSpec spec = *find_dram_spec("HBM2");
  std::map<std::tuple<uint32_t, uint32_t, uint32_t, uint64_t>, uint32_t> bursts;
  const uint64_t stripe = 2ull * spec.channels * spec.pseudo_channels * spec.bank_groups * spec.row_bytes;
  const uint64_t bytes = stripe * spec.banks_per_group * 2;
  for (uint64_t a = 0; a < bytes; a += spec.burst_bytes) {
    const DramAddress place = map_address(spec, 2, a);
    ASSERT_LT(place.channel, 2 * spec.channels);
    ASSERT_LT(place.bank, spec.banks());
    ++bursts[{place.channel, place.pseudo_channel, place.bank, place.row}];
  }
  EXPECT_EQ(bursts.size(), 2 * spec.channels * spec.pseudo_channels * spec.banks() * 2);
  for (const auto& [place, n] : bursts) EXPECT_EQ(n, spec.bursts_per_row());
  // Neighbours go to different channels.
  EXPECT_NE(map_address(spec, 2, 0).channel, map_address(spec, 2, spec.burst_bytes).channel);
}

TEST(DramAddressMap, EveryMapIsOneToOne) {
  DramSpec spec = *find_dram_spec("HBM2");
  spec.channels = 3;  // no power of two
  for (const auto& entry : address_maps().entries()) {
    HbmConfig config;
    config.address_map = entry.name;
    const DramPolicies policies = make_dram_policies(config, spec, 2);
    std::map<std::tuple<uint32_t, uint32_t, uint32_t, uint64_t>, uint32_t> bursts;
    const uint64_t bytes = 2ull * spec.channels * spec.pseudo_channels * spec.banks() * spec.row_bytes * 2;
    for (uint64_t a = 0; a < bytes; a += spec.burst_bytes) {
      const DramAddress place = policies.map->place(a);
      ASSERT_LT(place.channel, 2 * spec.channels) << entry.name;
      ASSERT_LT(place.pseudo_channel, spec.pseudo_channels) << entry.name;
      ASSERT_LT(place.bank, spec.banks()) << entry.name;
      ++bursts[{place.channel, place.pseudo_channel, place.bank, place.row}];
    }
    EXPECT_EQ(bursts.size(), 2u * spec.channels * spec.pseudo_channels * spec.banks() * 2) << entry.name;
    for (const auto& [place, n] : bursts) ASSERT_EQ(n, spec.bursts_per_row()) << entry.name;
    // The default is the formula of configs/dram_spec.h.
    if (entry.name != "interleaved") continue;
    for (uint64_t a = 0; a < bytes; a += 1021) {
      const DramAddress x = policies.map->place(a), y = map_address(spec, 2, a);
      ASSERT_EQ(std::tuple(x.channel, x.pseudo_channel, x.bank, x.row),
                std::tuple(y.channel, y.pseudo_channel, y.bank, y.row));
    }
  }
}

/// A policy from outside is found by its name, and chooses.
TEST(DramPolicies, ASchedulerCanBeAdded) {
  class Newest final : public DramScheduler {
   public:
    size_t choose(const std::vector<DramCandidate>& candidates) const override {
      size_t best = 0;
      for (size_t i = 1; i < candidates.size(); ++i)
        if (candidates[i].order > candidates[best].order) best = i;
      return best;
    }
  };
  dram_schedulers().add({"newest_first", "for this test", "a test",
                         [](const DramContext&, Parameters&) { return std::make_shared<Newest>(); }});
  DramSpec spec = simple();
  HbmConfig config;
  config.scheduler = "newest_first";
  DramChannel channel(spec, make_dram_policies(config, spec, 1));
  std::vector<DramChannel::Completion> done;
  for (uint32_t b = 0; b < 4; ++b) channel.submit(0, {5, b, false, b}, 0);
  while (channel.next() != kNever) channel.advance(channel.next(), done);
  ASSERT_EQ(done.size(), 4u);
  EXPECT_EQ(done.front().token, 3u);
}

// ---- exact times

/// Submits all at 0 and runs to the end: completion by token.
std::map<uint64_t, Picoseconds> run(const DramSpec& spec, const std::vector<Placed>& requests) {
  DramChannel channel(spec);
  for (size_t i = 0; i < requests.size(); ++i) {
    DramRequest request = requests[i].request;
    request.token = i;
    channel.submit(requests[i].pseudo_channel, request, 0);
  }
  std::vector<DramChannel::Completion> done;
  while (channel.next() != kNever) channel.advance(channel.next(), done);
  std::map<uint64_t, Picoseconds> at;
  for (const auto& d : done) at[d.token] = d.at;
  return at;
}

TEST(DramChannel, AReadOfAClosedRowActivatesFirst) {
  const DramSpec s = simple();
  // Half of the controller, ACT, tRCD, RL, data, the other half.
  EXPECT_EQ(run(s, {{{5, 0, false, 0}, 0}})[0], 10u + 100 + 1'000 + 2 + 10);
  EXPECT_EQ(run(s, {{{5, 0, true, 0}, 0}})[0], 10u + 80 + 500 + 2 + 10);
}

TEST(DramChannel, HitsFollowAtTheColumnRate) {
  const DramSpec s = simple();
  const uint64_t first = 10 + 100 + 1'000 + 2 + 10;
  auto at = run(s, {{{5, 0, false, 0}, 0}, {{5, 0, false, 0}, 0}});
  EXPECT_EQ(at[0], first);
  EXPECT_EQ(at[1], first + s.ccd_long);  // one bank group
  // Banks of two groups: the second ACT tRRD_S later, then RD tCCD_S or tRCD later.
  at = run(s, {{{5, 0, false, 0}, 0}, {{5, 4, false, 0}, 0}});
  EXPECT_EQ(at[1], first + s.rrd_short);
  at = run(s, {{{5, 0, false, 0}, 0}, {{5, 1, false, 0}, 0}});
  EXPECT_EQ(at[1], first + s.rrd_long);
}

TEST(DramChannel, ARowConflictPaysPrechargeAndActivate) {
  const DramSpec s = simple();
  const auto at = run(s, {{{5, 0, false, 0}, 0}, {{6, 0, false, 0}, 0}});
  // PRE not before tRAS after the ACT at 10; ACT tRP later, but tRC after the first; RD tRCD later.
  const uint64_t act = std::max(10 + s.ras + s.rp, 10 + s.rc);
  EXPECT_EQ(at.at(1), act + 100 + 1'000 + 2 + 10);
}

TEST(DramChannel, TurnaroundsSeparateReadsFromWrites) {
  const DramSpec s = simple();
  // The read goes first although the write is older and ready sooner (tRCD of writes is shorter).
  const auto at = run(s, {{{5, 0, true, 0}, 0}, {{5, 0, false, 0}, 0}});
  EXPECT_EQ(at.at(1), 10u + 100 + 1'000 + 2 + 10);
  EXPECT_EQ(at.at(0), 10u + 100 + s.rtw + 500 + 2 + 10);
  // Alone, the write has gone when the read comes, which waits for WL + data + tWTR_L.
  DramChannel channel(s);
  std::vector<DramChannel::Completion> done;
  channel.submit(0, {5, 0, true, 0}, 0);
  channel.advance(90, done);
  channel.submit(0, {5, 0, false, 1}, 91);
  while (channel.next() != kNever) channel.advance(channel.next(), done);
  ASSERT_EQ(done.size(), 2u);
  EXPECT_EQ(done[1].at, 10u + 80 + 500 + 2 + s.wtr_long + 1'000 + 2 + 10);
}

TEST(DramChannel, HitsGoBeforeOlderMisses) {
  const DramSpec s = simple();
  const auto at = run(s, {{{5, 0, false, 0}, 0}, {{6, 0, false, 0}, 0}, {{5, 0, false, 0}, 0}});
  EXPECT_LT(at.at(2), at.at(1));
}

TEST(DramChannel, RefreshClosesRowsAndWaitsForThem) {
  DramSpec s = simple();
  s.refi = 10'000;
  s.rfc = 2'000;
  DramChannel channel(s);
  std::vector<DramChannel::Command> commands;
  channel.record(&commands);
  std::vector<DramChannel::Completion> done;
  channel.submit(0, {5, 0, false, 0}, 0);
  while (channel.next() != kNever) channel.advance(channel.next(), done);
  // Idle at the refresh of 10,000; a request in the middle of it waits for its end, and its row is closed.
  channel.submit(0, {5, 0, false, 1}, 10'500);
  while (channel.next() != kNever) channel.advance(channel.next(), done);
  ASSERT_EQ(done.size(), 2u);
  EXPECT_EQ(done[1].at, 10'000 + s.rp + s.rfc + 100 + 1'000 + 2 + 10);
  EXPECT_EQ(channel.counters().refreshes, 1u);
  // Long idle: all the refreshes are counted, only the last can be felt.
  channel.submit(0, {5, 0, false, 2}, 1'000'000'000 + 500);
  while (channel.next() != kNever) channel.advance(channel.next(), done);
  EXPECT_EQ(done[2].at, 1'000'000'000 + s.rfc + 100 + 1'000 + 2 + 10);
  EXPECT_EQ(channel.counters().refreshes, 100'000u);
}

// ---- every rule, by somebody who does not know the scheduler

std::string broken_rule(const DramSpec& s, const std::vector<DramChannel::Command>& commands) {
  struct Bank {
    uint64_t row = ~uint64_t{0};
    int64_t act = -1'000'000, pre = -1'000'000, read = -1'000'000, write = -1'000'000, refreshed = -1'000'000;
  };
  std::vector<std::vector<Bank>> banks(s.pseudo_channels, std::vector<Bank>(s.banks()));
  std::vector<std::vector<int64_t>> acts(s.pseudo_channels);
  int64_t row_free = 0;
  const auto i = [](Picoseconds t) { return static_cast<int64_t>(t); };
  for (size_t n = 0; n < commands.size(); ++n) {
    const DramChannel::Command& c = commands[n];
    const int64_t t = i(c.at);
    Bank& own = banks[c.pseudo_channel][c.bank];
    const std::string where = " (command " + std::to_string(n) + " at " + std::to_string(t) + ")";
    if (c.kind == Kind::refresh) {
      for (uint32_t b = 0; b < s.banks(); ++b) {
        if (s.per_bank_refresh && b != c.bank) continue;
        Bank& bank = banks[c.pseudo_channel][b];
        if (bank.row != ~uint64_t{0}) {
          if (t < bank.act + i(s.ras)) return "tRAS before a refresh" + where;
          if (t < bank.read + i(s.rtp)) return "tRTP before a refresh" + where;
          if (t < bank.write + i(s.wl + s.burst + s.wr)) return "tWR before a refresh" + where;
        }
        bank.refreshed =
            t + (bank.row != ~uint64_t{0} ? i(s.rp) : 0) + i(s.per_bank_refresh ? s.rfc_bank : s.rfc);
        bank.row = ~uint64_t{0};
      }
      continue;
    }
    if (t < own.refreshed && !(c.kind == Kind::precharge)) return "tRFC" + where;
    if (c.kind == Kind::activate || c.kind == Kind::precharge) {
      if (t < row_free) return "two row commands in one slot" + where;
      row_free = t + i((c.kind == Kind::activate ? s.act_slots : s.pre_slots) * s.clock);
    }
    if (c.kind == Kind::activate) {
      if (own.row != ~uint64_t{0}) return "ACT of an open bank" + where;
      if (t < own.pre + i(s.rp)) return "tRP" + where;
      if (t < own.act + i(s.rc)) return "tRC" + where;
      for (uint32_t b = 0; b < s.banks(); ++b) {
        const bool same = b / s.banks_per_group == c.bank / s.banks_per_group;
        if (t < banks[c.pseudo_channel][b].act + i(same ? s.rrd_long : s.rrd_short)) return "tRRD" + where;
      }
      auto& list = acts[c.pseudo_channel];
      if (list.size() >= 4 && t < list[list.size() - 4] + i(s.faw)) return "tFAW" + where;
      list.push_back(t);
      own.row = c.row;
      own.act = t;
    } else if (c.kind == Kind::precharge) {
      if (own.row == ~uint64_t{0}) return "PRE of a closed bank" + where;
      if (t < own.act + i(s.ras)) return "tRAS" + where;
      if (t < own.read + i(s.rtp)) return "tRTP" + where;
      if (t < own.write + i(s.wl + s.burst + s.wr)) return "tWR" + where;
      own.row = ~uint64_t{0};
      own.pre = t;
    } else {
      const bool write = c.kind == Kind::write;
      if (own.row != c.row) return "a column command to another row" + where;
      if (t < own.act + i(write ? s.rcd_write : s.rcd_read)) return "tRCD" + where;
      for (uint32_t b = 0; b < s.banks(); ++b) {
        const Bank& bank = banks[c.pseudo_channel][b];
        const bool same = b / s.banks_per_group == c.bank / s.banks_per_group;
        const int64_t ccd = i(same ? s.ccd_long : s.ccd_short);
        if (t < (write ? bank.write : bank.read) + ccd) return "tCCD" + where;
        if (write && t < bank.read + i(s.rtw)) return "tRTW" + where;
        if (!write && t < bank.write + i(s.wl + s.burst + (same ? s.wtr_long : s.wtr_short)))
          return "tWTR" + where;
      }
      (write ? own.write : own.read) = t;
      if (c.closes) {  // the device precharges as soon as it may
        own.row = ~uint64_t{0};
        own.pre = std::max({own.act + i(s.ras), own.read + i(s.rtp), own.write + i(s.wl + s.burst + s.wr)});
      }
    }
  }
  return {};
}

TEST(DramChannel, NoRuleIsBrokenOnRandomTraffic) {
  for (uint32_t seed = 1; seed <= 120; ++seed) {
    std::mt19937_64 random(seed);
    const auto& specs = dram_specs();
    DramSpec spec = seed % 4 == 0 ? simple() : specs[seed % specs.size()];
    spec.pseudo_channels = 1 + seed % 2;
    spec.per_bank_refresh = seed % 3 == 0 && spec.refi != 0;
    const uint64_t rows = 1 + random() % 4;
    const uint32_t writes = static_cast<uint32_t>(random() % 101);
    const Picoseconds gap = random() % (4 * spec.rc);
    HbmConfig config;
    config.window = 1 + static_cast<uint32_t>(random() % 64);
    const auto drawn = [&](auto&& registry, std::string& name) {  // every second time another policy
      if (random() % 2 == 0) name = registry.entries()[random() % registry.entries().size()].name;
    };
    drawn(dram_schedulers(), config.scheduler);
    drawn(grouping_policies(), config.grouping);
    drawn(page_policies(), config.page_policy);
    DramChannel channel(spec, make_dram_policies(config, spec, 1));
    std::vector<DramChannel::Command> commands;
    channel.record(&commands);
    std::vector<DramChannel::Completion> done;
    Picoseconds arrival = 0;
    constexpr uint64_t kBursts = 3'000;
    std::vector<Picoseconds> start;
    while (start.size() < kBursts || channel.next() != kNever) {
      if (start.size() < kBursts && arrival <= channel.next()) {
        channel.submit(static_cast<uint32_t>(random() % spec.pseudo_channels),
                       {random() % rows, static_cast<uint32_t>(random() % spec.banks()),
                        random() % 100 < writes, start.size()},
                       arrival);
        start.push_back(arrival);
        if (gap != 0) arrival += random() % gap;
        continue;
      }
      channel.advance(channel.next(), done);
    }
    ASSERT_EQ(broken_rule(spec, commands), "") << "seed " << seed << ", " << spec.name;
    ASSERT_EQ(done.size(), kBursts);
    ASSERT_EQ(channel.waiting(), 0u);
    for (const auto& d : done) ASSERT_GE(d.at, start[d.token] + spec.least_latency()) << "seed " << seed;
  }
}

}  // namespace
}  // namespace weft
