// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "insight/causal_log.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "insight/critical_path.h"
#include "insight/what_if.h"

namespace weft::insight {
namespace {

constexpr uint64_t kEnough = 1 << 24;

Picoseconds sum(const std::vector<Piece>& pieces, Term term) {
  Picoseconds time = 0;
  for (const Piece& piece : pieces) time += piece.term == term ? piece.time() : 0;
  return time;
}

void expect_no_gap(const std::vector<Piece>& pieces, Picoseconds from, Picoseconds to) {
  for (const Piece& piece : pieces) {
    EXPECT_EQ(piece.from, from);
    EXPECT_GT(piece.to, piece.from);
    from = piece.to;
  }
  EXPECT_EQ(from, to);
}

Activity crossing(uint32_t link, Picoseconds ready, Picoseconds begin, Picoseconds end) {
  Activity a;
  a.where = link;
  a.what = 1;
  a.ready = ready;
  a.begin = begin;
  a.end = end;
  return a;
}

ActivityId delivered(CausalLog& log, uint32_t packet, Picoseconds ready, Picoseconds begin, Picoseconds end) {
  Activity a;
  a.kind = static_cast<uint32_t>(ActivityKind::message);
  a.what = 1;
  a.ready = ready;
  a.begin = begin;
  a.end = end;
  return log.follow(packet, a);
}

TEST(CriticalPath, GoesThroughTheMessagesThatALinkCarriedBefore) {
  CausalLog log(kEnough);
  const uint32_t link = log.add_link({"a.link", "dimension 0"});
  // A computation of 100 lets packet 1 go; packets 2 and 3 were ready at 110 and wait for it.
  const ActivityId early = log.stretch(ActivityKind::compute, kNoActivity, 0, 7, 0, 100);
  const ActivityId late = log.stretch(ActivityKind::compute, kNoActivity, 1, 8, 0, 110);
  log.submitted(1, early);
  log.submitted(2, late);
  log.submitted(3, late);
  log.crossed(1, crossing(link, 100, 100, 150));
  log.crossed(2, crossing(link, 110, 150, 200));
  log.crossed(3, crossing(link, 110, 200, 250));
  const ActivityId end = delivered(log, 3, 260, 270, 290);
  const auto pieces = critical_path(log, end, 0, 290);
  expect_no_gap(pieces, 0, 290);
  // What held packet 3 up is packet 1's computation, not its own.
  EXPECT_EQ(sum(pieces, Term::compute), 100u);
  EXPECT_EQ(log.find(pieces.front().activity)->what, 7u);
  EXPECT_EQ(sum(pieces, Term::queueing), 100u);
  EXPECT_EQ(sum(pieces, Term::serialise), 50u);
  EXPECT_EQ(sum(pieces, Term::latency), 10u);
  EXPECT_EQ(sum(pieces, Term::endpoint), 10u);
  EXPECT_EQ(sum(pieces, Term::reduction), 20u);
}

TEST(CriticalPath, OfAMessageCutThrough) {
  CausalLog log(kEnough);
  const uint32_t slow = log.add_link({"slow", "dimension 0"});
  const uint32_t fast = log.add_link({"fast", "dimension 1"});
  for (const bool slow_first : {true, false}) {
    log.restart();
    log.submitted(1, kNoActivity);
    log.crossed(1, crossing(slow_first ? slow : fast, 0, 0, slow_first ? 100 : 20));
    // The head is there at 5. A slow first link ends with the tail that comes, a slow second one with its
    // rate.
    Activity second = crossing(slow_first ? fast : slow, 5, 5, 105);
    second.by_head = 1;
    second.tail_limited = slow_first ? 1 : 0;
    log.crossed(1, second);
    const ActivityId end = delivered(log, 1, 115, 115, 115);
    const auto pieces = critical_path(log, end, 0, 115);
    expect_no_gap(pieces, 0, 115);
    EXPECT_EQ(sum(pieces, Term::serialise), 100u);
    EXPECT_EQ(sum(pieces, Term::latency), 15u);
    for (const Piece& piece : pieces) {
      if (piece.term == Term::serialise) {
        EXPECT_EQ(piece.place, slow);
      }
    }
  }
}

TEST(CriticalPath, ALongLogForgetsItsBeginningAndSaysSo) {
  CausalLog log(1);  // two blocks are kept whatever is asked for
  ActivityId last = kNoActivity;
  constexpr Picoseconds kSteps = 100'000;
  for (Picoseconds t = 0; t < kSteps; ++t) last = log.stretch(ActivityKind::compute, last, 0, 0, t, t + 1);
  EXPECT_GT(log.forgotten(), 0u);
  EXPECT_LE(log.recorded() - log.forgotten(), 2u * 16384);
  const auto pieces = critical_path(log, last, 0, kSteps);
  expect_no_gap(pieces, 0, kSteps);
  EXPECT_EQ(pieces.front().term, Term::unrecorded);
  EXPECT_EQ(pieces.front().to, log.forgotten());
  EXPECT_EQ(sum(pieces, Term::compute), log.recorded() - log.forgotten());
}

TEST(CriticalPath, ALinkSharedWithWhatTheLogDoesNotFollow) {
  CausalLog log(kEnough);
  const uint32_t link = log.add_link({"a.link", "dimension 0"});
  log.crossed(0, crossing(link, 0, 0, 50));
  log.submitted(1, kNoActivity);
  log.crossed(1, crossing(link, 0, 50, 80));
  const auto pieces = critical_path(log, delivered(log, 1, 90, 90, 90), 0, 90);
  expect_no_gap(pieces, 0, 90);
  EXPECT_EQ(sum(pieces, Term::queueing), 50u);
  EXPECT_EQ(sum(pieces, Term::serialise), 30u);
}

TEST(WhatIf, TheNextPathLimits) {
  const std::vector<PathLength> paths = {{"critical", 1000, {440, 0}}, {"other", 980, {0, 0}}};
  const Outcome compute = what_if(paths, 0, 10);
  EXPECT_EQ(compute.alone, 40u);
  EXPECT_EQ(compute.falls, 20u);
  EXPECT_EQ(compute.limited_by, 1u);
  const Outcome nothing = what_if(paths, 1, 10);
  EXPECT_EQ(nothing.falls, 0u);
  EXPECT_EQ(nothing.limited_by, 0u);
}

TEST(WhatIf, LeversMoveTheirOwnLinksOnly) {
  CausalLog log(kEnough);
  const uint32_t a = log.add_link({"a", "dimension 0"});
  const uint32_t b = log.add_link({"b", "dimension 1"});
  const std::vector<Piece> pieces = {{0, 10, Term::serialise, a, 1, 0, 0},
                                     {10, 30, Term::latency, a, 1, 0, 0},
                                     {30, 60, Term::queueing, b, 1, 0, 0},
                                     {60, 100, Term::compute, 0, 0, 0, 0}};
  const auto levers = levers_of(log);
  const PathLength path = measure(log, levers, pieces);
  EXPECT_EQ(path.length, 100u);
  std::map<std::string, Picoseconds> by_name;
  for (size_t l = 0; l < levers.size(); ++l) by_name[levers[l].name()] = path.by_lever[l];
  EXPECT_EQ(by_name["bandwidth of dimension 0"], 10u);
  EXPECT_EQ(by_name["latency of dimension 0"], 20u);
  EXPECT_EQ(by_name["bandwidth of dimension 1"], 30u);
  EXPECT_EQ(by_name["latency of dimension 1"], 0u);
  EXPECT_EQ(by_name["compute"], 40u);
}

}  // namespace
}  // namespace weft::insight
