// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// The mixture of experts: totals of the 1 T-parameter model, what each rank loads, stores and sends, how far
// loads run ahead, and errors.

#include "workload/generate/moe.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "tests/trace/trace_files.h"
#include "workload/trace/workload_check.h"

namespace weft::generate {
namespace {

using trace::test::expect_error;
using trace::test::slurp;
using trace::test::TempFolder;

MoeConfig small() {
  MoeConfig config;
  config.expert_parallel = 4;
  config.slices = 2;
  config.experts = 8;
  config.layers = 10;
  config.hidden = 64;
  config.tokens = 32;
  config.prefetch = 2;
  config.dense_shards = 4;
  return config;
}

struct Rank {
  std::vector<trace::Node> nodes;
  std::vector<trace::Dependencies> dependencies;
  std::map<uint64_t, size_t> by_id;
};

Rank read(const trace::JobTrace& job, uint32_t rank) {
  Rank result;
  const trace::TraceIndex& index = job.index(rank);
  trace::NodeCache cache = index.open_cache(1 << 20);
  for (trace::NodeIndex i = 0; i < index.size(); ++i) {
    trace::Node node;
    trace::Dependencies dependencies;
    index.decode(cache, i, node);
    index.written_dependencies(cache, i, dependencies);
    result.by_id[node.id] = result.nodes.size();
    result.nodes.push_back(node);
    result.dependencies.push_back(dependencies);
  }
  return result;
}

TEST(Moe, TheModelOfThePaper) {
  const MoeSummary made = describe_moe({});
  EXPECT_EQ(made.ranks, 256u);
  EXPECT_EQ(made.expert_load_bytes, 536'870'912u);    // 537 MB
  EXPECT_EQ(made.expert_parameters, 4'026'531'840u);  // 4.03 G
  EXPECT_EQ(made.parameters, 1'046'898'278'400u);     // 1 T
  EXPECT_EQ(made.all_to_all_bytes, 640u * 8192u * 2u);
  EXPECT_EQ(made.all_to_alls, 15u * 6u);
  // 15 blocks twice, and 14 B a parameter.
  EXPECT_EQ(made.loaded_bytes, 2 * 15 * 536'870'912ull + 14 * 4'026'531'840ull);
  EXPECT_EQ(made.stored_bytes, 15 * 536'870'912ull + 14 * 4'026'531'840ull);
}

TEST(Moe, EachRankDoesWhatTheSummarySays) {
  const TempFolder folder;
  const MoeSummary made = generate_moe(small(), folder / "out", "m");
  const trace::JobTrace job = trace::open_job(made.prefix, made.ranks, made.groups_file, true);
  uint64_t nodes = 0;
  for (uint32_t r = 0; r < made.ranks; ++r) {
    const Rank rank = read(job, r);
    nodes += rank.nodes.size();
    uint64_t loaded = 0, stored = 0, all_to_alls = 0, dense = 0;
    for (const trace::Node& node : rank.nodes) {
      if (node.type == trace::NodeType::mem_load) loaded += node.tensor_size;
      if (node.type == trace::NodeType::mem_store) stored += node.tensor_size;
      if (node.type == trace::NodeType::mem_load || node.type == trace::NodeType::mem_store) {
        EXPECT_EQ(node.location, trace::Location::remote) << node.name;
      }
      if (node.type != trace::NodeType::comm_coll) continue;
      if (node.op == CollectiveOp::all_to_all) {
        ++all_to_alls;
        EXPECT_EQ(node.comm_size, made.all_to_all_bytes);
        EXPECT_EQ(node.pg_name, std::to_string(1 + r % 2));
      } else {
        EXPECT_EQ(node.op, CollectiveOp::all_reduce);
        EXPECT_EQ(node.pg_name, std::to_string(3 + r % 4));
        dense += node.comm_size;
      }
    }
    EXPECT_EQ(loaded, made.loaded_bytes);
    EXPECT_EQ(stored, made.stored_bytes);
    EXPECT_EQ(all_to_alls, made.all_to_alls);
    EXPECT_EQ(dense, made.dense_parameters * 2 / 4);
  }
  EXPECT_EQ(nodes, made.nodes);
}

TEST(Moe, LoadsRunAheadByThePrefetchOnly) {
  const TempFolder folder;
  const MoeSummary made = generate_moe(small(), folder / "out", "m");
  const trace::JobTrace job = trace::open_job(made.prefix, made.ranks, made.groups_file, true);
  const Rank rank = read(job, 0);
  // The compute nodes that use loaded experts, in order: the last of those that have the load as dependency.
  std::vector<uint64_t> loads;
  std::vector<uint64_t> users;
  for (size_t i = 0; i < rank.nodes.size(); ++i) {
    const trace::Node& node = rank.nodes[i];
    if (node.type == trace::NodeType::mem_load && node.name.rfind("optimizer", 0) != 0) {
      const size_t k = loads.size();
      loads.push_back(node.id);
      users.push_back(0);
      EXPECT_TRUE(rank.dependencies[i].data.empty()) << node.name;
      if (k < 2) {
        EXPECT_TRUE(rank.dependencies[i].control.empty()) << node.name;
      } else {
        EXPECT_EQ(rank.dependencies[i].control, std::vector<uint64_t>{users[k - 2]}) << node.name;
      }
    }
    for (const uint64_t d : rank.dependencies[i].data) {
      for (size_t k = 0; k < loads.size(); ++k)
        if (loads[k] == d) users[k] = node.id;
    }
  }
  EXPECT_EQ(loads.size(), 10u);  // five blocks, forward and backward
}

TEST(Moe, OptionsChangeWhatTheySay) {
  MoeConfig config = small();
  config.recompute = false;
  EXPECT_EQ(describe_moe(config).all_to_alls, 5u * 4u);
  config.capacity = 1.25;
  config.top_k = 2;
  EXPECT_EQ(describe_moe(config).all_to_all_bytes, 80u * 64u * 2u);
  config.location = trace::Location::local;
  const TempFolder folder;
  const MoeSummary made = generate_moe(config, folder / "out", "m");
  const trace::JobTrace job = trace::open_job(made.prefix, made.ranks, made.groups_file, true);
  for (const trace::Node& node : read(job, 3).nodes)
    EXPECT_EQ(node.location, trace::Location::local) << node.name;
  config.expert_parallel = 1;
  config.experts = 2;
  config.dense_shards = 1;
  config.slices = 1;
  EXPECT_EQ(describe_moe(config).all_to_alls, 0u);
  const MoeSummary one = generate_moe(config, folder / "one", "m");
  for (const trace::Node& node : read(trace::open_job(one.prefix, 1, one.groups_file, true), 0).nodes)
    EXPECT_NE(node.type, trace::NodeType::comm_coll) << node.name;
}

TEST(Moe, TheSameParametersGiveTheSameBytes) {
  const TempFolder folder;
  for (const char* const name : {"a", "b"}) generate_moe(small(), folder / name, "m");
  for (const char* const file : {"/m.0.et", "/m.7.et", "/m.groups.json"})
    EXPECT_EQ(slurp(folder / (std::string("a") + file)), slurp(folder / (std::string("b") + file)));
}

TEST(Moe, BadParameters) {
  const auto refused = [](void (*change)(MoeConfig&), std::initializer_list<std::string> parts) {
    MoeConfig config = small();
    change(config);
    expect_error(
        [&] {
          validate(config);
          describe_moe(config);
        },
        parts, ExitCode::usage);
  };
  refused([](MoeConfig& c) { c.experts = 6; }, {"experts is 6", "ep (4)"});
  refused([](MoeConfig& c) { c.slices = 0; }, {"slices is 0"});
  refused([](MoeConfig& c) { c.ffn = 65; }, {"65", "slices (2)"});
  refused([](MoeConfig& c) { c.moe_every = 11; }, {"moe-every is 11", "between 1 and 10"});
  refused([](MoeConfig& c) { c.moe_every = 0; }, {"moe-every is 0", "give 1"});
  refused([](MoeConfig& c) { c.layers = 1; },
          {"moe-every is ", "the model has 1 layer,", "a moe-every of 1"});
  refused([](MoeConfig& c) { c.capacity = 0; }, {"capacity is 0"});
  refused([](MoeConfig& c) { c.top_k = 9; }, {"top-k is 9"});
  refused([](MoeConfig& c) { c.dense_shards = 3; }, {"dense-shards (3)"});
  refused([](MoeConfig& c) { c.hidden = c.tokens = uint64_t{1} << 30; }, {"too large"});
  const TempFolder folder;
  expect_error([&] { generate_moe(small(), folder / "x", "a/b"); }, {"moe", "a/b"}, ExitCode::usage);
  generate_moe(small(), folder / "x", "m");
  MoeConfig fewer = small();
  fewer.slices = 1;
  expect_error([&] { generate_moe(fewer, folder / "x", "m"); }, {"m.4.et", "ranks 0 to 3"}, ExitCode::usage);
}

}  // namespace
}  // namespace weft::generate
