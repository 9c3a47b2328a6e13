// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "vcd/time_queue.h"

#include <map>
#include <random>
#include <vector>

#include "gtest/gtest.h"

namespace weft::vcd {
namespace {

// Against a map of lists: entries come out by their instants, and in the order in which they came.
TEST(TimeQueue, IsAMapOfLists) {
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    std::mt19937_64 random(seed);
    TimeQueue<uint32_t> queue;
    std::map<Time, std::vector<uint32_t>> expected;
    Time now = 0;
    uint32_t next = 0;
    const uint64_t span = uint64_t{1} << (2 + seed % 20);
    for (int step = 0; step < 3000; ++step) {
      for (uint64_t n = random() % 4; n > 0; --n) {
        const Time t = now + random() % span;
        queue.push(t, next);
        expected[t].push_back(next++);
      }
      if (random() % 50 == 0) {
        const auto odd = [](uint32_t entry) { return entry % 2 == 1; };
        queue.remove_if(odd);
        for (auto& [t, list] : expected)
          list.erase(std::remove_if(list.begin(), list.end(), odd), list.end());
      }
      if (expected.empty() || random() % 3 == 0) continue;
      ASSERT_FALSE(queue.empty());
      ASSERT_EQ(queue.next(), expected.begin()->first);
      EntryList<uint32_t> taken;
      taken.push(99);
      queue.take(taken);
      ASSERT_EQ(std::vector<uint32_t>(taken.begin(), taken.end()), expected.begin()->second)
          << "seed " << seed;
      now = expected.begin()->first;
      expected.erase(expected.begin());
    }
    size_t left = 0;
    for (const auto& [t, list] : expected) left += list.size();
    EXPECT_EQ(queue.size(), left);
    queue.clear();
    EXPECT_TRUE(queue.empty());
  }
}

}  // namespace
}  // namespace weft::vcd
