// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Collectives that a communication library plans: what `weft collective` and `weft run` make of them, and
// what is refused.

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/library/machines.h"
#include "tests/support/job_folder.h"

namespace weft::test {
namespace {

using library::LibraryOp;
using trace::test::collective;
using trace::test::make;
using trace::test::PbNode;

constexpr uint64_t kMiB = 1 << 20;
const char kH100[] =
    "weft: 1\n"
    "topology: {notation: Switch(8), dimensions: [{bandwidth: 450 GB/s, latency: 250 ns, fidelity: "
    "analytical}]}\n"
    "collectives: {library: nccl, gpu: H100, parameters: {launch: 5 us}}\n";
const LibraryParameters kParameters{5, 1, 1};

/// In ps, rounded up as runs do.
uint64_t planned(LibraryOp op, uint64_t bytes, const library::LibraryMachine& machine = one_node("H100"),
                 const std::vector<uint32_t>& ranks = {}) {
  return static_cast<uint64_t>(std::ceil(
      library::CommunicationLibrary(machine).plan({op, bytes, ranks}).time_us(kParameters) * 1e6 - 1e-6));
}

/// When the rank of a row of ranks.csv had nothing left to do, in ps.
uint64_t ended(const std::map<std::string, std::string>& rank) {
  return picoseconds(rank.at("time_ns")) - picoseconds(rank.at("idle_ns"));
}

class Library : public JobFolder {
 protected:
  void refused(const std::vector<std::string>& more, const std::vector<std::string>& parts) const {
    std::vector<std::string> arguments = {"collective", "--config", config(kH100), "--size", "1 MiB"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Ran ran = weft(arguments);
    EXPECT_EQ(ran.status, 2) << ran.err;
    EXPECT_TRUE(ran.says(parts)) << ran.err;
  }
};

TEST_F(Library, CollectivesTakeTheirClosedForms) {
  for (const auto& [name, op, factor] : {std::tuple{"all_reduce", LibraryOp::all_reduce, 1},
                                         {"all_gather", LibraryOp::all_gather, 8},
                                         {"reduce_scatter", LibraryOp::reduce_scatter, 1},
                                         {"broadcast", LibraryOp::broadcast, 1},
                                         {"reduce", LibraryOp::reduce, 1},
                                         {"all_to_all", LibraryOp::all_to_all, 1}}) {
    const Ran ran = weft({"collective", "--config", config(kH100), "--op", name, "--sizes",
                          "0 B,1 B,1 MiB,1000003 B", "--out", at(name)});
    ASSERT_EQ(ran.status, 0) << ran.err;
    const auto rows = read_csv(at(std::string(name) + "/collectives.csv"));
    ASSERT_EQ(rows.size(), 4u);
    EXPECT_EQ(picoseconds(rows[0].at("time_ns")), 0u);
    EXPECT_EQ(rows[0].at("algo"), "-");
    for (size_t i = 1; i < rows.size(); ++i) {
      const uint64_t bytes = std::stoull(rows[i].at("bytes"));
      EXPECT_EQ(picoseconds(rows[i].at("time_ns")), planned(op, bytes * static_cast<uint64_t>(factor)))
          << name << bytes;
    }
    EXPECT_EQ(rows[1].at("channels"), std::string(op == LibraryOp::all_to_all ? "7" : "1"));
  }
}

TEST_F(Library, JsonAndTableHaveThePlan) {
  const Ran table = weft({"collective", "--config", config(kH100), "--size", "4 MiB"});
  EXPECT_NE(table.out.find("algo   proto  channels"), std::string::npos) << table.out;
  EXPECT_NE(table.out.find("rings 12 x 30 GB/s"), std::string::npos) << table.out;
  const Ran ran = weft({"collective", "--config", config(kH100), "--size", "4 MiB", "--json"});
  const auto row = nlohmann::json::parse(ran.out).at("results").at(0);
  EXPECT_EQ(row.at("algo"), "nvls");
  EXPECT_EQ(row.at("proto"), "Simple");
  EXPECT_EQ(row.at("channels"), 16);
}

TEST_F(Library, DescribeTellsOfIt) {
  const Ran ran = weft({"describe", config(kH100)});
  EXPECT_NE(ran.out.find("library: nccl 2.30, 1 node(s) of 8 H100; rings 12 x 30 GB/s"), std::string::npos)
      << ran.out;
  EXPECT_EQ(ran.out.find("plan:"), std::string::npos) << ran.out;
}

TEST_F(Library, WithoutItNothingIsSaidOfIt) {
  const std::string plain =
      "weft: 1\ntopology: {notation: Switch(8), dimensions: [{bandwidth: 450 GB/s, latency: 250 ns}]}\n";
  const Ran ran = weft({"collective", "--config", config(plain), "--size", "4 MiB", "--out", at("o")});
  EXPECT_EQ(ran.out.find("algo "), std::string::npos);
  EXPECT_EQ(read_csv(at("o/collectives.csv"))[0].count("algo"), 0u);
}

TEST_F(Library, TracesWaitForTheLastMemberAndPayTheLaunch) {
  std::vector<Nodes> ranks;
  for (uint64_t r = 0; r < 8; ++r) {
    PbNode compute = make(1, "work", ChakraProtoMsg::COMP_NODE);
    compute.set_duration_micros(10 * (r + 1));
    PbNode reduce = collective(2, ChakraProtoMsg::ALL_REDUCE, static_cast<int64_t>(kMiB));
    reduce.add_data_deps(1);
    PbNode gather = collective(3, ChakraProtoMsg::ALL_GATHER, static_cast<int64_t>(kMiB));
    gather.add_data_deps(2);
    ranks.push_back({compute, reduce, gather});
  }
  traces(ranks);
  const Ran ran = run_traces(kH100);
  ASSERT_EQ(ran.status, 0) << ran.err;
  const auto rows = read_csv(at("out/collectives.csv"));
  ASSERT_EQ(rows.size(), 2u);
  const uint64_t last = 80'000'000;
  EXPECT_EQ(picoseconds(rows[0].at("start_ns")), 10'000'000u);
  EXPECT_EQ(picoseconds(rows[0].at("end_ns")), last + planned(LibraryOp::all_reduce, kMiB));
  EXPECT_EQ(picoseconds(rows[1].at("time_ns")), planned(LibraryOp::all_gather, 8 * kMiB));
  EXPECT_EQ(rows[0].at("algo"), "ring");
  EXPECT_EQ(rows[0].at("proto"), "LL");
  for (const auto& rank : read_csv(at("out/ranks.csv")))
    EXPECT_EQ(ended(rank), picoseconds(rows[1].at("end_ns")));
  const std::string effective = read(at("out/effective.yaml"));
  for (const char* part :
       {"library: nccl", "gpu: H100", "launch: 5 us", "latency_scale: 1", "bandwidth_scale: 1"})
    EXPECT_NE(effective.find(part), std::string::npos) << part;
  // It is a configuration of the same run.
  const Ran again = weft({"run", at("out/effective.yaml"), "--out", at("again")});
  ASSERT_EQ(again.status, 0) << again.err;
  EXPECT_EQ(read(at("again/collectives.csv")), read(at("out/collectives.csv")));
}

TEST_F(Library, LinesOfADimensionAreCommunicatorsOfTheirOwn) {
  const std::string machine =
      "weft: 1\n"
      "topology: {notation: Switch(4)_Switch(2), dimensions: [{bandwidth: 50 GB/s, latency: 1 us, fidelity: "
      "analytical}]}\n"
      "collectives: {library: nccl, gpu: H100, parameters: {launch: 5 us}}\n";
  std::vector<Nodes> ranks;
  for (uint64_t r = 0; r < 8; ++r) {
    PbNode compute = make(1, "work", ChakraProtoMsg::COMP_NODE);
    compute.set_duration_micros(r < 4 ? 10 : 20);
    PbNode reduce = collective(2, ChakraProtoMsg::ALL_REDUCE, static_cast<int64_t>(kMiB));
    auto* dimensions = reduce.add_attr();
    dimensions->set_name("involved_dim");
    dimensions->mutable_bool_list()->add_values(true);
    dimensions->mutable_bool_list()->add_values(false);
    reduce.add_data_deps(1);
    ranks.push_back({compute, reduce});
  }
  traces(ranks);
  const Ran ran = run_traces(machine);
  ASSERT_EQ(ran.status, 0) << ran.err;
  library::LibraryMachine four = one_node("H100");
  four.gpus_per_node = 4;
  const uint64_t time = planned(LibraryOp::all_reduce, kMiB, four);
  const auto rows = read_csv(at("out/ranks.csv"));
  EXPECT_EQ(ended(rows[0]), 10'000'000 + time);
  EXPECT_EQ(ended(rows[7]), 20'000'000 + time);
}

TEST_F(Library, MessagesWaitForTheLibrarysLaunchAndLatency) {
  std::vector<Nodes> ranks(8, Nodes{make(9, "nothing", ChakraProtoMsg::METADATA_NODE)});
  // Two messages of one stream: the small one, with LL, does not overtake the large one.
  ranks[0] = {trace::test::send(1, 1, kMiB, 0), trace::test::send(2, 1, 8, 0)};
  ranks[1] = {trace::test::receive(1, 0, kMiB, 0), trace::test::receive(2, 0, 8, 0)};
  traces(ranks);
  const Ran ran = run_traces(kH100);
  ASSERT_EQ(ran.status, 0) << ran.err;
  const library::LibraryPlan plan =
      library::CommunicationLibrary(one_node("H100")).plan({LibraryOp::send, kMiB, {2}});
  const double delay = 5 + plan.base_us + plan.latency_us + static_cast<double>(plan.loops) * plan.sigma_us;
  EXPECT_GT(delay, 15);
  const double links = (kMiB + 8) / 450e3 + 0.5;  // us: bytes, and two hops of 250 ns
  EXPECT_NEAR(static_cast<double>(ended(read_csv(at("out/ranks.csv"))[1])), (delay + links) * 1e6, 2e4);
}

TEST_F(Library, PlansRunOnLinksAndCarryData) {
  for (const char* fidelity : {"message", "packet"}) {
    const Ran ran = weft({"collective", "--config", config(kH100), "--fidelity", fidelity, "--sizes",
                          "0 B,4 B,1000004 B,4 MiB", "--data", "fp32", "--out", at(fidelity)});
    ASSERT_EQ(ran.status, 0) << ran.err;
    const auto rows = read_csv(at(std::string(fidelity) + "/collectives.csv"));
    ASSERT_EQ(rows.size(), 4u);
    EXPECT_EQ(rows[0].at("messages"), "0");
    EXPECT_NE(rows[1].at("messages"), "0");
    EXPECT_EQ(rows[3].at("algo"), "nvls");
    for (size_t i = 1; i < rows.size(); ++i) {
      const double closed =
          static_cast<double>(planned(LibraryOp::all_reduce, std::stoull(rows[i].at("bytes"))));
      EXPECT_NEAR(static_cast<double>(picoseconds(rows[i].at("time_ns"))) / closed, 1,
                  fidelity == std::string("message") ? 0.02 : 0.2);
    }
  }
}

TEST_F(Library, Refusals) {
  write(at("nvls.csv"), "allreduce,0,-1,nvls,simple,-1,-1,-1\n");
  refused({"--set", "collectives.gpu=H101"}, {"collectives.gpu", "'H101'", "H100"});
  refused({"--set", "collectives.library_version=9.9"}, {"collectives.library_version", "2.14 to 2.30"});
  refused({"--set", "topology.notation=Ring(8)"}, {"nccl cannot have", "Ring(8)"});
  refused({"--set", "collectives.library=rccl", "--set", "collectives.gpu=MI300X"}, {"fully_connected"});
  refused({"--set", "collectives.gpus_per_node=3"}, {"collectives.gpus_per_node", "does not divide"});
  refused({"--fidelity", "message", "--set", "topology.notation=Switch(4)_Switch(2)", "--set",
           "collectives.gpus_per_node=8", "--set", "collectives.overrides=" + at("nvls.csv")},
          {"nvls", "dimension 0", "collectives.overrides", "fidelity: analytical"});
  refused({"--data", "fp32"}, {"run.data", "no messages"});
  refused({"--set", "collectives.collnet=true"}, {"collectives.collnet", "one node"});
  refused({"--set", "collectives.collnet=true", "--set", "topology.notation=Switch(4)_Ring(4)"},
          {"collectives.collnet", "dimension 1", "Ring(4)", "has none"});
  refused({"--set", "collectives.collnet=true", "--set", "topology.notation=Switch(4)_Switch(2)_Switch(2)"},
          {"collectives.collnet", "one Switch dimension"});
  refused({"--set", "collectives.graph.channels=4"}, {"collectives.graph.channels", "`speed`"});
  refused({"--set", "collectives.overrides=/no/such/file.csv"}, {"/no/such/file.csv"});
  write(at("t.csv"), "allreduce,0,-1,tree,ll,-1,-1,-1\nallreduce,5,6,ring,ll,-1,-1,-1\n");
  refused({"--set", "collectives.overrides=" + at("t.csv")}, {"t.csv:2", "t.csv:1"});
  const Ran ran =
      weft({"validate", config("weft: 1\ntopology: {notation: Switch(8), dimensions: [{bandwidth: 450 "
                               "GB/s, fidelity: analytical}]}\ncollectives: {library: nccl}\n")});
  EXPECT_EQ(ran.status, 2);
  EXPECT_TRUE(ran.says({"collectives.gpu", "is needed"})) << ran.err;
}

}  // namespace
}  // namespace weft::test
