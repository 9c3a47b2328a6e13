// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "vcd/time_text.h"

#include <random>
#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace weft::vcd {
namespace {

// Against std::to_string: near the ends of every number of digits, and in any order.
TEST(TimeText, IsTheNumber) {
  std::vector<Time> times = {0, ~Time{0}, ~Time{0} - 1};
  for (Time power = 1; power <= ~Time{0} / 10; power *= 10) {
    times.insert(times.end(), {power - 1, power, power + 1, 9 * power});
  }
  std::mt19937_64 random(1);
  for (int n = 0; n < 2000; ++n) times.push_back(random() >> random() % 64);
  std::vector<Time> order = times;
  for (int n = 0; n < 4000; ++n) order.push_back(times[random() % times.size()] + random() % 3);
  TimeText text;
  for (const Time t : order) {
    char out[TimeText::kLongest];
    ASSERT_EQ(std::string(out, text.put(out, t)), std::to_string(t));
  }
}

}  // namespace
}  // namespace weft::vcd
