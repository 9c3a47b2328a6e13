// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Folding of jobs whose collectives a communication library runs by its closed forms: what is told of ranks
// that are not simulated is what they would have done.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "configs/loader.h"
#include "tests/system/folding_jobs.h"

namespace weft {
namespace {

using test::attribute;
using test::compute;
using test::JobFiles;
using test::Outcome;
using test::PbNode;
using test::Random;
using test::run;

struct Drawn {
  Config config;
  uint32_t node = 0;  ///< NPUs
  uint32_t nodes = 0;
};

/// Nodes of 4 or 8 GPUs, of one or two dimensions behind them.
Drawn draw_machine(Random& random, const std::string& more = "", const std::string& fidelity = "analytical") {
  Drawn drawn;
  const bool rccl = random.below(3) == 0;
  drawn.node = rccl ? 8 : static_cast<uint32_t>(random.pick(4, 8));
  const auto first = static_cast<uint32_t>(random.pick(2, 3, 4));
  const auto second = static_cast<uint32_t>(random.pick(1, 1, 2));
  drawn.nodes = first * second;
  const std::string dimension =
      fmt::format("latency: {} ns, fidelity: {}}}", random.pick(0, 500, 700), fidelity);
  std::string text = fmt::format(
      "weft: 1\ntopology:\n  notation: {}({})_Switch({}){}\n  dimensions:\n    - {{bandwidth: {} GB/s, {}\n"
      "    - {{bandwidth: 50 GB/s, {}\n",
      rccl ? "FullyConnected" : "Switch", drawn.node, first,
      second > 1 ? fmt::format("_Switch({})", second) : "", rccl ? 48 * 7 : 450, dimension, dimension);
  if (second > 1) text += fmt::format("    - {{bandwidth: 25 GB/s, {}\n", dimension);
  text += more;
  text += fmt::format("npu: {{compute_slots: {}}}\n", random.pick(1, 2));
  text += rccl ? "collectives: {library: rccl, gpu: MI300X}\n" : "collectives: {library: nccl, gpu: H100}\n";
  drawn.config = parse_config(text, "machine.yaml");
  return drawn;
}

constexpr ChakraProtoMsg::CollectiveCommType kOps[] = {
    ChakraProtoMsg::ALL_REDUCE, ChakraProtoMsg::ALL_GATHER, ChakraProtoMsg::REDUCE_SCATTER,
    ChakraProtoMsg::ALL_TO_ALL, ChakraProtoMsg::BROADCAST,  ChakraProtoMsg::REDUCE};

/// The same calls on every rank: of its node, of its GPUs with the same place, of all, and of dimensions;
/// sizes that do not divide. Sends along the nodes, a stage each, when `stages`. `slow`: one rank computes
/// longer.
void draw_job(Random& random, const Drawn& drawn, JobFiles& files, bool stages, bool slow) {
  const auto dims = static_cast<uint32_t>(drawn.config.dimensions.size());
  const uint32_t straggler = slow ? static_cast<uint32_t>(random.below(files.ranks())) : files.ranks();
  const uint64_t nodes = 6 + random.below(14);
  for (uint64_t id = 1; id <= nodes; ++id) {
    std::vector<uint64_t> after;
    while (id > 1 && random.below(3) != 0 && after.size() < 3) after.push_back(1 + random.below(id - 1));
    const uint64_t kind = random.below(8);
    const auto op = kOps[random.below(6)];
    const uint64_t bytes = (1 + random.below(1000)) << random.below(16);
    const uint64_t micros = random.below(60);
    const auto mask = static_cast<uint32_t>(stages ? 1 : slow ? 2 : 1 + random.below((1u << dims) - 1));
    const bool world = !stages && !slow && random.below(4) == 0;
    const bool restricted = !stages && random.below(4) == 0;
    for (uint32_t r = 0; r < files.ranks(); ++r) {
      const uint32_t stage = r / drawn.node;
      if (kind < 4) {
        PbNode node = trace::test::collective(id, op, static_cast<int64_t>(bytes),
                                              world || restricted ? "" : files.group(mask, r));
        for (const uint64_t d : after) node.add_data_deps(d);
        if (restricted && !world) {
          auto* a = node.add_attr();
          a->set_name("involved_dim");
          for (uint32_t d = 0; d < dims; ++d) a->mutable_bool_list()->add_values((mask >> d & 1) != 0);
        }
        files.trace(r).push_back(node);
      } else if (stages && kind == 7) {
        const bool last = stage + 1 == drawn.nodes;
        PbNode node = last ? compute(id, micros) : trace::test::send(id, r + drawn.node, bytes, id);
        for (const uint64_t d : after) node.add_data_deps(d);
        files.trace(r).push_back(node);
        if (stage != 0) files.trace(r).push_back(trace::test::receive(1000 + id, r - drawn.node, bytes, id));
      } else {
        files.trace(r).push_back(compute(id, micros + (r == straggler ? 7 : 0), after));
      }
    }
  }
  files.write();
}

uint32_t simulated(const Outcome& outcome) {
  return static_cast<uint32_t>(std::stoul(outcome.folding));
}

/// Draws a job of each seed, folded and not. How many fold as `folds` says.
template <typename Folds>
int compare(uint32_t first, uint32_t end, bool stages, bool slow, Folds&& folds) {
  int folded = 0;
  for (uint32_t seed = first; seed < end; ++seed) {
    Random random(seed);
    const Drawn drawn = draw_machine(random);
    JobFiles files(drawn.config);
    draw_job(random, drawn, files, stages, slow);
    const Outcome fold = run(drawn.config, files, true);
    folded += folds(simulated(fold), drawn);
    EXPECT_EQ(fold.told, run(drawn.config, files, false).told) << "seed " << seed << ": " << fold.folding;
  }
  return folded;
}

TEST(LibraryFolding, JobsAreToldFromOneRankToThePicosecond) {
  EXPECT_GT(compare(0, 80, false, false, [](uint32_t built, const Drawn&) { return built == 1; }), 70);
}

TEST(LibraryFolding, PipelinesFoldToAtMostOneRankAStage) {
  EXPECT_GT(compare(100, 160, true, false, [](uint32_t built, const Drawn& of) { return built <= of.nodes; }),
            50);
}

TEST(LibraryFolding, AStragglerCostsThoseItCommunicatesWith) {
  EXPECT_GT(compare(200, 260, false, true,
                    [](uint32_t built, const Drawn& of) { return built < of.config.npus(); }),
            50);
}

/// Two groups of the same shape, one within a node of the library's and one across two.
TEST(LibraryFolding, GroupsInDifferentNodesAreNotAlike) {
  const Config config = parse_config(
      "weft: 1\ntopology:\n  notation: Switch(4)_Switch(6)\n  dimensions:\n"
      "    - {bandwidth: 450 GB/s, fidelity: analytical}\n    - {bandwidth: 50 GB/s, fidelity: analytical}\n"
      "collectives: {library: nccl, gpu: H100, gpus_per_node: 8}\n",
      "machine.yaml");
  JobFiles files(config);
  // Rows of four: 0 and 1 are a node, 1 and 2 are not.
  const uint32_t rows[][2] = {{0, 1}, {2, 4}, {3, 5}};
  for (const auto& pair : rows)
    for (uint32_t place = 0; place < 4; ++place) {
      const std::string name = fmt::format("g{}_{}", pair[0], place);
      files.define(name, {pair[0] * 4 + place, pair[1] * 4 + place});
      for (const uint32_t row : pair)
        files.trace(row * 4 + place)
            .push_back(test::collective(1, CollectiveOp::all_reduce, 1 << 20, name, {}));
    }
  files.write();
  const Outcome fold = run(config, files, true);
  EXPECT_EQ(simulated(fold), 2u) << fold.folding;
  EXPECT_EQ(fold.told, run(config, files, false).told);
}

/// Calls use no links, so groups may be any part of the dimension that messages between stages go along.
TEST(LibraryFolding, PartsOfANodeFoldBesideMessages) {
  const Config config = parse_config(
      "weft: 1\ntopology:\n  notation: FullyConnected(8)_Switch(2)\n  dimensions:\n"
      "    - {bandwidth: 336 GB/s, fidelity: analytical}\n    - {bandwidth: 50 GB/s, fidelity: analytical}\n"
      "collectives: {library: rccl, gpu: MI300X}\n",
      "machine.yaml");
  JobFiles files(config);
  for (uint32_t r = 0; r < files.ranks(); ++r) {
    const std::string pair = fmt::format("pair{}", r / 2);
    if (r % 2 == 0) files.define(pair, {r, r + 1});
    auto& trace = files.trace(r);
    const uint32_t stage = r % 8 / 2;
    if (stage != 0) trace.push_back(trace::test::receive(1, r - 2, 1 << 20, 7));
    trace.push_back(test::collective(2, CollectiveOp::all_reduce, 1 << 20, pair,
                                     stage != 0 ? std::vector<uint64_t>{1} : std::vector<uint64_t>{}));
    trace.push_back(test::collective(3, CollectiveOp::all_gather, 1 << 16, files.group(2, r), {2}));
    if (stage != 3) {
      PbNode send = trace::test::send(4, r + 2, 1 << 20, 7);
      send.add_data_deps(2);
      trace.push_back(send);
    }
  }
  files.write();
  const Outcome fold = run(config, files, true);
  EXPECT_LT(simulated(fold), config.npus()) << fold.folding;
  EXPECT_EQ(fold.told, run(config, files, false).told);
}

/// Lines of dimension 0 lie in one node, or in two.
TEST(LibraryFolding, NodesThatCutDimensionsDoNotFold) {
  const Config config = parse_config(
      "weft: 1\ntopology:\n  notation: Switch(3)_Switch(4)\n  dimensions:\n"
      "    - {bandwidth: 450 GB/s, fidelity: analytical}\n    - {bandwidth: 50 GB/s, fidelity: analytical}\n"
      "collectives: {library: nccl, gpu: H100, gpus_per_node: 4, node_links: switched, nic_bandwidth: 50 "
      "GB/s}\n",
      "machine.yaml");
  JobFiles files(config);
  for (uint32_t r = 0; r < files.ranks(); ++r) {
    PbNode node = trace::test::collective(1, ChakraProtoMsg::ALL_REDUCE, 64 << 20);
    auto* a = node.add_attr();
    a->set_name("involved_dim");
    a->mutable_bool_list()->add_values(true);
    a->mutable_bool_list()->add_values(false);
    files.trace(r).push_back(node);
  }
  files.write();
  const Outcome fold = run(config, files, true);
  EXPECT_EQ(simulated(fold), config.npus());
  EXPECT_EQ(fold.told, run(config, files, false).told);
}

TEST(LibraryFolding, ProgramsAndRulesDoNotFold) {
  for (const bool rules : {false, true}) {
    Random random(7);
    const Drawn drawn = rules ? draw_machine(random, "  fidelity_rules: [{name: a, fidelity: message}]\n")
                              : draw_machine(random, "", "message");
    JobFiles files(drawn.config);
    draw_job(random, drawn, files, false, false);
    const Outcome fold = run(drawn.config, files, true);
    EXPECT_EQ(simulated(fold), drawn.config.npus());
    EXPECT_NE(fold.folding.find(rules ? "calls have fidelity rules" : "calls send messages"),
              std::string::npos)
        << fold.folding;
  }
}

}  // namespace
}  // namespace weft
