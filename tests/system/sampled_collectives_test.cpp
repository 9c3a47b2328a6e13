// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Sampled collectives (packet.sampling): the error that a run tells is not smaller than the one it has, what
// meets other traffic is simulated, and nothing is left out without being told.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "configs/loader.h"
#include "sc_models/link_domains.h"
#include "tests/support/trace_run.h"
#include "tests/trace/trace_files.h"
#include "workload/job/sampled_times.h"

namespace weft {
namespace {

using trace::test::PbNode;

struct Outcome {
  double time = 0;   ///< ps
  double error = 0;  ///< of it, as told
  uint64_t given = 0;
  uint64_t simulated = 0;
  uint64_t with_others = 0;
  uint64_t messages = 0;
};

Outcome run(const std::string& machine, bool sampling, const std::string& groups,
            const std::vector<std::vector<PbNode>>& ranks) {
  const auto tell = [](TraceJob& job) {
    if (!job.finished()) return "stalled: " + job.stall_report();
    const RunResult told = job.result();
    if (!told.broken_invariants.empty()) return "broken: " + told.broken_invariants.front();
    uint64_t of_rows = 0;
    for (const CollectiveRow& row : told.collectives) of_rows += row.messages;
    return fmt::format("{} {} {} {} {} {} {}", told.time, told.sampled.time_error(told.time),
                       told.sampled.given, told.sampled.simulated, told.sampled.with_others, told.messages,
                       of_rows);
  };
  const std::string told =
      test::of_traces(machine, groups, ranks, tell,
                      {std::string("packet.sampling.enabled=") + (sampling ? "true" : "false")});
  std::istringstream in(told);
  Outcome outcome;
  uint64_t of_rows = 0;
  in >> outcome.time >> outcome.error >> outcome.given >> outcome.simulated >> outcome.with_others >>
      outcome.messages >> of_rows;
  EXPECT_TRUE(in) << told;
  EXPECT_LE(of_rows, outcome.messages) << "rows have the messages of collectives that were given their time";
  return outcome;
}

std::string machine(const std::string& notation, const std::string& dimensions, const std::string& packet) {
  return fmt::format(
      "weft: 1\ntopology:\n  notation: {}\n  dimensions: [{}]\npacket: {{{}}}\n"
      "run: {{data: none}}\n",
      notation, dimensions, packet);
}

constexpr const char* kLink = "{bandwidth: 100 GB/s, latency: 250 ns, fidelity: packet}";
constexpr const char* kPacket = "packet_size: 1 KiB, flit_size: 64 B, vcs: 2";

/// Steps of computing, for 5 us and up to `jitter` more, and one collective of the group.
std::vector<std::vector<PbNode>> steps(uint32_t ranks, uint32_t count, uint64_t jitter,
                                       ChakraProtoMsg::CollectiveCommType op, int64_t bytes,
                                       const std::vector<std::string>& group_of, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<std::vector<PbNode>> nodes(ranks);
  for (uint32_t rank = 0; rank < ranks; ++rank) {
    for (uint32_t i = 0; i < count; ++i) {
      PbNode work = trace::test::comp(2 * i + 1, {}, 5 + (jitter == 0 ? 0 : random() % jitter));
      if (i != 0) work.add_data_deps(2 * i);
      nodes[rank].push_back(work);
      PbNode coll = trace::test::collective(2 * i + 2, op, bytes, group_of.empty() ? "" : group_of[rank]);
      coll.add_data_deps(2 * i + 1);
      nodes[rank].push_back(coll);
    }
  }
  return nodes;
}

double off(const Outcome& a, const Outcome& b) {
  return std::abs(a.time - b.time) / b.time;
}

TEST(SampledCollectives, RepeatedOnesAreGivenTheirTime) {
  const std::string on = machine("Switch(8)", kLink, kPacket);
  const auto job = steps(8, 100, 0, ChakraProtoMsg::ALL_REDUCE, 1 << 20, {}, 1);
  const Outcome all = run(on, false, "{}", job);
  const Outcome sampled = run(on, true, "{}", job);
  EXPECT_EQ(all.given, 0u);
  EXPECT_GT(sampled.given, 70u);
  EXPECT_EQ(sampled.given + sampled.simulated, 100u);
  EXPECT_GE(sampled.simulated, 4u);
  EXPECT_EQ(sampled.messages, all.messages);
  EXPECT_LE(off(sampled, all), sampled.error + 1e-6);
  EXPECT_LT(sampled.error, 0.001);
}

// Two groups of a switch do not share a link; two collectives of all ranks at once do.
TEST(SampledCollectives, OnlyWhatIsAloneIsLeftOut) {
  const std::string on = machine("Switch(8)", kLink, kPacket);
  const std::string groups = R"({"a": [0, 1, 2, 3], "b": [4, 5, 6, 7]})";
  const std::vector<std::string> halves{"a", "a", "a", "a", "b", "b", "b", "b"};
  const Outcome apart =
      run(on, true, groups, steps(8, 60, 0, ChakraProtoMsg::ALL_GATHER, 1 << 18, halves, 1));
  EXPECT_GT(apart.given, 80u);
  EXPECT_EQ(apart.with_others, 0u);

  auto job = steps(8, 60, 0, ChakraProtoMsg::ALL_REDUCE, 1 << 18, {}, 1);
  for (auto& rank : job) {
    for (uint32_t i = 0; i < 60; ++i) {
      PbNode beside = trace::test::collective(1000 + i, ChakraProtoMsg::ALL_GATHER, 1 << 18);
      beside.add_data_deps(2 * i + 1);
      rank.push_back(beside);
    }
  }
  const Outcome together = run(on, true, "{}", job);
  const Outcome all = run(on, false, "{}", job);
  EXPECT_EQ(together.given, 0u);
  EXPECT_EQ(together.time, all.time);
  EXPECT_GT(together.with_others, 100u);
}

// What begins while a collective is left out finds its links empty: the run says that this is uncertain.
TEST(SampledCollectives, WhatMeetsThemIsUncertain) {
  const std::string on = machine("Switch(4)", kLink, kPacket);
  auto job = steps(4, 80, 0, ChakraProtoMsg::ALL_REDUCE, 1 << 20, {}, 1);
  for (uint32_t i = 40; i < 80; ++i) {
    PbNode wait = trace::test::comp(1000 + i, {}, 10);  // into the middle of the collective
    wait.add_data_deps(2 * i + 1);
    PbNode send = trace::test::send(2000 + i, 1, 1 << 18, i);
    send.add_data_deps(1000 + i);
    job[0].push_back(wait);
    job[0].push_back(send);
    PbNode receive = trace::test::receive(2000 + i, 0, 1 << 18, i);
    receive.add_data_deps(2 * i + 1);
    job[1].push_back(receive);
  }
  const Outcome all = run(on, false, "{}", job);
  const Outcome sampled = run(on, true, "{}", job);
  EXPECT_GT(sampled.given, 40u);
  EXPECT_LE(off(sampled, all), sampled.error);
  EXPECT_GT(sampled.error, 0.005);
}

// Ten drawn jobs: the error told is not smaller than the error found. Traffic that is random by itself
// (drawn ways) is among them.
TEST(SampledCollectives, TheErrorToldIsTrueOfDrawnJobs) {
  struct Machine {
    const char* notation;
    uint32_t ranks;
    uint32_t dimensions;
    const char* packet;
  };
  const Machine machines[] = {
      {"Switch(8)", 8, 1, "vcs: 4"},
      {"Ring(4)_Switch(2)", 8, 2, "vcs: 2"},
      {"Clos(hosts=4,leaves=2,spines=2)", 8, 1, "vcs: 1, selection: spray"},
      {"Clos(hosts=4,leaves=2,spines=2)", 8, 1, "vcs: 2, flow_control: pfc, selection: random"},
      {"Switch(4)_Clos(hosts=2,leaves=2,spines=1)", 16, 2, "vcs: 4"},
  };
  const ChakraProtoMsg::CollectiveCommType ops[] = {ChakraProtoMsg::ALL_REDUCE, ChakraProtoMsg::ALL_GATHER,
                                                    ChakraProtoMsg::ALL_TO_ALL,
                                                    ChakraProtoMsg::REDUCE_SCATTER};
  std::mt19937_64 random(20261128);
  uint64_t given = 0;
  for (uint32_t i = 0; i < 10; ++i) {
    const Machine& drawn = machines[i % std::size(machines)];
    std::string links = kLink;
    for (uint32_t d = 1; d < drawn.dimensions; ++d) links += std::string(", ") + kLink;
    const std::string on =
        machine(drawn.notation, links, std::string("packet_size: 1 KiB, flit_size: 64 B, ") + drawn.packet);
    const uint64_t jitter = random() % 3 == 0 ? 0 : random() % 20;
    const auto op = ops[random() % std::size(ops)];
    const int64_t bytes =
        static_cast<int64_t>(drawn.ranks) * (16384 + 1024 * static_cast<int64_t>(random() % 64));
    const auto job = steps(drawn.ranks, 100, jitter, op, bytes, {}, random());
    const Outcome all = run(on, false, "{}", job);
    const Outcome sampled = run(on, true, "{}", job);
    const std::string what = fmt::format(
        "job {}: {} {}, operation {}, {} B, jitter {} us: {} ps, all {} ps, off {:.4f} %, told {:.4f} %, "
        "given {}",
        i, drawn.notation, drawn.packet, static_cast<int>(op), bytes, jitter, sampled.time, all.time,
        100 * off(sampled, all), 100 * sampled.error, sampled.given);
    EXPECT_LE(off(sampled, all), sampled.error + 1e-6) << what;
    EXPECT_LE(sampled.error, 0.03) << what;
    if (std::getenv("WEFT_TELL") != nullptr) fmt::print("{}\n", what);
    given += sampled.given;
  }
  EXPECT_GT(given, 500u);
}

// Collectives along one dimension: each line has its own, and all have one number.
TEST(SampledCollectives, LinesWithOneNumberAreSimulated) {
  const std::string on = machine("Switch(4)_Switch(2)", std::string(kLink) + ", " + kLink, kPacket);
  auto job = steps(8, 40, 0, ChakraProtoMsg::ALL_REDUCE, 1 << 18, {}, 1);
  for (auto& rank : job) {
    for (PbNode& node : rank) {
      if (node.type() != ChakraProtoMsg::COMM_COLL_NODE) continue;
      auto* const along = node.add_attr();
      along->set_name("involved_dim");
      along->mutable_bool_list()->add_values(true);
      along->mutable_bool_list()->add_values(false);
    }
  }
  const Outcome all = run(on, false, "{}", job);
  const Outcome sampled = run(on, true, "{}", job);
  EXPECT_EQ(sampled.time, all.time);
  EXPECT_EQ(sampled.given, 0u);
  EXPECT_EQ(sampled.with_others, 0u);
  EXPECT_EQ(sampled.simulated, 40u);
}

TEST(SampledTimes, ErrorIsWhatLaterSamplesShow) {
  SampledTimes times;
  for (int i = 0; i < 4; ++i) {
    EXPECT_FALSE(times.known());
    times.add({{0, 0}, {1000, 1000}});
  }
  EXPECT_TRUE(times.known());
  for (int i = 0; i < 10; ++i) EXPECT_EQ(times.give({10, 0}), (SampledTimes::Times{1000, 1000}));
  EXPECT_EQ(times.error().error(), 0);
  times.add({{0, 0}, {1100, 1000}});  // ten collectives should have taken 100 more each
  EXPECT_EQ(times.error().off, 1000);
  EXPECT_EQ(times.error().given, 10000);
  EXPECT_GE(times.error().error(), 0.1);
}

TEST(SampledTimes, StartsUnlikeThoseOfSamplesAreUncertainUntilOneIsSimulated) {
  SampledTimes times;
  for (int i = 0; i < 4; ++i) times.add({{0, 0}, {1000 + static_cast<Picoseconds>(i), 1000}});
  EXPECT_GE(times.give({400, 0}).front(), 1000u);
  EXPECT_TRUE(times.doubtful());
  EXPECT_EQ(times.error().uncertain, 3);
  times.add({{410, 0}, {700, 700}});
  EXPECT_FALSE(times.doubtful());
  EXPECT_EQ(times.error().uncertain, 0);
  EXPECT_LE(times.error().off, -300);
  EXPECT_EQ(times.give({400, 0}), (SampledTimes::Times{700, 700}));
  // Members that wait longer than the collective takes are all the same.
  times.add({{5000, 0}, {600, 600}});
  EXPECT_EQ(times.give({90000, 0}), (SampledTimes::Times{600, 600}));
}

TEST(LinkDomains, TrafficWithoutACommonDomainUsesNoCommonLink) {
  const auto domains = [](const std::string& notation, const std::string& links) {
    const trace::test::TempFolder folder;
    trace::test::spit(folder / "machine.yaml", machine(notation, links, kPacket));
    return load_config(folder / "machine.yaml");
  };
  const auto disjoint = [](const std::vector<uint32_t>& a, const std::vector<uint32_t>& b) {
    for (const uint32_t d : a)
      if (std::find(b.begin(), b.end(), d) != b.end()) return false;
    return true;
  };
  const Config two = domains("Switch(4)_Ring(4)", std::string(kLink) + ", " + kLink);
  const LinkDomains of(two);
  EXPECT_TRUE(disjoint(of.of_group({0, 1}), of.of_group({2, 3})));   // other ports of one switch
  EXPECT_FALSE(disjoint(of.of_group({0, 1}), of.of_group({1, 2})));  // a port of both
  EXPECT_TRUE(disjoint(of.of_group({0, 1, 2, 3}), of.of_group({4, 5, 6, 7})));
  EXPECT_FALSE(disjoint(of.of_group({0, 4}), of.of_group({8, 12})));             // one ring
  EXPECT_TRUE(disjoint(of.of_group({0, 4}), of.of_group({9, 13})));              // two rings
  EXPECT_TRUE(disjoint(of.of_group({0, 1, 2, 3}), of.of_group({0, 4, 8, 12})));  // two dimensions
  // 0 to 5: by switch to 1, by ring to 5.
  EXPECT_FALSE(disjoint(of.of_message(0, 5), of.of_group({1, 2})));
  EXPECT_FALSE(disjoint(of.of_message(0, 5), of.of_group({1, 13})));
  EXPECT_TRUE(disjoint(of.of_message(0, 5), of.of_group({2, 3})));
  EXPECT_EQ(of.of_group({}).size(), 16u + 4u);
}

}  // namespace
}  // namespace weft
