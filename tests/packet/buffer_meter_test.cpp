// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// BufferMeter against a list of single flits.

#include "tlm_interconnect/packet/buffer_meter.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "tlm_interconnect/packet/random.h"

namespace weft::packet {
namespace {

/// Every flit by itself.
class Plain {
 public:
  void change(Ticks first, uint32_t count, uint32_t stride, int by) {
    for (uint32_t k = 0; k < count; ++k) changes_[first + static_cast<Ticks>(k) * stride] += by;
  }
  int64_t at(Ticks t) const {
    int64_t level = 0;
    for (auto i = changes_.begin(); i != changes_.end() && i->first <= t; ++i) level += i->second;
    return level;
  }
  template <typename Reached>
  Ticks when(Ticks from, Reached reached) const {
    int64_t level = at(from);
    if (reached(level)) return from;
    for (auto i = changes_.upper_bound(from); i != changes_.end(); ++i) {
      level += i->second;
      if (reached(level)) return i->first;
    }
    return kNever;
  }

 private:
  std::map<Ticks, int64_t> changes_;
};

/// The meter names the times at which the level is reached from below and from above.
void expect_same_times(const BufferMeter& meter, const Plain& plain, int64_t level) {
  ASSERT_EQ(meter.when_at_least(level), plain.when(meter.settled(), [level](int64_t n) {
    return n >= level;
  })) << level;
  ASSERT_EQ(meter.when_at_most(level), plain.when(meter.settled(), [level](int64_t n) { return n <= level; }))
      << level;
}

TEST(BufferMeter, CountsByHand) {
  BufferMeter meter;
  meter.arrive(10, 4, 2);  // 10 12 14 16
  meter.depart(13, 3, 1);  // 13 14 15
  EXPECT_EQ(meter.occupancy(9), 0);
  EXPECT_EQ(meter.occupancy(10), 1);
  EXPECT_EQ(meter.occupancy(12), 2);
  EXPECT_EQ(meter.occupancy(13), 1);
  EXPECT_EQ(meter.occupancy(14), 1);  // one comes, one goes
  EXPECT_EQ(meter.occupancy(15), 0);
  EXPECT_EQ(meter.occupancy(16), 1);
  EXPECT_EQ(meter.when_at_least(2), 12u);
  EXPECT_EQ(meter.when_at_least(3), kNever);
  EXPECT_EQ(meter.at_the_end(), 1);
  meter.settle(12);
  EXPECT_EQ(meter.when_at_least(2), 12u);
  EXPECT_EQ(meter.when_at_most(1), 13u);
  EXPECT_EQ(meter.when_at_most(0), 15u);
  EXPECT_EQ(meter.when_at_most(-1), kNever);
  meter.settle(13);
  EXPECT_EQ(meter.when_at_least(2), kNever);
  meter.shift(100);
  EXPECT_EQ(meter.occupancy(115), 0);
  EXPECT_EQ(meter.when_at_most(0), 115u);
}

TEST(BufferMeter, IsTheListOfItsFlits) {
  for (uint64_t seed = 1; seed <= 80; ++seed) {
    Random random(seed, 3);
    BufferMeter meter;
    Plain plain;
    Ticks now = 0;
    for (int step = 0; step < 60; ++step) {
      for (uint32_t runs = random.below(3); runs > 0; --runs) {
        const Ticks first = now + 1 + random.below(30);
        const uint32_t count = 1 + random.below(12);
        const uint32_t stride = 1 + random.below(6);
        if (random.below(2) == 0) {
          meter.arrive(first, count, stride);
          plain.change(first, count, stride, 1);
        } else {
          meter.depart(first, count, stride);
          plain.change(first, count, stride, -1);
        }
      }
      for (Ticks t = now; t < now + 40; t += 1 + random.below(4)) {
        ASSERT_EQ(meter.occupancy(t), plain.at(t)) << seed << ' ' << t;
      }
      for (int64_t level = -12; level <= 12; ++level)
        ASSERT_NO_FATAL_FAILURE(expect_same_times(meter, plain, level)) << seed;
      ASSERT_EQ(meter.at_the_end(), plain.at(kNever - 1));
      now += random.below(20);
      meter.settle(now);
    }
  }
}

// As at the end of a link: arrivals in order, thousands of them known ahead, departures in order a little
// ahead.
TEST(BufferMeter, IsTheListOfItsFlitsAtALongLink) {
  for (uint64_t seed = 1; seed <= 12; ++seed) {
    Random random(seed, 5);
    BufferMeter meter;
    Plain plain;
    Ticks now = 0;
    Ticks arrived = 300;  // the link's latency
    Ticks departed = 0;
    for (int step = 0; step < 150; ++step) {
      for (uint32_t runs = random.below(6); runs > 0; --runs) {
        const uint32_t count = 1 + random.below(4);
        const uint32_t stride = 1 + random.below(3);
        const Ticks first = std::max(arrived, now + 1) + random.below(4);
        meter.arrive(first, count, stride);
        plain.change(first, count, stride, 1);
        arrived = first + count * stride;
      }
      const int64_t here = meter.occupancy(now);
      if (here > 0 && random.below(3) != 0) {
        const auto count = static_cast<uint32_t>(1 + random.below(static_cast<uint32_t>(here)));
        const Ticks first = std::max(departed, now + 1) + random.below(3);
        const uint32_t stride = 1 + random.below(3);
        meter.depart(first, count, stride);
        plain.change(first, count, stride, -1);
        departed = first + count * stride;
      }
      for (int64_t level = -2; level <= 60; level += 1 + random.below(4))
        ASSERT_NO_FATAL_FAILURE(expect_same_times(meter, plain, level)) << seed;
      ASSERT_EQ(meter.at_the_end(), plain.at(kNever - 1));
      now += random.below(30);
      meter.settle(now);
      ASSERT_EQ(meter.occupancy(now), plain.at(now));
    }
  }
}

// What is written of two meters is the same if they hold the same relative to the reference, and only then.
TEST(BufferMeter, RecordsAreRelative) {
  const auto record = [](Ticks base, uint32_t more) {
    BufferMeter meter;
    meter.arrive(base + 2, 5, 3);
    meter.depart(base + 6, 2 + more, 3);
    StateRecord state;
    state.begin(base + 7, base + 4);
    meter.write(state);
    return state.words();
  };
  EXPECT_EQ(record(0, 0), record(1000, 0));
  EXPECT_NE(record(0, 0), record(0, 1));

  BufferMeter meter;
  meter.arrive(2, 5, 3);
  meter.depart(6, 2, 3);
  meter.shift(1000);
  StateRecord state;
  state.begin(1007, 1004);
  meter.write(state);
  EXPECT_EQ(state.words(), record(0, 0));
}

}  // namespace
}  // namespace weft::packet
