// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// InstantQueue and its NumberSet, held against a sorted set of pairs.

#include "tlm_interconnect/ports/instant_queue.h"

#include <gtest/gtest.h>

#include <random>
#include <set>
#include <utility>

namespace weft::fabric {
namespace {

TEST(NumberSet, KnowsItsLeastMembers) {
  std::mt19937_64 random(1);
  for (const uint32_t count : {1u, 63u, 64u, 65u, 4096u, 4097u, 300000u}) {
    NumberSet set;
    set.resize(count);
    EXPECT_TRUE(set.empty());
    std::set<uint32_t> wanted;
    for (int i = 0; i < 2000; ++i) {
      const auto number = static_cast<uint32_t>(random() % count);
      if (random() % 3 != 0) {
        set.insert(number);
        wanted.insert(number);
      } else if (wanted.erase(number) != 0) {
        set.erase(number);
      }
      ASSERT_EQ(set.empty(), wanted.empty());
      if (wanted.empty()) continue;
      ASSERT_EQ(set.least(), *wanted.begin());
      const auto from = static_cast<uint32_t>(random() % count);
      const auto next = wanted.upper_bound(from);
      ASSERT_EQ(set.after(from), next == wanted.end() ? NumberSet::kNone : *next) << count << " " << from;
    }
  }
}

TEST(InstantQueue, TakesByTimeThenByNumberAndWhatIsAskedForTwiceOnce) {
  std::mt19937_64 random(2);
  // Few instants with many numbers, as many as there are numbers, and many more.
  for (const uint64_t instants : {3ull, 200ull, 1'000'000ull}) {
    InstantQueue queue;
    queue.resize(500);
    std::set<std::pair<Picoseconds, uint32_t>> wanted;
    Picoseconds now = 0;
    EXPECT_EQ(queue.next(), kNever);
    for (int i = 0; i < 50000; ++i) {
      if (wanted.empty() || random() % 2 == 0) {
        const Picoseconds time = now + random() % instants * 7;
        const auto number = static_cast<uint32_t>(random() % 500);
        queue.push(time, number);
        wanted.emplace(time, number);
      } else {
        ASSERT_EQ(queue.next(), wanted.begin()->first);
        now = queue.next();
        const uint32_t taken = queue.pop();
        ASSERT_EQ(taken, wanted.begin()->second);
        wanted.erase(wanted.begin());
        const bool more = !wanted.empty() && wanted.begin()->first == now;
        ASSERT_EQ(queue.peek(), more ? wanted.begin()->second : InstantQueue::kNone);
        if (more) {
          const auto second = std::next(wanted.begin());
          const bool known = second != wanted.end() && second->first == now;
          ASSERT_EQ(queue.peek_after(queue.peek()), known ? second->second : InstantQueue::kNone);
        }
      }
      ASSERT_EQ(queue.empty(), wanted.empty());
      ASSERT_EQ(queue.next(), wanted.empty() ? kNever : wanted.begin()->first);
    }
  }
}

TEST(LookaheadQueue, KnowsTheNextEntriesInTheirOrder) {
  std::mt19937_64 random(3);
  for (const uint64_t times : {3ull, 100ull, 1'000'000ull}) {
    LookaheadQueue<uint32_t, uint64_t, 8> queue;
    std::set<std::pair<Picoseconds, uint64_t>> wanted;
    uint64_t order = 0;
    Picoseconds now = 0;
    for (int i = 0; i < 50000; ++i) {
      // Longer and shorter than what is known, by turns.
      const bool grows = i / 40 % 2 == 0;
      if (wanted.empty() || random() % 4 < (grows ? 3u : 1u)) {
        const Picoseconds time = now + random() % times;
        const uint64_t turn = random() % 4 << 32 | order++;
        queue.push(time, turn, static_cast<uint32_t>(turn));
        wanted.emplace(time, turn);
      } else {
        const auto entry = queue.pop();
        ASSERT_EQ(std::make_pair(entry.time, entry.order), *wanted.begin());
        ASSERT_EQ(entry.payload, static_cast<uint32_t>(entry.order));
        now = entry.time;
        wanted.erase(wanted.begin());
      }
      ASSERT_EQ(queue.size(), wanted.size());
      ASSERT_EQ(queue.empty(), wanted.empty());
      ASSERT_EQ(queue.next(), wanted.empty() ? kNever : wanted.begin()->first);
      uint32_t place = 0;
      for (auto next = wanted.begin(); next != wanted.end() && place < 8; ++next, ++place) {
        ASSERT_NE(queue.ahead(place), nullptr);
        ASSERT_EQ(std::make_pair(queue.ahead(place)->time, queue.ahead(place)->order), *next);
      }
      ASSERT_EQ(queue.ahead(place), nullptr);
    }
  }
}

TEST(InstantQueue, KnowsTheInstantsAfterThePresentOne) {
  InstantQueue queue;
  queue.resize(16);
  for (const uint32_t number : {9u, 4u, 12u, 7u}) queue.push(100 + 10 * number, number);
  EXPECT_EQ(queue.peek_later(0), 4u);
  EXPECT_EQ(queue.pop(), 4u);
  EXPECT_EQ(queue.peek_later(0), 7u);
  EXPECT_EQ(queue.peek_later(2), 12u);
  EXPECT_EQ(queue.peek_later(3), InstantQueue::kNone);
  queue.push(175, 3);
  EXPECT_EQ(queue.peek_later(1), 3u);
}

TEST(InstantQueue, SomethingEarlierThanThePresentInstantComesFirst) {
  InstantQueue queue;
  queue.resize(8);
  for (const uint32_t number : {5u, 2u, 7u}) queue.push(100, number);
  EXPECT_EQ(queue.pop(), 2u);
  queue.push(50, 6);
  queue.push(100, 1);
  EXPECT_EQ(queue.next(), 50u);
  EXPECT_EQ(queue.pop(), 6u);
  queue.push(20, 3);
  queue.push(50, 4);
  EXPECT_EQ(queue.pop(), 3u);
  EXPECT_EQ(queue.pop(), 4u);
  for (const uint32_t number : {1u, 5u, 7u}) EXPECT_EQ(queue.pop(), number);
  EXPECT_TRUE(queue.empty());
  queue.push(100, 0);
  queue.push(30, 0);
  EXPECT_EQ(queue.next(), 30u);
}

}  // namespace
}  // namespace weft::fabric
