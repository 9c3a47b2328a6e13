// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Point-to-point messages over several dimensions pay every link they cross; times to the picosecond.

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "sc_models/machine.h"
#include "tests/support/isolated.h"

namespace weft {
namespace {

using test::isolated;

constexpr Picoseconds kLatency = 500'000;

DimensionConfig dimension(DimensionKind kind, uint32_t size, Fidelity fidelity = Fidelity::message,
                          Switching switching = Switching::store_and_forward) {
  DimensionConfig d;
  d.kind = kind;
  d.size = size;
  d.bandwidth = {100'000'000'000ull, 1};  // 10 ps a byte
  d.latency = kLatency;
  d.fidelity = fidelity;
  d.switching = switching;
  return d;
}

struct BareMachine final : NmuClient {
  explicit BareMachine(Config c) : config(std::move(c)) {
    system = std::make_unique<Machine>("system", config, *this, Machine::Options{});
  }
  void collective_done(NpuId, const collectives::CollectiveDone&) override {}
  void message_injected(NpuId rank, NpuId destination, const MessageId& id) override {
    injected[{index(rank), index(destination), id.round}] = sc_core::sc_time_stamp().value();
  }
  void message_arrived(NpuId rank, const Completion& c) override {
    arrived[{index(c.source), index(rank), c.id.round}] = sc_core::sc_time_stamp().value();
    const TimeSplit& s = c.split;
    const Picoseconds total = s.queue + s.serialise + s.latency + s.endpoint + s.reduce;
    if (total != sc_core::sc_time_stamp().value() - c.submitted) wrong += "a split does not add up\n";
    splits[{index(c.source), index(rank), c.id.round}] = s;
  }
  /// Sends at the current time.
  void send(uint32_t from, uint32_t to, uint64_t bytes, uint32_t tag = 0) {
    system->nmu(from).send(NpuId{to}, tag, 0, bytes);
  }
  std::string run() {
    sc_core::sc_start();
    for (const std::string& broken : system->check_conservation()) wrong += broken + "\n";
    return wrong;
  }
  std::string expect(uint32_t from, uint32_t to, Picoseconds at, uint32_t tag = 0) {
    const auto it = arrived.find({from, to, tag});
    if (it == arrived.end()) return "nothing of " + std::to_string(from) + " at " + std::to_string(to) + "\n";
    return it->second == at ? std::string{}
                            : std::to_string(from) + " -> " + std::to_string(to) + ": " +
                                  std::to_string(it->second) + " instead of " + std::to_string(at) + "\n";
  }
  uint64_t link_messages() const { return system->totals().link_messages; }

  using Key = std::tuple<uint32_t, uint32_t, uint32_t>;
  Config config;
  std::unique_ptr<Machine> system;
  std::map<Key, Picoseconds> arrived;
  std::map<Key, Picoseconds> injected;
  std::map<Key, TimeSplit> splits;
  std::string wrong;
};

TEST(Routes, EveryLinkOfSeveralDimensionsIsPaid) {
  for (const Switching switching : {Switching::store_and_forward, Switching::cut_through}) {
    EXPECT_SILENT(isolated([switching] {
      Config config;
      config.dimensions = {dimension(DimensionKind::ring, 4, Fidelity::message, switching),
                           dimension(DimensionKind::fully_connected, 3, Fidelity::message, switching),
                           dimension(DimensionKind::switch_, 2, Fidelity::message, switching)};
      config.nmu.endpoint_delay = 7'000;
      BareMachine m(config);
      // (0,0,0) -> (2,1,1): two ring links, one pair link, two links of the switch.
      m.send(0, 2 + 4 + 12, 1'000);
      std::string text = m.run();
      const Picoseconds ser = 10'000;
      const Picoseconds links =
          switching == Switching::cut_through ? 5 * kLatency + ser : 5 * (kLatency + ser);
      text += m.expect(0, 18, 7'000 + links + 7'000);
      if (m.link_messages() != 5) text += std::to_string(m.link_messages()) + " links\n";
      if (m.injected.at({0, 18, 0}) != 7'000 + ser) text += "injected at another time\n";
      const TimeSplit& s = m.splits.at({0, 18, 0});
      if (s.latency != 5 * kLatency || s.queue != 0 || s.endpoint != 7'000) text += "split\n";
      return text;
    }));
  }
}

TEST(Routes, CutThroughOverLinksOfDifferentRates) {
  for (const bool slow_first : {true, false}) {
    EXPECT_SILENT(isolated([slow_first] {
      Config config;
      config.dimensions = {dimension(DimensionKind::ring, 4, Fidelity::message, Switching::cut_through),
                           dimension(DimensionKind::ring, 4, Fidelity::message, Switching::cut_through)};
      config.dimensions[slow_first ? 0 : 1].bandwidth = {10'000'000'000ull, 1};  // 100 ps a byte
      BareMachine m(config);
      m.send(0, 5, 1'000);
      // The slower link decides when the tail is there, wherever it is.
      const std::string text = m.run();
      return text + m.expect(0, 5, 2 * kLatency + 100'000);
    }));
  }
}

TEST(Routes, MixedFidelities) {
  struct Mix {
    Fidelity fidelity[3];
    Picoseconds time;
  };
  const Picoseconds ser = 10'000;
  const auto a = Fidelity::analytical;
  const auto f = Fidelity::message;
  // One hop in each; an analytical leg pays its bytes once, however many dimensions it crosses.
  const Mix mixes[] = {{{a, a, a}, 3 * kLatency + ser},     {{a, a, f}, 3 * kLatency + 2 * ser},
                       {{f, a, a}, 3 * kLatency + 2 * ser}, {{a, f, a}, 3 * kLatency + 3 * ser},
                       {{f, f, f}, 3 * kLatency + 3 * ser}, {{f, a, f}, 3 * kLatency + 3 * ser}};
  for (const Mix& mix : mixes) {
    EXPECT_SILENT(isolated([&mix] {
      Config config;
      for (const Fidelity fidelity : mix.fidelity) {
        config.dimensions.push_back(dimension(DimensionKind::ring, 3, fidelity));
      }
      BareMachine m(config);
      m.send(0, 1 + 3 + 9, 1'000);
      m.send(13, 2, 0);
      std::string text = m.run();
      text += m.expect(0, 13, mix.time);
      return text + m.expect(13, 2, 3 * kLatency);
    }));
  }
}

TEST(Routes, AnalyticalLegsAreAsSlowAsTheirSlowestDimension) {
  EXPECT_SILENT(isolated([] {
    Config config;
    config.dimensions = {dimension(DimensionKind::ring, 4, Fidelity::analytical),
                         dimension(DimensionKind::switch_, 4, Fidelity::analytical)};
    config.dimensions[1].bandwidth = {10'000'000'000ull, 1};
    BareMachine m(config);
    m.send(0, 2 + 4, 1'000);
    const std::string text = m.run();
    return text + m.expect(0, 6, 4 * kLatency + 100'000);
  }));
}

TEST(Routes, RingsTakeTheShorterWayAndMeshesHaveOne) {
  for (const DimensionKind kind : {DimensionKind::ring, DimensionKind::mesh}) {
    for (const Fidelity fidelity : {Fidelity::message, Fidelity::analytical}) {
      EXPECT_SILENT(isolated([kind, fidelity] {
        Config config;
        config.dimensions = {dimension(kind, 7, fidelity)};
        BareMachine m(config);
        std::string text;
        // One message at a time, from every rank to every other.
        Picoseconds at = 0;
        std::vector<std::tuple<uint32_t, uint32_t, Picoseconds>> wanted;
        for (uint32_t from = 0; from < 7; ++from) {
          for (uint32_t to = 0; to < 7; ++to) {
            if (from == to) continue;
            m.send(from, to, 100);
            sc_core::sc_start(100 * sc_core::sc_time::from_value(kLatency));
            const uint32_t apart = from < to ? to - from : from - to;
            const uint32_t hops = kind == DimensionKind::ring ? std::min(apart, 7 - apart) : apart;
            const Picoseconds time =
                fidelity == Fidelity::analytical ? hops * kLatency + 1'000 : hops * (kLatency + 1'000);
            wanted.emplace_back(from, to, at + time);
            at += 100 * kLatency;
          }
        }
        for (const auto& [from, to, time] : wanted) text += m.expect(from, to, time);
        return text + m.wrong;
      }));
    }
  }
}

TEST(Routes, OppositeRanksOfAnEvenRingUseBothDirectionsByReverse) {
  EXPECT_SILENT(isolated([] {
    Config config;
    config.dimensions = {dimension(DimensionKind::ring, 2), dimension(DimensionKind::ring, 4)};
    BareMachine m(config);
    m.send(0, 1, 1'000);  // two ranks: two links between them
    m.send(0, 4, 1'000);
    std::string text = m.run();
    text += m.expect(0, 1, kLatency + 10'000) + m.expect(0, 4, 2 * (kLatency + 10'000));
    return text;
  }));
}

TEST(Routes, IncastAtASwitchIsFirstComeFirstServed) {
  for (const Switching switching : {Switching::store_and_forward, Switching::cut_through}) {
    EXPECT_SILENT(isolated([switching] {
      Config config;
      config.dimensions = {dimension(DimensionKind::switch_, 8, Fidelity::message, switching)};
      BareMachine m(config);
      for (uint32_t r = 7; r > 0; --r) m.send(r, 0, 1'000);
      m.send(0, 3, 1'000);  // the other direction is free
      std::string text = m.run();
      const Picoseconds ser = 10'000;
      const Picoseconds first =
          switching == Switching::cut_through ? 2 * kLatency + ser : 2 * kLatency + 2 * ser;
      // Equal times go by rank.
      for (uint32_t r = 1; r < 8; ++r) text += m.expect(r, 0, first + (r - 1) * ser);
      text += m.expect(0, 3, first);
      if (m.splits.at({7, 0, 0}).queue != 6 * ser) text += "queueing time\n";
      return text;
    }));
  }
}

TEST(Routes, IncastIsFairInTimeOfArrival) {
  EXPECT_SILENT(isolated([] {
    Config config;
    config.dimensions = {dimension(DimensionKind::switch_, 4)};
    BareMachine m(config);
    m.send(3, 0, 10'000);  // 100 ns on its uplink
    sc_core::sc_start(sc_core::sc_time::from_value(50'000));
    m.send(1, 0, 1'000);  // there first all the same
    sc_core::sc_start(sc_core::sc_time::from_value(49'000));
    m.send(2, 0, 1'000);  // 9 us after the long one
    std::string text = m.run();
    text += m.expect(1, 0, 50'000 + 2 * (kLatency + 10'000));
    text += m.expect(3, 0, 2 * (kLatency + 100'000));
    return text + m.expect(2, 0, 2 * (kLatency + 100'000) + 10'000);
  }));
}

TEST(Routes, AnalyticalPortsTakeTurnsInOrderOfArrival) {
  EXPECT_SILENT(isolated([] {
    Config config;
    config.dimensions = {dimension(DimensionKind::switch_, 8, Fidelity::analytical)};
    BareMachine m(config);
    // Rank 1 keeps its port busy first, so that what it sends to rank 0 comes after what others send later.
    m.send(1, 5, 5'000, 1);
    m.send(1, 0, 1'000, 2);
    m.send(2, 0, 1'000, 3);
    m.send(3, 0, 1'000, 4);
    std::string text = m.run();
    text += m.expect(1, 5, 2 * kLatency + 50'000, 1);
    text += m.expect(2, 0, 2 * kLatency + 10'000, 3);
    text += m.expect(3, 0, 2 * kLatency + 20'000, 4);
    return text + m.expect(1, 0, 2 * kLatency + 60'000, 2);
  }));
}

TEST(Routes, TransitSharesTheLinksOfARing) {
  EXPECT_SILENT(isolated([] {
    Config config;
    config.dimensions = {dimension(DimensionKind::ring, 8)};
    BareMachine m(config);
    m.send(0, 2, 1'000);
    m.send(1, 2, 1'000);
    m.send(1, 3, 1'000, 1);
    std::string text = m.run();
    const Picoseconds ser = 10'000;
    text += m.expect(1, 2, kLatency + ser);
    text += m.expect(0, 2, 2 * (kLatency + ser));  // the others have long passed
    return text + m.expect(1, 3, 2 * kLatency + 3 * ser, 1);
  }));
}

TEST(Routes, SmallMessagesBackToBackTakeWhatOneLargeOneTakes) {
  EXPECT_SILENT(isolated([] {
    Config config;
    config.dimensions = {dimension(DimensionKind::fully_connected, 3)};
    config.dimensions[0].bandwidth = {3'000'000'000'000ull, 1};  // a third of a picosecond a byte
    BareMachine m(config);
    for (uint32_t i = 0; i < 900; ++i) m.send(0, 1, 1, i);
    std::string text = m.run();
    text += m.expect(0, 1, kLatency + 300, 899);
    return text + m.expect(0, 1, kLatency + 1, 0);
  }));
}

TEST(Routes, NeighboursAcrossDimensionsOfOne) {
  EXPECT_SILENT(isolated([] {
    Config config;
    config.dimensions = {dimension(DimensionKind::ring, 1), dimension(DimensionKind::mesh, 2),
                         dimension(DimensionKind::switch_, 1), dimension(DimensionKind::fully_connected, 2)};
    BareMachine m(config);
    m.send(0, 3, 100);
    m.send(3, 0, 100);
    m.send(2, 1, 100);
    const Picoseconds both = 2 * (kLatency + 1'000);
    const std::string text = m.run();
    return text + m.expect(0, 3, both) + m.expect(3, 0, both) + m.expect(2, 1, both);
  }));
}

TEST(Routes, InjectionBandwidthFeedsAllPortsInOrder) {
  // The DMA takes 5,000 ps for 1,000 B, a link 10,000 ps. Ports send while a message is still coming in.
  EXPECT_SILENT(isolated([] {
    Config config;
    config.dimensions = {dimension(DimensionKind::fully_connected, 4)};
    config.nmu.injection_bandwidth = {200'000'000'000ull, 1};
    BareMachine m(config);
    m.send(0, 1, 1'000);
    m.send(0, 2, 1'000);
    m.send(0, 3, 1'000);
    m.send(0, 1, 1'000, 1);
    std::string text = m.run();
    const Picoseconds first = kLatency + 10'000;
    text += m.expect(0, 1, first);
    text += m.expect(0, 2, first + 5'000);
    text += m.expect(0, 3, first + 10'000);
    return text +
           m.expect(0, 1, first + 15'000, 1);  // its port is free since 10,000 ps, the DMA since 15,000
  }));
  // A DMA slower than the link: it is what counts.
  EXPECT_SILENT(isolated([] {
    Config config;
    config.dimensions = {dimension(DimensionKind::fully_connected, 3)};
    config.nmu.injection_bandwidth = {50'000'000'000ull, 1};
    BareMachine m(config);
    m.send(0, 1, 1'000);
    m.send(0, 2, 1'000);
    m.send(1, 0, 1'000);  // another NMU has a DMA of its own
    std::string text = m.run();
    text += m.expect(0, 1, kLatency + 20'000) + m.expect(0, 2, kLatency + 40'000);
    return text + m.expect(1, 0, kLatency + 20'000);
  }));
}

TEST(Routes, AFullInjectionQueueHoldsBackAllThatComesAfter) {
  // `ports`: rank 2 has a port of its own (another dimension), or shares that of rank 1 (another link of it).
  const auto arrivals = [](uint32_t queue, bool ports) {
    return isolated([queue, ports] {
      Config config;
      if (ports) {
        config.dimensions = {dimension(DimensionKind::fully_connected, 2),
                             dimension(DimensionKind::switch_, 2)};
      } else {
        config.dimensions = {dimension(DimensionKind::fully_connected, 3)};
      }
      config.nmu.injection_queue = queue;
      BareMachine m(config);
      for (uint32_t i = 0; i < 3; ++i) m.send(0, 1, 1'000, i);
      m.send(0, 2, 1'000);
      std::string text = m.run();
      for (uint32_t i = 0; i < 3; ++i) text += m.expect(0, 1, kLatency + (i + 1) * 10'000, i);
      // What is for rank 2 waits until the three before it have a place (messages leave in order), and on
      // their port for one of its own.
      const uint32_t places = ports ? 3 : 4;
      const Picoseconds wait = queue == 0 || queue >= places ? 0 : (places - queue) * 10'000;
      return text + m.expect(0, 2, wait + (ports ? 2 : 1) * (kLatency + 10'000));
    });
  };
  for (const bool ports : {false, true}) {
    for (const uint32_t queue : {0u, 1u, 2u, 3u, 4u}) EXPECT_SILENT(arrivals(queue, ports));
  }
}

TEST(Routes, InjectionQueueAndBandwidthTogether) {
  EXPECT_SILENT(isolated([] {
    Config config;
    config.dimensions = {dimension(DimensionKind::fully_connected, 2)};
    config.nmu.injection_queue = 1;
    config.nmu.injection_bandwidth = {200'000'000'000ull, 1};
    BareMachine m(config);
    for (uint32_t i = 0; i < 3; ++i) m.send(0, 1, 1'000, i);
    std::string text = m.run();
    // A message comes in when the one before has left: the link is never idle, as it sends from the first
    // byte on.
    for (uint32_t i = 0; i < 3; ++i) text += m.expect(0, 1, kLatency + (i + 1) * 10'000, i);
    return text;
  }));
}

}  // namespace
}  // namespace weft
