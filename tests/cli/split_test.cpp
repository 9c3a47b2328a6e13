// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Jobs whose replicas are alike at first (run.split): what the program says, its files next to those of a run
// that simulates each rank, and a plan that is wrong.

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/support/job_folder.h"

namespace weft::test {
namespace {

using nlohmann::json;
using trace::test::comp;
using trace::test::PbNode;
using trace::test::receive;
using trace::test::send;

const std::vector<std::string> kFiles = {"ranks.csv", "collectives.csv", "phases.csv", "layers.csv",
                                         "links.csv"};

class Split : public JobFolder {
 protected:
  /// Runs the machine's traces with these options and with --no-fold, and compares the files.
  Ran run_both(const std::string& machine, const std::vector<std::string>& trace,
               const std::vector<std::string>& more) const {
    const auto run = [&](const std::string& out, const std::vector<std::string>& options) {
      std::vector<std::string> arguments = {"run", config(machine), "--out", at(out)};
      arguments.insert(arguments.end(), trace.begin(), trace.end());
      arguments.insert(arguments.end(), options.begin(), options.end());
      return weft(arguments);
    };
    const Ran ran = run("out", more);
    EXPECT_EQ(ran.status, 0) << ran.err;
    EXPECT_EQ(run("all", {"--no-fold"}).status, 0);
    for (const std::string& file : kFiles)
      EXPECT_EQ(read(at("out/" + file)), read(at("all/" + file))) << file << "\n" << ran.err;
    return ran;
  }
  json split() const {
    const json summary = json::parse(read(at("out/summary.json")));
    return summary["folding"].contains("split") ? summary["folding"]["split"] : json();
  }
};

const char* const kMachine = R"(weft: 1
topology:
  notation: Switch(2)_Switch(8)
  dimensions:
    - {bandwidth: 450 GB/s, latency: 250 ns, fidelity: message}
    - {bandwidth: 50 GB/s, latency: 600 ns, fidelity: message}
npu: {peak: 312 TFLOPS}
)";

class Step : public Split {
 protected:
  void SetUp() override {
    const Ran made = weft({"generate", "llm",   "--tp",      "2",     "--pp",           "2", "--dp",    "4",
                           "--layers", "4",     "--hidden",  "512",   "--microbatches", "4", "--batch", "16",
                           "--slow",   "3=1.5", "--classes", "--out", at("trace")});
    ASSERT_EQ(made.status, 0) << made.err;
  }
  Ran run(const std::vector<std::string>& more) const {
    return run_both(kMachine, {"--trace", at("trace/llm")}, more);
  }
};

TEST_F(Step, WithAStragglerTheOtherReplicasAreToldFromOne) {
  const Ran ran = run({"--set", "run.split=always"});
  EXPECT_TRUE(ran.says({"weft: split: 8 of 16 ranks do as 4 others until "})) << ran.err;
  EXPECT_EQ(split()["ranks"], 8);
  const double end = json::parse(read(at("out/summary.json")))["time_ns"];
  EXPECT_GT(split()["at_ns"].get<double>(), end / 2);
  EXPECT_LT(split()["at_ns"].get<double>(), end);
  // Work that is not done twice.
  const auto events = [&](const std::string& out) {
    const std::string table = read(at(out + "/summary.json"));
    return json::parse(table)["events"].get<uint64_t>();
  };
  EXPECT_LT(events("out"), events("all") * 3 / 4);
}

TEST_F(Step, ASmallJobIsNotSplitByItself) {
  const Ran ran = run({});
  EXPECT_TRUE(split().is_null());
  EXPECT_EQ(ran.err.find("split"), std::string::npos) << ran.err;
}

TEST_F(Step, NothingIsSplitWhereSingleRanksAreLookedAt) {
  for (const std::vector<std::string>& look : {std::vector<std::string>{"--timeline"},
                                               {"--critical-path"},
                                               {"--waves", "npu1.*"},
                                               {"--parts", "2", "--parts-cut", "rank / 8 % 2"},
                                               {"--set", "run.footprint=on"},
                                               {"--set", "nmu.injection_queue=2"}}) {
    std::vector<std::string> more = {"--set", "run.split=always"};
    more.insert(more.end(), look.begin(), look.end());
    const Ran ran = weft([&] {
      std::vector<std::string> arguments = {"run",           config(kMachine), "--trace",
                                            at("trace/llm"), "--out",          at("out")};
      arguments.insert(arguments.end(), more.begin(), more.end());
      return arguments;
    }());
    EXPECT_EQ(ran.status, 0) << look.front() << ": " << ran.err;
    EXPECT_TRUE(split().is_null()) << look.front();
  }
}

/// Two stages, three replicas, all of it once for each lane, each a little slower. The first stage joins the
/// replicas and then sends; the second one, in a scout, waits for that for ever.
class WrongPlan : public Split {
 protected:
  Ran run(uint32_t lanes, const std::vector<std::string>& more) const {
    const auto all_reduce = [](uint64_t id, const std::string& group, uint64_t after) {
      PbNode node = trace::test::collective(id, ChakraProtoMsg::ALL_REDUCE, 3 << 18, group);
      node.add_data_deps(after);
      return node;
    };
    std::vector<Nodes> ranks;
    json groups;
    for (uint32_t r = 0; r < 6 * lanes; ++r) {
      const bool slow = r / lanes == 5;
      const bool first = r / lanes % 2 == 0;
      const std::string group = (first ? "first" : "second") + std::to_string(r % lanes);
      groups[group].push_back(r);
      Nodes nodes;
      if (first) {
        nodes.push_back(comp(1, {}, 10));
        nodes.push_back(all_reduce(2, group, 1));
        nodes.push_back(send(3, r + lanes, 1 << 20, 7));
        nodes.back().add_data_deps(2);
      } else {
        nodes.push_back(comp(1, {}, (slow ? 1500 : 1000) + r % lanes));
        nodes.push_back(comp(5, {1}, 500));
        nodes.push_back(receive(2, r - lanes, 1 << 20, 7));
        nodes.push_back(comp(3, {2}, 20));
        nodes.push_back(all_reduce(4, group, 3));
      }
      ranks.push_back(nodes);
    }
    traces(ranks);
    write(at("groups.json"), groups.dump());
    const std::string machine = "weft: 1\ntopology: {notation: Switch(" + std::to_string(2 * lanes) +
                                ")_Switch(3), dimensions: [{bandwidth: 100 GB/s, latency: 500 ns, fidelity: "
                                "message}, {bandwidth: 50 GB/s, latency: 500 ns, fidelity: message}]}\n";
    std::vector<std::string> options = {"--set", "run.split=always"};
    options.insert(options.end(), more.begin(), more.end());
    return run_both(machine, {"--trace", at("t"), "--groups", at("groups.json")}, options);
  }
};

TEST_F(WrongPlan, IsNoticedAndTheRunStartsAgain) {
  const Ran ran = run(1, {});
  EXPECT_TRUE(
      ran.says({"weft: split: at ", "a message comes to ranks that have not begun: the run starts again"}))
      << ran.err;
  EXPECT_EQ(split()["ranks"], 2);
  EXPECT_TRUE(ran.out.find("results  ") != std::string::npos) << ran.out;
}

TEST_F(WrongPlan, InPartsTheRunStartsAgainInOneProcess) {
  const Ran ran = run(2, {"--parts", "2"});
  EXPECT_TRUE(ran.says({"weft: split: at ", "a message comes to ranks that have not begun",
                        "weft: parts: ranks of a part were not like those that ran for them (run.split)"}))
      << ran.err;
  const json summary = json::parse(read(at("out/summary.json")));
  EXPECT_EQ(summary["parts"]["parts"], 1);
  EXPECT_EQ(split()["ranks"], 2);  // of one lane: nothing joins them
}

TEST_F(Step, PartsTellTheirRanksFromOthersToo) {
  const Ran ran = run({"--set", "run.split=always", "--parts", "2"});
  EXPECT_TRUE(ran.says({"weft: split: 8 of 16 ranks do as 4 others until "})) << ran.err;
  EXPECT_EQ(split()["ranks"], 8);
  const json summary = json::parse(read(at("out/summary.json")));
  EXPECT_EQ(summary["parts"]["parts"], 2);
  EXPECT_EQ(summary["parts"]["cut"], "rank / 1 % 2");
}

}  // namespace
}  // namespace weft::test
