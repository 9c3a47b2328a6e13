// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// The counts of packets at a router (waiting_packets.h), beside queues that are walked.

#include "tlm_interconnect/packet/waiting_packets.h"

#include <gtest/gtest.h>

#include <deque>
#include <vector>

#include "tlm_interconnect/packet/random.h"

namespace weft::packet {
namespace {

constexpr uint32_t kPorts = 5;
constexpr uint32_t kVcs = 3;

struct Waiting {
  PacketOwner owner;
  uint32_t output;
};

/// Every packet by itself.
struct Queues {
  std::vector<std::deque<Waiting>> vcs = std::vector<std::deque<Waiting>>(size_t{kPorts} * kVcs);

  std::deque<Waiting>& at(uint32_t input, uint32_t vc) { return vcs[input * kVcs + vc]; }
  uint32_t wanting(uint32_t input, uint32_t output) {
    uint32_t n = 0;
    for (uint32_t v = 0; v < kVcs; ++v) {
      for (const Waiting& packet : at(input, v)) n += packet.output == output;
    }
    return n;
  }
  std::vector<PacketOwner> owners(uint32_t input) {
    std::vector<PacketOwner> all;
    for (uint32_t v = 0; v < kVcs; ++v) {
      for (const Waiting& packet : at(input, v)) all.push_back(packet.owner);
    }
    return all;
  }
};

std::vector<PacketOwner> without_repeats(const std::vector<PacketOwner>& all) {
  std::vector<PacketOwner> once;
  for (const PacketOwner& owner : all) {
    if (once.empty() || !(once.back() == owner)) once.push_back(owner);
  }
  return once;
}

void expect_equal(const WaitingPackets& waiting, Queues& queues) {
  for (uint32_t input = 0; input < kPorts; ++input) {
    const std::vector<PacketOwner> all = queues.owners(input);
    EXPECT_EQ(waiting.at(input), all.size());
    std::vector<PacketOwner> told;
    waiting.for_each_owner(input, [&](const PacketOwner& owner) { told.push_back(owner); });
    EXPECT_TRUE(without_repeats(told) == without_repeats(all));
    for (uint32_t message = 0; message < 3; ++message) {
      bool only = true;
      for (const PacketOwner& owner : all) only = only && owner.message == message;
      EXPECT_EQ(waiting.only(input, message), only);
    }
  }
  for (uint32_t output = 0; output < kPorts; ++output) {
    uint32_t sum = 0;
    for (uint32_t input = 0; input < kPorts; ++input) {
      EXPECT_EQ(waiting.wanting_from(input, output), queues.wanting(input, output));
      sum += queues.wanting(input, output);
    }
    EXPECT_EQ(waiting.wanting(output), sum);
  }
}

TEST(WaitingPackets, AreThoseOfTheQueues) {
  WaitingPackets waiting;
  EXPECT_FALSE(waiting.counting());
  waiting.begin(kPorts, kVcs);
  EXPECT_TRUE(waiting.counting());
  Queues queues;
  Random random(7, 1);
  const auto below = [&](uint64_t n) { return static_cast<uint32_t>(random.next() % n); };
  for (int step = 0; step < 3000; ++step) {
    const uint32_t input = below(kPorts);
    const uint32_t vc = below(kVcs);
    std::deque<Waiting>& queue = queues.at(input, vc);
    if (below(2) == 0 || queue.empty()) {
      const uint32_t message = below(3);
      const PacketOwner owner{message % 2, message};
      const uint32_t output = below(kPorts);
      const uint32_t packets = 1 + below(3);
      waiting.come(input, vc, owner, packets);
      waiting.want(input, output, static_cast<int32_t>(packets));
      queue.insert(queue.end(), packets, {owner, output});
    } else {
      waiting.leave(input, vc);
      waiting.want(input, queue.front().output, -1);
      queue.pop_front();
    }
    if (step % 10 == 0) expect_equal(waiting, queues);
  }
}

TEST(WaitingPackets, OfAnInputAreTakenAwayTogether) {
  WaitingPackets waiting;
  waiting.begin(kPorts, kVcs);
  Queues queues;
  for (const uint32_t input : {1u, 2u}) {
    waiting.come(input, 0, {0, input}, 4);
    waiting.want(input, 3, 4);
    queues.at(input, 0).assign(4, {{0, input}, 3});
  }
  waiting.clear(1, 3);
  queues.at(1, 0).clear();
  expect_equal(waiting, queues);
}

// A packet whose output will be drawn may want each of several, and is found at no input.
TEST(WaitingPackets, MayWantOneOfSeveralOutputs) {
  WaitingPackets waiting;
  waiting.begin(kPorts, kVcs);
  waiting.come(0, 0, {0, 1});
  for (const uint32_t output : {2u, 4u}) waiting.may_want(output, 1);
  EXPECT_EQ(waiting.at(0), 1u);
  for (const uint32_t output : {2u, 4u}) {
    EXPECT_EQ(waiting.wanting(output), 1u);
    EXPECT_EQ(waiting.wanting_from(0, output), 0u);
  }
}

}  // namespace
}  // namespace weft::packet
