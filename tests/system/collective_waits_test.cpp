// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Ranks that reach collectives in different orders (docs/collective_waits.md): whole jobs end without the
// last resort (Job::rescue), and work beside them changes no collective's times.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "configs/loader.h"
#include "tests/support/isolated.h"
#include "tests/support/paths.h"
#include "tests/support/random_machine.h"
#include "tests/support/solo_job.h"
#include "tests/support/trace_run.h"
#include "tests/trace/trace_files.h"

namespace weft {
namespace {

using test::of_traces;
using test::Random;
using trace::test::PbNode;

/// When every collective started and ended, and what the job says about it.
std::string outcome(TraceJob& job) {
  if (!job.finished()) return "stalled: " + job.stall_report();
  const RunResult result = job.result();
  std::vector<std::string> lines;
  for (const CollectiveRow& row : result.collectives)
    lines.push_back(
        fmt::format("{} {} {} to {}\n", row.group.str(), row.name.str(), row.started, row.finished));
  std::sort(lines.begin(), lines.end());
  std::string text = fmt::format("{} beyond the slots\n", result.out_of_order_starts);
  for (const std::string& line : lines) text += line;
  for (const std::string& line : result.broken_invariants) text += "broken: " + line + "\n";
  if (result.time > result.upper_bound)
    text += fmt::format("broken: {} ps, upper bound {} ps\n", result.time, result.upper_bound);
  for (const std::string& line : result.warnings) {
    if (line.find("nothing in the machine moved") != std::string::npos) text += line + "\n";
  }
  return text;
}

std::string data_job(const std::string& config_file, const std::string& trace, const std::string& groups,
                     const std::vector<std::string>& overrides) {
  const std::string folder = test::data_dir() + "/defects/collective_waits/";
  const auto result = test::isolated([&] {
    const Config config = load_config(folder + config_file, overrides);
    const trace::JobTrace traces =
        trace::open_job(folder + trace, config.npus(), groups.empty() ? "" : folder + groups, false);
    test::SoloTraceJob job("job", config, traces);
    job.start();
    test::run_to_the_end(job);
    return outcome(job);
  });
  EXPECT_EQ(result.status, 0) << result.text;
  return result.text;
}

TEST(CollectiveWaits, UnrelatedComputeChangesNothing) {
  WEFT_NEEDS_DATA();
  for (const char* scheduling : {"lifo", "fifo"}) {
    const std::vector<std::string> set{std::string("collectives.scheduling=") + scheduling};
    const std::string alone = data_job("ring4.yaml", "alone", "groups.json", set);
    EXPECT_EQ(alone, data_job("ring4.yaml", "beside_100ms", "groups.json", set));
    // As docs/collective_waits.md works it out.
    const bool lifo = set[0].find("lifo") != std::string::npos;
    EXPECT_NE(alone.find(fmt::format("a A 0 to {}\n", lifo ? 1'104'000'000 : 1'140'000'000)),
              std::string::npos)
        << alone;
    EXPECT_NE(alone.find(fmt::format("b B 0 to {}\n", lifo ? 1'140'000'000 : 1'104'000'000)),
              std::string::npos)
        << alone;
    EXPECT_EQ(alone.find("moved any more"), std::string::npos) << alone;
  }
  const std::string alone = data_job("round_robin.yaml", "rr_alone", "", {});
  EXPECT_EQ(alone, data_job("round_robin.yaml", "rr_beside_1s", "", {}));
  EXPECT_EQ(alone.find("moved any more"), std::string::npos) << alone;
}

/// Five ranks on a ring that start three collectives at once; g0 leaves rank 3 out. `beside`: rank 4
/// computes, too.
std::string three_at_once(bool beside) {
  std::vector<std::vector<PbNode>> ranks(5);
  for (uint32_t rank = 0; rank < 5; ++rank) {
    std::vector<PbNode>& nodes = ranks[rank];
    if (rank != 3) nodes.push_back(trace::test::collective(1, ChakraProtoMsg::ALL_TO_ALL, 65536, "g0"));
    nodes.push_back(trace::test::collective(2, ChakraProtoMsg::REDUCE_SCATTER, 65536, "line"));
    nodes.push_back(trace::test::collective(3, ChakraProtoMsg::ALL_GATHER, 38361, "line"));
    PbNode last = trace::test::collective(4, ChakraProtoMsg::GATHER, 64);
    if (rank != 3) last.add_data_deps(1);
    nodes.push_back(last);
    if (beside && rank == 4) nodes.push_back(trace::test::comp(5, {}, 107));
  }
  return of_traces(
      "weft: 1\n"
      "topology:\n"
      "  notation: Ring(5)\n"
      "  dimensions: [{bandwidth: 70369 MB/s, links_per_npu: 2, latency: 23 ns, fidelity: message,\n"
      "                switching: store_and_forward}]\n"
      "npu: {compute_slots: 2}\n"
      "nmu: {endpoint_delay: 24 ns}\n"
      "collectives: {scheduling: lifo, chunks: 2,\n"
      "              rules: [{operation: all_gather, chunks: 4},\n"
      "                      {operation: reduce_scatter, chunks: 1}]}\n",
      "{\"g0\": [0, 1, 2, 4], \"line\": [0, 1, 2, 3, 4]}", ranks, outcome);
}

// A chunk whose start is decided counts as begun from then on. That closes further circles at the same
// instant.
TEST(CollectiveWaits, ADecisionMayCloseAFurtherCircle) {
  const std::string alone = three_at_once(false);
  EXPECT_EQ(alone.find("moved any more"), std::string::npos) << alone;
  EXPECT_EQ(alone.find(": 0 beyond"), std::string::npos) << alone;
  EXPECT_EQ(alone, three_at_once(true));
}

/// A job on two rings, 1 GB/s, 500 ns: "<starts beyond the slots>, <whether within the bounds>, <ps>".
std::string on_two_rings(const std::string& notation, const std::string& scheduling,
                         const std::vector<std::vector<PbNode>>& ranks) {
  return of_traces(
      "weft: 1\n"
      "topology:\n"
      "  notation: " +
          notation +
          "\n"
          "  dimensions: [{bandwidth: 1 GB/s, latency: 500 ns}, {bandwidth: 1 GB/s, latency: 500 ns}]\n"
          "collectives: {chunks: 1, scheduling: " +
          scheduling + "}\n",
      "{\"line\": [2, 3]}", ranks, [](TraceJob& job) {
        if (!job.finished()) return "stalled: " + job.stall_report();
        const RunResult r = job.result();
        const bool within = r.lower_bound <= r.time && r.time <= r.upper_bound;
        return fmt::format("{}, {}, {}", r.out_of_order_starts, within ? "within" : "beyond", r.time);
      });
}

PbNode after(PbNode node, std::initializer_list<uint64_t> earlier) {
  for (const uint64_t id : earlier) node.add_data_deps(id);
  return node;
}

// Ranks 2 and 3 begin both all-reduces at once. Twice they wait a link's latency for a start beyond the
// slots.
TEST(CollectiveWaits, StartsBeyondTheSlotsAreWithinTheUpperBound) {
  const PbNode first = trace::test::collective(1, ChakraProtoMsg::ALL_REDUCE, 1);
  const PbNode second = trace::test::collective(3, ChakraProtoMsg::ALL_REDUCE, 1);
  EXPECT_EQ(on_two_rings("Ring(2)_Ring(2)", "lifo",
                         {{first, after(trace::test::receive(2, 1, 1, 7), {1}), after(second, {2})},
                          {first, after(trace::test::send(2, 0, 1, 7), {1}), after(second, {2})},
                          {first, second},
                          {first, second}}),
            "2, within, 5004000");
}

// Ranks 2 and 3 do their part of the reduce-scatter (2,000.5 us) before the all-reduce of their line, and
// their messages of its second phase are on the links until 3,000.5 us. What they tell ranks 0 and 1 comes
// after that (0.501 us), and these take 2,000.5 and 1,000.5 us: what was done early made nothing shorter. One
// after the other, with all members of a collective at once, it would be 3,001 + 2 + 2 * 0.501 us.
TEST(CollectiveWaits, WorkDoneEarlyIsWithinTheUpperBound) {
  const PbNode whole = trace::test::collective(1, ChakraProtoMsg::REDUCE_SCATTER, 4'000'000);
  const PbNode line = trace::test::collective(2, ChakraProtoMsg::ALL_REDUCE, 1'000, "line");
  const auto told = [&](uint32_t by) {
    return std::vector<PbNode>{trace::test::receive(3, by, 1, 7), after(whole, {3})};
  };
  const auto tells = [&](uint32_t to) {
    return std::vector<PbNode>{whole, line, after(trace::test::send(3, to, 1, 7), {2})};
  };
  EXPECT_EQ(on_two_rings("Ring(2)_Ring(2)", "fifo", {told(2), told(3), tells(0), tells(1)}),
            "0, within, 6002001000");
}

// A collective of all ranks along the first dimension is one of its own on each line (1,001 us), and here
// each line waits for a message of the one before it (0.501 us).
TEST(CollectiveWaits, LinesThatBeginOneAfterTheOtherAreWithinTheUpperBound) {
  PbNode along = trace::test::collective(1, ChakraProtoMsg::ALL_REDUCE, 1'000'000);
  auto* involved = along.add_attr();
  involved->set_name("involved_dim");
  involved->mutable_bool_list()->add_values(true);
  involved->mutable_bool_list()->add_values(false);
  std::vector<std::vector<PbNode>> ranks(8);
  for (uint32_t rank = 0; rank < 8; ++rank) {
    if (rank >= 2) ranks[rank].push_back(trace::test::receive(2, rank - 2, 1, 7));
    ranks[rank].push_back(rank >= 2 ? after(along, {2}) : along);
    if (rank < 6) ranks[rank].push_back(after(trace::test::send(3, rank + 2, 1, 7), {1}));
  }
  EXPECT_EQ(on_two_rings("Ring(2)_Ring(4)", "fifo", ranks), "0, within, 4005503000");
}

Config random_machine(Random& random) {
  Config config;
  test::draw_dimensions(
      random, config, 1, 12, [](Random& r, uint32_t count) { return 2 + r.pick(count == 1 ? 6 : 3); },
      [](Random& r, DimensionConfig& d) {
        d.bandwidth = {1'000'000'000ull * (1 + r.pick(100)), 1};
        d.latency = r.pick(4) == 0 ? r.pick(2) : r.pick(2'000'000);
        d.fidelity = static_cast<Fidelity>(r.pick(8) == 0 ? 2 : r.pick(2));
      });
  config.packet.packet_bytes = 4096;  // the jobs are about slots: few packets will do
  CollectivesConfig& c = config.collectives;
  c.chunks = 1 + random.pick(4);
  c.active_chunks_per_dimension = 1 + random.pick(2);
  c.queues_per_dimension = 1 + random.pick(2);
  c.order = static_cast<CollectiveOrder>(random.pick(kCollectiveOrders));
  c.dispatch_batch = 1 + random.pick(2);
  config.nmu.endpoint_delay = random.pick(3) == 0 ? random.pick(30'000) : 0;
  return config;
}

/// Traces of several collectives over random groups, which every rank reaches in an order of its own.
class RandomJob {
 public:
  RandomJob(Random& random, const Config& config) : npus_(config.npus()), traces_(npus_) {
    const uint32_t groups = 1 + random.pick(4);
    for (uint32_t g = 0; g < groups; ++g) {
      std::vector<uint32_t> ranks;
      for (uint32_t r = 0; r < npus_; ++r) {
        if (random.pick(3) != 0) ranks.push_back(r);
      }
      if (ranks.size() < 2) ranks = {0, npus_ - 1};
      if (random.pick(3) == 0) std::shuffle(ranks.begin(), ranks.end(), random.engine);
      groups_.push_back(ranks);
    }
    const uint32_t count = 2 + random.pick(5);
    std::vector<std::vector<uint32_t>> of_rank(npus_);
    struct Made {
      uint32_t group = 0;
      ChakraProtoMsg::CollectiveCommType type = ChakraProtoMsg::ALL_REDUCE;
      int64_t bytes = 0;
      uint32_t root = 0;
    };
    std::vector<Made> made;
    const ChakraProtoMsg::CollectiveCommType types[] = {
        ChakraProtoMsg::ALL_REDUCE, ChakraProtoMsg::ALL_GATHER, ChakraProtoMsg::REDUCE_SCATTER,
        ChakraProtoMsg::ALL_TO_ALL, ChakraProtoMsg::BROADCAST,  ChakraProtoMsg::REDUCE};
    for (uint32_t i = 0; i < count; ++i) {
      const uint32_t g = random.pick(groups);
      const auto& ranks = groups_[g];
      made.push_back({g, types[random.pick(6)],
                      static_cast<int64_t>(64 * ranks.size() * (1 + random.pick(500))),
                      ranks[random.pick(static_cast<uint32_t>(ranks.size()))]});
      for (const uint32_t r : ranks) of_rank[r].push_back(i);
    }
    for (uint32_t r = 0; r < npus_; ++r) {
      std::vector<uint32_t>& order = of_rank[r];
      // The collectives of one group must come in one order: that is what makes them the same collective.
      std::vector<uint32_t> slots = order;
      std::shuffle(slots.begin(), slots.end(), random.engine);
      std::map<uint32_t, std::vector<uint32_t>> by_group;
      for (const uint32_t i : order) by_group[made[i].group].push_back(i);
      std::map<uint32_t, size_t> next;
      for (const uint32_t slot : slots) {
        const uint32_t g = made[slot].group;
        const uint32_t i = by_group[g][next[g]++];
        PbNode node = trace::test::collective(i + 1, made[i].type, made[i].bytes, "g" + std::to_string(g));
        trace::test::attribute(node, "root", made[i].root);
        trace::test::attribute(node, "is_cpu_op", 0);
        if (random.pick(2) == 0) {
          PbNode before = trace::test::comp(100 + i, {}, 1 + random.pick(40));
          trace::test::attribute(before, "is_cpu_op", 1);
          traces_[r].push_back(before);
          node.add_data_deps(100 + i);
        }
        traces_[r].push_back(node);
      }
    }
  }
  /// `beside`: a rank with a second of compute that has nothing to do with the rest; ~0u: none.
  trace::JobTrace write(uint32_t beside) {
    for (uint32_t r = 0; r < npus_; ++r) {
      std::vector<PbNode> nodes = traces_[r];
      if (r == beside || nodes.empty()) {
        nodes.push_back(trace::test::comp(1000, {}, r == beside ? 1'000'000 : 1));
        trace::test::attribute(nodes.back(), "is_cpu_op", 0);
      }
      trace::test::write_trace(folder_ / ("job." + std::to_string(r) + ".et"), nodes);
    }
    std::string json;
    for (size_t g = 0; g < groups_.size(); ++g)
      json += fmt::format("{}\"g{}\": [{}]", g == 0 ? "" : ", ", g, fmt::join(groups_[g], ", "));
    trace::test::spit(folder_ / "groups.json", "{" + json + "}");
    return trace::open_job(folder_ / "job", npus_, folder_ / "groups.json", false);
  }

 private:
  trace::test::TempFolder folder_;
  uint32_t npus_;
  std::vector<std::vector<uint32_t>> groups_;
  std::vector<std::vector<PbNode>> traces_;
};

constexpr int kSchedulings = 3;
constexpr int kDimensionSchedulings = 4;

/// The job under every scheduler, in one simulation.
std::string every_scheduler(const Config& base, uint32_t threshold, const trace::JobTrace& traces) {
  const auto result = test::isolated([&] {
    std::vector<std::unique_ptr<Config>> configs;
    std::vector<std::unique_ptr<TraceJob>> jobs;
    for (int scheduling = 0; scheduling < kSchedulings; ++scheduling) {
      for (int within = 0; within < kDimensionSchedulings; ++within) {
        for (const bool dispatcher : {false, true}) {
          configs.push_back(std::make_unique<Config>(base));
          CollectivesConfig& c = configs.back()->collectives;
          c.scheduling = static_cast<CollectiveScheduling>(scheduling);
          c.dimension_scheduling = static_cast<DimensionScheduling>(within);
          c.dispatch_threshold = dispatcher ? threshold : 0;
          jobs.push_back(std::make_unique<test::SoloTraceJob>(fmt::format("job{}", jobs.size()).c_str(),
                                                              *configs.back(), traces));
        }
      }
    }
    for (auto& job : jobs) job->start();
    sc_core::sc_start();
    std::string text;
    for (size_t j = 0; j < jobs.size(); ++j) text += fmt::format("scheduler {}: {}", j, outcome(*jobs[j]));
    return text;
  });
  EXPECT_EQ(result.status, 0) << result.text;
  return result.text;
}

TEST(CollectiveWaits, RandomJobsNeverComeToRestAndIgnoreWorkBesideThem) {
  uint32_t conflicts = 0;
  for (uint32_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    const Config config = random_machine(random);
    RandomJob job(random, config);
    const uint32_t threshold = 1 + random.pick(2);
    const std::string alone = every_scheduler(config, threshold, job.write(~0u));
    ASSERT_EQ(alone.find("stalled"), std::string::npos) << alone;
    ASSERT_EQ(alone.find("broken"), std::string::npos) << alone;
    ASSERT_EQ(alone, every_scheduler(config, threshold, job.write(random.pick(config.npus()))));
    conflicts += alone.find(": 0 beyond") == std::string::npos ? 1 : 0;
  }
  EXPECT_GT(conflicts, 30u);  // they are hard enough
}

}  // namespace
}  // namespace weft
