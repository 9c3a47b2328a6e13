// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// BankedHbm over a checked base-protocol hop: streams at the rate that refresh leaves, small accesses burst
// by burst, both together.

#include "sc_models/banked_hbm.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "cosim/tlm/base_protocol_checker.h"
#include "sc_models/memory_traffic.h"
#include "tests/support/isolated.h"
#include "tests/support/memory_initiators.h"

namespace weft {
namespace {

using cosim::BaseProtocolChecker;
using sc_core::sc_time;
using test::Dma;
using test::expect;
using test::Initiator;
using test::isolated;
using test::lines;

const DramSpec& hbm2() {
  return *find_dram_spec("HBM2");
}

/// A read through an idle, closed bank.
Picoseconds unloaded(const DramSpec& s) {
  const Picoseconds begin = (s.controller / 2 + s.clock - 1) / s.clock * s.clock;
  return begin + s.rcd_read + s.rl + s.burst + s.controller - s.controller / 2;
}

Picoseconds stream_time(const DramSpec& s, uint32_t stacks, uint64_t bytes) {
  return static_cast<Picoseconds>(
      std::ceil(static_cast<double>(bytes) / (s.stream_efficiency() * s.stack_peak() * stacks * 1e-12)));
}

std::string near(const char* what, double is, double should, double tolerance) {
  return std::abs(is / should - 1) <= tolerance ? std::string{}
                                                : std::string(what) + ": " + std::to_string(is) +
                                                      " is not near " + std::to_string(should) + "\n";
}

struct Bench {
  explicit Bench(uint32_t stacks = 1, const DramSpec& spec = hbm2(), uint64_t capacity = 0)
      : dma("dma", 8, capacity), checker("checker"), hbm("hbm", spec, stacks, capacity, 1, nullptr) {
    dma.dma.socket.bind(checker.target);
    checker.initiator.bind(hbm.socket(0));
  }
  std::string run() {
    sc_core::sc_start();
    checker.finish();
    std::string text = lines(checker.violations());
    if (!dma.dma.idle()) text += "the DMA is not idle\n";
    return text + expect("outstanding", hbm.outstanding(), 0);
  }
  Dma dma;
  BaseProtocolChecker checker;
  BankedHbm hbm;
};

TEST(BankedHbm, ATensorStreamsAtTheRateThatRefreshLeaves) {
  for (const uint32_t stacks : {1u, 5u}) {
    EXPECT_SILENT(isolated([stacks] {
      Bench b(stacks);
      constexpr uint64_t kBytes = 64ull << 20;
      b.dma.script = [&] { b.dma.dma.start(1, false, kBytes); };
      std::string text = b.run();
      // Requests of 4 MiB one behind the other; each one's time is rounded up.
      const Picoseconds time = 16 * stream_time(hbm2(), stacks, 4ull << 20);
      text += expect("done", b.dma.done[1].at(0), time + hbm2().controller + hbm2().rcd_read + hbm2().rl);
      text += expect("bytes", b.hbm.bytes(), kBytes);
      text += expect("busy", b.hbm.busy(), time);
      // A piece each: nothing is simulated burst by burst.
      const uint64_t pieces = kBytes / (uint64_t{stacks} * 8 * 2 * 4 * 1024) + 16;
      if (b.hbm.activations() > pieces + 3 * 16) text += "too many activations\n";
      return text + expect("bursts", b.hbm.counters(0).reads, 0);
    }));
  }
}

TEST(BankedHbm, ASmallReadTakesActivateReadAndTheControllersTime) {
  EXPECT_SILENT(isolated([] {
    Initiator initiator("initiator");
    BaseProtocolChecker checker("checker");
    BankedHbm hbm("hbm", hbm2(), 1, 1 << 20, 1, nullptr);
    initiator.socket.bind(checker.target);
    checker.initiator.bind(hbm.socket(0));
    std::string text;
    initiator.script = [&] {
      tlm::tlm_generic_payload p;
      unsigned char data[256];
      Initiator::fill(p, 0, 32, data);
      sc_time delay = sc_time::from_value(5'000);
      initiator.socket->b_transport(p, delay);
      const Picoseconds first = sc_core::sc_time_stamp().value() + delay.value();
      text += expect("a closed row", first, 5'000 + unloaded(hbm2()));
      sc_core::wait(delay);
      // The row is open now.
      delay = sc_core::SC_ZERO_TIME;
      Picoseconds before = sc_core::sc_time_stamp().value();
      Initiator::fill(p, 8, 4, data);
      initiator.socket->b_transport(p, delay);
      text += expect("an open row", sc_core::sc_time_stamp().value() + delay.value() - before,
                     unloaded(hbm2()) - hbm2().rcd_read);
      sc_core::wait(delay);
      // Over the border of a burst: two channels, in parallel.
      before = sc_core::sc_time_stamp().value();
      delay = sc_core::SC_ZERO_TIME;
      Initiator::fill(p, 60, 8, data);
      initiator.socket->b_transport(p, delay);
      text +=
          expect("two bursts", sc_core::sc_time_stamp().value() + delay.value() - before, unloaded(hbm2()));
      text += expect("status", p.get_response_status(), tlm::TLM_OK_RESPONSE);
      Initiator::fill(p, (1 << 20) - 4, 8, data);
      initiator.socket->b_transport(p, delay);
      text += expect("beyond the capacity", p.get_response_status(), tlm::TLM_ADDRESS_ERROR_RESPONSE);
    };
    sc_core::sc_start();
    uint64_t reads = 0;
    for (uint32_t c = 0; c < hbm.channels(); ++c) reads += hbm.counters(c).reads;
    return text + lines(checker.violations()) + expect("bursts", reads, 4) +
           expect("hits", hbm.counters(0).hits, 1);
  }));
}

/// Keeps `depth` random reads of a burst in flight.
struct RandomReader {
  RandomReader(Initiator& through, uint32_t in_flight, uint64_t all, uint64_t bytes)
      : initiator(through), reads(all), range(bytes), depth(in_flight) {
    initiator.answer = [this](tlm::tlm_generic_payload& p, tlm::tlm_phase& phase, sc_time&) {
      last = sc_core::sc_time_stamp().value();
      longest = std::max(longest, last - started[&p]);
      ++answered;
      free.push_back(&p);
      more.notify(sc_core::SC_ZERO_TIME);
      phase = tlm::END_RESP;
      return tlm::TLM_UPDATED;
    };
    initiator.script = [this] { run(); };
  }
  void run() {
    for (uint32_t i = 0; i < depth; ++i) {
      payloads.push_back(std::make_unique<tlm::tlm_generic_payload>(&manager));
      payloads.back()->acquire();
      free.push_back(payloads.back().get());
    }
    for (uint64_t sent = 0; sent < reads; ++sent) {
      while (free.empty()) sc_core::wait(more);
      tlm::tlm_generic_payload* p = free.back();
      free.pop_back();
      Initiator::fill(*p, random() % range / 32 * 32, 32, data);
      started[p] = sc_core::sc_time_stamp().value();
      tlm::tlm_phase phase = tlm::BEGIN_REQ;
      sc_time delay;
      initiator.socket->nb_transport_fw(*p, phase, delay);
    }
    while (answered < reads) sc_core::wait(more);
    for (auto& p : payloads) p->release();
  }
  Initiator& initiator;
  const uint64_t reads, range;
  const uint32_t depth;
  test::Manager manager;
  std::mt19937_64 random{5};
  unsigned char data[32] = {};
  std::vector<std::unique_ptr<tlm::tlm_generic_payload>> payloads;
  std::vector<tlm::tlm_generic_payload*> free;
  std::map<tlm::tlm_generic_payload*, Picoseconds> started;
  sc_core::sc_event more;
  uint64_t answered = 0;
  Picoseconds last = 0;
  Picoseconds longest = 0;
};

TEST(BankedHbm, RandomBurstsReachTheRateOfTheirRowCommands) {
  EXPECT_SILENT(isolated([] {
    Initiator initiator("initiator");
    BaseProtocolChecker checker("checker");
    BankedHbm hbm("hbm", hbm2(), 1, 0, 1, nullptr);
    initiator.socket.bind(checker.target);
    checker.initiator.bind(hbm.socket(0));
    RandomReader reader(initiator, 8 * 2 * 80, 60'000, 1ull << 32);
    sc_core::sc_start();
    checker.finish();
    // Three slots of row commands a burst and channel, less the refreshes.
    const double rate = 60'000.0 * 32 / static_cast<double>(reader.last) * 1e12;
    const double formula = 8 * hbm2().stream_efficiency() * 32e12 / 3'000.0;
    return lines(checker.violations()) + near("rate", rate, formula, 0.08) +
           expect("answers", reader.answered, 60'000);
  }));
}

TEST(BankedHbm, StreamsAndSmallAccessesTakeTurns) {
  EXPECT_SILENT(isolated([] {
    Dma dma("dma", 8, 0);
    Initiator initiator("initiator");
    BankedHbm hbm("hbm", hbm2(), 1, 0, 2, nullptr);
    dma.dma.socket.bind(hbm.socket(0));
    initiator.socket.bind(hbm.socket(1));
    RandomReader reader(initiator, 16, 2'000, 1ull << 32);
    constexpr uint64_t kBytes = 32ull << 20;
    dma.script = [&] { dma.dma.start(1, true, kBytes); };
    sc_core::sc_start();
    std::string text = expect("answers", reader.answered, 2'000) + expect("ends", dma.done[1].size(), 1);
    // A read waits for the piece that is under way (64 KiB), those before it, and a refresh.
    const Picoseconds piece = stream_time(hbm2(), 1, 64 << 10);
    if (reader.longest < piece) text += "no read had to wait for a piece of the stream\n";
    if (reader.longest > 2 * piece + 2 * hbm2().rfc + 1'000'000)
      text += "a read starved: " + std::to_string(reader.longest) + "\n";
    const Picoseconds alone = stream_time(hbm2(), 1, kBytes);
    if (dma.done[1].at(0) < alone + reader.answered * 10) text += "the stream was not slowed down\n";
    if (dma.done[1].at(0) > 4 * alone) text += "the stream starved\n";
    return text;
  }));
}

MemoryTraffic::Config blocks_of(double reads, double rate) {
  MemoryTraffic::Config c;
  c.pattern.random = true;
  c.pattern.reads = reads;
  c.rate = rate;
  c.blocks = 4000;
  c.outstanding = 512;
  c.seed = 7;
  return c;
}

/// Small accesses do not wake the memory when they come: it is woken for their answers, and
/// now and then.
TEST(BankedHbm, OnlyAnswersWakeIt) {
  for (const double reads : {0.0, 0.5, 1.0}) {
    for (const double rate : {0.0, 0.02}) {
      EXPECT_SILENT(isolated([&] {
        BankedHbm hbm("hbm", hbm2(), 1, 0, 1, nullptr);
        MemoryTraffic traffic("traffic", blocks_of(reads, rate));
        traffic.socket.bind(hbm.socket(0));
        traffic.start(0);
        sc_core::sc_start();
        std::string text = expect("answers", traffic.answered(), 4000);
        if (hbm.activations() > 4000 * 5 / 4) text += std::to_string(hbm.activations()) + " activations\n";
        return text;
      }));
    }
  }
}

struct Everything final : vcd::ProbeListener {
  bool wants(std::string_view) override { return true; }
  vcd::SignalId declared(const vcd::Signal&) override { return {}; }
  void changed(vcd::Time, vcd::SignalId, uint64_t) override {}
  void changed(vcd::Time, vcd::SignalId, double) override {}
  void changed(vcd::Time, vcd::SignalId, std::string_view) override {}
  vcd::FutureHandle expected(vcd::Time, vcd::SignalId, uint64_t) override { return {}; }
  vcd::FutureHandle expected(vcd::Time, vcd::SignalId, double) override { return {}; }
  vcd::FutureHandle expected(vcd::Time, vcd::SignalId, std::string_view) override { return {}; }
  bool revoked(const vcd::FutureHandle&) override { return true; }
  void counted(const vcd::Steps&, vcd::SignalId, int) override {}
};

/// Where signals are recorded, every command is issued in its time. That changes nothing.
TEST(BankedHbm, AccessesTakeTheSameTimeWhenSomebodyLooks) {
  for (const double reads : {0.0, 0.5, 1.0}) {
    for (const double rate : {0.0, 0.02, 0.1}) {
      const auto latencies = [&](bool watched) {
        return isolated([&] {
          vcd::ProbeHub hub;
          Everything everything;
          hub.join(everything);
          BankedHbm hbm("hbm", hbm2(), 1, 0, 1, watched ? &hub : nullptr);
          MemoryTraffic traffic("traffic", blocks_of(reads, rate));
          traffic.socket.bind(hbm.socket(0));
          traffic.start(0);
          sc_core::sc_start();
          // Answers of one instant may come in any order.
          std::vector<Picoseconds> sorted = traffic.latencies();
          std::sort(sorted.begin(), sorted.end());
          std::string text = std::to_string(traffic.time());
          for (const Picoseconds t : sorted) text += " " + std::to_string(t);
          return text;
        });
      };
      const auto unwatched = latencies(false);
      EXPECT_EQ(unwatched.status, 0);
      EXPECT_EQ(unwatched.text, latencies(true).text) << reads << " reads, rate " << rate;
    }
  }
}

/// Reads and writes on a grid of half clocks: of one initiator they are told some time ahead, of the other
/// when they come. So both kinds come at one instant to one channel.
std::string two_kinds_of_arrivals(uint64_t seed, bool watched) {
  vcd::ProbeHub hub;
  Everything everything;
  hub.join(everything);
  BankedHbm hbm("hbm", hbm2(), 1, 0, 2, watched ? &hub : nullptr);
  test::Manager manager;
  unsigned char data[64] = {};
  std::vector<Picoseconds> ends;
  std::vector<std::unique_ptr<tlm::tlm_generic_payload>> payloads;
  Initiator ahead("ahead"), at_once("at_once");
  const Picoseconds grid = hbm2().clock / 2;
  const auto sends = [&](Initiator& initiator, uint32_t socket, bool early) {
    initiator.socket.bind(hbm.socket(socket));
    initiator.answer = [&](tlm::tlm_generic_payload& p, tlm::tlm_phase& phase, sc_time& delay) {
      if (phase == tlm::END_REQ) return tlm::TLM_ACCEPTED;
      ends.push_back((sc_core::sc_time_stamp() + delay).value());
      p.release();
      phase = tlm::END_RESP;
      return tlm::TLM_COMPLETED;
    };
    initiator.script = [&, early] {
      std::mt19937_64 random(seed + (early ? 0 : 1000));
      for (int i = 0; i < 60; ++i) {
        payloads.push_back(std::make_unique<tlm::tlm_generic_payload>());
        tlm::tlm_generic_payload& p = *payloads.back();
        p.set_mm(&manager);
        p.acquire();
        Initiator::fill(p, (random() % 8 << 20) + random() % 4 * 32, 32, data);
        if (random() % 2 != 0) p.set_command(tlm::TLM_WRITE_COMMAND);
        tlm::tlm_phase phase = tlm::BEGIN_REQ;
        const Picoseconds ahead_by = early ? (1 + random() % 12) * grid : 0;
        sc_time delay = sc_time::from_value(ahead_by);
        initiator.socket->nb_transport_fw(p, phase, delay);
        sc_core::wait(sc_time::from_value(random() % 3 * grid));
      }
    };
  };
  sends(ahead, 0, true);
  sends(at_once, 1, false);
  sc_core::sc_start();
  std::sort(ends.begin(), ends.end());
  std::string text = std::to_string(ends.size());
  for (const Picoseconds t : ends) text += " " + std::to_string(t);
  return text;
}

TEST(BankedHbm, ArrivalsThatAreToldAheadAndThoseThatAreNotTakeTheSameTimeWhenSomebodyLooks) {
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    const auto unwatched = isolated([&] { return two_kinds_of_arrivals(seed, false); });
    ASSERT_EQ(unwatched.status, 0) << unwatched.text;
    EXPECT_EQ(unwatched.text.substr(0, 4), "120 ") << unwatched.text;
    EXPECT_EQ(unwatched.text, isolated([&] { return two_kinds_of_arrivals(seed, true); }).text) << seed;
  }
}

TEST(BankedHbm, AccessesAtRandomFinishOnceWithinTheirBounds) {
  for (uint32_t seed = 1; seed <= 12; ++seed) {
    EXPECT_SILENT(isolated([seed] {
      std::mt19937_64 random(seed);
      DramSpec spec = dram_specs()[seed % dram_specs().size()];
      spec.per_bank_refresh = seed % 3 == 0;
      const uint32_t stacks = 1 + seed % 3;
      Bench b(stacks, spec, 3ull << 30);
      std::vector<std::pair<uint64_t, bool>> accesses;
      for (int i = 0; i < 30; ++i)
        accesses.push_back({1 + random() % (uint64_t{1} << (4 + random() % 20)), random() % 2 != 0});
      b.dma.script = [&] {
        for (uint32_t i = 0; i < accesses.size(); ++i) {
          b.dma.dma.start(i, accesses[i].second, accesses[i].first);
          if (random() % 2 != 0) sc_core::wait(sc_time::from_value(random() % 10'000'000));
        }
      };
      std::string text = b.run();
      uint64_t bytes = 0;
      for (uint32_t i = 0; i < accesses.size(); ++i) {
        bytes += accesses[i].first;
        text += expect("ends", b.dma.done[i].size(), 1);
      }
      text += expect("bytes", b.hbm.bytes(), bytes);
      const double least = static_cast<double>(bytes) / (spec.stack_peak() * stacks) * 1e12;
      if (static_cast<double>(sc_core::sc_time_stamp().value()) < least) text += "faster than the pins\n";
      return text;
    }));
  }
}

}  // namespace
}  // namespace weft
