// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// The bytes that a rank's tensors take in its HBM: lifetimes from the trace worked out by hand, both forms of
// lists of tensors, the estimate, what is said when they do not fit, and random traces against a count of
// every instant.

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/job_folder.h"

namespace weft::test {
namespace {

using trace::test::attribute;
using trace::test::comp;
using trace::test::PbNode;
using trace::test::write_trace;

using Tensors = std::vector<std::pair<std::string, std::string>>;  // names, bytes as written

void list(PbNode& node, const char* what, const Tensors& tensors) {
  auto* a = node.add_attr();
  a->set_name(what);
  for (const auto& [name, bytes] : tensors) {
    a->mutable_string_list()->add_values(name);
    if (!bytes.empty()) a->mutable_string_list()->add_values(bytes);
  }
}

/// STAGE's form.
PbNode with_tensors(PbNode node, const Tensors& inputs, const Tensors& outputs) {
  list(node, "inputs", inputs);
  list(node, "outputs", outputs);
  return node;
}

class FootprintRun : public JobFolder {
 protected:
  void SetUp() override {
    write(at("machine.yaml"),
          "weft: 1\ntopology: {notation: Ring(2), dimensions: [{bandwidth: 10 GB/s, latency: 1 us}]}\n"
          "workload: {trace: t}\n");
  }
  /// The same nodes on both ranks.
  void both(const std::vector<PbNode>& nodes) const {
    for (const char* const rank : {"0", "1"}) write_trace(at(std::string("t.") + rank + ".et"), nodes);
  }
  Ran run(const std::vector<std::string>& settings = {}) const {
    std::vector<std::string> arguments = {"run", at("machine.yaml"), "--out", at("out")};
    for (const std::string& setting : settings) arguments.insert(arguments.end(), {"--set", setting});
    return weft(arguments);
  }
  std::map<std::string, std::string> row(size_t rank = 0) const {
    return read_csv(at("out/footprint.csv")).at(rank);
  }
  /// Three computations of 10, 5 and 1 us; initial: w and x.
  void by_hand() const {
    both({with_tensors(comp(1, {}, 10), {{"w", "100.0"}, {"x", "50"}}, {{"h", "200.0"}}),
          with_tensors(comp(2, {1}, 5), {{"h", "200.0"}}, {{"y", "30"}}),
          with_tensors(comp(3, {2}, 1), {{"y", "30"}}, {{"z", "10"}})});
  }
};

TEST_F(FootprintRun, LifetimesByHand) {
  by_hand();
  const Ran ran = run();
  ASSERT_EQ(ran.status, 0) << ran.err;
  // w + x = 150; h from 0 to 15 us; y from 10 to 16 us; z from 15 us to the end, nobody reads it.
  for (const size_t rank : {0u, 1u}) {
    const auto own = row(rank);
    EXPECT_EQ(own.at("source"), "trace");
    EXPECT_EQ(own.at("tensors"), "5");
    EXPECT_EQ(own.at("initial_bytes"), "150");
    EXPECT_EQ(own.at("peak_bytes"), "380");  // w + x + h + y
    EXPECT_EQ(own.at("peak_ns"), "10000");
    EXPECT_EQ(own.at("over_from_ns"), "");
    EXPECT_EQ(own.at("largest"), "h=200; w=100; x=50; y=30");
  }
}

TEST_F(FootprintRun, ATensorThatIsWrittenBeforeItIsReadIsNotInitial) {
  // b is written by node 1 and read by node 2, which stands first in the file.
  PbNode reader = with_tensors(comp(2, {1}, 1), {{"b", "8"}}, {});
  both({reader, with_tensors(comp(1, {}, 1), {}, {{"b", "8"}})});
  ASSERT_EQ(run().status, 0);
  EXPECT_EQ(row().at("initial_bytes"), "0");
  EXPECT_EQ(row().at("peak_bytes"), "8");
}

TEST_F(FootprintRun, SizesMayBeMissing) {
  // Of a node's only output its tensor_size; the largest of what the nodes say.
  PbNode first = with_tensors(comp(1, {}, 1), {{"a", ""}, {"b", "0"}}, {{"c", "0"}});
  attribute(first, "tensor_size", 4096);
  both({first, with_tensors(comp(2, {1}, 1), {{"a", "7.5"}, {"c", ""}}, {})});
  ASSERT_EQ(run().status, 0);
  EXPECT_EQ(row().at("initial_bytes"), "8");
  EXPECT_EQ(row().at("peak_bytes"), "4104");
}

TEST_F(FootprintRun, PyTorchsFormCountsStoragesOnce) {
  PbNode node = comp(1, {}, 2);
  node.mutable_inputs()->set_values(
      "[[1, 11, 0, 512, 4, 'cuda:0'], [2, 11, 512, 512, 4, 'cuda:0'], [[3, 12, 0, 100, 2, 'cuda:0']], "
      "[4, 13, 0, 9999, 8, 'cpu'], [1, 2, 3, 4, 5, 6], True, '[5, 14, 0, 1, 1, x]']");
  node.mutable_outputs()->set_values("[[6, 15, 10, 6, 1, 'cuda:0']]");
  both({node});
  ASSERT_EQ(run().status, 0);
  EXPECT_EQ(row().at("initial_bytes"), "4296");  // storage 11: (512 + 512) * 4; storage 12: 200
  EXPECT_EQ(row().at("peak_bytes"), "4312");     // storage 15: (10 + 6) * 1
  EXPECT_EQ(row().at("largest").substr(0, 26), "storage 11 on cuda:0=4096;");
}

TEST_F(FootprintRun, WithoutTensorsItIsAnEstimateOnDemand) {
  PbNode load = trace::test::make(1, "weights", ChakraProtoMsg::MEM_LOAD_NODE);
  attribute(load, "tensor_size", 1000);
  PbNode first = comp(2, {1}, 10), second = comp(3, {2}, 10), third = comp(4, {3}, 10);
  attribute(first, "tensor_size", 300);
  attribute(second, "tensor_size", 500);
  attribute(third, "tensor_size", 7);
  PbNode gather = trace::test::collective(5, ChakraProtoMsg::ALL_GATHER, 64);
  gather.add_data_deps(4);
  both({load, first, second, third, gather});
  ASSERT_EQ(run().status, 0);
  EXPECT_FALSE(std::filesystem::exists(at("out/footprint.csv")));
  const Ran ran = run({"run.footprint=on"});
  ASSERT_EQ(ran.status, 0) << ran.err;
  EXPECT_EQ(row().at("source"), "estimate");
  EXPECT_EQ(row().at("initial_bytes"), "1000");
  EXPECT_EQ(row().at("peak_bytes"), "1800");  // weights and the results of nodes 2 and 3
  EXPECT_EQ(row().at("tensors"), "5");        // the gathered one has 128 B
  EXPECT_NE(ran.out.find("tensors  about "), std::string::npos) << ran.out;
}

TEST_F(FootprintRun, WhatDoesNotFitIsTold) {
  both({with_tensors(comp(1, {}, 10), {{"w", "1048576"}}, {{"h", "524288"}}),
        with_tensors(comp(2, {1}, 5), {{"h", "524288"}}, {{"y", "1"}}),
        with_tensors(comp(3, {2}, 1), {{"y", "1"}}, {})});
  const std::string capacity = "hbm.capacity=1 MiB";
  Ran ran = run({capacity});
  EXPECT_EQ(ran.status, 0);
  for (const char* const part :
       {"warning", "rank 0", "512.0 KiB more than", "1 MiB of `hbm.capacity`", "from 0.000 us on",
        "node 1 `comp1`", "`w` 1.0 MiB, `h` 512.0 KiB", "1 more rank is above it"})
    EXPECT_NE(ran.err.find(part), std::string::npos) << part << ": " << ran.err;
  EXPECT_EQ(row().at("over_from_ns"), "0");
  EXPECT_EQ(row().at("over_ns"), "16000");  // with y to its end

  ran = run({capacity, "hbm.over_capacity=error"});
  EXPECT_EQ(ran.status, 2);
  EXPECT_NE(ran.err.find("hbm.over_capacity"), std::string::npos) << ran.err;
  EXPECT_EQ(row().at("over_ns"), "16000");  // the results are there

  ran = run({capacity, "hbm.over_capacity=ignore"});
  EXPECT_EQ(ran.status, 0);
  EXPECT_EQ(ran.err.find("capacity"), std::string::npos) << ran.err;

  ran = run({capacity, "run.footprint=off"});
  EXPECT_EQ(ran.status, 0);
  EXPECT_EQ(ran.err.find("capacity"), std::string::npos) << ran.err;
}

TEST_F(FootprintRun, TheSignalShowsIt) {
  by_hand();
  ASSERT_EQ(weft({"run", at("machine.yaml"), "--out", at("out"), "--waves", "*.footprint"}).status, 0);
  const std::string waves = read(at("out/waves.vcd"));
  for (const char* const value : {"b101011110 ", "b101111100 "})  // 350, 380
    EXPECT_NE(waves.find(value), std::string::npos) << value << waves;
}

/// Random chains of computations, each of which has some of a few tensors: the peak is that of a count of all
/// tensors at every instant.
TEST_F(FootprintRun, RandomChainsAgainstACountOfEveryInstant) {
  std::mt19937 random(7);
  const auto draw = [&](uint32_t n) { return static_cast<uint32_t>(random() % n); };
  for (int sample = 0; sample < 12; ++sample) {
    const uint32_t nodes = 2 + draw(12), tensors = 1 + draw(8);
    std::vector<PbNode> chain;
    std::vector<std::vector<int>> part(nodes, std::vector<int>(tensors, 0));  // 1: reads, 2: writes
    std::vector<uint64_t> bytes;
    for (uint32_t t = 0; t < tensors; ++t) bytes.push_back(1 + draw(1000));
    for (uint32_t n = 0; n < nodes; ++n) {
      Tensors inputs, outputs;
      for (uint32_t t = 0; t < tensors; ++t) {
        part[n][t] = static_cast<int>(draw(6));
        if (part[n][t] > 2) part[n][t] = 0;
        if (part[n][t] != 0)
          (part[n][t] == 1 ? inputs : outputs)
              .emplace_back("t" + std::to_string(t), std::to_string(bytes[t]));
      }
      chain.push_back(with_tensors(n == 0 ? comp(1, {}, 1) : comp(n + 1, {n}, 1), inputs, outputs));
    }
    both(chain);
    // Node n runs from n to n + 1 us; at that instant the node before it is over.
    uint64_t peak = 0;
    for (uint32_t at = 0; at < nodes; ++at) {
      uint64_t sum = 0;
      for (uint32_t t = 0; t < tensors; ++t) {
        int first = -1, last = -1;
        bool read = false;
        for (uint32_t n = 0; n < nodes; ++n) {
          if (part[n][t] == 0) continue;
          if (first < 0) first = static_cast<int>(n);
          last = static_cast<int>(n);
          read = read || part[n][t] == 1;
        }
        if (first < 0) continue;
        const bool initial = part[static_cast<size_t>(first)][t] == 1;
        const bool there = static_cast<int>(at) >= first && (!read || static_cast<int>(at) <= last);
        if (initial || there) sum += bytes[t];
      }
      peak = std::max(peak, sum);
    }
    const Ran ran = run();
    ASSERT_EQ(ran.status, 0) << ran.err;
    EXPECT_EQ(std::filesystem::exists(at("out/footprint.csv")) ? row().at("peak_bytes") : "0",
              std::to_string(peak))
        << "sample " << sample;
  }
}

}  // namespace
}  // namespace weft::test
