// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// What-if delays (`collectives.rules` with a `delay`): a delay that computing hides changes nothing, beyond
// that each exposed collective costs its delay once; which collectives a rule chooses; folded as whole.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "configs/loader.h"
#include "tests/support/isolated.h"
#include "tests/support/solo_job.h"
#include "tests/trace/trace_files.h"
#include "workload/collectives/delay_rules.h"

namespace weft {
namespace {

using collectives::DelayRules;
using trace::test::PbNode;
using trace::test::TempFolder;

constexpr const char* kMachine =
    "weft: 1\n"
    "topology: {notation: Ring(4), dimensions: [{bandwidth: 50 GB/s, latency: 500 ns}]}\n"
    "nmu: {endpoint_delay: 10 ns}\n"
    "collectives: {chunks: 2, rules: [";

Config machine(const std::string& rules) {
  return parse_config(kMachine + rules + "]}\n", "delays.yaml");
}

/// Iterations of a forward pass, and a backward pass of `layers` layers, each with an all-reduce of its
/// gradients beside the next layer's computing. The update waits for all of them.
std::vector<std::vector<PbNode>> training(uint32_t ranks, uint32_t iterations, uint32_t layers,
                                          uint64_t compute_us, uint64_t bytes) {
  std::vector<std::vector<PbNode>> traces(ranks);
  for (uint32_t r = 0; r < ranks; ++r) {
    uint64_t id = 1;
    std::vector<uint64_t> before;
    for (uint32_t i = 0; i < iterations; ++i) {
      std::vector<uint64_t> gradients;
      for (uint32_t l = 0; l < layers; ++l) {
        PbNode compute = trace::test::comp(id++, {}, compute_us);
        for (const uint64_t d : before) compute.add_data_deps(d);
        traces[r].push_back(compute);
        before = {compute.id()};
        PbNode node = trace::test::collective(id++, ChakraProtoMsg::ALL_REDUCE, bytes);
        node.set_name(fmt::format("iter{}.grad{}", i, l));
        node.add_data_deps(compute.id());
        traces[r].push_back(node);
        gradients.push_back(node.id());
      }
      gradients.push_back(before[0]);
      before = gradients;  // the next iteration begins behind all of them
    }
  }
  return traces;
}

/// The time of the job in ps.
Picoseconds time_of(const std::vector<std::vector<PbNode>>& nodes, const Config& config, bool fold = false) {
  const TempFolder folder;
  for (uint32_t r = 0; r < nodes.size(); ++r)
    trace::test::write_trace(folder / fmt::format("job.{}.et", r), nodes[r]);
  const trace::JobTrace traces =
      trace::open_job(folder / "job", static_cast<uint32_t>(nodes.size()), "", false);
  const auto ran = test::isolated([&] {
    test::SoloTraceJob job("job", config, traces, fold);
    job.start();
    if (!test::run_to_the_end(job)) return job.stall_report();
    const RunResult result = job.result();
    std::string wrong;
    for (const std::string& line : result.broken_invariants) wrong += line + "\n";
    for (const std::string& line : result.warnings) wrong += line + "\n";
    if (fold && !result.folded) wrong += "not folded\n";
    return wrong.empty() ? std::to_string(result.time) : wrong;
  });
  EXPECT_EQ(ran.status, 0) << ran.text;
  EXPECT_EQ(ran.text.find_first_not_of("0123456789"), std::string::npos) << ran.text;
  return ran.text.empty() ? 0 : std::strtoull(ran.text.c_str(), nullptr, 10);
}

TEST(WhatIfDelays, FlatWithinTheSlackThenSlopeOnePerExposedCollective) {
  std::mt19937_64 random(3);
  for (int draw = 0; draw < 8; ++draw) {
    const auto iterations = static_cast<uint32_t>(1 + random() % 3);
    const auto layers = static_cast<uint32_t>(2 + random() % 3);
    const uint64_t compute_us = 100 + random() % 100;
    const auto nodes = training(4, iterations, layers, compute_us, 1000 * (20 + random() % 50));
    const Picoseconds plain = time_of(nodes, machine("{priority: 1}"));
    // The all-reduce behind the last layer's computing is exposed; the one before has that layer to hide in.
    const std::string last = fmt::format("*.grad{}", layers - 1);
    const std::string hidden = fmt::format("*.grad{}", layers - 2);
    const auto with = [&](const std::string& name, uint64_t us) {
      return time_of(nodes, machine(fmt::format("{{name: \"{}\", delay: {} us}}", name, us)));
    };
    const Picoseconds alone = plain / iterations - layers * compute_us * 1'000'000;  // an all-reduce
    EXPECT_EQ(with(hidden, (compute_us - alone / 1'000'000 - 1) / 2), plain);
    for (const uint64_t us : {1, 7, 300})
      EXPECT_EQ(with(last, us), plain + iterations * us * 1'000'000) << us;
    // Beyond: the later of the two ends the iteration. Both run at once for a while, so that the slope
    // counts.
    const Picoseconds far = with(hidden, 2 * compute_us + 200);
    EXPECT_EQ(with(hidden, 2 * compute_us + 250), far + iterations * 50'000'000ull);
  }
}

TEST(WhatIfDelays, ChooseByIterationAndOccurrence) {
  const auto nodes = training(4, 3, 2, 50, 40'000);
  const Picoseconds plain = time_of(nodes, machine("{priority: 1}"));
  const auto us = [&](const std::string& rules) {
    return static_cast<double>(time_of(nodes, machine(rules)) - plain) / 1e6;
  };
  EXPECT_EQ(us("{name: \"*.grad1\", delay: 5 us}"), 15);
  EXPECT_EQ(us("{name: \"*.grad1\", iteration: 1, delay: 5 us}"), 5);
  EXPECT_EQ(us("{name: \"*.grad1\", occurrence: 2, delay: 5 us}"), 5);
  EXPECT_EQ(us("{operation: all_reduce, occurrence: 6, delay: 5 us}"), 5);       // iter2.grad1
  EXPECT_EQ(us("{operation: all_reduce, occurrence: 5, delay: 5 us}"), 0);       // iter2.grad0, hidden
  EXPECT_EQ(us("{iteration: 2, occurrence: 2, group: \"0\", delay: 5 us}"), 5);  // iter2.grad1
  EXPECT_EQ(us("{min_bytes: 40000 B, max_bytes: 40000 B, delay: 5 us}"), 15);
  // The first that holds applies; settings are another rule's.
  EXPECT_EQ(us("{name: \"iter1.*\", delay: 0 us}, {delay: 5 us}, {name: \"*\", chunks: 2}"), 10);
}

TEST(WhatIfDelays, FoldedJobsAreDelayedAlike) {
  const auto nodes = training(4, 2, 3, 60, 40'000);
  for (const char* rule : {"{occurrence: 3, delay: 9 us}", "{iteration: 1, delay: 80 us}"}) {
    Config config = machine(rule);
    for (DimensionConfig& d : config.dimensions) d.fidelity = Fidelity::analytical;
    EXPECT_EQ(time_of(nodes, config, true), time_of(nodes, config, false)) << rule;
  }
}

TEST(WhatIfDelays, ACollectiveAloneTakesItsDelayLonger) {
  for (const char* operation : {"all_reduce", "all_gather", "reduce_scatter", "all_to_all", "broadcast"}) {
    for (const char* delay : {"0 us", "3 us"}) {
      const Config config =
          machine(fmt::format("{{operation: {}, occurrence: 2, delay: {}}}", operation, delay));
      CollectiveOp op = CollectiveOp::all_reduce;
      for (int i = 0; i < kCollectiveOps; ++i)
        if (std::string(to_string(static_cast<CollectiveOp>(i))) == operation)
          op = static_cast<CollectiveOp>(i);
      EXPECT_SILENT(test::isolated([&] {
        test::SoloCollectiveJob job("job", config);
        std::vector<Picoseconds> times;
        for (int i = 0; i < 3; ++i) {
          job.start(op, 64'000);
          if (!test::run_to_the_end(job)) return job.stall_report();
          times.push_back(job.last().time());
        }
        const Picoseconds extra = std::string(delay) == "0 us" ? 0 : 3'000'000;
        return times[0] == times[2] && times[1] == times[0] + extra
                   ? std::string()
                   : fmt::format("{}: {} {} {}", operation, times[0], times[1], times[2]);
      }));
    }
  }
}

TEST(DelayRules, CountsOccurrencesByCommunicator) {
  const Config config = machine(
      "{operation: all_reduce, name: \"a*\", occurrence: 2, delay: 1 us}, {max_bytes: 10 B, delay: 2 us}");
  DelayRules rules(config.collectives.rules);
  const DelayRules::Call a{CollectiveOp::all_reduce, 100, "", "abc", {}};
  const DelayRules::Call other{CollectiveOp::all_gather, 100, "", "abc", {}};
  const DelayRules::Call small{CollectiveOp::all_gather, 10, "", "x", {}};
  EXPECT_EQ(rules.next(0, a), 0u);
  EXPECT_EQ(rules.next(0, other), 0u);
  EXPECT_EQ(rules.next(1, a), 0u);
  EXPECT_FALSE(rules.matched(0));
  EXPECT_EQ(rules.next(0, a), 1'000'000u);
  EXPECT_EQ(rules.next(0, a), 0u);
  EXPECT_EQ(rules.next(1, a), 1'000'000u);
  EXPECT_EQ(rules.next(1, small), 2'000'000u);
  EXPECT_TRUE(rules.matched(0) && rules.matched(1));
}

TEST(DelayRules, WrongRulesAreRefused) {
  const auto refusal = [](const std::string& rule) {
    try {
      machine(rule);
    } catch (const UserError& e) {
      return std::string(e.what());
    }
    return std::string("accepted");
  };
  const auto expect = [&](const std::string& rule, const std::string& part) {
    EXPECT_NE(refusal(rule).find(part), std::string::npos) << refusal(rule);
  };
  expect("{delay: 1 us, chunks: 3}", "give the delay a rule of its own");
  expect("{iteration: 1, chunks: 3}", "is a condition of delays only");
  expect("{occurrence: 1, chunks: 3}", "is a condition of delays only");
  expect("{occurrence: 0, delay: 1 us}", "occurrence");
  expect("{delay: 1}", "delay");
  expect("{min_bytes: 2 KiB, max_bytes: 1 KiB, delay: 1 us}", "less than `min_bytes`");
  expect("{operation: all_reduce}", "sets nothing");
}

}  // namespace
}  // namespace weft
