// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Relations between runs of an NPU's memory, of both models, with tensors drawn from fixed seeds: twice the
// bandwidth is not slower, idle time before changes nothing, later tensors change nothing of earlier ones,
// every byte is moved once and none faster than the pins.

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "sc_models/banked_hbm.h"
#include "sc_models/hbm.h"
#include "tests/support/isolated.h"
#include "tests/support/memory_initiators.h"

namespace weft {
namespace {

using test::Dma;
using test::isolated;

struct Tensor {
  Picoseconds at = 0;
  uint64_t bytes = 0;
  bool write = false;
};

struct Job {
  bool banked = false;
  uint32_t preset = 0;
  uint32_t stacks = 1;
  bool refresh = true;
  std::vector<Tensor> tensors;

  DramSpec spec() const {
    DramSpec s = dram_specs()[preset];
    if (!refresh) s.refi = 0;
    return s;
  }
  double peak() const { return spec().stack_peak() * stacks * 1e-12; }  ///< bytes a picosecond
};

/// Tensors far enough apart that each is alone (`apart`), or on each other's heels.
Job draw(uint32_t seed, bool streams, bool apart) {
  std::mt19937_64 random(seed);
  Job job;
  job.banked = seed % 2 == 0;
  job.preset = static_cast<uint32_t>(random() % dram_specs().size());
  job.stacks = 1 + static_cast<uint32_t>(random() % 3);
  job.refresh = random() % 2 == 0;
  Picoseconds now = 0;
  for (int i = 0; i < 12; ++i) {
    const uint64_t most = uint64_t{1} << (streams ? 20 + random() % 6 : 4 + random() % 14);
    job.tensors.push_back({now, (streams ? uint64_t{1} << 20 : 1) + random() % most, random() % 2 != 0});
    now += apart ? 1'000'000'000 : random() % 3'000'000;
  }
  return job;
}

/// When each tensor has ended.
std::vector<Picoseconds> play(const Job& job, Picoseconds idle = 0) {
  const auto result = isolated([&] {
    const DramSpec spec = job.spec();
    Dma dma("dma", 8, 0);
    std::unique_ptr<MemoryTarget> memory;
    if (job.banked) {
      memory = std::make_unique<BankedHbm>("hbm", spec, job.stacks, 0, 1, nullptr);
    } else {
      const Rate rate{static_cast<uint64_t>(spec.stack_peak() * job.stacks)};
      memory = std::make_unique<Hbm>("hbm", MemoryTiming{rate, 100'000, 0, 1.0}, 1, nullptr);
    }
    dma.dma.socket.bind(memory->socket(0));
    dma.script = [&] {
      if (idle != 0) sc_core::wait(sc_core::sc_time::from_value(idle));
      for (uint32_t i = 0; i < job.tensors.size(); ++i) {
        const Tensor& t = job.tensors[i];
        const Picoseconds now = sc_core::sc_time_stamp().value();
        if (idle + t.at > now) sc_core::wait(sc_core::sc_time::from_value(idle + t.at - now));
        dma.dma.start(i, t.write, t.bytes);
      }
    };
    sc_core::sc_start();
    std::ostringstream text;
    text << memory->bytes();
    for (uint32_t i = 0; i < job.tensors.size(); ++i)
      text << ' ' << (dma.done[i].size() == 1 ? dma.done[i][0] - idle : 0);
    return text.str();
  });
  EXPECT_EQ(result.status, 0) << result.text;
  std::istringstream text(result.text);
  uint64_t bytes = 0;
  text >> bytes;
  uint64_t all = 0;
  for (const Tensor& t : job.tensors) all += t.bytes;
  EXPECT_EQ(bytes, all) << "every byte is moved once";
  std::vector<Picoseconds> ends(job.tensors.size());
  for (Picoseconds& end : ends) text >> end;
  return ends;
}

std::string name(uint32_t seed, const Job& job) {
  return "seed " + std::to_string(seed) + (job.banked ? ", banked " : ", bandwidth ") +
         std::string(job.spec().name) + " x " + std::to_string(job.stacks);
}

TEST(MemoryRelations, NoTensorIsFasterThanThePins) {
  for (uint32_t seed = 1; seed <= 24; ++seed) {
    const Job job = draw(seed, seed % 3 == 0, false);
    const std::vector<Picoseconds> ends = play(job);
    const Picoseconds last = *std::max_element(ends.begin(), ends.end());
    double bytes = 0;
    for (size_t i = job.tensors.size(); i-- > 0;) {
      const Tensor& t = job.tensors[i];
      bytes += static_cast<double>(t.bytes);
      EXPECT_GE(static_cast<double>(ends[i] - t.at), static_cast<double>(t.bytes) / job.peak())
          << name(seed, job) << ", tensor " << i;
      EXPECT_GE(static_cast<double>(last - t.at), bytes / job.peak()) << name(seed, job) << ", from " << i;
    }
  }
}

TEST(MemoryRelations, TwiceTheBandwidthIsNotSlower) {
  for (uint32_t seed = 1; seed <= 24; ++seed) {
    const Job job = draw(seed, true, seed % 4 < 2);
    Job twice = job;
    twice.stacks *= 2;
    const std::vector<Picoseconds> slow = play(job);
    const std::vector<Picoseconds> fast = play(twice);
    for (size_t i = 0; i < slow.size(); ++i) EXPECT_LE(fast[i], slow[i]) << name(seed, job) << ", " << i;
  }
}

TEST(MemoryRelations, IdleTimeBeforeChangesNothingButThePhaseOfRefresh) {
  for (uint32_t seed = 1; seed <= 24; ++seed) {
    Job job = draw(seed, seed % 3 == 0, false);
    const std::vector<Picoseconds> early = play(job, 2 * 3'900'000);
    // Whole tREFI, which are whole clocks of every preset.
    EXPECT_EQ(play(job, 5 * 3'900'000), early) << name(seed, job);
    EXPECT_EQ(play(job, uint64_t{250'000} * 3'900'000), early) << name(seed, job);
  }
}

TEST(MemoryRelations, WhatComesLaterDoesNotChangeWhatHasEnded) {
  for (uint32_t seed = 1; seed <= 24; ++seed) {
    const Job job = draw(seed, seed % 3 == 0, seed % 4 < 2);
    const std::vector<Picoseconds> all = play(job);
    Job part = job;
    part.tensors.resize(job.tensors.size() / 2);
    const Picoseconds next = job.tensors[part.tensors.size()].at;
    const std::vector<Picoseconds> first = play(part);
    for (size_t i = 0; i < first.size(); ++i) {
      if (std::min(first[i], all[i]) > next) continue;
      EXPECT_EQ(first[i], all[i]) << name(seed, job) << ", tensor " << i;
    }
  }
}

}  // namespace
}  // namespace weft
