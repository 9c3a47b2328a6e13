// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// What `environment.detail: restricted` costs with one real rank: as much as the real rank's own messages,
// however many ranks are emulated. Counted are events (of the fabric, and of the machine on which collectives
// are measured), calls of `operator new` and their bytes. WEFT_EMULATION_COST=1: 1,000 all-reduces on the
// largest rings, too, which takes minutes.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdlib>
#include <new>
#include <sstream>

#include "tests/emulation/scripted_ranks.h"
#include "tests/support/isolated.h"

namespace {

std::atomic<uint64_t> allocations{0}, allocated{0}, largest{0};

/// Null if there is no memory.
void* counted_or_null(std::size_t bytes) noexcept {
  allocations.fetch_add(1, std::memory_order_relaxed);
  allocated.fetch_add(bytes, std::memory_order_relaxed);
  if (bytes > largest.load(std::memory_order_relaxed)) largest.store(bytes, std::memory_order_relaxed);
  return std::malloc(bytes == 0 ? 1 : bytes);
}

void* counted(std::size_t bytes) {
  void* const memory = counted_or_null(bytes);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

}  // namespace

void* operator new(std::size_t bytes) {
  return counted(bytes);
}
void* operator new[](std::size_t bytes) {
  return counted(bytes);
}
// std::stable_sort takes its buffer by this one.
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  return counted_or_null(bytes);
}
void* operator new[](std::size_t bytes, const std::nothrow_t&) noexcept {
  return counted_or_null(bytes);
}
void operator delete(void* memory) noexcept {
  std::free(memory);
}
void operator delete[](void* memory) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}
void operator delete[](void* memory, std::size_t) noexcept {
  std::free(memory);
}

