// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Folding inside trace jobs: what is told of ranks that are not simulated is what they would have done.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "configs/loader.h"
#include "tests/system/folding_jobs.h"

namespace weft {
namespace {

using test::attribute;
using test::collective;
using test::compute;
using test::dimension;
using test::JobFiles;
using test::Outcome;
using test::PbNode;
using test::Random;
using test::run;

Config random_config(Random& random) {
  Config config;
  const uint64_t dims = 1 + random.below(3);
  for (uint64_t d = 0; d < dims; ++d) {
    config.dimensions.push_back(dimension(static_cast<DimensionKind>(random.below(3)),
                                          static_cast<uint32_t>(random.pick(2, 4, 3, 4, 1)),
                                          random.pick(25, 50, 200), random.pick(0, 500000, 1234567)));
  }
  auto& c = config.collectives;
  c.chunks = static_cast<uint32_t>(random.pick(1, 4, 7));
  c.active_chunks_per_dimension = static_cast<uint32_t>(random.pick(1, 1, 2, 3));
  c.queues_per_dimension = static_cast<uint32_t>(random.pick(1, 1, 2));
  c.order = static_cast<CollectiveOrder>(random.below(4));
  c.scheduling = static_cast<CollectiveScheduling>(random.below(3));
  c.dimension_scheduling = static_cast<DimensionScheduling>(random.below(4));
  c.dispatch_threshold = static_cast<uint32_t>(random.pick(0, 0, 2, 8));
  c.direct_window = static_cast<uint32_t>(random.pick(0, 0, 1));
  config.nmu.endpoint_delay = random.pick(0, 0, 10000);
  config.nmu.injection_queue = static_cast<uint32_t>(random.pick(0, 0, 2));
  if (random.below(4) == 0) {
    c.reduction = ReductionKind::fixed_bandwidth;
    c.reduction_bandwidth = {1600000000000ull, 1};
  }
  if (random.below(2) == 0) {
    const char* names[] = {"ring", "direct", "halving_doubling"};
    for (auto& algorithms : c.algorithms) {
      for (size_t d = 0; d < dims; ++d) algorithms.emplace_back(names[random.below(2)]);
    }
  }
  config.hbm.bandwidth = {2000000000000ull, 1};
  config.hbm.latency = 100000;
  config.npu.compute_slots = static_cast<uint32_t>(random.pick(1, 2));
  return config;
}

/// The same random graph on every rank, with every rank's own groups. `stragglers`: so many of the compute
/// nodes last longer on one rank.
void random_traces(Random& random, const Config& config, JobFiles& files, uint64_t stragglers = 0) {
  const bool chain = stragglers != 0 && random.below(3) != 0;  // one node after the other
  const auto dims = static_cast<uint32_t>(config.dimensions.size());
  const uint64_t nodes = 6 + random.below(14);
  for (uint64_t id = 1; id <= nodes; ++id) {
    std::vector<uint64_t> after;
    while (id > 1 && random.below(3) != 0 && after.size() < 3) after.push_back(1 + random.below(id - 1));
    if (chain && id > 1) after = {id - 1};
    const uint64_t kind = random.below(8);
    const auto op = static_cast<CollectiveOp>(random.below(4));
    const auto mask = static_cast<uint32_t>(1 + random.below((1u << dims) - 1));
    const uint64_t bytes = 64ull * 27 * 7 * (1 + random.below(200));
    const uint64_t micros = random.below(60);
    const bool world = random.below(4) == 0;
    const bool restricted = random.below(4) == 0;
    const int64_t priority = static_cast<int64_t>(random.below(3));
    uint64_t slow = files.ranks();
    if (kind >= 4 && kind < 7 && stragglers != 0) {
      slow = random.below(files.ranks());
      --stragglers;
    }
    for (uint32_t r = 0; r < files.ranks(); ++r) {
      auto& trace = files.trace(r);
      if (kind < 4) {
        PbNode node = collective(id, op, bytes, world || restricted ? "" : files.group(mask, r), after);
        attribute(node, "comm_priority", priority);
        if (restricted && !world) {
          auto* a = node.add_attr();
          a->set_name("involved_dim");
          for (uint32_t d = 0; d < dims; ++d) a->mutable_bool_list()->add_values((mask >> d & 1) != 0);
        }
        trace.push_back(node);
      } else if (kind < 7) {
        trace.push_back(compute(id, micros + (r == slow ? 1 + bytes % 97 : 0), after));
      } else {
        PbNode node = trace::test::make(id, "load", ChakraProtoMsg::MEM_LOAD_NODE);
        attribute(node, "tensor_size", static_cast<int64_t>(bytes));
        for (const uint64_t d : after) node.add_data_deps(d);
        trace.push_back(node);
      }
    }
  }
  files.write();
}

TEST(TraceFolding, SymmetricJobsAreToldFromOneRankToThePicosecond) {
  int folded = 0;
  for (uint32_t seed = 0; seed < 250; ++seed) {
    Random random(seed);
    const Config config = random_config(random);
    if (config.npus() < 2) continue;
    JobFiles files(config);
    random_traces(random, config, files);
    const Outcome fold = run(config, files, true);
    if (fold.folding.rfind("1 simulated", 0) != 0) continue;
    ++folded;
    EXPECT_EQ(fold.told, run(config, files, false).told)
        << "seed " << seed << ", " << config.npus() << " ranks";
    if (HasFailure()) break;
  }
  EXPECT_GT(folded, 100);
}

TEST(TraceFolding, JobsWithStragglersAreToldToThePicosecondToo) {
  int partly = 0;
  for (uint32_t seed = 0; seed < 250; ++seed) {
    Random random(seed + 100000);
    Config config = random_config(random);
    if (config.npus() < 2) continue;
    if (random.below(2) == 0) config.collectives.active_chunks_per_dimension = 1;
    JobFiles files(config);
    random_traces(random, config, files, 1 + random.below(3));
    const Outcome fold = run(config, files, true);
    if (fold.folding.find(", 0 of ") == std::string::npos) ++partly;
    EXPECT_EQ(fold.told, run(config, files, false).told)
        << "seed " << seed << ", " << config.npus() << " ranks, " << fold.folding;
    if (HasFailure()) break;
  }
  EXPECT_GT(partly, 60);
}

/// Compute, a collective of the TP group, compute; then, if wanted, one of all ranks.
void tensor_parallel(JobFiles& files, bool all, uint32_t slow = ~0u) {
  for (uint32_t r = 0; r < files.ranks(); ++r) {
    auto& trace = files.trace(r);
    trace.push_back(compute(1, r == slow ? 25 : 20));
    trace.push_back(collective(2, CollectiveOp::all_reduce, 1 << 20, files.group(1, r), {1}));
    trace.push_back(compute(3, 10, {2}));
    trace.push_back(collective(4, CollectiveOp::all_gather, 1 << 14, files.group(1, r), {3}));
    trace.push_back(compute(5, 10, {4}));
    if (all) trace.push_back(collective(6, CollectiveOp::all_reduce, 1 << 20, "", {5}));
  }
  files.write();
}

Config torus() {
  Config config;
  config.dimensions = {dimension(DimensionKind::fully_connected, 4), dimension(DimensionKind::ring, 8)};
  return config;
}

TEST(TraceFolding, AStragglerCostsItsOwnGroupOnly) {
  const Config config = torus();
  JobFiles files(config);
  tensor_parallel(files, false, 9);
  const Outcome fold = run(config, files, true);
  // One for the 28 ranks of seven groups, and the straggler's four; their second all-gather is in step again.
  EXPECT_EQ(fold.folding,
            "5 simulated, 15 of 16 folded; 4: ranks that communicate with each other have different traces");
  EXPECT_EQ(fold.told, run(config, files, false).told);
}

TEST(TraceFolding, AStragglerDoesNotUnfoldGroupsThatItMeetsLater) {
  const Config config = torus();
  JobFiles files(config);
  tensor_parallel(files, true, 9);
  const Outcome fold = run(config, files, true);
  // The seven other groups' two collectives each, and the second one of the straggler's. Not the one of all.
  EXPECT_EQ(
      fold.folding,
      "32 simulated, 15 of 17 folded; 32: ranks that communicate with each other have different traces");
  EXPECT_EQ(fold.told, run(config, files, false).told);
}

TEST(TraceFolding, OneRankTellsOfAllInASymmetricJob) {
  const Config config = torus();
  JobFiles files(config);
  tensor_parallel(files, true);
  const Outcome fold = run(config, files, true);
  EXPECT_EQ(fold.folding, "1 simulated, 17 of 17 folded, all");
  EXPECT_EQ(fold.told, run(config, files, false).told);
}

TEST(TraceFolding, MixedGroupsRunInMessages) {
  const Config config = torus();
  JobFiles files(config);
  files.define("mixed", {0, 1, 6});
  files.define("part", {8, 9});  // of a FullyConnected line of four: the two are alike
  for (uint32_t r = 0; r < files.ranks(); ++r) {
    files.trace(r).push_back(compute(1, 20));
    if (r == 0 || r == 1 || r == 6)
      files.trace(r).push_back(collective(2, CollectiveOp::all_reduce, 3 << 18, "mixed", {1}));
    if (r == 8 || r == 9)
      files.trace(r).push_back(collective(2, CollectiveOp::all_reduce, 1 << 20, "part", {1}));
    if (r >= 16) {
      files.trace(r).push_back(collective(2, CollectiveOp::all_reduce, 1 << 20, files.group(1, r), {1}));
    }
  }
  files.write();
  const Outcome fold = run(config, files, true);
  EXPECT_EQ(fold.folding.substr(0, fold.folding.find(';')), "6 simulated, 5 of 6 folded");
  EXPECT_NE(fold.folding.find("3: the group is not made of whole dimensions"), std::string::npos)
      << fold.folding;
  EXPECT_EQ(fold.told, run(config, files, false).told);
}

TEST(TraceFolding, RanksThatAreReadyAtDifferentTimesRunInMessages) {
  const Config config = torus();
  JobFiles files(config);
  for (uint32_t r = 0; r < files.ranks(); ++r) {
    files.trace(r).push_back(compute(1, 10 + r % 4));
    files.trace(r).push_back(collective(2, CollectiveOp::all_reduce, 1 << 20, files.group(2, r), {1}));
    files.trace(r).push_back(collective(3, CollectiveOp::all_reduce, 1 << 20, files.group(1, r), {2}));
  }
  files.write();
  const Outcome fold = run(config, files, true);
  // Ranks r % 4 alike are in step with each other (dimension 1), not with the rest.
  EXPECT_EQ(fold.folding.substr(0, fold.folding.find(';')), "32 simulated, 4 of 12 folded");
  EXPECT_EQ(fold.told, run(config, files, false).told);
}

TEST(TraceFolding, PointToPointMessagesAreSimulated) {
  const Config config = torus();
  JobFiles files(config);
  for (uint32_t r = 0; r < files.ranks(); ++r) {
    files.trace(r).push_back(compute(1, 10));
    files.trace(r).push_back(collective(2, CollectiveOp::all_reduce, 1 << 20, files.group(1, r), {1}));
  }
  files.trace(0).push_back(trace::test::send(3, 4, 1 << 20, 7));
  files.trace(4).push_back(trace::test::receive(3, 0, 1 << 20, 7));
  files.write();
  const Outcome fold = run(config, files, true);
  // Their two groups have different traces: the other ranks send nothing.
  EXPECT_EQ(fold.folding,
            "9 simulated, 6 of 8 folded; 8: ranks that communicate with each other have different traces");
  EXPECT_EQ(fold.told, run(config, files, false).told);
}

TEST(TraceFolding, GroupsInAnotherOrderAreNotTakenForEachOther) {
  // Two groups of the same ranks: some join a first, others b. Traces alike but for the names.
  Config config;
  config.dimensions = {dimension(DimensionKind::ring, 4)};
  JobFiles files(config);
  files.define("a", {0, 1, 2, 3});
  files.define("b", {0, 1, 2, 3});
  for (uint32_t r = 0; r < 4; ++r) {
    files.trace(r).push_back(collective(1, CollectiveOp::all_reduce, 1 << 20, r % 2 == 0 ? "a" : "b", {}));
    files.trace(r).push_back(collective(2, CollectiveOp::all_reduce, 1 << 20, r % 2 == 0 ? "b" : "a", {}));
  }
  files.write();
  const Outcome fold = run(config, files, true);
  EXPECT_EQ(fold.folding,
            "4 simulated, 0 of 2 folded; 4: they use their communicator groups in different orders");
  EXPECT_EQ(fold.told, run(config, files, false).told);
}

TEST(TraceFolding, ARootsLinkIsFreeWhenItsMessagesAreThere) {
  // 50,000 B take 1 us. The root's second message leaves its port at 2 us and is there then, when all members
  // start the all-reduce: nothing of the broadcast is left on a link.
  Config config;
  config.dimensions = {dimension(DimensionKind::ring, 4, 50, 0)};
  config.collectives.chunks = 1;
  config.collectives.algorithms[static_cast<size_t>(CollectiveOp::broadcast)] = {"direct"};
  JobFiles files(config);
  const uint64_t then[] = {2, 1, 0, 1};
  for (uint32_t r = 0; r < 4; ++r) {
    files.trace(r).push_back(trace::test::collective(1, ChakraProtoMsg::BROADCAST, 50000));
    files.trace(r).push_back(compute(2, then[r], {1}));
    files.trace(r).push_back(collective(3, CollectiveOp::all_reduce, 1 << 20, "", {2}));
  }
  files.write();
  const Outcome fold = run(config, files, true);
  EXPECT_EQ(fold.folding.substr(0, fold.folding.find(';')), "4 simulated, 1 of 2 folded");
  EXPECT_EQ(fold.told, run(config, files, false).told);
}

TEST(TraceFolding, RingsAtMessageFidelityFoldWhereMessagesEndAtNeighbours) {
  Config config = torus();
  config.dimensions[1].fidelity = Fidelity::message;
  JobFiles files(config);
  tensor_parallel(files, true);
  const Outcome fold = run(config, files, true);
  EXPECT_EQ(fold.folding, "1 simulated, 17 of 17 folded, all");
  EXPECT_EQ(fold.told, run(config, files, false).told);
  for (auto& algorithms : config.collectives.algorithms) algorithms = {"direct", "halving_doubling"};
  EXPECT_EQ(run(config, files, true).folding,
            "32 simulated, 0 of 17 folded; 32: messages of halving_doubling pass other ranks of dimension 1, "
            "which is not analytical");
}

TEST(TraceFolding, MessagesThatPassRanksOfARingAreSimulated) {
  Config config;
  config.dimensions = {dimension(DimensionKind::ring, 8)};
  config.dimensions[0].fidelity = Fidelity::message;
  for (const uint32_t by : {1u, 2u, 7u}) {
    JobFiles files(config);
    for (uint32_t r = 0; r < files.ranks(); ++r) {
      files.trace(r).push_back(compute(1, 10));
      files.trace(r).push_back(trace::test::send(2, (r + by) % 8, 1 << 20, 7));
      files.trace(r).push_back(trace::test::receive(3, (r + 8 - by) % 8, 1 << 20, 7));
    }
    files.write();
    const Outcome fold = run(config, files, true);
    EXPECT_EQ(fold.folding, by == 2
                                ? "8 simulated, 0 of 0 folded; 8: messages pass other ranks on their way, "
                                  "and a dimension of it is not analytical"
                                : "1 simulated, 0 of 0 folded, all");
    EXPECT_EQ(fold.told, run(config, files, false).told);
  }
}

/// Messages of a group pass the ranks between its members, which take no part.
TEST(TraceFolding, GroupsOfPartOfARingAreSimulatedAtMessageFidelity) {
  for (const std::vector<uint32_t>& members : {std::vector<uint32_t>{0, 2}, {0, 1, 2, 3, 4, 5}, {1, 5}}) {
    Config config;
    config.dimensions = {dimension(DimensionKind::ring, 8)};
    config.dimensions[0].fidelity = Fidelity::message;
    JobFiles files(config);
    files.define("some", members);
    for (uint32_t r = 0; r < files.ranks(); ++r) {
      files.trace(r).push_back(compute(1, 10));
      if (std::find(members.begin(), members.end(), r) != members.end())
        files.trace(r).push_back(collective(2, CollectiveOp::all_reduce, 1 << 20, "some", {}));
    }
    files.write();
    const Outcome fold = run(config, files, true);
    EXPECT_EQ(fold.folding.substr(0, 12), "8 simulated,") << fold.folding;
    EXPECT_EQ(fold.told, run(config, files, false).told);
  }
}

/// A rule moves the collective of some ranks to links that the others' NPUs would be joined to, too.
TEST(TraceFolding, RulesThatMoveMessagesToSwitchesOrRingsAreSimulated) {
  for (const char* const kind : {"Ring", "Switch", "Mesh", "FullyConnected"}) {
    const Config config =
        parse_config(fmt::format("weft: 1\ntopology:\n  notation: {}(4)\n"
                                 "  dimensions: [{{bandwidth: 50 GB/s, fidelity: analytical}}]\n"
                                 "  fidelity_rules: [{{name: coll2, fidelity: message}}]\n",
                                 kind),
                     "machine.yaml");
    JobFiles files(config);
    files.define("some", {0, 2});
    for (uint32_t r = 0; r < files.ranks(); ++r) {
      files.trace(r).push_back(compute(1, 10));
      if (r % 2 == 0) files.trace(r).push_back(collective(2, CollectiveOp::all_reduce, 1 << 20, "some", {}));
    }
    files.write();
    const Outcome fold = run(config, files, true);
    EXPECT_EQ(fold.told, run(config, files, false).told) << kind << ": " << fold.folding;
    EXPECT_EQ(fold.told.find("failed"), std::string::npos) << kind;
  }
}

TEST(TraceFolding, MessageFidelityAndDataAreSimulated) {
  Config config = torus();
  config.dimensions[0].fidelity = Fidelity::message;
  JobFiles files(config);
  tensor_parallel(files, true);
  EXPECT_EQ(
      run(config, files, true).folding,
      "32 simulated, 0 of 17 folded; 32: dimension 0 is not analytical, and no Switch or Ring at message "
      "fidelity");
  config.dimensions[0].fidelity = Fidelity::analytical;
  config.run.data = "functional";
  EXPECT_EQ(run(config, files, true).folding,
            "32 simulated, 0 of 17 folded; 32: every rank's data is computed and checked");
}

}  // namespace
}  // namespace weft
