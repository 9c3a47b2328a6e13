// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// The critical path inside packet networks: who is followed, and what the passage of a message is made of.

#include "sc_models/packet_hops.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace weft {
namespace {

constexpr Ticks kPs = kTicksPerPicosecond;

Picoseconds sum(const std::vector<HopShare>& shares) {
  Picoseconds all = 0;
  for (const HopShare& share : shares) all += share.queueing + share.serialise + share.latency;
  return all;
}

TEST(PacketHops, ChainOfIdleLinksIsTheHandFormula) {
  // 10 flits of 40 ps: three links of 40, 40 and 40 ps a flit, 100 ps each; 4 stages of 10 ps.
  const std::vector<PacketHop> hops = {
      {1, 100, 40 * kPs, 410}, {2, 100, 40 * kPs, 520}, {3, 100, 40 * kPs, 630}};
  const auto shares = share_passage({0, 740, 340, 400}, 9, hops);
  ASSERT_EQ(shares.size(), 4u);
  EXPECT_EQ(shares[0].link, 9u);
  EXPECT_EQ(shares[0].latency, 40u);
  EXPECT_EQ(shares[1].serialise, 400u);
  for (size_t k = 1; k < 4; ++k) {
    EXPECT_EQ(shares[k].link, k);
    EXPECT_EQ(shares[k].latency, 100u);
    EXPECT_EQ(shares[k].queueing, 0u);
  }
  EXPECT_EQ(sum(shares), 740u);
}

TEST(PacketHops, TheSlowestLinkSerialises) {
  // The second link takes twice the time: what the tail waits at the first one is its own message, too.
  const std::vector<PacketHop> hops = {{1, 100, 40 * kPs, 410}, {2, 100, 80 * kPs, 920}};
  const auto shares = share_passage({0, 1030, 230, 800}, 9, hops);
  EXPECT_EQ(shares[1].serialise, 0u);
  EXPECT_EQ(shares[2].serialise, 800u);
  EXPECT_EQ(shares[1].queueing, 0u);
  EXPECT_EQ(shares[2].queueing, 0u);
  EXPECT_EQ(sum(shares), 1030u);
}

TEST(PacketHops, QueueingIsAtTheLinkThatWasBusy) {
  // As the chain above, but others had the second link for 300 ps.
  const std::vector<PacketHop> hops = {
      {1, 100, 40 * kPs, 410}, {2, 100, 40 * kPs, 820}, {3, 100, 40 * kPs, 930}};
  const auto shares = share_passage({0, 1040, 340, 400}, 9, hops);
  EXPECT_EQ(shares[1].queueing, 0u);
  EXPECT_EQ(shares[2].queueing, 300u);
  EXPECT_EQ(shares[3].queueing, 0u);
  EXPECT_EQ(sum(shares), 1040u);
}

TEST(PacketHops, AddsUpWhateverTheTimes) {
  std::mt19937_64 engine(17);
  const auto below = [&](uint64_t n) { return engine() % n; };
  for (int round = 0; round < 20'000; ++round) {
    NetworkPassage passage;
    passage.submitted = below(1000);
    passage.latency = below(500);
    passage.serialise = below(500);
    std::vector<PacketHop> hops;
    Picoseconds at = passage.submitted;
    for (uint64_t k = below(5); k > 0; --k) {
      at += below(400);
      hops.push_back({static_cast<uint32_t>(k), below(200), (1 + below(3)) * kPs, at});
    }
    passage.at = at + below(400);
    const auto shares = share_passage(passage, 9, hops);
    ASSERT_EQ(shares.size(), hops.size() + 1);
    ASSERT_EQ(sum(shares), passage.at - passage.submitted);
  }
}

TEST(PacketHops, FollowsThePacketThatCompletesTheMessage) {
  PacketHops hops;
  hops.passed(1, {5, 0, 0, 10});
  hops.passed(2, {6, 0, 0, 20});
  hops.passed(3, {7, 0, 0, 15});
  hops.arrived(2, 4, 40);  // sent second, and the latest
  hops.arrived(3, 8, 30);  // another message
  const auto other = hops.take();
  ASSERT_EQ(other.size(), 1u);
  EXPECT_EQ(other[0].link, 7u);
  hops.arrived(1, 4, 35);
  const auto own = hops.take();
  ASSERT_EQ(own.size(), 1u);
  EXPECT_EQ(own[0].link, 6u);
  // Packets and messages have the numbers of others afterwards.
  hops.passed(2, {3, 0, 0, 50});
  hops.arrived(2, 4, 60);
  const auto next = hops.take();
  ASSERT_EQ(next.size(), 1u);
  EXPECT_EQ(next[0].link, 3u);
  hops.arrived(2, 0, 70);
  EXPECT_TRUE(hops.take().empty());
}

}  // namespace
}  // namespace weft
