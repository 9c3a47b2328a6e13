// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// `weft pool`, traces that use a memory pool, and what is wrong with their input.

#include <gtest/gtest.h>

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/support/job_folder.h"
#include "tests/support/paths.h"

namespace weft::test {
namespace {

using nlohmann::json;
using trace::test::attribute;
using trace::test::collective;
using trace::test::make;
using trace::test::PbNode;

constexpr auto kAllGather = ChakraProtoMsg::ALL_GATHER;
constexpr uint64_t kMiB = 1 << 20;

const char kPool[] =
    "weft: 1\n"
    "topology: {notation: Switch(4)_Switch(2), dimensions: [{bandwidth: 100 GB/s, latency: 0 ns}]}\n"
    "hbm: {latency: 0 ns}\n"
    "memory:\n"
    "  pool: {nodes: 2, out_switches: 2, groups: 4, group_bandwidth: 100 GB/s, out_node_bandwidth: 200 GB/s, "
    "in_node_bandwidth: 80 GB/s, chunk: 64 KiB}\n";

std::string papers(const std::string& name) {
  return weft::test::source_dir() + "/configs/papers/" + name + ".yaml";
}

PbNode access(uint64_t id, bool store, uint64_t bytes, bool in_switch = false) {
  PbNode node = make(id, store ? "store" : "load",
                     store ? ChakraProtoMsg::MEM_STORE_NODE : ChakraProtoMsg::MEM_LOAD_NODE);
  attribute(node, "tensor_size", static_cast<int64_t>(bytes));
  attribute(node, "tensor_loc", 1);
  if (in_switch) attribute(node, "in_switch", 1);
  return node;
}

/// An all-gather along dimension 0.
PbNode gather_in_node(uint64_t id, uint64_t bytes) {
  PbNode node = collective(id, kAllGather, bytes);
  auto* list = node.add_attr();
  list->set_name("involved_dim");
  list->mutable_bool_list()->add_values(true);
  list->mutable_bool_list()->add_values(false);
  return node;
}

class Pool : public JobFolder {
 protected:
  /// weft pool's JSON.
  static json measure(const std::string& machine, const std::vector<std::string>& more) {
    std::vector<std::string> arguments = {"pool", machine, "--json"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Ran ran = weft(arguments);
    EXPECT_EQ(ran.status, 0) << ran.err;
    return ran.status == 0 ? json::parse(ran.out) : json();
  }
  /// The same nodes on 8 ranks; when the last rank ends, in ps.
  uint64_t run_all(const std::vector<PbNode>& nodes, const std::string& machine = kPool) {
    traces(std::vector<Nodes>(8, nodes));
    const Ran ran = run_traces(machine);
    EXPECT_EQ(ran.status, 0) << ran.err;
    if (ran.status != 0) return 0;
    uint64_t last = 0;
    for (const auto& row : read_csv(at("out/ranks.csv")))
      last = std::max(last, picoseconds(row.at("time_ns")));
    return last;
  }
};

TEST_F(Pool, JsonHasTheTimeBesideTheClosedForm) {
  const json base = measure(papers("table5_hiermem_base"), {"--tensor", "64 MiB", "--chunk", "64 KiB"});
  EXPECT_DOUBLE_EQ(base["time_ns"], 679280.64);
  EXPECT_NEAR(base["closed_form_ns"].get<double>(), 679280.64, 1e-3);
  EXPECT_EQ(base["bottleneck"], "group/out_switch");
  EXPECT_EQ(base["bytes"]["group"], 64 * kMiB);
  EXPECT_EQ(base["bytes"]["group/out_switch"], 4 * kMiB);
  EXPECT_EQ(base["bytes"]["out_switch/in_switch"], 64 * kMiB);
  EXPECT_EQ(base["bytes"]["in_switch/npu"], 64 * kMiB);
  EXPECT_TRUE(base.contains("wall_s"));
  const json gather = measure(papers("table5_hiermem_opt"),
                              {"--tensor", "1 MiB", "--chunk", "64 KiB", "--op", "gather_load"});
  EXPECT_EQ(gather["bytes"]["in_switch/npu"], 256 * kMiB);
  EXPECT_DOUBLE_EQ(gather["time_ns"], 559153.152);
  const json formula = measure(papers("table5_hiermem_opt"), {"--tensor", "1 MiB", "--formula"});
  EXPECT_FALSE(formula.contains("time_ns"));
}

TEST_F(Pool, EveryOperationBringsItsData) {
  for (const char* const op : {"load", "store", "gather_load", "scatter_store"}) {
    const json result =
        measure(config(kPool), {"--tensor", "100001 B", "--op", op, "--set", "run.data=functional"});
    const uint64_t tensors = op == std::string("gather_load") ? 64 : 8;
    EXPECT_EQ(result["bytes_verified"], tensors * 100001) << op;
  }
}

TEST_F(Pool, BordersInTheLinksOfAPoolChangeNothing) {
  const std::string machine = config(kPool);
  for (const char* const op : {"load", "store", "gather_load", "scatter_store"}) {
    const std::vector<std::string> options = {"--tensor", "100001 B", "--op",
                                              op,         "--set",    "memory.pool.fidelity=packet"};
    std::vector<std::string> cut = options;
    cut.insert(cut.end(), {"--set", "run.cut_links=*pool*"});
    EXPECT_EQ(measure(machine, cut)["time_ns"], measure(machine, options)["time_ns"]) << op;
  }
  const Ran messages = weft({"pool", machine, "--tensor", "1 MiB", "--set", "run.cut_links=*pool*"});
  EXPECT_EQ(messages.status, 2);
}

TEST_F(Pool, PrivateRemoteMemoriesAreMeasuredAlike) {
  const json zero = measure(papers("table5_zero_infinity"), {"--tensor", "64 MiB", "--chunk", "64 KiB"});
  EXPECT_DOUBLE_EQ(zero["time_ns"], 671088.64);
  EXPECT_DOUBLE_EQ(zero["closed_form_ns"], 671088.64);
  const Ran gather =
      weft({"pool", papers("table5_zero_infinity"), "--tensor", "1 MiB", "--op", "gather_load"});
  EXPECT_EQ(gather.status, 2);
  EXPECT_TRUE(gather.says({"remote memories of their own", "add `memory.pool`"})) << gather.err;
}

TEST_F(Pool, RemoteAccessesOfTracesGoToThePool) {
  const json alone = measure(config(kPool), {"--tensor", "4 MiB"});
  EXPECT_EQ(run_all({access(1, false, 4 * kMiB)}), picoseconds(alone["time_ns"].dump()));
  uint64_t longest = 0;
  uint64_t ranks = 0;
  for (const auto& row : read_csv(at("out/ranks.csv"))) {
    longest = std::max(longest, picoseconds(row.at("remote_memory_ns")));
    ++ranks;
  }
  EXPECT_EQ(longest, picoseconds(alone["time_ns"].dump()));
  EXPECT_EQ(json::parse(read(at("out/summary.json")))["memory_bytes"], ranks * 4 * kMiB);
  EXPECT_NE(read(at("out/links.csv")).find("job.pool.outs.to_in1"), std::string::npos);
  for (const bool store : {false, true}) {
    const json all =
        measure(config(kPool), {"--tensor", "1 MiB", "--op", store ? "scatter_store" : "gather_load"});
    EXPECT_EQ(run_all({access(1, store, kMiB, true)}), picoseconds(all["time_ns"].dump()));
  }
}

TEST_F(Pool, GroupsOfRanksHaveInSwitchAccessesOfTheirOwn) {
  write(at("groups.json"), "{\"7\": [1, 2, 6], \"8\": [0, 3]}");
  for (const char* const fidelity : {"message", "packet"}) {
    for (const bool store : {false, true}) {
      // Ranks 1, 2 and 6 together, 0 and 3 by themselves; the others have none.
      std::vector<Nodes> ranks(8);
      for (const uint32_t r : {0u, 1u, 2u, 3u, 6u}) {
        PbNode node = access(1, store, kMiB, true);
        auto* name = node.add_attr();
        name->set_name("pg_name");
        name->set_string_val(r == 0 || r == 3 ? "8" : "7");
        ranks[r] = {node};
      }
      traces(ranks);
      const Ran ran = run_traces(kPool, {"--groups", at("groups.json"), "--set", "run.data=functional",
                                         "--set", std::string("memory.pool.fidelity=") + fidelity});
      EXPECT_EQ(ran.status, 0) << ran.err;
      const auto rows = read_csv(at("out/ranks.csv"));
      EXPECT_GT(picoseconds(rows[6].at("time_ns")), 0u);
    }
  }
}

TEST_F(Pool, JobsOnAPartOfTheMachineHaveInSwitchAccessesOfTheirOwn) {
  traces(std::vector<Nodes>(4, Nodes{access(1, false, kMiB, true), access(2, true, kMiB, true)}));
  const std::string jobs =
      "jobs:\n  - {name: a, trace: t, npus: [0..3]}\n  - {name: b, trace: t, npus: [4..7]}\n";
  const Ran ran = weft({"run", config(kPool + jobs), "--out", at("out")});
  EXPECT_EQ(ran.status, 0) << ran.err;
}

TEST_F(Pool, PacketsAndMemoriesOfGroupsAreMeasured) {
  const json messages = measure(config(kPool), {"--tensor", "4 MiB", "--set", "memory.pool.split=whole"});
  const json packets = measure(config(kPool), {"--tensor", "4 MiB", "--set", "memory.pool.split=whole",
                                               "--set", "memory.pool.fidelity=packet"});
  EXPECT_EQ(packets["bytes"], messages["bytes"]);
  EXPECT_NEAR(packets["time_ns"].get<double>() / messages["time_ns"].get<double>(), 1, 0.03);
  EXPECT_EQ(packets["closed_form_exact"], false);
  const json cxl = measure(config(kPool),
                           {"--tensor", "4 MiB", "--set", "memory.pool.split=whole", "--set",
                            "memory.pool.group_memory=cxl(preset=cxl2_x8)", "--set", "run.data=functional"});
  EXPECT_EQ(cxl["bytes"], messages["bytes"]);
  EXPECT_EQ(cxl["bytes_verified"], 8 * 4 * kMiB);
  // 8 MiB of each group by a link of 32 GB/s raw, 86.9 % of it data.
  EXPECT_NEAR(cxl["time_ns"].get<double>(), 8.0 * kMiB / (32 * 0.869), 6000);
}

TEST_F(Pool, LinksOfPacketsAreInTheResults) {
  traces(std::vector<Nodes>(8, Nodes{access(1, false, kMiB)}));
  const Ran ran = run_traces(kPool, {"--set", "memory.pool.fidelity=packet"});
  ASSERT_EQ(ran.status, 0) << ran.err;
  uint64_t bytes = 0;
  for (const auto& row : read_csv(at("out/links.csv")))
    if (row.at("name").find("job.pool.in0.to_npu1") != std::string::npos)
      bytes = std::stoull(row.at("bytes"));
  EXPECT_EQ(bytes, kMiB);
}

TEST_F(Pool, AnInSwitchAccessWaitsForTheLastNpu) {
  std::vector<Nodes> ranks(8, Nodes{access(1, false, kMiB, true)});
  const uint64_t together = run_all({access(1, false, kMiB, true)});
  for (const bool store : {false, true}) {
    for (Nodes& nodes : ranks) nodes = {access(1, store, kMiB, true)};
    ranks[5] = {trace::test::comp(2, {}, 1000), access(1, store, kMiB, true)};
    ranks[5][1].add_data_deps(2);
    traces(ranks);
    ASSERT_EQ(run_traces(kPool).status, 0);
    const auto rows = read_csv(at("out/ranks.csv"));
    EXPECT_GT(picoseconds(rows[0].at("time_ns")), 1000000000u);
    if (!store) {
      EXPECT_EQ(picoseconds(rows[0].at("time_ns")), 1000000000u + together);
    }
  }
}

/// A pool whose in-node links are those of dimension 0, and which is fast everywhere else.
const char kShared[] =
    "weft: 1\n"
    "topology: {notation: Switch(4)_Switch(2), dimensions: [{bandwidth: 100 GB/s, latency: 0 ns}]}\n"
    "hbm: {latency: 0 ns}\n"
    "collectives: {chunks: 64}\n"
    "memory:\n"
    "  pool: {nodes: 2, out_switches: 2, groups: 4, group_bandwidth: 1 TB/s, out_node_bandwidth: 1 TB/s, "
    "share: 0, "
    "chunk: 64 KiB}\n";

TEST_F(Pool, ACollectiveAndALoadSlowEachOtherDownOnSharedLinks) {
  const PbNode gather = gather_in_node(2, 4 * kMiB);
  const PbNode load = access(1, false, 16 * kMiB);
  for (const bool store : {false, true}) {
    const PbNode remote = store ? access(1, true, 16 * kMiB) : load;
    const uint64_t alone = run_all({remote}, kShared);
    const uint64_t collective_alone = run_all({gather}, kShared);
    const uint64_t both = run_all({remote, gather}, kShared);
    // 16 MiB of the pool and 3 x 4 MiB of the collective go over every link between NPU and switch.
    const double bytes = 28.0 * kMiB;
    EXPECT_NEAR(static_cast<double>(both) / (bytes / 100e9 * 1e12), 1, 0.01) << store;
    EXPECT_GT(both, alone);
    EXPECT_GT(both, collective_alone);
  }
}

TEST_F(Pool, WithoutSharedLinksNeitherIsSlower) {
  const PbNode gather = gather_in_node(2, 4 * kMiB);
  std::string machine = kShared;
  machine.replace(machine.find("share: 0"), 8, "in_node_bandwidth: 100 GB/s");
  const uint64_t load = run_all({access(1, false, 16 * kMiB)}, machine);
  const uint64_t alone = run_all({gather}, machine);
  const uint64_t both = run_all({access(1, false, 16 * kMiB), gather}, machine);
  EXPECT_EQ(both, std::max(load, alone));
  EXPECT_EQ(picoseconds(read_csv(at("out/collectives.csv"))[0].at("time_ns")), alone);
}

/// Four NPUs at `sw0`, memory groups at a switch.
std::string graph(const std::string& groups_at) {
  return fmt::format(
      "weft: 1\n"
      "topology:\n"
      "  graph:\n"
      "    npus: 4\n"
      "    npus_forward: false\n"
      "    switches: [sw0, swm, memory0..memory3]\n"
      "    links:\n"
      "      - {{from: npu0..npu3, to: sw0, bandwidth: 100 GB/s, latency: 0 ns}}\n"
      "      - {{from: npu0..npu3, to: swm, bandwidth: 100 GB/s, latency: 1 us}}\n"
      "      - {{from: memory0..memory3, to: {}, bandwidth: 1 TB/s, latency: 0 ns}}\n"
      "hbm: {{latency: 0 ns}}\n"
      "collectives: {{chunks: 64}}\n"
      "memory: {{pool: {{design: graph, group_bandwidth: 1 TB/s, chunk: 64 KiB}}}}\n",
      groups_at);
}

TEST_F(Pool, GroupsAreNodesOfAGraphAndShareItsLinks) {
  const auto run = [&](const std::vector<PbNode>& nodes, const std::string& groups_at) {
    traces(std::vector<Nodes>(4, nodes));
    const Ran ran = run_traces(graph(groups_at));
    EXPECT_EQ(ran.status, 0) << ran.err;
    uint64_t last = 0;
    for (const auto& row : read_csv(at("out/ranks.csv")))
      last = std::max(last, picoseconds(row.at("time_ns")));
    return last;
  };
  const PbNode load = access(1, false, 16 * kMiB);
  const PbNode gather = collective(2, kAllGather, 4 * kMiB);
  // At the switch of the NPUs: 16 MiB and 3 x 4 MiB over every link to an NPU.
  const uint64_t both = run({load, gather}, "sw0");
  EXPECT_NEAR(static_cast<double>(both) / (28.0 * kMiB / 100e9 * 1e12), 1, 0.01);
  EXPECT_GT(both, run({load}, "sw0"));
  // At another one: neither waits.
  const uint64_t alone = run({gather}, "swm");
  const uint64_t load_alone = run({load}, "swm");
  EXPECT_EQ(run({load, gather}, "swm"), std::max(alone, load_alone));
  EXPECT_EQ(picoseconds(read_csv(at("out/collectives.csv"))[0].at("time_ns")), alone);
}

TEST_F(Pool, DescribeShowsAndDrawsIt) {
  const Ran text = weft({"describe", config(kPool)});
  EXPECT_EQ(text.status, 0);
  EXPECT_NE(text.out.find("memory pool: hierarchical, 2 nodes of 4 NPUs, 4 groups of 100 GB/s"),
            std::string::npos)
      << text.out;
  EXPECT_NE(text.out.find("2 out switches"), std::string::npos) << text.out;
  const Ran dot = weft({"describe", at("machine.yaml"), "--dot"});
  EXPECT_NE(dot.out.find("memory group 3"), std::string::npos);
  const Ran large = weft({"describe", papers("table5_hiermem_opt"), "--dot"});
  EXPECT_NE(large.out.find("256 memory groups"), std::string::npos) << large.out;
}

TEST_F(Pool, TheEffectiveConfigurationReadsBack) {
  run_all({access(1, false, kMiB)});
  const std::string effective = read(at("out/effective.yaml"));
  EXPECT_NE(effective.find("  pool:\n    design: hierarchical\n    nodes: 2"), std::string::npos)
      << effective;
  const json again = measure(at("out/effective.yaml"), {"--tensor", "4 MiB"});
  EXPECT_EQ(again["time_ns"], measure(config(kPool), {"--tensor", "4 MiB"})["time_ns"]);
}

class BadPool : public Pool {
 protected:
  void refused(const std::vector<std::string>& sets, const std::vector<std::string>& parts,
               const std::vector<std::string>& more = {"--tensor", "1 MiB"}) {
    std::vector<std::string> arguments = {"pool", config(kPool)};
    arguments.insert(arguments.end(), more.begin(), more.end());
    for (const std::string& set : sets) arguments.insert(arguments.end(), {"--set", set});
    const Ran ran = weft(arguments);
    EXPECT_EQ(ran.status, 2) << ran.out << ran.err;
    EXPECT_TRUE(ran.says(parts)) << ran.err;
  }
};

TEST_F(BadPool, KeysThatContradict) {
  refused({"remote_memory.bandwidth=10 GB/s"},
          {"memory.pool.design", "beside `remote_memory`", "take one of the two"});
  refused({"memory.pool.nodes=3"}, {"key `memory.pool.nodes`", "3 nodes do not divide the machine's 8 NPUs"});
  refused({"memory.pool.levels=2"}, {"key `memory.pool.levels`", "is of `design: multi_level`"});
  refused({"memory.pool.design=multi_level", "memory.pool.levels=two"},
          {"key `memory.pool.levels`", "'two' holds 'two'; allowed: numbers of switches"});
  refused({"memory.pool.design=multi_level", "memory.pool.levels=2"},
          {"key `memory.pool.out_switches`", "`levels` says how many switches"});
  refused({"memory.pool.design=mesh", "memory.pool.shape=2x2"},
          {"key `memory.pool.shape`", "2x2 has 4 places, and 2 nodes and 4 groups need 6"});
  refused({"memory.pool.share=1"}, {"key `memory.pool.nodes`", "2 nodes have not 2 NPUs each"});
  refused({"memory.pool.share=0"},
          {"key `memory.pool.in_node_bandwidth`", "dimension 0", "100 GB/s", "take the key out"});
  refused({"memory.pool.share=7"}, {"key `memory.pool.share`", "the machine has no dimension 7"});
  refused({"memory.pool.capacity=32 KiB"}, {"key `memory.pool.chunk`", "is more than a group holds"});
  refused({"memory.pool.striping=random"}, {"key `memory.pool.striping`", "'random' is unknown", "latin"});
  refused({"memory.pool.design=ring", "memory.pool.fidelity=packet", "packet.vcs=1"},
          {"key `packet`", "`packet.vcs`: 1 virtual channel", "`design: ring`"});
  refused({"memory.pool.fidelity=analytical", "memory.pool.group_memory=bandwidth"},
          {"key `memory.pool.group_memory`", "'bandwidth'", "analytical"});
  refused({"memory.pool.group_memory=cxxl"}, {"key `memory.pool.group_memory`", "did you mean `cxl`?"});
  refused({"memory.pool.group_memory=cxl(lanes=0)"}, {"memory.pool.group_memory", "lanes"});
}

TEST_F(BadPool, TensorsThatCannotMove) {
  refused({}, {"a tensor of 0 bytes", "machine.yaml"}, {"--tensor", "0 B"});
  refused({"memory.pool.capacity=1 MiB"},
          {"machine.yaml", "key `memory.pool.capacity`", "do not fit 4 groups of 1 MiB"},
          {"--tensor", "1 MiB"});
  refused({}, {"--op 'lod'", "did you mean load?"}, {"--tensor", "1 MiB", "--op", "lod"});
  refused({}, {"--npus 9: allowed: 1 to 8"}, {"--tensor", "1 MiB", "--npus", "9"});
  refused({}, {"--npus 4: allowed: 8, as a gather_load is of all NPUs"},
          {"--tensor", "1 MiB", "--npus", "4", "--op", "gather_load"});
}

TEST_F(BadPool, AConfigurationWithoutAPool) {
  const Ran ran = weft({"pool", papers("table2_w_2d"), "--tensor", "1 MiB"});
  EXPECT_EQ(ran.status, 2);
  EXPECT_TRUE(ran.says({"table2_w_2d.yaml", "no key `memory.pool`"})) << ran.err;
}

TEST_F(BadPool, AStripingThatLeavesGroupsEmptyWarns) {
  const Ran ran =
      weft({"pool", config(kPool), "--tensor", "64 KiB", "--npus", "1", "--set", "memory.pool.split=whole"});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_TRUE(ran.says({"warning", "latin leaves 3 of 4 groups empty"})) << ran.err;
}

TEST_F(BadPool, Traces) {
  const auto says = [&](const std::vector<Nodes>& ranks, int status, const std::string& machine,
                        const std::vector<std::string>& parts) {
    traces(ranks);
    const Ran ran = run_traces(machine);
    EXPECT_EQ(ran.status, status) << ran.err;
    EXPECT_TRUE(ran.says(parts)) << ran.err;
  };
  std::vector<Nodes> ranks(8, Nodes{access(1, false, kMiB, true)});
  std::string machine = kPool;
  machine.replace(machine.find("memory:\n"), machine.size(), "remote_memory: {bandwidth: 10 GB/s}\n");
  says(ranks, 2, machine, {"t.0.et", "rank 0", "`in_switch`", "private remote memory"});
  ranks[3] = {access(1, false, 2 * kMiB, true)};
  says(ranks, 3, kPool, {"gather_load number 1 of NPU 3 has 2097152 B", "another NPU 1048576 B"});
  PbNode unknown = access(1, false, kMiB, true);
  auto* name = unknown.add_attr();
  name->set_name("pg_name");
  name->set_string_val("nobody");
  ranks[3] = {unknown};
  says(ranks, 3, kPool, {"t.3.et", "rank 3", "its communicator group \"nobody\" is unknown"});
  ranks[3] = {};
  says(ranks, 4, kPool, {"gather_load of 1048576 B, which 7 of 8 NPUs have begun"});
  std::string full = kPool;
  full.replace(full.find("groups: 4"), 9, "capacity: 256 KiB, groups: 4");
  says(std::vector<Nodes>(8, Nodes{access(1, true, 2 * kMiB)}), 3, full,
       {"t.0.et", "rank 0", "does not fit the pool", "memory.pool.capacity"});
}

}  // namespace
}  // namespace weft::test