namespace weft::test {
namespace {

constexpr uint64_t kAllReduces = 1000;
constexpr uint64_t kMostMessages = 5000000;  ///< of a run, without WEFT_EMULATION_COST

struct Cost {
  double time = 0;  ///< simulated, ps
  double events = 0;
  double allocations = 0;
  double bytes = 0;
  double largest = 0;
};

struct Shape {
  const char* notation;
  const char* algorithm;
  double (*messages)(double n);  ///< that a rank receives in an all-reduce
};
const Shape kRing{"Ring({})", "ring", [](double n) { return 2 * (n - 1); }};
const Shape kTree{"Switch({})", "halving_doubling", [](double n) { return 2 * std::log2(n); }};

Cost cost_of(const Shape& shape, uint32_t world, uint64_t all_reduces) {
  ScriptedJob job;
  job.yaml = fmt::format(
      "weft: 1\ntopology: {{notation: {}, dimensions: [{{bandwidth: 50 GB/s, latency: 500 ns, fidelity: "
      "message}}]}}\ncollectives: {{chunks: 1, all_reduce: {}}}\n",
      fmt::format(fmt::runtime(shape.notation), world), shape.algorithm);
  job.real = {0};
  Step step;
  step.count = uint64_t{256} * world;
  step.compute = 1000000;
  job.steps[0].assign(all_reduces, step);
  // As `weft emulate` does: from 2,048 ranks on (16,384 with a Ring) the machine has one rank only.
  const bool folded = world > (shape.notation == kRing.notation ? 16384u : 2048u);
  const Isolated done = isolated([&] {
    allocations = allocated = largest = 0;
    uint64_t events = 0;
    const std::vector<Picoseconds> times = run_job(job, false, folded, &events);
    return fmt::format("{} {} {} {} {}", times.back(), events, allocations.load(), allocated.load(),
                       largest.load());
  });
  EXPECT_EQ(done.status, 0) << done.text;
  Cost cost;
  std::istringstream(done.text) >> cost.time >> cost.events >> cost.allocations >> cost.bytes >> cost.largest;
  return cost;
}

/// What one more all-reduce costs, and what a job with one costs.
struct Costs {
  Cost each;
  Cost first;
  double messages = 0;
};

Costs costs_of(const Shape& shape, uint32_t world) {
  Costs costs;
  costs.messages = shape.messages(world);
  uint64_t all_reduces = kAllReduces;
  if (std::getenv("WEFT_EMULATION_COST") == nullptr)
    all_reduces =
        std::clamp<uint64_t>(static_cast<uint64_t>(kMostMessages / costs.messages), 11, kAllReduces);
  costs.first = cost_of(shape, world, 1);
  const Cost all = cost_of(shape, world, all_reduces);
  const double more = static_cast<double>(all_reduces - 1);
  costs.each = {(all.time - costs.first.time) / more, (all.events - costs.first.events) / more,
                (all.allocations - costs.first.allocations) / more, (all.bytes - costs.first.bytes) / more,
                all.largest};
  std::printf(
      "%8u ranks, %4lu all-reduces: each %8.0f messages, %9.1f events, %9.1f allocations, %11.0f B; "
      "the first %.0f events, %.0f allocations, %.2f MB, the largest %.2f MB\n",
      world, static_cast<unsigned long>(all_reduces), costs.messages, costs.each.events,
      costs.each.allocations, costs.each.bytes, costs.first.events, costs.first.allocations,
      costs.first.bytes / 1e6, costs.each.largest / 1e6);
  return costs;
}

/// At most proportional to the real rank's messages: not more for each of them than in the smallest world.
void check(const Shape& shape, const std::vector<uint32_t>& worlds) {
  const Costs small = costs_of(shape, worlds.front());
  for (size_t i = 1; i < worlds.size(); ++i) {
    const uint32_t world = worlds[i];
    const Costs costs = costs_of(shape, world);
    const double factor = costs.messages / small.messages;
    EXPECT_GT(costs.each.events, costs.messages * 0.99) << world;  // every message comes
    EXPECT_LE(costs.each.events, 1.1 * factor * small.each.events) << world;
    EXPECT_LE(costs.each.allocations, 1.1 * factor * small.each.allocations) << world;
    EXPECT_LE(costs.each.bytes, 1.1 * factor * small.each.bytes) << world;
    // The machine, the plan and the first measurement, which is of the real rank alone. n^2 bytes are 4 GB
    // with 65,536 ranks, and all ranks' messages of one all-reduce 8.6 billion.
    EXPECT_LE(costs.first.events, 100 + 5 * costs.messages) << world;
    EXPECT_LE(costs.first.bytes, 1e6 + 5000.0 * world) << world;
    EXPECT_LE(costs.each.largest, 2e5 + 300.0 * world) << world;
    EXPECT_LE(costs.first.allocations, 1e5 + 200.0 * world) << world;
  }
}

TEST(Cost, OfRingsIsProportionalToTheOwnMessages) {
  check(kRing, {8, 64, 512, 4096, 16384, 65536});
}

TEST(Cost, OfTreesGrowsAsTheLogarithm) {
  check(kTree, {8, 64, 512, 2048, 4096, 65536});
}

TEST(Cost, TheTimesAreThoseOfAllRanksSimulated) {
  for (const Shape& shape : {kRing, kTree}) {
    ScriptedJob job;
    job.yaml = fmt::format(
        "weft: 1\ntopology: {{notation: {}, dimensions: [{{bandwidth: 50 GB/s, latency: 500 ns, fidelity: "
        "message}}]}}\ncollectives: {{chunks: 1, all_reduce: {}}}\n",
        fmt::format(fmt::runtime(shape.notation), 64), shape.algorithm);
    job.real = {0};
    Step step;
    step.count = 64 * 256;
    job.steps[0].assign(3, step);
    const Isolated full = isolated([&] { return text_of(run_job(job, true)); });
    const Isolated restricted = isolated([&] { return text_of(run_job(job, false)); });
    EXPECT_EQ(full.status + restricted.status, 0) << full.text << restricted.text;
    EXPECT_EQ(restricted.text, full.text);
  }
}

}  // namespace
}  // namespace weft::test
