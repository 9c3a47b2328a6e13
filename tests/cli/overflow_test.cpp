// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Times that 64 bits of picoseconds cannot hold (213 days): in compute nodes, messages, collectives and
// memory, whatever the model, the answer is exit code 3 and says what, where, when and what to do. What just
// fits is exact.

#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/support/job_folder.h"

namespace weft::test {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;
using trace::test::attribute;
using trace::test::collective;
using trace::test::comp;
using trace::test::make;
using trace::test::PbNode;
using trace::test::receive;
using trace::test::send;

constexpr uint64_t kLastMicros = 18446744073709;  // the last whole microsecond
constexpr int64_t kHuge = int64_t{10} << 30;

class Overflow : public JobFolder {
 protected:
  /// One NPU, or two on a ring, with these nodes.
  Ran run(const std::vector<std::vector<PbNode>>& ranks, const std::string& more = "",
          const std::string& dimension = "bandwidth: 100 GB/s") const {
    traces(ranks);
    return run_traces("weft: 1\ntopology: {notation: Ring(" + std::to_string(ranks.size()) +
                      "), dimensions: [{" + dimension + "}]}\n" + more);
  }

  static Ran measure(std::vector<std::string> more) {
    more.insert(more.begin(), "collective");
    return weft(more);
  }

