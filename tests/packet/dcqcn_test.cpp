// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// The parts of congestion control by themselves: the marking curve and the queues it looks at, the rate of a
// flow against a trace worked out by hand, pacing, and who is notified when.

#include <gtest/gtest.h>

#include <cmath>

#include "tlm_interconnect/packet/dcqcn_rate.h"
#include "tlm_interconnect/packet/ecn_marker.h"
#include "tlm_interconnect/packet/reaction_point.h"

namespace weft::packet {
namespace {

EcnConfig marking() {
  EcnConfig c;
  c.enabled = true;
  c.k_min = 1600;  // 100 flits
  c.k_max = 4800;  // 300
  c.p_max = 0.4;
  return c;
}

TEST(EcnMarker, TheCurveIsExactAtItsThresholds) {
  const EcnConfig c = marking();
  EXPECT_EQ(EcnMarker::probability(c, 0), 0);
  EXPECT_EQ(EcnMarker::probability(c, 1600), 0);
  EXPECT_DOUBLE_EQ(EcnMarker::probability(c, 1601), 0.4 / 3200);
  EXPECT_DOUBLE_EQ(EcnMarker::probability(c, 3200), 0.2);
  EXPECT_DOUBLE_EQ(EcnMarker::probability(c, 4800), 0.4);
  EXPECT_EQ(EcnMarker::probability(c, 4801), 1);
  EcnConfig step = c;
  step.k_max = step.k_min;
  EXPECT_EQ(EcnMarker::probability(step, 1600), 0);
  EXPECT_EQ(EcnMarker::probability(step, 1601), 1);
}

TEST(EcnMarker, MarksTheShareThatTheCurveSays) {
  constexpr int kPackets = 20000;
  for (const uint32_t flits : {100u, 150u, 200u, 300u, 301u}) {
    EcnMarker marker(marking(), 7, 3, 4, 2);
    marker.arrives(1, 1, 1000, flits, 1000);
    marker.arrives(1, 0, 1000, 500, 1000);  // of another virtual network
    marker.arrives(2, 1, 1000, 500, 1000);  // for another output
    int marked = 0;
    for (int k = 0; k < kPackets; ++k) marked += marker.marks(1, 1, 1000000 + static_cast<Ticks>(k)) ? 1 : 0;
    const double p = EcnMarker::probability(marking(), flits * 16);
    EXPECT_NEAR(marked, kPackets * p, 4 * std::sqrt(kPackets * p * (1 - p))) << flits;
    EXPECT_EQ(marker.marked(1), static_cast<uint64_t>(marked));
    EXPECT_EQ(marker.marked(2), 0u);
    EXPECT_EQ(marker.longest(1), flits);
  }
}

TEST(EcnMarker, DrawsByPlaceAndNumberOnly) {
  const auto draws = [](uint64_t seed, uint32_t router, uint32_t output) {
    EcnMarker marker(marking(), seed, router, 4, 1);
    marker.arrives(output, 0, 1, 250, 1);
    std::vector<bool> all;
    for (int k = 0; k < 200; ++k) all.push_back(marker.marks(output, 0, 1000 + static_cast<Ticks>(k)));
    return all;
  };
  EXPECT_EQ(draws(1, 1, 1), draws(1, 1, 1));
  EXPECT_NE(draws(1, 1, 1), draws(2, 1, 1));
  EXPECT_NE(draws(1, 1, 1), draws(1, 2, 1));
  EXPECT_NE(draws(1, 1, 1), draws(1, 1, 2));
}

TEST(EcnMarker, CountsWhatHasComeAndNotLeftBefore) {
  EcnMarker marker(marking(), 1, 1, 1, 1);
  marker.arrives(0, 0, 1000, 10, 1000);  // 1000 .. 10000
  marker.arrives(0, 0, 500, 3, 2000);    // 500, 2500, 4500: of another input, told later
  marker.leaves(0, 0, 3000, 4, 1000);    // 3000 .. 6000
  EXPECT_EQ(marker.queued(0, 0, 400), 0u);
  EXPECT_EQ(marker.queued(0, 0, 1000), 2u);
  EXPECT_EQ(marker.queued(0, 0, 3000), 5u) << "what leaves in this cycle still counts";
  EXPECT_EQ(marker.queued(0, 0, 4000), 5u);
  marker.leaves(0, 0, 7000, 2, 500);  // 7000, 7500
  EXPECT_EQ(marker.queued(0, 0, 8000), 8 + 3 - 4 - 2u);
  // A packet that is here already and has only now chosen this output.
  marker.arrives(0, 0, 7000, 4, 1000);  // 7000 .. 10000
  EXPECT_EQ(marker.queued(0, 0, 9000), 9 + 3 - 6 + 3u);
  EXPECT_EQ(marker.queued(0, 0, 20000), 10 + 3 - 6 + 4u);
}

constexpr uint64_t kG = 1000000000;

DcqcnConfig by_hand() {
  DcqcnConfig c;
  c.enabled = true;
  c.cnp_interval = 1000;
  c.alpha_timer = 110;
  c.rate_timer = 100;
  c.byte_counter = 1000;
  c.fast_recovery = 2;
  c.g = 0x1.0p-4;
  c.rate_ai = 40000000;
  c.rate_hai = 400000000;
  c.min_rate = 1 * kG;
  return c;
}

TEST(DcqcnRate, FollowsATraceWorkedOutByHand) {
  const DcqcnConfig c = by_hand();
  constexpr uint64_t kOne = DcqcnRate::kOne;
  DcqcnRate r(c, 40 * kG, 1000);
  // The first notification: alpha is 1, so the rate is halved, and alpha stays 1.
  EXPECT_EQ(r.rate(), 20 * kG);
  EXPECT_EQ(r.target(), 40 * kG);
  EXPECT_EQ(r.alpha(), kOne);
  // Fast recovery by the timer.
  r.advance(1099);
  EXPECT_EQ(r.rate(), 20 * kG);
  EXPECT_EQ(r.next_increase(), 1100u);
  r.advance(1100);
  EXPECT_EQ(r.rate(), 30 * kG);
  EXPECT_EQ(r.alpha(), kOne);
  r.advance(1110);
  EXPECT_EQ(r.alpha(), kOne / 16 * 15);
  r.advance(1245);
  EXPECT_EQ(r.rate(), 35 * kG);
  EXPECT_EQ(r.alpha(), kOne / 256 * 225) << "twice decayed: 1110, 1220";
  // A notification: RT = 35, RC = 35 (1 - 225/512), alpha = 225/256 15/16 + 1/16.
  r.notify(1250);
  EXPECT_EQ(r.target(), 35 * kG);
  EXPECT_EQ(r.rate(), 19619140625u);
  EXPECT_EQ(r.alpha(), kOne / 4096 * 3631);
  EXPECT_EQ(r.timer_count(), 0u);
  // Timers begin again: increases at 1350, 1450 (fast recovery), 1550 (additive).
  r.advance(1349);
  EXPECT_EQ(r.rate(), 19619140625u);
  r.advance(1350);
  EXPECT_EQ(r.rate(), 27309570313u);  // (35 G + 19619140625 + 1) / 2
  r.advance(1450);
  EXPECT_EQ(r.rate(), 31154785157u);
  EXPECT_EQ(r.target(), 35 * kG);
  r.advance(1550);
  EXPECT_EQ(r.target(), 35040000000u);
  EXPECT_EQ(r.rate(), 33097392579u);
  // The byte counter: one increase for 1000 bytes. Its count is 1, the timer's 3: additive.
  r.send(1560, 999);
  EXPECT_EQ(r.byte_count(), 0u);
  r.send(1561, 1);
  EXPECT_EQ(r.byte_count(), 1u);
  EXPECT_EQ(r.target(), 35080000000u);
  EXPECT_EQ(r.rate(), 34088696290u);
  // Two at once. The second is its third and the timer's is 3: hyper.
  r.send(1570, 2500);
  EXPECT_EQ(r.byte_count(), 3u);
  EXPECT_EQ(r.target(), 35080000000u + 40000000 + 400000000);
  EXPECT_EQ(r.rate(), ((34088696290u + 35120000000u + 1) / 2 + 35520000000u + 1) / 2);
  // A notification takes both counts and the bytes back to 0: fast recovery again.
  const uint64_t before = r.rate();
  r.notify(1580);
  EXPECT_EQ(r.target(), before);
  EXPECT_EQ(r.byte_count() + r.timer_count(), 0u);
  const uint64_t cut = r.rate();
  r.send(1581, 999);
  EXPECT_EQ(r.rate(), cut);
  r.send(1582, 1);
  EXPECT_EQ(r.rate(), (before + cut + 1) / 2);
  EXPECT_EQ(r.target(), before);
  EXPECT_EQ(r.lowest(), cut < 19619140625u ? cut : 19619140625u);
}

TEST(DcqcnRate, StopsAtTheSmallestAndIsReleasedAtTheLinesRate) {
  const DcqcnConfig c = by_hand();
  DcqcnRate r(c, 40 * kG, 0);
  for (Ticks t = 1; t < 10; ++t) r.notify(t);
  EXPECT_EQ(r.rate(), 1 * kG);
  EXPECT_EQ(r.lowest(), 1 * kG);
  EXPECT_FALSE(r.released());
  r.advance(100000000);
  EXPECT_TRUE(r.released());
  EXPECT_EQ(r.rate(), 40 * kG);
  EXPECT_LE(r.released_at(), 9u + 100 * (39 * kG / c.rate_ai + 60)) << "additive increase, then halvings";
  EXPECT_GE(r.released_at(), 9u + 100 * (39 * kG / c.rate_ai / 2));
}

constexpr Ticks operator""_ps(unsigned long long t) {
  return ticks(t);
}

/// 16 B flits, 10 ns each: 12.8 Gb/s. Packets of 10 flits take 100 ns at line rate.
ReactionPoint sender(const DcqcnConfig& c) {
  return ReactionPoint(c, 12800000000u, 16, 10000_ps);
}

TEST(ReactionPoint, PacesOnlyTheFlowThatWasNotified) {
  DcqcnConfig c;
  c.enabled = true;
  ReactionPoint r = sender(c);
  EXPECT_TRUE(r.free());
  r.notify(5, 1000000_ps, 0);
  EXPECT_EQ(r.may_begin(5, 990000_ps, 990000_ps), 990000_ps) << "it has not arrived yet";
  r.begin(5, 990000_ps, 990000_ps, 10);
  EXPECT_EQ(r.may_begin(5, 1000000_ps, 1000000_ps), 1000000_ps) << "the first packet after it";
  r.begin(5, 1000000_ps, 1000000_ps, 10);
  EXPECT_EQ(r.rate(5, 1000000_ps), 6400000000u);
  // Half the rate: 200 ns later.
  EXPECT_EQ(r.may_begin(5, 1100000_ps, 1100000_ps), 1200000_ps);
  EXPECT_EQ(r.may_begin(6, 1100000_ps, 1100000_ps), 1100000_ps);
  EXPECT_EQ(r.may_begin(5, 1200000_ps, 1200000_ps), 1200000_ps);
  // Begun 5 ns late, within the cycle: the next one is due as if it had been in time. Later: from then on.
  r.begin(5, 1200000_ps, 1205000_ps, 10);
  EXPECT_EQ(r.may_begin(5, 1210000_ps, 1210000_ps), 1400000_ps);
  r.begin(5, 1500000_ps, 1500000_ps, 10);
  EXPECT_EQ(r.may_begin(5, 1510000_ps, 1510000_ps), 1700000_ps);
}

TEST(ReactionPoint, ARateThatRisesMeanwhileCountsForThePacketThatWaits) {
  DcqcnConfig c;
  c.enabled = true;
  c.rate_timer = 150000_ps;
  ReactionPoint r = sender(c);
  r.notify(5, 1000000_ps, 0);
  EXPECT_EQ(r.may_begin(5, 1000000_ps, 1000000_ps), 1000000_ps);
  r.begin(5, 1000000_ps, 1000000_ps, 10);
  EXPECT_EQ(r.may_begin(5, 1010000_ps, 1010000_ps), 1150000_ps)
      << "when the rate rises, not when it is due at this one";
  EXPECT_EQ(r.may_begin(5, 1150000_ps, 1150000_ps), 1150000_ps)
      << "three quarters of the line: due after 133.4 ns";
}

TEST(ReactionPoint, ForgetsFlowsThatAreBackAtLineRateAndRecordsThem) {
  DcqcnConfig c = by_hand();
  c.rate_ai = 100 * kG;
  c.alpha_timer = c.rate_timer = 1000000_ps;
  ReactionPoint r = sender(c);
  for (uint32_t d = 0; d < 100; ++d) r.notify(d, 1000000_ps + d * 100000000_ps, d * 100000000_ps);
  r.notify(3, 20000000000_ps, 19000000000_ps);  // sweeps, and is itself on its way
  EXPECT_EQ(r.may_begin(3, 19000000000_ps, 19000000000_ps), 19000000000_ps);
  EXPECT_FALSE(r.free());
  const auto records = r.records(19000000000_ps);
  ASSERT_EQ(records.size(), 100u);
  for (const auto& [destination, record] : records) {
    EXPECT_EQ(record.notifications, 1u) << destination;
    EXPECT_EQ(record.lowest_rate, 6400000000u) << destination;
    // Two of fast recovery, then target and rate are the line's within 33 halvings.
    EXPECT_GE(record.below_line, 30u * c.rate_timer) << destination;
    EXPECT_LE(record.below_line, 36u * c.rate_timer) << destination;
  }
  EXPECT_EQ(r.records(20000000000_ps).at(3).notifications, 2u);
  EXPECT_EQ(r.may_begin(3, 30000000000_ps, 30000000000_ps), 30000000000_ps);
  for (uint32_t d = 0; d < 100; ++d)
    EXPECT_EQ(r.may_begin(d, 30000000000_ps, 30000000000_ps), 30000000000_ps);
  EXPECT_TRUE(r.free());
}

TEST(NotificationPoint, TellsASenderAtMostOnceInItsInterval) {
  DcqcnConfig c;
  c.cnp_interval = 50000;
  NotificationPoint n(c);
  EXPECT_TRUE(n.notifies(1, 1000));
  EXPECT_FALSE(n.notifies(1, 1000));
  EXPECT_TRUE(n.notifies(2, 20000)) << "another sender";
  EXPECT_FALSE(n.notifies(1, 50999));
  EXPECT_TRUE(n.notifies(1, 51000));
  EXPECT_FALSE(n.notifies(1, 100999)) << "from the last that was sent";
  for (uint32_t s = 100; s < 200; ++s) EXPECT_TRUE(n.notifies(s, 200000));
  EXPECT_EQ(n.sent(), 103u);
}

}  // namespace
}  // namespace weft::packet
