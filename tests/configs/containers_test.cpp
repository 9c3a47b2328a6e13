// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// The containers of modules of which there are many, against those of the standard library.

#include <gtest/gtest.h>

#include <deque>
#include <map>
#include <memory>
#include <random>
#include <unordered_map>
#include <utility>

#include "configs/fifo.h"
#include "configs/flat_map.h"
#include "configs/types.h"

namespace weft {
namespace {

TEST(Fifo, IsAQueue) {
  std::mt19937 random(1);
  Fifo<std::unique_ptr<int>> fifo;
  std::deque<int> expected;
  for (int i = 0; i < 20000; ++i) {
    if (expected.empty() || random() % 1000 < (i / 1000 % 2 == 0 ? 600u : 400u)) {
      fifo.push_back(std::make_unique<int>(i));
      expected.push_back(i);
    } else if (random() % 8 == 0) {
      const size_t at = random() % expected.size();
      EXPECT_EQ(*fifo.take(at), expected[at]);
      expected.erase(expected.begin() + static_cast<std::ptrdiff_t>(at));
    } else {
      EXPECT_EQ(*fifo.pop_front(), expected.front());
      expected.pop_front();
    }
    ASSERT_EQ(fifo.size(), expected.size());
    ASSERT_EQ(fifo.empty(), expected.empty());
    if (expected.empty()) continue;
    EXPECT_EQ(*fifo.front(), expected.front());
    EXPECT_EQ(*fifo.back(), expected.back());
    EXPECT_EQ(*fifo[expected.size() / 2], expected[expected.size() / 2]);
  }
  auto of = expected.begin();
  for (const auto& item : fifo) EXPECT_EQ(*item, *of++);
  EXPECT_EQ(of, expected.end());
}

TEST(FlatMap, IsAMap) {
  std::mt19937 random(2);
  FlatMap<uint32_t, std::unique_ptr<int>> map;
  std::unordered_map<uint32_t, int> expected;
  EXPECT_EQ(map.find(3), nullptr);
  EXPECT_EQ(map.memory_bytes(), 0u);
  for (int i = 0; i < 50000; ++i) {
    const uint32_t key = random() % 3 == 0 ? random() % 64 << 26 : random() % 200;  // some begin at one place
    const auto known = expected.find(key);
    ASSERT_EQ(map.find(key) != nullptr, known != expected.end());
    if (known == expected.end()) {
      map.insert(key, std::make_unique<int>(i));
      expected[key] = i;
    } else {
      EXPECT_EQ(**map.find(key), known->second);
      if (random() % 3 != 0) {
        map.erase(key);
        expected.erase(known);
      }
    }
    ASSERT_EQ(map.size(), expected.size());
  }
  size_t entries = 0;
  map.for_each([&](uint32_t key, const std::unique_ptr<int>& value) {
    EXPECT_EQ(*value, expected.at(key));
    ++entries;
  });
  EXPECT_EQ(entries, expected.size());
  EXPECT_EQ(map.find(map.kNoKey), nullptr);
}

TEST(FlatMap, TakesKeysOf128Bits) {
  std::mt19937 random(3);
  FlatMap<Wide, uint32_t> map;
  std::map<std::pair<uint64_t, uint64_t>, uint32_t> expected;
  for (int i = 0; i < 20000; ++i) {
    const std::pair<uint64_t, uint64_t> words{random() % 5, (random() % 3) << 40 | random() % 60};
    const Wide key = static_cast<Wide>(words.first) << 64 | words.second;
    const uint32_t* const found = map.find(key);
    const auto known = expected.find(words);
    ASSERT_EQ(found != nullptr, known != expected.end());
    if (found != nullptr) {
      ASSERT_EQ(*found, known->second);
    }
    if (found != nullptr && random() % 2 == 0) {
      map.erase(key);
      expected.erase(known);
    } else {
      ASSERT_EQ(map[key]++, expected[words]++);
    }
    ASSERT_EQ(map.size(), expected.size());
  }
}

TEST(FlatMap, GivesAFreshValueByIndex) {
  FlatMap<uint64_t, uint32_t> map;
  EXPECT_EQ(map[7]++, 0u);
  EXPECT_EQ(map[7]++, 1u);
  EXPECT_EQ(map.size(), 1u);
}

}  // namespace
}  // namespace weft
