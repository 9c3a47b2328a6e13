// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Counts: VcdWriter::add() against a list of all single steps.

#include <algorithm>
#include <iterator>
#include <map>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "vcd/step_count.h"
#include "vcd/vcd_writer.h"
#include "vcd_parser.h"

namespace weft::vcd {
namespace {

std::string digits(int64_t value) {
  std::string text;
  for (uint64_t v = static_cast<uint64_t>(std::max<int64_t>(0, value)); text.empty() || v != 0; v >>= 1)
    text.insert(text.begin(), (v & 1) != 0 ? '1' : '0');
  return "b" + text;
}

class VcdCount : public ::testing::TestWithParam<uint64_t> {};

// Runs of steps become known in any order, ahead of their times, and overlap. With every step the file has
// the count after each instant; without, the count at each instant that is written, and the last one.
TEST_P(VcdCount, IsTheSumOfItsSteps) {
  for (const bool every_step : {true, false}) {
    std::mt19937_64 random(GetParam());
    const auto below = [&random](uint64_t n) { return random() % n; };
    const test::TemporaryFolder folder;
    WriterOptions options;
    options.path = folder.file("w.vcd");
    options.every_step = every_step;
    const auto units = static_cast<uint32_t>(1 + below(7));
    if (every_step && GetParam() % 3 == 0) options.window = {200, 900};
    std::vector<std::map<Time, int64_t>> changes(3);
    uint64_t runs = 0;
    struct Last {
      Steps steps = Steps(0);
      int by = 0;
    };
    std::vector<Last> last(changes.size());
    {
      VcdWriter writer(options);
      std::vector<SignalId> signals;
      for (size_t i = 0; i < changes.size(); ++i) {
        signals.push_back(writer.add_number("s" + std::to_string(i), 32));
        writer.probe(0, signals.back(), uint64_t{100 * i});
        changes[i][0] = static_cast<int64_t>(100 * i);
      }
      for (Time now = 0; now < 1000; now += below(40)) {
        writer.advance(now);
        for (uint64_t n = below(4); n > 0; --n) {
          const size_t i = below(signals.size());
          Steps steps{now * units + below(200), static_cast<uint32_t>(1 + below(20)), below(9), units};
          int by = static_cast<int>(1 + below(3)) * (below(2) == 0 ? 1 : -1);
          const Steps& before = last[i].steps;
          const uint64_t goes_on = before.first + before.count * before.stride;
          // Many go on where the last one of the signal ended; of these some with another stride or
          // direction.
          if (below(2) == 0 && goes_on > now * units) {
            steps = Steps(goes_on, steps.count, below(4) == 0 ? steps.stride : before.stride, units);
            if (below(4) != 0) by = last[i].by;
          }
          writer.add(steps, signals[i], by);
          last[i] = {steps, by};
          ++runs;
          for (uint32_t k = 0; k < steps.count; ++k)
            changes[i][(steps.first + k * steps.stride + units - 1) / units] += by;
        }
      }
      writer.close(3000);
    }
    const auto parsed = test::parse_vcd(test::read_file(options.path));
    size_t written = 0;
    for (size_t i = 0; i < changes.size(); ++i) {
      std::map<Time, std::string> expected;  // value from that time on
      int64_t level = 0;
      for (const auto& [t, by] : changes[i]) {
        level += by;
        if (t > options.window.to) continue;
        const Time at = std::max(t, options.window.from);
        expected[at] = digits(level);
      }
      const auto& list = parsed.changes.at("s" + std::to_string(i));
      ASSERT_FALSE(list.empty());
      written += list.size();
      for (const auto& change : list) {
        const auto after = expected.upper_bound(change.time);
        ASSERT_NE(after, expected.begin());
        EXPECT_EQ(change.value, std::prev(after)->second) << "s" << i << " at " << change.time;
      }
      if (options.window.to > 3000) {
        EXPECT_EQ(list.back().value, expected.rbegin()->second) << "the last one";
      }
      if (!every_step) continue;
      std::string before;
      size_t at = 0;
      for (const auto& [t, value] : expected) {
        if (value == before) continue;
        before = value;
        ASSERT_LT(at, list.size());
        EXPECT_EQ(list[at].time, t);
        EXPECT_EQ(list[at++].value, value);
      }
      EXPECT_EQ(at, list.size());
    }
    if (!every_step) {
      EXPECT_LE(written, 2 * runs + 3) << "two values a run, and the first ones";
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, VcdCount, ::testing::Range<uint64_t>(1, 40));

TEST(VcdCountErrors, WhatIsNoCountIsRefused) {
  const test::TemporaryFolder folder;
  WriterOptions options;
  options.path = folder.file("w.vcd");
  VcdWriter writer(options);
  const SignalId bit = writer.add_bit("b");
  const SignalId number = writer.add_number("n", 8);
  EXPECT_THROW(writer.add({5, 1, 0, 1}, bit, 1), std::logic_error);
  writer.advance(10);
  EXPECT_THROW(writer.add({5, 1, 0, 1}, number, 1), std::logic_error);
  writer.add({10, 0, 0, 1}, number, 1);  // no step: nothing
  writer.close(20);
  writer.add({30, 1, 0, 1}, number, 1);  // closed: nothing
}

// One that lasts long, with many short ones behind it. What has ended is forgotten, or this would take
// minutes.
TEST(StepCount, ShortRunsBehindALongOne) {
  StepCount count;
  constexpr uint32_t kRuns = 300000;
  count.add(Steps(0, 2, uint64_t{10} * kRuns), 1);
  for (uint32_t n = 0; n < kRuns; ++n) {
    count.add(Steps(10 * n + 1, 3, 2), 2);
    ASSERT_EQ(count.next(), n == 0 ? 0 : 10 * n + 1);
    ASSERT_EQ(count.take(10 * n + 3), n == 0 ? 5 : 4);
    ASSERT_EQ(count.next(), 10 * n + 5);
    ASSERT_EQ(count.take(10 * n + 9), 2);
  }
  EXPECT_EQ(count.take(uint64_t{10} * kRuns), 1);
  EXPECT_EQ(count.next(), StepCount::kNever);
}

}  // namespace
}  // namespace weft::vcd
