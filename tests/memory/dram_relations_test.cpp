// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// What must hold of a DRAM channel whatever the traffic: the formulas of its rates for every preset, write
// draining, refresh that costs nothing while idle, and relations between runs that are drawn at random from
// fixed seeds.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "sc_models/dram_channel.h"
#include "tests/memory/dram_patterns.h"

namespace weft {
namespace {

using Kind = DramChannel::Command::Kind;
using test::at_address;
using test::bandwidth;
using test::columns;
using test::Pattern;
using test::Placed;
using test::random_blocks;
using test::simple;
using test::spec_of;

// ---- formulas, for every preset, in bytes a second of one pseudo-channel

/// Prints the row, too.
void between(const std::string& what, double value, double least, double most) {
  std::printf("%-32s %6.2f GB/s  within %6.2f .. %6.2f\n", what.c_str(), value * 1e-9, least * 1e-9,
              most * 1e-9);
  EXPECT_GE(value, least) << what;
  EXPECT_LE(value, most) << what;
}

/// Of rows of which `columns` bursts are used, less the refreshes.
double row_rate(const DramSpec& s, uint32_t columns) {
  const double b = s.burst_bytes * 1e12 * columns;
  const double slots = static_cast<double>((s.act_slots + s.pre_slots) * s.clock);
  return s.stream_efficiency() * std::min({s.pseudo_channel_peak(), 4 * b / static_cast<double>(s.faw),
                                           b / static_cast<double>(s.rrd_short), b / slots,
                                           s.banks() * b / static_cast<double>(s.rc)});
}

TEST(DramFormulas, OneAndTwoColumnsARow) {
  for (const DramSpec& any : dram_specs()) {
    const DramSpec spec = spec_of(any.name, 1);
    for (const uint32_t n : {1u, 2u}) {
      const double ours = bandwidth(spec, columns(spec, n), 16'000) * 1e9;
      between(std::string(spec.name) + ", columns a row: " + std::to_string(n), ours,
              0.95 * row_rate(spec, n), 1.05 * row_rate(spec, n));
    }
  }
}

TEST(DramFormulas, RandomWritesOf32To512Bytes) {
  for (const DramSpec& any : dram_specs()) {
    const DramSpec spec = spec_of(any.name, 1);
    for (const uint64_t bytes : {32u, 64u, 128u, 256u, 512u}) {
      // A block uses as many bursts of a row, in each bank group or in some.
      const uint64_t bursts = bytes / spec.burst_bytes;
      const auto n = static_cast<uint32_t>((bursts + spec.bank_groups - 1) / spec.bank_groups);
      const Pattern writes = random_blocks(spec, bytes, [](uint64_t) { return true; });
      const double ours = bandwidth(spec, writes, 16'000) * 1e9;
      // A bank that is written is busy for longer than tRC. Banks in turn would have `best`; blocks at random
      // meet in one bank: a closed queueing network of as many servers as blocks can lie in, with as many
      // customers as the window has blocks, has that much less.
      const double cycle = static_cast<double>(std::max(
          spec.rc, spec.rcd_write + (n - 1) * spec.ccd_long + spec.wl + spec.burst + spec.wr + spec.rp));
      const double best = spec.stream_efficiency() * spec.banks() * n * spec.burst_bytes * 1e12 / cycle;
      const double blocks = 64.0 / static_cast<double>(bursts);
      const double servers = spec.banks() / static_cast<double>(std::min<uint64_t>(bursts, spec.bank_groups));
      const double at_random = best * blocks / (blocks + servers - 1);
      between(std::string(spec.name) + ", random writes of " + std::to_string(bytes) + " B", ours,
              0.85 * std::min(at_random, row_rate(spec, n)), 1.02 * std::min(best, row_rate(spec, n)));
    }
  }
}

TEST(DramFormulas, MixturesOfReadsAndWrites) {
  for (const DramSpec& any : dram_specs()) {
    const DramSpec spec = spec_of(any.name, 1);
    for (uint32_t percent = 10; percent <= 90; percent += 10) {
      // Two streams, one read and one written. From one watermark to the other the window takes as many
      // bursts as it needs to change by that many writes; then the pins turn around, twice.
      std::mt19937_64 random(percent);
      uint64_t reads = 0;
      uint64_t writes = 0;
      const Pattern mixed = [&](uint64_t) {
        const bool write = random() % 100 < percent;
        const uint64_t at =
            write ? (uint64_t{1} << 28) + writes++ * spec.burst_bytes : reads++ * spec.burst_bytes;
        return at_address(spec, at, write);
      };
      const double w = percent / 100.0;
      const double change = DramChannel::kWriteHigh - DramChannel::kWriteLow;
      const double data = (change / w + change / (1 - w)) * static_cast<double>(spec.burst);
      const auto turns =
          static_cast<double>(spec.rtw + spec.wl + spec.burst + spec.wtr_short - 2 * spec.ccd_short);
      const double formula = spec.stream_efficiency() * spec.pseudo_channel_peak() * data / (data + turns);
      between(std::string(spec.name) + ", writes: " + std::to_string(percent) + " %",
              bandwidth(spec, mixed, 16'000) * 1e9, 0.75 * formula, 1.05 * formula);
    }
  }
}

// ---- the controller

/// The column commands of `requests`, all there at once, to rows that are open already: R and W in their
/// order.
std::string order(const std::vector<DramRequest>& requests) {
  DramSpec s = simple();
  DramChannel channel(s);
  std::vector<DramChannel::Completion> done;
  for (uint32_t b = 0; b < s.banks(); ++b) channel.submit(0, {5, b, false, 0}, 0);
  while (channel.next() != kNever) channel.advance(channel.next(), done);
  std::vector<DramChannel::Command> commands;
  channel.record(&commands);
  for (const DramRequest& request : requests) channel.submit(0, request, 100'000);
  while (channel.next() != kNever) channel.advance(channel.next(), done);
  std::string text;
  for (const auto& c : commands) {
    if (c.kind == Kind::read) text += 'R';
    if (c.kind == Kind::write) text += 'W';
  }
  return text;
}

std::vector<DramRequest> reads_and_writes(uint32_t reads, uint32_t writes) {
  std::vector<DramRequest> requests;
  for (uint32_t i = 0; i < reads; ++i) requests.push_back({5, 8 + i % 8, false, 0});
  for (uint32_t i = 0; i < writes; ++i) requests.push_back({5, i % 8, true, 0});
  return requests;
}

TEST(DramController, ReadsGoFirstUntilTheHighWatermarkOfWrites) {
  constexpr uint32_t kHigh = DramChannel::kWriteHigh;
  constexpr uint32_t kLow = DramChannel::kWriteLow;
  const auto run = [](char c, uint32_t n) { return std::string(n, c); };
  EXPECT_EQ(order(reads_and_writes(30, kHigh - 1)), run('R', 30) + run('W', kHigh - 1));
  // Drained to the low watermark while reads wait; without reads, all.
  EXPECT_EQ(order(reads_and_writes(30, kHigh)), run('W', kHigh - kLow) + run('R', 30) + run('W', kLow));
  EXPECT_EQ(order(reads_and_writes(0, 40)), run('W', 40));
}

TEST(DramController, TheQueueOfABankIsDeepEnoughForAStream) {
  const std::map<std::string, uint32_t> depths = {
      {"HBM2", 8}, {"HBM2E", 8}, {"HBM3", 8}, {"HBM3E", 10}, {"HBM4", 10}};
  for (const DramSpec& spec : dram_specs()) EXPECT_EQ(spec.bank_queue(), depths.at(std::string(spec.name)));
}

TEST(DramController, AFullQueueOfABankHoldsBackWhatCameLater) {
  const DramSpec s = simple();
  const auto end_of_last = [&](uint32_t conflicts) {
    DramChannel channel(s);
    std::vector<DramChannel::Completion> done;
    // Each to another row of bank 0; then one to a bank of its own.
    for (uint32_t i = 0; i < conflicts; ++i) channel.submit(0, {i, 0, false, i}, 0);
    channel.submit(0, {0, 8, false, 99}, 0);
    while (channel.next() != kNever) channel.advance(channel.next(), done);
    const auto last = std::find_if(done.begin(), done.end(), [](const auto& d) { return d.token == 99; });
    return last->at;
  };
  const uint32_t queue = s.bank_queue();
  EXPECT_EQ(end_of_last(queue), end_of_last(1));
  // The next one waits until the first of the queue has its column command, and the last one behind it.
  EXPECT_EQ(end_of_last(queue + 1), 10 + s.rcd_read + s.rcd_read + s.rl + s.burst + 10);
}

// ---- refresh

std::vector<DramChannel::Completion> finish(DramChannel& channel) {
  std::vector<DramChannel::Completion> done;
  while (channel.next() != kNever) channel.advance(channel.next(), done);
  return done;
}

TEST(DramRefresh, IdleTimeCostsNoRefreshCommandEach) {
  for (const bool per_bank : {false, true}) {
    for (const DramSpec& any : dram_specs()) {
      DramSpec spec = spec_of(any.name, 2);
      spec.per_bank_refresh = per_bank;
      DramChannel channel(spec);
      std::vector<DramChannel::Command> commands;
      channel.record(&commands);
      channel.submit(0, {5, 0, false, 0}, 0);
      finish(channel);
      constexpr Picoseconds kIdle = 100'000'000'000;  // 100 ms
      channel.submit(0, {5, 0, false, 0}, kIdle);
      finish(channel);
      // All are counted; the last of each bank are worked out.
      const Picoseconds interval =
          per_bank ? (spec.refi / spec.banks() + spec.clock - 1) / spec.clock * spec.clock : spec.refi;
      EXPECT_NEAR(static_cast<double>(channel.counters().refreshes),
                  static_cast<double>(kIdle) / static_cast<double>(interval), 2)
          << spec.name << (per_bank ? ", per bank" : "");
      EXPECT_LT(commands.size(), 4 * spec.banks() + 10) << spec.name;
    }
  }
}

TEST(DramRefresh, ABankIsFoundAsItsLastRefreshLeftIt) {
  for (uint32_t seed = 1; seed <= 200; ++seed) {
    std::mt19937_64 random(seed);
    DramSpec spec = spec_of(dram_specs()[seed % dram_specs().size()].name, 1);
    spec.per_bank_refresh = seed % 4 != 0;
    const auto clocks = [&](Picoseconds t) { return (t + spec.clock - 1) / spec.clock * spec.clock; };
    const uint32_t turns = spec.per_bank_refresh ? spec.banks() : 1;
    const Picoseconds interval = clocks(spec.refi / turns);
    const Picoseconds now = random() % (uint64_t{1} << (25 + random() % 20));
    const auto bank = static_cast<uint32_t>(random() % spec.banks());
    DramChannel channel(spec);
    channel.submit(0, {5, bank, false, 0}, now);
    // Refresh k = 1, 2, .. is at k intervals, of bank (k - 1) modulo the banks.
    uint64_t k = now / interval;
    while (spec.per_bank_refresh && k > 0 && (k - 1) % turns != bank) --k;
    Picoseconds begin = clocks(now + spec.controller / 2);
    if (k > 0) begin = std::max(begin, k * interval + spec.refresh_time());
    const Picoseconds read = clocks(clocks(begin) + spec.rcd_read);
    if (read / interval != now / interval) continue;  // another refresh in between: not this test's
    const Picoseconds end = read + spec.rl + spec.burst + spec.controller - spec.controller / 2;
    const auto done = finish(channel);
    ASSERT_EQ(done.size(), 1u);
    EXPECT_EQ(done[0].at, end) << "seed " << seed << ", " << spec.name << ", at " << now;
    EXPECT_EQ(channel.counters().refreshes, now / interval) << "seed " << seed;
  }
}

// ---- relations between runs

struct Arrival {
  Picoseconds at = 0;
  uint32_t pseudo_channel = 0;
  DramRequest request;
};

struct Case {
  DramSpec spec;
  uint32_t window = 64;
  std::vector<Arrival> arrivals;
};

Case draw(uint32_t seed) {
  std::mt19937_64 random(seed);
  Case c;
  c.spec = spec_of(dram_specs()[seed % dram_specs().size()].name, 1 + seed % 2);
  c.spec.per_bank_refresh = seed % 3 == 0;
  if (seed % 5 == 0) c.spec.refi = 0;
  if (seed % 4 == 0) c.window = 1 + static_cast<uint32_t>(random() % 64);
  const uint64_t rows = 1 + random() % 6;
  const uint64_t banks = 1 + random() % c.spec.banks();
  const uint64_t writes = random() % 101;
  const Picoseconds gap = 1 + random() % (seed % 3 == 1 ? 2 * c.spec.rc : c.spec.burst);
  Picoseconds now = 0;
  const uint64_t count = 200 + random() % 1'500;
  for (uint64_t i = 0; i < count; ++i) {
    Arrival a;
    a.at = now;
    a.pseudo_channel = static_cast<uint32_t>(random() % c.spec.pseudo_channels);
    a.request = {random() % rows, static_cast<uint32_t>(random() % banks), random() % 100 < writes, i};
    c.arrivals.push_back(a);
    // Bursts and pauses.
    if (random() % 8 == 0) now += random() % (20 * gap);
    if (random() % 2 == 0) now += random() % gap;
  }
  return c;
}

/// Completion by token.
std::vector<Picoseconds> play(const Case& c, Picoseconds idle = 0, size_t count = ~size_t{0}) {
  count = std::min(count, c.arrivals.size());
  DramChannel channel(c.spec, c.window);
  std::vector<DramChannel::Completion> done;
  std::vector<Picoseconds> at(count, 0);
  for (size_t i = 0; i < count; ++i) {
    const Arrival& a = c.arrivals[i];
    channel.advance(idle + a.at, done);
    channel.submit(a.pseudo_channel, a.request, idle + a.at);
  }
  while (channel.next() != kNever) channel.advance(channel.next(), done);
  EXPECT_EQ(done.size(), count) << "each request ends once";
  EXPECT_EQ(channel.waiting(), 0u);
  const DramChannel::Counters& n = channel.counters();
  EXPECT_EQ(n.reads + n.writes, count) << "one column command a request";
  for (const auto& d : done) at[d.token] = d.at - idle;
  return at;
}

TEST(DramRelations, EachRequestEndsOnceWithinItsBounds) {
  for (uint32_t seed = 1; seed <= 60; ++seed) {
    const Case c = draw(seed);
    const std::vector<Picoseconds> at = play(c);
    // Never above the peak: what comes from a time on needs its pins' time.
    for (uint32_t pc = 0; pc < c.spec.pseudo_channels; ++pc) {
      Picoseconds bursts = 0;
      for (size_t i = c.arrivals.size(); i-- > 0;) {
        if (c.arrivals[i].pseudo_channel != pc) continue;
        bursts += c.spec.burst;
        Picoseconds last = 0;
        for (size_t k = i; k < at.size(); ++k) {
          if (c.arrivals[k].pseudo_channel == pc) last = std::max(last, at[k]);
        }
        ASSERT_GE(last, c.arrivals[i].at + bursts) << "seed " << seed << ", request " << i;
        if (i > 50) i -= 50;  // not from every one
      }
    }
    for (size_t i = 0; i < at.size(); ++i)
      ASSERT_GE(at[i], c.arrivals[i].at + c.spec.least_latency() + c.spec.burst) << "seed " << seed;
  }
}

TEST(DramRelations, WhatComesLaterDoesNotChangeWhatHasEnded) {
  for (uint32_t seed = 1; seed <= 60; ++seed) {
    const Case c = draw(seed);
    const std::vector<Picoseconds> all = play(c);
    for (const size_t part : {c.arrivals.size() / 3, c.arrivals.size() / 2, c.arrivals.size() - 1}) {
      const std::vector<Picoseconds> first = play(c, 0, part);
      const Picoseconds next = c.arrivals[part].at;
      for (size_t i = 0; i < part; ++i) {
        if (std::min(first[i], all[i]) > next) continue;
        ASSERT_EQ(first[i], all[i]) << "seed " << seed << ", request " << i;
      }
    }
  }
}

// A request that sets waiting commands free has to be there first. Refreshes that nobody saw are caught up
// with, and what a refresh of its bank has held goes when that is known.
TEST(DramRelations, NoCommandGoesBeforeTheRequestThatSetsItFree) {
  for (uint32_t seed = 1; seed <= 60; ++seed) {
    Case c = draw(seed);
    c.spec.per_bank_refresh = false;
    DramChannel channel(c.spec, c.window);
    std::vector<DramChannel::Command> commands;
    channel.record(&commands);
    std::vector<DramChannel::Completion> done;
    for (size_t i = 0; i < c.arrivals.size(); ++i) {
      const Arrival& a = c.arrivals[i];
      channel.advance(a.at, done);
      const size_t before = commands.size();
      channel.submit(a.pseudo_channel, a.request, a.at);
      channel.advance(i + 1 < c.arrivals.size() ? c.arrivals[i + 1].at : a.at, done);
      for (size_t k = before; k < commands.size(); ++k) {
        if (commands[k].kind == Kind::refresh) continue;
        ASSERT_GE(commands[k].at, a.at) << "seed " << seed << ", command " << k;
      }
    }
  }
}

TEST(DramRelations, IdleTimeBeforeMovesEverythingBySoMuch) {
  for (uint32_t seed = 1; seed <= 60; ++seed) {
    const Case c = draw(seed);
    const DramSpec& s = c.spec;
    // Whole clocks, and whole rounds of refreshes; after the first round the phase is that of any other.
    const uint64_t turns = s.per_bank_refresh ? s.banks() : 1;
    const Picoseconds interval = (s.refi / turns + s.clock - 1) / s.clock * s.clock;
    const Picoseconds round = s.refi == 0 ? s.clock : turns * interval;
    const std::vector<Picoseconds> early = play(c, 2 * round);
    for (const uint64_t rounds : {3u, 17u, 100'003u})
      ASSERT_EQ(play(c, rounds * round), early) << "seed " << seed << ", " << rounds << " rounds";
  }
}

// A greedy schedule can turn out a little worse when a command becomes ready sooner, so single draws may;
// what comes in order may not.
TEST(DramRelations, TwiceThePinsIsNotSlower) {
  const auto twice = [](DramSpec spec) {
    spec.burst /= 2;
    spec.ccd_short /= 2;
    spec.ccd_long /= 2;
    return spec;
  };
  const auto end = [](const Case& c) {
    const std::vector<Picoseconds> at = play(c);
    return static_cast<double>(*std::max_element(at.begin(), at.end()));
  };
  double sum = 0;
  for (uint32_t seed = 1; seed <= 60; ++seed) {
    const Case c = draw(seed);
    const double ratio = end({twice(c.spec), c.window, c.arrivals}) / end(c);
    EXPECT_LE(ratio, 1.05) << "seed " << seed;
    sum += ratio;
  }
  EXPECT_LT(sum / 60, 0.99);
  for (const DramSpec& any : dram_specs()) {
    Case c{spec_of(any.name, 1), 64, {}};
    for (uint64_t i = 0; i < 4'000; ++i) {
      const Placed placed = at_address(c.spec, i * c.spec.burst_bytes);
      c.arrivals.push_back({0, 0, placed.request});
      c.arrivals.back().request.token = i;
    }
    EXPECT_LE(end({twice(c.spec), c.window, c.arrivals}), 0.6 * end(c)) << any.name;
  }
}

}  // namespace
}  // namespace weft