  static void expect(const Ran& ran, const std::vector<std::string>& parts) {
    EXPECT_EQ(ran.status, 3) << ran.out << ran.err;
    EXPECT_EQ(ran.out, "");
    EXPECT_TRUE(ran.says({"weft: error: ", "213 days"})) << ran.err;
    for (const std::string& part : parts)
      EXPECT_TRUE(ran.says({part})) << "no \"" << part << "\" in " << ran.err;
    EXPECT_EQ(ran.err.find("internal error"), std::string::npos) << ran.err;
  }
};

PbNode memory(uint64_t id, int64_t bytes, bool remote = false) {
  PbNode node = make(id, "load" + std::to_string(id), ChakraProtoMsg::MEM_LOAD_NODE);
  attribute(node, "tensor_size", bytes);
  if (remote) attribute(node, "tensor_loc", 1);
  return node;
}

PbNode after(PbNode node) {
  node.add_data_deps(1);
  return node;
}

TEST_F(Overflow, MessagesBetweenTwoRanks) {
  for (const std::string fidelity : {"message", "analytical"}) {
    for (const std::string more :
         {"", "nmu: {endpoint_delay: 10 ns}", "nmu: {injection_bandwidth: 10 GB/s}"}) {
      SCOPED_TRACE(fidelity + " " + more);
      const Ran ran = run({{comp(1, {}, kLastMicros), after(send(2, 1, kHuge, 7))},
                           {comp(1, {}, kLastMicros), after(receive(2, 0, kHuge, 7))}},
                          more, "bandwidth: 100 GB/s, fidelity: " + fidelity);
      expect(ran, {"at ", "nmu", "from rank 0 to rank 1", "tag 7", "use a smaller size"});
    }
  }
}

TEST_F(Overflow, CollectivesNameTheNode) {
  for (const std::string fidelity : {"message", "analytical"}) {
    const std::vector<PbNode> nodes = {comp(1, {}, kLastMicros),
                                       after(collective(2, ChakraProtoMsg::ALL_REDUCE, kHuge))};
    const Ran ran = run({nodes, nodes}, "", "bandwidth: 100 GB/s, fidelity: " + fidelity);
    expect(ran, {"at 18446744073709 us", "node 2 (`coll2`)", ".et: rank ", "all_reduce of 10737418240 B",
                 "use a smaller size"});
  }
}

TEST_F(Overflow, Memory) {
  const std::string banked = "hbm: {model: banked, preset: HBM3, capacity: unlimited}\n";
  const std::string slow = "hbm: {bandwidth: 1 MB/s, capacity: unlimited}\n";
  const std::string far = "remote_memory: {bandwidth: 1 MB/s}\n";
  // More than time holds by itself: said before anything runs.
  expect(run({{memory(1, int64_t{1} << 45)}}, slow), {"rank 0, node 1", "to memory", "tensor_size"});
  expect(run({{memory(1, int64_t{1} << 45, true)}}, far), {"rank 0, node 1", "to remote memory"});
  expect(run({{memory(1, int64_t{1} << 62)}}, slow), {"rank 0, node 1"});
  // Too much for the time that is left.
  for (const std::string& more : {slow, banked, far}) {
    PbNode node = after(memory(2, int64_t{1} << 34, more == far));
    expect(run({{comp(1, {}, kLastMicros), node}}, more), {"at 18446744073709 us", "rank 0", "node 2"});
  }
  // Two at once, each of which would fit.
  expect(run({{memory(1, 10'000'000'000'000), memory(2, 10'000'000'000'000)}}, slow),
         {"at ", "rank 0", "node"});
}

TEST_F(Overflow, ReductionsInMemoryAndElsewhere) {
  const std::vector<PbNode> nodes = {comp(1, {}, kLastMicros - 1'000'000),
                                     after(collective(2, ChakraProtoMsg::ALL_REDUCE, int64_t{1} << 30))};
  for (const std::string more : {"collectives: {reduction: {bandwidth: 1 MB/s}}\n",
                                 "collectives: {reduction: hbm}\nhbm: {bandwidth: 1 MB/s}\n"})
    expect(run({nodes, nodes}, more), {"at 184467", "collective 1"});
}

// The notorious 17,500,000,000,012 us, and everything else that came out too short.
TEST_F(Overflow, CollectivesOfTheCommandLine) {
  const std::string most = "9223372036854775807 B";
  const std::vector<std::vector<std::string>> machines = {
      {"--topology", "Ring(4)"},
      {"--topology", "Ring(4)", "--no-fold"},
      {"--topology", "FullyConnected(4)"},
      {"--topology", "Switch(4)"},
      {"--topology", "Mesh(4)"},
      {"--topology", "Switch(4)", "--switching", "cut_through"},
      {"--topology", "Switch(4)", "--set", "topology.dimensions[0].collective_unit.segment=1 TiB", "--set",
       "topology.dimensions[0].collective_unit.buffer=unlimited", "--algorithm", "in_switch"},
      {"--topology", "Ring(2)_Switch(2)", "--order", "themis_flex"},
      {"--topology", "Ring(2)_Switch(2)", "--dimension-scheduling", "smallest_first"},
      {"--topology", "FatTree(k=4,n=2)"},
      {"--topology", "Ring(4)", "--reduction", "1 MB/s"},
      {"--topology", "Ring(4)", "--chunks", "65535"},
  };
  for (std::vector<std::string> machine : machines) {
    for (const std::string fidelity : {"message", "analytical"}) {
      for (const auto& [bandwidth, size] : std::vector<std::pair<std::string, std::string>>{
               {"1 MB/s", "24 TB"}, {"1 MB/s", most}, {"100 GB/s", most}}) {
        for (const std::string op :
             {"all_reduce", "all_to_all", "reduce_scatter", "broadcast", "reduce", "scatter"}) {
          if (machine.back() == "in_switch" && op == "all_to_all") continue;
          std::vector<std::string> arguments = machine;
          arguments.insert(arguments.end(),
                           {"--bandwidth", bandwidth, "--size", size, "--fidelity", fidelity, "--op", op});
          const Ran ran = measure(arguments);
          SCOPED_TRACE(machine[1] + " " + machine.back() + " " + fidelity + " " + bandwidth + " " + size +
                       " " + op);
          // A scatter's or an all-to-all's share of 24 TB may still fit.
          if (ran.status == 0 && size != most) continue;
          expect(ran, {"collective 1", ";"});
        }
      }
    }
  }
  const Ran gathers =
      measure({"--topology", "Ring(4)", "--bandwidth", "100 GB/s", "--size", most, "--op", "all_gather"});
  EXPECT_EQ(gathers.status, 3);
  EXPECT_TRUE(gathers.says({"more bytes than 64 bits", "smaller size"})) << gathers.err;
}

TEST_F(Overflow, WhatJustFitsIsExact) {
  for (const std::string fidelity : {"message", "analytical"}) {
    const Ran ran =
        measure({"--topology", "Ring(2)", "--bandwidth", "1 MB/s", "--op", "broadcast", "--chunks", "1",
                 "--latency", "500 ns", "--size", "18446744 MB", "--fidelity", fidelity, "--json"});
    ASSERT_EQ(ran.status, 0) << ran.err;
    EXPECT_NE(ran.out.find("\"time_ns\": 18446744000000500,"), std::string::npos) << ran.out;
    const Ran over =
        measure({"--topology", "Ring(2)", "--bandwidth", "1 MB/s", "--op", "broadcast", "--chunks", "1",
                 "--latency", "500 ns", "--size", "18446745 MB", "--fidelity", fidelity});
    EXPECT_EQ(over.status, 3) << over.out;
  }
  // Sizes far beyond what products of 64 bits hold scale like small ones.
  for (const std::string fidelity : {"message", "analytical"}) {
    for (const std::string topology : {"Ring(4)", "FullyConnected(4)", "Switch(4)", "Ring(2)_Switch(2)"}) {
      for (const std::string op :
           {"all_reduce", "all_to_all", "reduce_scatter", "broadcast", "gather", "scatter"}) {
        const auto time = [&](const std::string& size) {
          const Ran ran = measure({"--topology", topology, "--bandwidth", "1000 PB/s", "--latency", "0 ns",
                                   "--op", op, "--size", size, "--fidelity", fidelity, "--json"});
          EXPECT_EQ(ran.status, 0) << topology << " " << op << ": " << ran.err;
          return ran.status == 0 ? picoseconds(ran.out.substr(ran.out.find("time_ns") + 10,
                                                              ran.out.find(',', ran.out.find("time_ns")) -
                                                                  ran.out.find("time_ns") - 10))
                                 : 0;
        };
        const double small = static_cast<double>(time("4611686018 kB"));
        const double large = static_cast<double>(time("4611686018000000 kB"));
        EXPECT_NEAR(large / small, 1e6, 1e-3 * 1e6) << topology << " " << op << " " << fidelity;
      }
    }
  }
}

TEST_F(Overflow, WaitingTimesAddUpBeyond64Bits) {
  // 10,000 chunks that wait half a day on average.
  const Ran ran = measure({"--topology", "Ring(4)", "--bandwidth", "1 MB/s", "--size", "50 GB", "--chunks",
                           "40000", "--fidelity", "analytical", "--phases", "--json"});
  ASSERT_EQ(ran.status, 0) << ran.err;
  const json result = json::parse(ran.out)["results"][0];
  const double time = result["time_ns"];
  // One chunk at a time: the i-th waits for i - 1 others.
  EXPECT_NEAR(result["phases"][0]["queue_ns"].get<double>() / (time * 39999 / 2), 1, 0.01);
}

}  // namespace
}  // namespace weft::test
