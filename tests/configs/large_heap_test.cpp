// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// One process, and one call: what a heap has given back before it would be used first.

#include "configs/large_heap.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdio>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

namespace weft {
namespace {

/// Has the mapping with this address asked for large pages?
bool asks_for_large_pages(const void* address) {
  std::ifstream maps("/proc/self/smaps");
  const auto at = reinterpret_cast<uintptr_t>(address);
  bool inside = false;
  for (std::string line; std::getline(maps, line);) {
    uintptr_t begin = 0;
    uintptr_t end = 0;
    if (std::sscanf(line.c_str(), "%lx-%lx ", &begin, &end) == 2) inside = begin <= at && at < end;
    if (inside && line.rfind("VmFlags:", 0) == 0) return line.find(" hg") != std::string::npos;
  }
  return false;
}

const bool done = put_heap_in_large_pages();

TEST(LargeHeap, HoldsWhatIsAllocatedLater) {
  if (!done) GTEST_SKIP() << "no large pages here";
  // The first few may fill gaps, and stand before the first large page.
  std::vector<std::unique_ptr<char[]>> blocks;
  for (size_t bytes = 0; bytes < (size_t{8} << 20); bytes += 5000) {
    blocks.push_back(std::make_unique<char[]>(5000));
    blocks.back()[0] = 1;
  }
  EXPECT_TRUE(asks_for_large_pages(blocks.back().get()));
  // A large block that goes leaves the heap where it is.
  blocks.push_back(std::make_unique<char[]>(size_t{3} << 20));
  EXPECT_TRUE(asks_for_large_pages(blocks.back().get()));
  blocks.clear();
  const auto again = std::make_unique<char[]>(size_t{3} << 20);
  EXPECT_TRUE(asks_for_large_pages(again.get() + (size_t{3} << 20) - 1));
}

/// Not the first gigabyte only: of the largest jobs half the memory comes after it.
TEST(LargeHeap, HoldsMoreThanAGigabyte) {
  std::ifstream file("/proc/sys/vm/overcommit_memory");
  int counted = 0;
  if (!done || !(file >> counted) || counted == 2) GTEST_SKIP() << "no large pages here";
  std::ifstream meminfo("/proc/meminfo");
  std::string key;
  uint64_t total_KiB = 0;
  if (!(meminfo >> key >> total_KiB) || total_KiB < (uint64_t{4} << 20)) GTEST_SKIP() << "a small machine";
  // Each takes a large page, for malloc()'s own words.
  std::vector<std::unique_ptr<char[]>> blocks;
  constexpr size_t kBlock = size_t{3} << 20;
  for (size_t bytes = 0; bytes < (size_t{5} << 28); bytes += kBlock) blocks.emplace_back(new char[kBlock]);
  EXPECT_TRUE(asks_for_large_pages(blocks.back().get()));
}

}  // namespace
}  // namespace weft
