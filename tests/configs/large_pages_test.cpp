// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "configs/large_pages.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <map>
#include <vector>

namespace weft {
namespace {

struct Block {
  unsigned char* at = nullptr;
  size_t size = 0;
};

TEST(LargePages, BlocksAreApartAndAligned) {
  std::vector<Block> blocks;
  // More than a region of every size that there is, small and large blocks mixed.
  size_t total = 0;
  for (size_t i = 0; total < (size_t{12} << 20); ++i) {
    const size_t size = i % 97 == 0 ? 40'000 : 1 + i * 57 % 3000;
    blocks.push_back({static_cast<unsigned char*>(LargePages::allocate(size)), size});
    std::memset(blocks.back().at, static_cast<int>(i % 251), size);
    total += size;
  }
  std::map<uintptr_t, uintptr_t> spans;
  for (size_t i = 0; i < blocks.size(); ++i) {
    const auto begin = reinterpret_cast<uintptr_t>(blocks[i].at);
    ASSERT_EQ(begin % (blocks[i].size % 128 == 0 ? 128 : 64), 0u);
    ASSERT_TRUE(spans.emplace(begin, begin + blocks[i].size).second);
    for (size_t b = 0; b < blocks[i].size; ++b) ASSERT_EQ(blocks[i].at[b], i % 251) << "block " << i;
  }
  uintptr_t end = 0;
  for (const auto& [begin, last] : spans) {
    ASSERT_GE(begin, end);
    end = last;
  }
  for (const Block& block : blocks) LargePages::release(block.at, block.size);
}

TEST(LargePages, ContainersGrowAndShrink) {
  std::vector<uint64_t, LargePageAllocator<uint64_t>> numbers;
  for (uint64_t i = 0; i < 10'000; ++i) numbers.push_back(i * i);
  for (uint64_t i = 0; i < 10'000; ++i) ASSERT_EQ(numbers[i], i * i);
  auto copy = numbers;
  numbers.clear();
  numbers.shrink_to_fit();
  EXPECT_EQ(copy.back(), 9'999u * 9'999u);
}

}  // namespace
}  // namespace weft
