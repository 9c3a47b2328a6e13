// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// What arrives at one rank at one instant by one port: in the order of the senders' ranks, and of one sender
// as it sent, however many there are and however large the ranks. The order in which processes ran is of no
// importance.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "sc_models/machine.h"
#include "tests/support/isolated.h"
#include "tlm_interconnect/ports/timed_queue.h"

namespace weft {
namespace {

struct Arrivals final : NmuClient {
  struct Arrival {
    uint32_t source = 0;
    uint32_t ordinal = 0;
    Picoseconds at = 0;
  };
  std::vector<Arrival> all;

  void collective_done(NpuId, const collectives::CollectiveDone&) override {}
  void message_injected(NpuId, NpuId, const MessageId&) override {}
  void message_arrived(NpuId, const Completion& c) override {
    all.push_back({index(c.source), c.id.stream, sc_core::sc_time_stamp().value()});
  }

  /// "32768: 0 to 299, 65536: 0 to 299": runs of one sender's messages in its own order. All of one instant.
  std::string text() const {
    std::string out;
    for (size_t i = 0; i < all.size();) {
      size_t j = i + 1;
      while (j < all.size() && all[j].source == all[i].source && all[j].ordinal == all[j - 1].ordinal + 1)
        ++j;
      out += fmt::format("{}{}: {} to {}", i == 0 ? "" : ", ", all[i].source, all[i].ordinal,
                         all[j - 1].ordinal);
      i = j;
    }
    for (const Arrival& a : all)
      if (a.at != all[0].at) return out + fmt::format("; not at one instant: {} and {} ps", all[0].at, a.at);
    return out;
  }
};

Config machine(const std::vector<std::pair<DimensionKind, uint32_t>>& shape, Fidelity fidelity) {
  Config config;
  for (const auto& [kind, size] : shape) {
    DimensionConfig d;
    d.kind = kind;
    d.size = size;
    d.bandwidth = {100'000'000'000ull, 1};
    d.latency = 500'000;
    d.fidelity = fidelity;
    config.dimensions.push_back(d);
  }
  return config;
}

/// The senders, in this order, send `count` messages each to rank 0 at one instant.
std::string run(const Config& config, const std::vector<uint32_t>& senders, uint32_t count, uint64_t bytes,
                const Machine::Options& options = {}) {
  const auto result = test::isolated([&] {
    Arrivals arrivals;
    Machine system("system", config, arrivals, options);
    for (const uint32_t sender : senders)
      for (uint32_t i = 0; i < count; ++i) system.nmu(sender).send(NpuId{0}, 7, i, bytes);
    sc_core::sc_start();
    return arrivals.text();
  });
  EXPECT_EQ(result.status, 0) << result.text;
  return result.text;
}

TEST(ArrivalOrder, ManyMessagesOfOneSender) {
  for (const Fidelity fidelity : {Fidelity::message, Fidelity::analytical}) {
    for (const DimensionKind kind :
         {DimensionKind::ring, DimensionKind::fully_connected, DimensionKind::switch_, DimensionKind::mesh}) {
      // Messages of 0 B take no time on a link: all of them arrive at once.
      EXPECT_EQ(run(machine({{kind, 2}}, fidelity), {1}, 1000, 0), "1: 0 to 999")
          << static_cast<int>(kind) << " " << to_string(fidelity);
    }
  }
}

TEST(ArrivalOrder, ManyMessagesOfSeveralSenders) {
  for (const Fidelity fidelity : {Fidelity::message, Fidelity::analytical})
    EXPECT_EQ(run(machine({{DimensionKind::fully_connected, 4}}, fidelity), {3, 1, 2}, 300, 0),
              "1: 0 to 299, 2: 0 to 299, 3: 0 to 299")
        << to_string(fidelity);
}

// 131,072 ranks, of which five are built: 32,768 and 98,304 have the same low 16 bits, 65,536 has none.
TEST(ArrivalOrder, SendersOfLargeRanks) {
  const Config config =
      machine({{DimensionKind::ring, 32768}, {DimensionKind::fully_connected, 4}}, Fidelity::analytical);
  Machine::Options options;
  options.mirrored = {5};
  options.whole = {0, 32768, 65536, 98304};
  for (const uint64_t bytes : {uint64_t{0}, uint64_t{4096}}) {
    std::vector<uint32_t> senders = {32768, 65536, 98304};
    do {
      EXPECT_EQ(run(config, senders, 1, bytes, options), "32768: 0 to 0, 65536: 0 to 0, 98304: 0 to 0");
    } while (std::next_permutation(senders.begin(), senders.end()));
  }
  EXPECT_EQ(run(config, {98304, 65536, 32768}, 300, 0, options),
            "32768: 0 to 299, 65536: 0 to 299, 98304: 0 to 299");
}

TEST(TimedQueue, TimesThenTheCallersOrder) {
  std::mt19937_64 random(1);
  fabric::TimedQueue<uint32_t, uint64_t> queue;
  for (const size_t size : {size_t{1}, size_t{4}, size_t{5}, size_t{300}, size_t{5000}}) {
    std::vector<std::pair<Picoseconds, uint64_t>> pushed;
    for (size_t i = 0; i < size; ++i) {
      // Few times, so that most entries are due with others; orders beyond 32 bits.
      pushed.emplace_back(random() % 7, random() << 16 | i);
      queue.push(pushed.back().first, pushed.back().second, static_cast<uint32_t>(i));
    }
    std::sort(pushed.begin(), pushed.end());
    for (const auto& [time, order] : pushed) {
      ASSERT_EQ(queue.next(), time);
      const auto entry = queue.pop();
      ASSERT_EQ(entry.time, time);
      ASSERT_EQ(entry.order, order);
      ASSERT_EQ(entry.payload, order & 0xffff);
    }
    EXPECT_TRUE(queue.empty());
    EXPECT_EQ(queue.next(), kNever);
  }
}

}  // namespace
}  // namespace weft
