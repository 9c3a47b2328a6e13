// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "workload/graph/p2p_matcher.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "tests/graph/fakes.h"

namespace weft::graph {
namespace {

using trace::NodeType;

Completion message(uint32_t source, uint32_t tag, uint32_t ordinal, uint64_t bytes) {
  Completion completion;
  completion.id.kind = MessageId::Kind::point_to_point;
  completion.id.stream = ordinal;
  completion.id.round = tag;
  completion.source = NpuId{source};
  completion.bytes = bytes;
  return completion;
}

trace::Node receive(uint32_t index, uint32_t source, uint32_t tag, uint64_t bytes) {
  trace::Node node = p2p(NodeType::comm_recv, source, tag, bytes);
  node.index = index;
  node.id = 1000 + index;
  return node;
}

TEST(P2pMatcher, EitherSideMayBeFirst) {
  P2pMatcher matcher(9);
  EXPECT_FALSE(matcher.receive(receive(0, 2, 5, 64)));
  EXPECT_FALSE(matcher.idle());
  auto match = matcher.arrived(message(2, 5, 0, 64));
  ASSERT_TRUE(match);
  EXPECT_EQ(match->node, 0u);

  Completion early = message(2, 5, 1, 32);
  early.data = 77;
  EXPECT_FALSE(matcher.arrived(early));
  EXPECT_FALSE(matcher.idle());
  match = matcher.receive(receive(1, 2, 5, 32));
  ASSERT_TRUE(match);
  EXPECT_EQ(match->node, 1u);
  EXPECT_EQ(match->message.data, 77u);
  EXPECT_TRUE(matcher.idle());
}

TEST(P2pMatcher, SourceTagAndOrdinalKeepMessagesApart) {
  P2pMatcher matcher(9);
  EXPECT_FALSE(matcher.receive(receive(0, 1, 5, 8)));
  EXPECT_FALSE(matcher.receive(receive(1, 1, 6, 8)));
  EXPECT_FALSE(matcher.receive(receive(2, 2, 5, 8)));
  EXPECT_FALSE(matcher.receive(receive(3, 1, 5, 16)));
  EXPECT_EQ(matcher.arrived(message(1, 5, 1, 16))->node, 3u);  // overtook its predecessor
  EXPECT_EQ(matcher.arrived(message(2, 5, 0, 8))->node, 2u);
  EXPECT_EQ(matcher.arrived(message(1, 6, 0, 8))->node, 1u);
  EXPECT_EQ(matcher.arrived(message(1, 5, 0, 8))->node, 0u);
  EXPECT_TRUE(matcher.idle());
}

TEST(P2pMatcher, SendsAreNumberedPerDestinationAndTag) {
  P2pMatcher matcher(0);
  const auto ordinal = [&](uint32_t peer, uint32_t tag) {
    const MessageId id = matcher.send(p2p(NodeType::comm_send, peer, tag, 1));
    EXPECT_EQ(id.kind, MessageId::Kind::point_to_point);
    EXPECT_EQ(id.round, tag);
    return id.stream;
  };
  EXPECT_EQ(ordinal(1, 1), 0u);
  EXPECT_EQ(ordinal(1, 1), 1u);
  EXPECT_EQ(ordinal(2, 1), 0u);
  EXPECT_EQ(ordinal(1, 2), 0u);
  EXPECT_EQ(ordinal(1, 1), 2u);
}

TEST(P2pMatcher, SizesMustAgreeWhicheverIsFirst) {
  for (const bool message_first : {false, true}) {
    P2pMatcher matcher(9);
    try {
      if (message_first) matcher.arrived(message(2, 5, 0, 65));
      matcher.receive(receive(0, 2, 5, 64));
      if (!message_first) matcher.arrived(message(2, 5, 0, 65));
      FAIL() << "64 bytes were taken for 65";
    } catch (const UserError& error) {
      EXPECT_EQ(error.code(), ExitCode::trace);
      const std::string text = error.what();
      for (const char* part : {"rank 9", "node 1000", "rank 2", "tag 5", "64 bytes", "65 bytes"})
        EXPECT_NE(text.find(part), std::string::npos) << part << " in " << text;
    }
  }
}

TEST(P2pMatcher, ADuplicateIsAnInternalError) {
  P2pMatcher matcher(9);
  matcher.arrived(message(2, 5, 0, 1));
  EXPECT_THROW(matcher.arrived(message(2, 5, 0, 1)), std::logic_error);
  matcher.receive(receive(0, 2, 5, 1));
  EXPECT_THROW(matcher.arrived(message(2, 5, 0, 1)), std::logic_error);
}

TEST(P2pMatcher, UnmatchedSidesAreDescribedInOrder) {
  P2pMatcher matcher(9);
  matcher.arrived(message(4, 0, 0, 3));
  matcher.receive(receive(0, 3, 1, 8));
  matcher.receive(receive(1, 2, 1, 8));
  matcher.receive(receive(2, 2, 1, 8));
  const auto list = matcher.unmatched(10);
  ASSERT_EQ(list.size(), 4u);
  EXPECT_EQ(list[0].source, 2u);
  EXPECT_EQ(list[0].ordinal, 0u);
  EXPECT_EQ(list[0].node, 1001u);
  EXPECT_EQ(list[1].ordinal, 1u);
  EXPECT_EQ(list[2].source, 3u);
  EXPECT_TRUE(list[2].is_receive);
  EXPECT_FALSE(list[3].is_receive);
  EXPECT_NE(list[3].text.find("rank 9: message 0 from rank 4 with tag 0 (3 bytes) was never received"),
            std::string::npos);
  EXPECT_EQ(matcher.unmatched(1).size(), 2u);
}

TEST(P2pMatcher, AnyInterleavingMatchesTheSamePairs) {
  std::mt19937 random(7);
  for (int round = 0; round < 50; ++round) {
    P2pMatcher matcher(0);
    struct Pair {
      uint32_t source, tag, ordinal;
    };
    std::vector<Pair> receives;
    uint32_t next[3][3] = {};
    for (int i = 0; i < 60; ++i) {
      const uint32_t source = random() % 3, tag = random() % 3;
      receives.push_back({source, tag, next[source][tag]++});
    }
    std::vector<Pair> messages = receives;
    std::shuffle(messages.begin(), messages.end(), random);
    const auto bytes = [](const Pair& p) { return 1 + p.source * 10000 + p.tag * 100 + p.ordinal; };
    size_t r = 0, m = 0, matched = 0;
    while (r < receives.size() || m < messages.size()) {
      std::optional<P2pMatcher::Match> match;
      if (m == messages.size() || (r < receives.size() && random() % 2 == 0)) {
        const auto& p = receives[r];
        match = matcher.receive(receive(static_cast<uint32_t>(r++), p.source, p.tag, bytes(p)));
      } else {
        const auto& p = messages[m++];
        match = matcher.arrived(message(p.source, p.tag, p.ordinal, bytes(p)));
      }
      if (!match) continue;
      ++matched;
      EXPECT_EQ(bytes(receives[match->node]), match->message.bytes);
    }
    EXPECT_EQ(matched, receives.size());
    EXPECT_TRUE(matcher.idle());
  }
}

}  // namespace
}  // namespace weft::graph
