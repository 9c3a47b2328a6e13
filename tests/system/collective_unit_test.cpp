// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// The collective unit's state machine, without a simulator: when results are ready, who gets the buffer, and
// that no buffer makes contributors wait for each other.

#include "tlm_interconnect/collective/collective_unit.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <stdexcept>

namespace weft::fabric {
namespace {

using BlockId = CollectiveUnit::BlockId;
using Contribution = CollectiveUnit::Contribution;

constexpr Rate kTenPicosecondsAByte{100'000'000'000ull, 1};

/// One output port that takes `a_byte` ps a byte; writes down what was sent.
struct Sent final : CollectiveUnit::Output {
  explicit Sent(Picoseconds a_byte = 10) : per_byte(a_byte) {}
  Picoseconds send(const CollectiveUnit::Result& result, Picoseconds now) override {
    std::string order;
    for (const Contribution& c : *result.contributions) order += fmt::format("{} ", c.item);
    lines.push_back(fmt::format("{}.{} at {} items {}last {}", result.block.stream, result.block.slot, now,
                                order, (*result.contributions)[result.last].item));
    free = std::max(free, now) + result.bytes * per_byte;
    return free;
  }
  Picoseconds per_byte;
  Picoseconds free = 0;
  std::vector<std::string> lines;
};

Contribution contribution(uint32_t stream, uint32_t slot, uint32_t from, uint32_t of, Picoseconds head,
                          uint64_t bytes = 100) {
  Contribution c;
  c.block = {stream, 0, 0, slot};
  c.contributor = from;
  c.contributors = of;
  c.port = from;
  c.item = stream * 100 + slot * 10 + from;
  c.bytes = bytes;
  c.reduces = true;
  c.head = head;
  c.tail = head + bytes * 10;
  return c;
}

void finish(CollectiveUnit& unit, Sent& sent) {
  while (unit.next() != kNever) unit.advance(unit.next(), sent);
}

using Lines = std::vector<std::string>;

TEST(CollectiveUnit, ReducesOneContributionAfterTheOtherThenWaitsItsLatency) {
  CollectiveUnit unit({{}, kTenPicosecondsAByte, 500, 0, 0}, 3);
  Sent sent;
  unit.arrive(contribution(1, 0, 2, 3, 0));
  unit.arrive(contribution(1, 0, 0, 3, 0));
  unit.arrive(contribution(1, 0, 1, 3, 4000));
  // 0 and 2 are reduced from 1000 to 3000, 1 from 5000 to 6000.
  finish(unit, sent);
  EXPECT_EQ(sent.lines, (Lines{"1.0 at 6500 items 100 101 102 last 101"}));
  EXPECT_EQ(unit.most_buffered(), 100u);
  EXPECT_EQ(unit.buffered(), 0u);
  EXPECT_TRUE(unit.idle());
}

TEST(CollectiveUnit, IngressIsAsSlowAsTheSlowerOfPortAndUnit) {
  for (const uint64_t rate : {50'000'000'000ull, 100'000'000'000ull, 200'000'000'000ull}) {
    CollectiveUnit unit({{rate, 1}, {}, 0, 0, 0}, 2);
    Sent sent(0);
    for (const uint32_t slot : {0u, 1u}) {
      unit.arrive(contribution(1, slot, 0, 2, slot * 1000));
      unit.arrive(contribution(1, slot, 1, 2, slot * 1000));
    }
    finish(unit, sent);
    const uint64_t each = std::max<uint64_t>(1000, 100 * 1'000'000'000'000ull / rate);
    EXPECT_EQ(sent.lines, (Lines{fmt::format("1.0 at {} items 100 101 last 101", each),
                                 fmt::format("1.1 at {} items 110 111 last 111", 2 * each)}));
  }
}

TEST(CollectiveUnit, ABlockKeepsItsBufferUntilItsResultHasLeft) {
  CollectiveUnit unit({{}, {}, 0, 100, 100}, 2);
  Sent sent(30);
  for (const uint32_t slot : {0u, 1u, 2u}) {
    unit.arrive(contribution(1, slot, 0, 2, slot * 1000));
    unit.arrive(contribution(1, slot, 1, 2, slot * 1000));
  }
  finish(unit, sent);
  EXPECT_EQ(sent.lines, (Lines{"1.0 at 1000 items 100 101 last 101", "1.1 at 4000 items 110 111 last 111",
                               "1.2 at 7000 items 120 121 last 121"}));
  EXPECT_EQ(unit.most_buffered(), 100u);
  EXPECT_EQ(unit.waited(), 2 * (3000 + 5000));
}

/// Does not know when what it sends will have left.
struct Told final : CollectiveUnit::Output {
  Picoseconds send(const CollectiveUnit::Result& result, Picoseconds now) override {
    times.push_back(now);
    last = result.block;
    return kNever;
  }
  std::vector<Picoseconds> times;
  BlockId last;
};

TEST(CollectiveUnit, ABlockIsHeldUntilTheUnitIsToldThatItsResultHasLeft) {
  CollectiveUnit unit({{}, {}, 0, 100, 100}, 1);
  Told told;
  unit.arrive(contribution(1, 0, 0, 1, 0));
  unit.arrive(contribution(1, 1, 0, 1, 1000));
  while (unit.next() != kNever) unit.advance(unit.next(), told);
  EXPECT_EQ(told.times, (std::vector<Picoseconds>{1000}));
  EXPECT_EQ(unit.waiting(), 1u);
  EXPECT_EQ(unit.buffered(), 100u);
  unit.left(told.last, 7000);
  while (unit.next() != kNever) unit.advance(unit.next(), told);
  EXPECT_EQ(told.times, (std::vector<Picoseconds>{1000, 7000}));
  unit.left(told.last, 9000);
  while (unit.next() != kNever) unit.advance(unit.next(), told);
  EXPECT_TRUE(unit.idle());
}

TEST(CollectiveUnit, IngressOfWhatIsToldWhenCompleteBeganWithItsFirstByte) {
  CollectiveUnit unit({{50'000'000'000ull, 1}, {}, 0, 0, 0}, 2);  // 2000 ps each
  Sent sent(0);
  for (const uint32_t slot : {0u, 1u}) {
    Contribution c = contribution(1, slot, 0, 1, 5000 + slot * 1000);
    c.tail = c.head;
    c.before = 1000;
    unit.arrive(c);
  }
  finish(unit, sent);
  EXPECT_EQ(sent.lines, (Lines{"1.0 at 6000 items 100 last 100", "1.1 at 8000 items 110 last 110"}));
}

TEST(CollectiveUnit, TheReserveIsForBlocksWhoseContributionsAreAllThere) {
  CollectiveUnit unit({{}, {}, 0, 200, 100}, 2);
  Sent sent;
  unit.arrive(contribution(1, 0, 0, 2, 0));    // takes the first place and waits
  unit.arrive(contribution(2, 0, 0, 2, 100));  // no place: its partner is not there
  unit.arrive(contribution(3, 0, 0, 2, 200));  // complete at 300: the reserve
  unit.arrive(contribution(3, 0, 1, 2, 300));
  unit.advance(400, sent);
  EXPECT_EQ(unit.buffered(), 200u);
  EXPECT_EQ(unit.waiting(), 1u);
  const auto pending = unit.pending(10);
  ASSERT_EQ(pending.size(), 3u);
  EXPECT_TRUE(pending[0].has_buffer);
  EXPECT_EQ(pending[0].missing, (std::vector<uint32_t>{1}));
  EXPECT_FALSE(pending[1].has_buffer);
  EXPECT_TRUE(pending[2].missing.empty());
  unit.arrive(contribution(1, 0, 1, 2, 50'000));
  unit.arrive(contribution(2, 0, 1, 2, 60'000));
  finish(unit, sent);
  EXPECT_EQ(sent.lines, (Lines{"3.0 at 1300 items 300 301 last 301", "1.0 at 51000 items 100 101 last 101",
                               "2.0 at 61000 items 200 201 last 201"}));
}

TEST(CollectiveUnit, WaitingBlocksGetBufferInTheOrderOfTheirIds) {
  CollectiveUnit unit({{}, {}, 0, 100, 100}, 2);
  Sent sent(30);
  for (const uint32_t stream : {7u, 9u, 8u, 3u}) {
    const Picoseconds head = stream == 7 ? 0 : 10 + stream;
    unit.arrive(contribution(stream, 0, 0, 2, head));
    unit.arrive(contribution(stream, 0, 1, 2, head));
  }
  finish(unit, sent);
  EXPECT_EQ(sent.lines, (Lines{"7.0 at 1000 items 700 701 last 701", "3.0 at 4000 items 300 301 last 301",
                               "8.0 at 7000 items 800 801 last 801", "9.0 at 10000 items 900 901 last 901"}));
}

// Contributor 1 gives its part of X only when it has Y's result. First come, first served would keep X's
// partial sum in the only place for ever.
TEST(CollectiveUnit, OppositeOrdersDoNotDeadlock) {
  for (const uint64_t buffer : {100u, 150u, 200u, 300u}) {
    CollectiveUnit unit({{}, {}, 0, buffer, 100}, 2);
    Sent sent;
    unit.arrive(contribution(1, 0, 0, 2, 0));
    unit.arrive(contribution(1, 1, 0, 2, 0));
    unit.arrive(contribution(2, 0, 0, 2, 10));
    unit.arrive(contribution(2, 0, 1, 2, 20));
    finish(unit, sent);
    ASSERT_EQ(sent.lines, (Lines{"2.0 at 1020 items 200 201 last 201"})) << buffer;
    unit.arrive(contribution(1, 1, 1, 2, 5000));
    finish(unit, sent);
    ASSERT_EQ(sent.lines.size(), 2u) << buffer;
    unit.arrive(contribution(1, 0, 1, 2, 9000));
    finish(unit, sent);
    EXPECT_EQ(sent.lines.size(), 3u) << buffer;
    EXPECT_TRUE(unit.idle());
  }
}

TEST(CollectiveUnit, RandomTrafficThroughAnyBufferEndsInAnOrderThatArrivalsDoNotDecide) {
  std::mt19937 random(11);
  for (int round = 0; round < 300; ++round) {
    std::vector<Contribution> all;
    const uint32_t members = 1 + random() % 5;
    const uint32_t streams = 1 + random() % 4;
    for (uint32_t stream = 0; stream < streams; ++stream) {
      for (uint32_t slot = 0; slot < 6; ++slot) {
        const uint64_t bytes = random() % 101;
        for (uint32_t m = 0; m < members; ++m) {
          all.push_back(contribution(stream, slot, m, members, random() % 20 * 500, bytes));
        }
      }
    }
    CollectiveUnit::Parameters parameters;
    parameters.buffer = random() % 4 == 0 ? 0 : 100 + random() % 300;
    parameters.reserve = 100;
    parameters.latency = random() % 2 * 300;
    if (random() % 2 != 0) parameters.ingress = {60'000'000'000ull, 1};
    if (random() % 2 != 0) parameters.reduction = {300'000'000'000ull, 1};
    Lines first;
    for (int again = 0; again < 2; ++again) {
      CollectiveUnit unit(parameters, members);
      Sent sent;
      for (const Contribution& c : all) unit.arrive(c);
      finish(unit, sent);
      EXPECT_EQ(sent.lines.size(), streams * 6u);
      EXPECT_TRUE(unit.idle());
      EXPECT_EQ(unit.buffered(), 0u);
      EXPECT_EQ(unit.contributions(), all.size());
      EXPECT_TRUE(parameters.buffer == 0 || unit.most_buffered() <= parameters.buffer);
      if (again == 0) {
        first = sent.lines;
      } else {
        EXPECT_EQ(first, sent.lines);
      }
      std::shuffle(all.begin(), all.end(), random);
    }
  }
}

TEST(CollectiveUnit, RefusesWhatCannotBe) {
  Sent sent;
  CollectiveUnit twice({{}, {}, 0, 0, 0}, 2);
  twice.arrive(contribution(1, 0, 0, 2, 0));
  twice.arrive(contribution(1, 0, 0, 2, 10));
  EXPECT_THROW(finish(twice, sent), std::logic_error);
  CollectiveUnit differs({{}, {}, 0, 0, 0}, 2);
  differs.arrive(contribution(1, 0, 0, 2, 0));
  differs.arrive(contribution(1, 0, 1, 2, 10, 99));
  EXPECT_THROW(finish(differs, sent), std::logic_error);
  CollectiveUnit small({{}, {}, 0, 99, 99}, 2);
  EXPECT_THROW(small.arrive(contribution(1, 0, 0, 2, 0)), std::logic_error);
}

}  // namespace
}  // namespace weft::fabric
