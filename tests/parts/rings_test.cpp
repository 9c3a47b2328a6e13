// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// When parts can have waited for each other in a ring, and the way of results between them.

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "parts/codec.h"
#include "workload/collectives/line_begins.h"
#include "workload/collectives/member_begins.h"

namespace weft {
namespace {

using collectives::PartBegins;
using collectives::ring_of_parts;

PartBegins part(const std::vector<collectives::LineBegin>& lines) {
  return {lines, {}};
}

const std::vector<uint32_t> kTwoRanks = {0, 1};

TEST(Rings, PartsThatBeginTogetherHaveNone) {
  const PartBegins both = part({{1, 0, 100, 100}, {1, 1, 200, 200}, {2, 0, 200, 200}});
  EXPECT_EQ(ring_of_parts({both, both}, kTwoRanks), kNever);
}

TEST(Rings, OnePartBehindIsNone) {
  const PartBegins ahead = part({{1, 0, 100, 100}, {1, 1, 200, 200}});
  const PartBegins behind = part({{1, 0, 150, 160}, {1, 1, 250, 260}});
  EXPECT_EQ(ring_of_parts({ahead, behind}, kTwoRanks), kNever);
}

TEST(Rings, DifferentOrdersAreOne) {
  const PartBegins a = part({{1, 0, 100, 100}, {2, 0, 300, 300}});
  const PartBegins b = part({{2, 0, 200, 200}, {1, 0, 300, 300}});
  EXPECT_EQ(ring_of_parts({a, b}, kTwoRanks), 200u);
}

TEST(Rings, OneThatEndsWhenTheOtherBeginsIsNone) {
  const PartBegins a = part({{1, 0, 100, 100}, {2, 0, 300, 300}});
  const PartBegins b = part({{1, 0, 200, 200}, {2, 0, 200, 200}});
  EXPECT_EQ(ring_of_parts({a, b}, kTwoRanks), kNever);
}

// With two slots: A's circle holds one of them, and what waits for B the other one.
TEST(Rings, WithSeveralSlotsOneArrowIsEnough) {
  const PartBegins ahead = part({{1, 0, 100, 100}});
  const PartBegins behind = part({{1, 0, 150, 160}});
  EXPECT_EQ(ring_of_parts({ahead, behind}, kTwoRanks), kNever);
  EXPECT_EQ(ring_of_parts({ahead, behind}, kTwoRanks, true), 100u);
  EXPECT_EQ(ring_of_parts({ahead, ahead}, kTwoRanks, true), kNever);
}

TEST(Rings, ThroughThreeParts) {
  const PartBegins a = part({{1, 0, 100, 100}, {3, 0, 500, 500}});
  const PartBegins b = part({{2, 0, 100, 100}, {1, 0, 500, 500}});
  const PartBegins c = part({{3, 0, 100, 100}, {2, 0, 500, 500}});
  EXPECT_EQ(ring_of_parts({a, b, c}, {0, 1, 2}), 100u);
  EXPECT_EQ(ring_of_parts({a, b, part({{3, 0, 500, 500}, {2, 0, 500, 500}})}, {0, 1, 2}), kNever);
}

// Ranks 0 and 1 are in part 0, 2 and 3 in part 1.
const std::vector<uint32_t> kPairs = {0, 0, 1, 1};

TEST(Rings, OfRanksNeedOneRankThatIsBehindAndAhead) {
  using collectives::ring_of_ranks;
  // 0 is ahead of 2 in line 1, and 3 ahead of 1 in line 2: a ring of parts, none of ranks.
  EXPECT_EQ(ring_of_ranks({{1, 0, 100, 0}, {1, 0, 200, 2}, {2, 0, 100, 3}, {2, 0, 200, 1}}, {}, kPairs),
            kNever);
  // 0 and 2 have begun what the other one misses.
  EXPECT_EQ(ring_of_ranks({{1, 0, 100, 0}, {1, 0, 200, 2}, {2, 0, 150, 2}, {2, 0, 210, 0}}, {}, kPairs),
            150u);
  // .. but not at once.
  EXPECT_EQ(ring_of_ranks({{1, 0, 100, 0}, {1, 0, 150, 2}, {2, 0, 150, 2}, {2, 0, 210, 0}}, {}, kPairs),
            kNever);
  // In one part it is found there.
  EXPECT_EQ(ring_of_ranks({{1, 0, 100, 0}, {1, 0, 200, 1}, {2, 0, 150, 1}, {2, 0, 210, 0}}, {}, kPairs),
            kNever);
}

TEST(Rings, OfRanksGoThroughLinesOfOnePartAndMessages) {
  using collectives::ring_of_ranks;
  // 0 has begun what 2 misses, 2 what 3 misses (in its part), and 3 waits for a message of 0.
  const std::vector<collectives::MemberBegin> begins = {
      {1, 0, 100, 0}, {1, 0, 900, 2}, {2, 0, 120, 2}, {2, 0, 800, 3}};
  EXPECT_EQ(ring_of_ranks(begins, {}, kPairs), kNever);
  EXPECT_EQ(ring_of_ranks(begins, {{3, 0, 300, 500}}, kPairs), 300u);
  EXPECT_EQ(ring_of_ranks(begins, {{3, 0, 850, 900}}, kPairs), kNever);
  // A rank that begins what closes the ring gets another message at that instant.
  EXPECT_EQ(ring_of_ranks({{1, 0, 100, 0}, {1, 0, 900, 2}, {2, 0, 500, 2}, {2, 0, 800, 0}},
                          {{2, 3, 300, 500}}, kPairs),
            500u);
  // Messages alone are no circle of slots.
  EXPECT_EQ(ring_of_ranks({}, {{3, 0, 300, 500}, {0, 3, 300, 500}}, kPairs), kNever);
}

// A part has undone its own piece of the ring at the instant in which it closed.
TEST(Rings, ArePossibleUntilWhatIsDecidedAtTheirInstant) {
  using collectives::Moment;
  const PartBegins a = part({{1, 0, 100, 100}, {2, 0, Moment(200, 1), Moment(200, 1)}});
  const PartBegins b = part({{2, 0, 200, 200}, {1, 0, 300, 300}});
  EXPECT_EQ(ring_of_parts({a, b}, kTwoRanks), 200u);
  EXPECT_EQ(collectives::ring_of_ranks(
                {{1, 0, 100, 0}, {1, 0, 300, 2}, {2, 0, 200, 2}, {2, 0, Moment(200, 1), 0}}, {}, kPairs),
            200u);
  EXPECT_EQ(collectives::ring_of_ranks({{1, 0, 100, 0}, {1, 0, 300, 2}, {2, 0, 200, 2}, {2, 0, 200, 0}}, {},
                                       kPairs),
            kNever);
}

// 0 and 1 are in a ring, and 0 is ahead of 2, which is in none. With several slots what 0 has begun can hold
// the slot that decides.
TEST(Rings, OfOnePartThatWaitsForAnother) {
  const std::vector<collectives::MemberBegin> begins = {{1, 0, 100, 0}, {1, 0, 200, 1}, {2, 0, 150, 1},
                                                        {2, 0, 210, 0}, {3, 0, 100, 0}, {3, 0, 300, 2}};
  EXPECT_EQ(collectives::ring_of_ranks(begins, {}, kPairs), kNever);
  EXPECT_EQ(collectives::ring_of_ranks(begins, {}, kPairs, true), 150u);
}

TEST(Rings, ThroughAMessage) {
  PartBegins a = part({{1, 0, 100, 100}});
  const PartBegins b = part({{1, 0, 400, 400}});
  EXPECT_EQ(ring_of_parts({a, b}, kTwoRanks), kNever);
  PartBegins waits = b;
  waits.waits.push_back({0, 200, 300});  // part 1 waits for a message of rank 0
  EXPECT_EQ(ring_of_parts({a, waits}, kTwoRanks), 200u);
}

TEST(Rings, APartBeginsWithItsFirstMemberAndItsLast) {
  collectives::MemberBegins begins;
  begins.begun(7, 3, 1, true, 180);
  begins.begun(7, 4, 0, true, 90);
  begins.begun(7, 3, 0, true, 100);
  begins.begun(8, 0, 0, false, 100);  // of a line that is in this part
  begins.awaited(0, 2, 50);
  begins.awaited(0, 1, 50);  // of this part
  begins.came(0, 2, 60);
  const PartBegins part = collectives::part_begins(begins, kPairs);
  ASSERT_EQ(part.lines.size(), 2u);
  EXPECT_EQ(part.lines[0].index, 3u);
  EXPECT_EQ(part.lines[0].first, 100u);
  EXPECT_EQ(part.lines[0].last, 180u);
  EXPECT_EQ(part.lines[1].first, 90u);
  EXPECT_EQ(part.lines[1].last, 90u);
  ASSERT_EQ(part.waits.size(), 1u);
  EXPECT_EQ(part.waits[0].source, 2u);
  EXPECT_EQ(part.waits[0].to, 60u);
}

TEST(Codec, GivesBackWhatItGot) {
  JobPart part;
  part.ranks.push_back({3, {1, 2, 3, 4, 5}, 15, 4});
  part.messages = 77;
  CollectiveRow collective;
  collective.stream = 9;
  collective.name = "layer.3";
  collective.phases.push_back({"reduce_scatter d0 ring", "reduce_scatter", "0", "ring", 5, 6});
  part.collectives = {{collective}, {3}};
  FootprintRow footprint;
  footprint.over_node = "node 4";
  footprint.largest.push_back({"weights", 1000});
  part.footprint.push_back(footprint);
  part.unmatched_rules = {"rule 1"};
  const std::string bytes = parts::encode(part);
  const JobPart back = parts::decode_job(bytes);
  EXPECT_EQ(parts::encode(back), bytes);
  EXPECT_EQ(back.collectives.rows[0].phases[0].network, Wide{6});
  EXPECT_EQ(back.footprint[0].largest[0].name, "weights");
  for (size_t size = 0; size < bytes.size(); ++size)
    EXPECT_THROW(parts::decode_job(bytes.substr(0, size)), std::invalid_argument) << size;
}

}  // namespace
}  // namespace weft
