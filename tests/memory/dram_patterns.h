// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Traffic for one DRAM channel: patterns of requests, and the bandwidth and the latency that they get.

#ifndef WEFT_TESTS_MEMORY_DRAM_PATTERNS_H
#define WEFT_TESTS_MEMORY_DRAM_PATTERNS_H

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <random>
#include <string_view>
#include <vector>

#include "sc_models/dram_channel.h"

namespace weft::test {

inline DramSpec spec_of(std::string_view name, uint32_t pseudo_channels) {
  DramSpec spec = *find_dram_spec(name);
  spec.channels = 1;
  spec.pseudo_channels = pseudo_channels;
  return spec;
}

/// Request i of a pattern, at its pseudo-channel.
struct Placed {
  DramRequest request;
  uint32_t pseudo_channel = 0;
};
using Pattern = std::function<Placed(uint64_t)>;

inline Placed at_address(const DramSpec& spec, uint64_t address, bool write = false) {
  const DramAddress a = map_address(spec, 1, address);
  return {{a.row, a.bank, write, 0}, a.pseudo_channel};
}

/// GB/s with the windows always full.
inline double bandwidth(const DramSpec& spec, const Pattern& pattern, uint64_t bursts = 60'000) {
  DramChannel channel(spec);
  std::vector<DramChannel::Completion> done;
  Picoseconds now = 0;
  Picoseconds last = 0;
  uint64_t submitted = 0;
  uint64_t completed = 0;
  while (completed < bursts) {
    for (; submitted < bursts && channel.waiting() < 80 * spec.pseudo_channels; ++submitted) {
      const Placed placed = pattern(submitted);
      channel.submit(placed.pseudo_channel, placed.request, now);
    }
    now = channel.next();
    if (now == kNever) return 0;
    done.clear();
    channel.advance(now, done);
    completed += done.size();
    for (const auto& d : done) last = std::max(last, d.at);
  }
  return static_cast<double>(bursts * spec.burst_bytes) * 1000 / static_cast<double>(last);
}

/// Mean latency in ns of reads that come at random, `load` of the peak.
inline double latency(const DramSpec& spec, const Pattern& pattern, double load, uint64_t bursts = 60'000) {
  DramChannel channel(spec);
  std::mt19937_64 random(1);
  std::exponential_distribution<double> gap(load / static_cast<double>(spec.burst));
  std::vector<DramChannel::Completion> done;
  std::vector<Picoseconds> start;
  double arrival = 0;
  double sum = 0;
  Picoseconds now = 0;
  uint64_t completed = 0;
  while (completed < bursts) {
    const auto next = start.size() < bursts ? static_cast<Picoseconds>(arrival) : kNever;
    if (next <= channel.next()) {
      Placed placed = pattern(start.size());
      placed.request.token = start.size();
      now = next;
      start.push_back(now);
      channel.submit(placed.pseudo_channel, placed.request, now);
      arrival += gap(random);
      continue;
    }
    now = channel.next();
    done.clear();
    channel.advance(now, done);
    completed += done.size();
    for (const auto& d : done) sum += static_cast<double>(d.at - start[d.token]);
  }
  return sum / static_cast<double>(bursts) / 1000;
}

inline Pattern sequential(const DramSpec& spec, std::function<bool(uint64_t)> write = nullptr) {
  return [&spec, write](uint64_t i) { return at_address(spec, i * spec.burst_bytes, write && write(i)); };
}

inline Pattern random_blocks(const DramSpec& spec, uint64_t bytes,
                             std::function<bool(uint64_t)> write = nullptr) {
  auto random = std::make_shared<std::mt19937_64>(7);
  auto base = std::make_shared<uint64_t>(0);
  return [&spec, bytes, write, random, base](uint64_t i) {
    const uint64_t k = bytes / spec.burst_bytes;
    if (i % k == 0) *base = (*random)() % (uint64_t{1} << 31) / bytes * bytes;
    return at_address(spec, *base + i % k * spec.burst_bytes, write && write(i));
  };
}

/// Rows in turn through bank groups and banks, some columns of each; the pseudo-channels in turn.
inline Pattern columns(const DramSpec& spec, uint64_t columns) {
  return [&spec, columns](uint64_t i) {
    const uint64_t row = i / spec.pseudo_channels / columns;
    Placed p;
    p.pseudo_channel = static_cast<uint32_t>(i % spec.pseudo_channels);
    p.request.bank = static_cast<uint32_t>(row % spec.bank_groups * spec.banks_per_group +
                                           row / spec.bank_groups % spec.banks_per_group);
    p.request.row = row / spec.banks();
    return p;
  };
}

/// A whole row after the other, all of one bank, then of the next.
inline Pattern one_bank(const DramSpec& spec, bool write) {
  return [&spec, write](uint64_t i) {
    Placed p;
    p.request.row = i / spec.bursts_per_row();
    p.request.write = write;
    return p;
  };
}

/// Round figures: every rule has another.
inline DramSpec simple() {
  DramSpec s;
  s.name = "simple";
  s.pseudo_channels = 1;
  s.clock = 1;
  s.burst = 2;
  s.rcd_read = 100;
  s.rcd_write = 80;
  s.rp = 150;
  s.ras = 300;
  s.rc = 460;
  s.rtp = 40;
  s.wr = 130;
  s.rl = 1'000;
  s.wl = 500;
  s.ccd_short = 2;
  s.ccd_long = 7;
  s.rrd_short = 11;
  s.rrd_long = 23;
  s.faw = 200;
  s.rtw = 600;
  s.wtr_short = 31;
  s.wtr_long = 57;
  s.controller = 20;
  return s;
}

}  // namespace weft::test

#endif
