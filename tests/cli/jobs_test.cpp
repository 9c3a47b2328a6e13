// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Several jobs on one machine: on links of their own each is as alone, on shared links they slow each other
// down, and what cannot be is refused with file and key.

#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/support/job_folder.h"

namespace weft::test {
namespace {

namespace fs = std::filesystem;
using trace::test::collective;
using trace::test::comp;
using trace::test::PbNode;
using trace::test::receive;
using trace::test::send;
using trace::test::write_trace;

constexpr auto kAllReduce = ChakraProtoMsg::ALL_REDUCE;
constexpr auto kAllGather = ChakraProtoMsg::ALL_GATHER;
constexpr const char* kJobFiles[] = {"ranks.csv", "collectives.csv", "phases.csv", "layers.csv"};

std::string machine(const std::string& notation, const std::string& fidelity, const std::string& more = "") {
  return "weft: 1\ntopology:\n  notation: " + notation +
         "\n  dimensions:\n    - {bandwidth: 50 GB/s, latency: 500 ns, fidelity: " + fidelity +
         "}\n    - {bandwidth: 20 GB/s, latency: 1 us, fidelity: " + fidelity + "}\n" + more;
}

class Jobs : public JobFolder {
 protected:
  /// Traces NAME.<rank>.et of a job of four ranks: collectives of all and of a group, compute, and a ring of
  /// messages. `scale`: of its sizes.
  void four_ranks(const std::string& name, int64_t scale) const {
    write(at(name + ".groups.json"), R"({"odd": [1, 3], "even": [0, 2]})");
    for (uint32_t r = 0; r < 4; ++r) {
      PbNode out = send(5, (r + 1) % 4, 30000 * scale, 7);
      out.add_data_deps(2);
      PbNode in = receive(6, (r + 3) % 4, 30000 * scale, 7);
      PbNode last = collective(7, kAllReduce, 50000 * scale);
      last.add_data_deps(6);
      write_trace(at(name + "." + std::to_string(r) + ".et"),
                  {comp(1, {}, r + 1), collective(2, kAllReduce, 100000 * scale),
                   collective(3, kAllGather, 4096 * scale, r % 2 == 1 ? "odd" : "even"), comp(4, {3}, 3), out,
                   in, last});
    }
  }
  /// NAME.yaml with the job's part of a configuration.
  std::string job(const std::string& name, const std::string& npus) const {
    write(at(name + ".yaml"),
          "weft: 1\nworkload: {trace: " + name + ", groups: " + name + ".groups.json, npus: " + npus + "}\n");
    return at(name + ".yaml");
  }
  Ran run_jobs(const std::vector<std::string>& jobs, const std::string& out,
               const std::vector<std::string>& more = {}) const {
    std::vector<std::string> arguments = {"run", at("machine.yaml"), "--out", at(out)};
    for (const std::string& file : jobs) arguments.insert(arguments.end(), {"--job", file});
    arguments.insert(arguments.end(), more.begin(), more.end());
    return weft(arguments);
  }
  void expect_same(const std::string& a, const std::string& b) const {
    for (const char* const file : kJobFiles)
      EXPECT_EQ(read(at(a + "/" + file)), read(at(b + "/" + file))) << a << ", " << b << ": " << file;
  }
  uint64_t time(const std::string& folder) const {
    return picoseconds(read_csv(at(folder + "/ranks.csv")).at(0).at("time_ns"));
  }
  uint64_t link_bytes(const std::string& folder) const {
    uint64_t bytes = 0;
    for (const auto& row : read_csv(at(folder + "/links.csv"))) bytes += std::stoull(row.at("bytes"));
    return bytes;
  }
};

TEST_F(Jobs, OnLinksOfTheirOwnEachIsAsAlone) {
  four_ranks("a", 1);
  four_ranks("b", 3);
  for (const char* const notation : {"Switch(4)_Switch(2)", "Ring(4)_Switch(2)", "FullyConnected(4)_Ring(2)",
                                     "Mesh(4)_FullyConnected(2)"}) {
    for (const char* const fidelity : {"analytical", "message", "packet"}) {
      SCOPED_TRACE(std::string(notation) + " " + fidelity);
      config(machine(notation, fidelity));
      const std::string a = job("a", "[0..3]");
      const std::string b = job("b", "[7..4]");
      const Ran both = run_jobs({a, b}, "both");
      ASSERT_EQ(both.status, 0) << both.err;
      ASSERT_EQ(run_jobs({a}, "alone_a").status, 0);
      ASSERT_EQ(run_jobs({b}, "alone_b").status, 0);
      expect_same("both/a", "alone_a/a");
      expect_same("both/b", "alone_b/b");
      EXPECT_EQ(link_bytes("both"), link_bytes("alone_a") + link_bytes("alone_b"));
      // The job is that of `workload` on these NPUs, too.
      ASSERT_EQ(weft({"run", at("machine.yaml"), "--trace", at("b"), "--groups", at("b.groups.json"), "--set",
                      "workload.npus=[7..4]", "--out", at("plain")})
                    .status,
                0);
      expect_same("both/b", "plain");
    }
  }
}

TEST_F(Jobs, AreAsOnAMachineOfTheirOwnSize) {
  four_ranks("a", 2);
  config(machine("Ring(4)_Switch(2)", "message"));
  ASSERT_EQ(run_jobs({job("a", "[4..7]")}, "part").status, 0);
  write(at("own.yaml"),
        "weft: 1\ntopology:\n  notation: Ring(4)\n  dimensions: [{bandwidth: 50 GB/s, latency: 500 ns}]\n");
  ASSERT_EQ(
      weft({"run", at("own.yaml"), "--trace", at("a"), "--groups", at("a.groups.json"), "--out", at("own")})
          .status,
      0);
  EXPECT_EQ(read(at("part/a/ranks.csv")), read(at("own/ranks.csv")));
}

TEST_F(Jobs, OnSharedLinksBothAreSlower) {
  four_ranks("a", 20);
  four_ranks("b", 20);
  for (const char* const fidelity : {"analytical", "message", "packet"}) {
    SCOPED_TRACE(fidelity);
    // Neighbours of a job are two hops apart, over an NPU of the other job.
    write(at("machine.yaml"),
          std::string("weft: 1\ntopology:\n  notation: Ring(8)\n  dimensions: [{bandwidth: 50 GB/s, "
                      "latency: 500 ns, fidelity: ") +
              fidelity + "}]\n");
    const std::string a = job("a", "[0, 2, 4, 6]");
    const std::string b = job("b", "[1, 3, 5, 7]");
    const Ran both = run_jobs({a, b}, "both");
    ASSERT_EQ(both.status, 0) << both.err;
    ASSERT_EQ(run_jobs({a}, "alone_a").status, 0);
    ASSERT_EQ(run_jobs({b}, "alone_b").status, 0);
    // At analytical fidelity messages wait for the first and the last link of their way only, and these are
    // the jobs' own here.
    if (std::string(fidelity) == "analytical") {
      EXPECT_GE(time("both/a"), time("alone_a/a"));
      EXPECT_GE(time("both/b"), time("alone_b/b"));
    } else {
      EXPECT_GT(time("both/a"), time("alone_a/a"));
      EXPECT_GT(time("both/b"), time("alone_b/b"));
    }
    EXPECT_EQ(link_bytes("both"), link_bytes("alone_a") + link_bytes("alone_b"));
    const auto summary = nlohmann::json::parse(read(at("both/summary.json")));
    EXPECT_EQ(summary["invariants"], "ok");
    EXPECT_EQ(summary["jobs"].size(), 2u);
    EXPECT_EQ(summary["jobs"][1]["name"], "b");
    EXPECT_EQ(summary["messages"], summary["jobs"][0]["messages"].get<uint64_t>() +
                                       summary["jobs"][1]["messages"].get<uint64_t>());
  }
}

TEST_F(Jobs, TheListInTheConfigurationIsTheSame) {
  four_ranks("a", 1);
  four_ranks("b", 3);
  const std::string text = machine("Switch(4)_Switch(2)", "message");
  config(text);
  ASSERT_EQ(run_jobs({job("a", "[0, 4, 1, 5]"), job("b", "[2, 6, 3, 7]")}, "files").status, 0);
  config(text +
         "jobs:\n"
         "  - {name: a, trace: a, groups: a.groups.json, npus: [0, 4, 1, 5]}\n"
         "  - {name: b, trace: b, groups: b.groups.json, npus: [2, 6, 3, 7]}\n");
  const Ran list = weft({"run", at("machine.yaml"), "--out", at("list")});
  ASSERT_EQ(list.status, 0) << list.err;
  // Each job's file may describe the machine itself.
  write(at("a.yaml"), text + "workload: {trace: a, groups: a.groups.json, npus: [0, 4, 1, 5]}\n");
  write(at("b.yaml"), text + "workload: {trace: b, groups: b.groups.json, npus: [2, 6, 3, 7]}\n");
  ASSERT_EQ(weft({"run", "--job", at("a.yaml"), "--job", at("b.yaml"), "--out", at("whole")}).status, 0);
  ASSERT_EQ(weft({"run", at("list/effective.yaml"), "--out", at("again")}).status, 0);
  for (const char* const other : {"list", "whole", "again"}) {
    expect_same("files/a", std::string(other) + "/a");
    expect_same("files/b", std::string(other) + "/b");
    EXPECT_EQ(read(at("files/links.csv")), read(at(std::string(other) + "/links.csv")));
  }
  EXPECT_EQ(weft({"validate", at("machine.yaml")}).status, 0);
  EXPECT_FALSE(fs::exists(at("list/a/links.csv")));
}

TEST_F(Jobs, CarryDataAndWaveforms) {
  four_ranks("a", 2);
  four_ranks("b", 4);
  config(machine("Switch(4)_Switch(2)", "message", "run: {data: functional}\n"));
  const Ran ran =
      run_jobs({job("a", "[0, 4, 1, 5]"), job("b", "[2, 6, 3, 7]")}, "out", {"--waves", "npu*.state"});
  ASSERT_EQ(ran.status, 0) << ran.err;
  for (const char* const name : {"out/a", "out/b"}) {
    const auto summary = nlohmann::json::parse(read(at(std::string(name) + "/summary.json")));
    EXPECT_EQ(summary["invariants"], "ok");
    EXPECT_EQ(summary["data"]["collectives_verified"], 4);
    EXPECT_EQ(summary["data"]["messages_verified"], 4);
  }
  EXPECT_TRUE(fs::exists(at("out/waves.vcd")));
}

TEST_F(Jobs, AStallNamesTheJob) {
  four_ranks("a", 1);
  for (uint32_t r = 0; r < 2; ++r) {
    PbNode out = send(2, 1 - r, 1000, 7);
    out.add_data_deps(1);
    write_trace(at("b." + std::to_string(r) + ".et"), {receive(1, 1 - r, 1000, 7), out});
  }
  config(machine("Switch(4)_Switch(2)", "message"));
  write(at("b.yaml"), "weft: 1\nworkload: {trace: b, npus: [5, 4]}\n");
  const Ran ran = run_jobs({job("a", "[0..3]"), at("b.yaml")}, "out");
  EXPECT_EQ(ran.status, 4) << ran.err;
  EXPECT_TRUE(ran.says({"job `b` stalled", "2 of 2 ranks", "cycle: rank 0 waits for rank 1"})) << ran.err;
  EXPECT_EQ(ran.err.find("job `a`"), std::string::npos) << ran.err;
  const auto summary = nlohmann::json::parse(read(at("out/summary.json")));
  EXPECT_EQ(summary["finished"], false);
  EXPECT_EQ(summary["jobs"][0]["finished"], true);
  EXPECT_EQ(summary["jobs"][1]["finished"], false);
}

TEST_F(Jobs, WhatCannotBeIsRefused) {
  four_ranks("a", 1);
  four_ranks("b", 1);
  const std::string text = machine("Switch(4)_Switch(2)", "message");
  config(text);
  const auto refused = [&](const std::vector<std::string>& jobs, const std::vector<std::string>& parts,
                           const std::vector<std::string>& more = {}) {
    const Ran ran = run_jobs(jobs, "out", more);
    EXPECT_EQ(ran.status, 2) << ran.err;
    EXPECT_TRUE(ran.says(parts)) << ran.err;
    EXPECT_FALSE(fs::exists(at("out")));
  };
  refused({job("a", "[0..3]"), job("b", "[3..6]")}, {"`a` and `b`", "NPU 3", "`workload.npus`"});
  write(at("b.yaml"), "weft: 1\nworkload: {trace: b}\n");
  refused({at("a.yaml"), at("b.yaml")}, {"`a` and `b`", "NPU 0", "a job without it has all"});
  refused({job("a", "[0..3]"), job("b", "[4..8]")}, {"b.yaml:2", "`workload.npus`", "'4..8'", "0 to 7"});
  refused({job("a", "[0..3]"), job("b", "[4, 5, 4, 6]")},
          {"b.yaml:2", "NPU 4 is given to rank 0 and to rank 2"});
  refused({at("a.yaml"), at("a.yaml")}, {"another job's file is called `a` too"});
  write(at("summary.json.yaml"), "weft: 1\nworkload: {trace: a, npus: [0..3]}\n");
  refused({at("summary.json.yaml")},
          {"the job's name 'summary.json' is the name of a file of the run's results"});
  refused({at("a.yaml")}, {"--trace and --groups are for one job"}, {"--trace", at("a")});
  write(at("c.yaml"), "weft: 1\nworkload: {npus: [4..7]}\n");
  refused({at("c.yaml")}, {"c.yaml", "`workload.trace` is not set"});
  write(at("c.yaml"), "weft: 1\nworkload: {trace: a, npus: [4..7], tarce: b}\n");
  refused({at("c.yaml")}, {"c.yaml:2", "tarce"});
  write(at("c.yaml"), machine("Switch(4)_Switch(2)", "packet") + "workload: {trace: b, npus: [4..7]}\n");
  write(at("a2.yaml"), text + "workload: {trace: a, npus: [0..3]}\n");
  const Ran other = weft({"run", "--job", at("a2.yaml"), "--job", at("c.yaml"), "--out", at("out")});
  EXPECT_EQ(other.status, 2);
  EXPECT_TRUE(other.says({"c.yaml: describes another machine than", "fidelity: packet", "fidelity: message"}))
      << other.err;
  const Ran none = weft({"run", "--job", job("a", "[0..3]"), "--out", at("out")});
  EXPECT_EQ(none.status, 2);
  EXPECT_TRUE(none.says({"a.yaml: describes no machine"})) << none.err;
  // Five NPUs for four traces.
  const Ran traces = run_jobs({job("a", "[0..4]")}, "out");
  EXPECT_EQ(traces.status, 3) << traces.err;
  EXPECT_TRUE(traces.says({"job `a`", "a.4.et"})) << traces.err;
}

TEST_F(Jobs, TheListIsChecked) {
  four_ranks("a", 1);
  const std::string text = machine("Switch(4)_Switch(2)", "message");
  const auto refused = [&](const std::string& jobs, const std::vector<std::string>& parts) {
    config(text + jobs);
    const Ran ran = weft({"validate", at("machine.yaml")});
    EXPECT_EQ(ran.status, 2) << ran.err;
    EXPECT_TRUE(ran.says(parts)) << ran.err;
  };
  refused("jobs: [{trace: a, npus: [0..3]}, {trace: a, npus: [3..6]}]\n",
          {"machine.yaml:7", "`jobs[1].npus`", "NPU 3 has a rank of jobs[0]"});
  refused("jobs: [{trace: a, npus: [0..3]}, {trace: a}]\n", {"`jobs[1].npus`", "missing"});
  refused("jobs: [{npus: [0..3]}]\n", {"`jobs[0].trace`", "missing"});
  refused("jobs: [{name: x, trace: a, npus: [0..3]}, {name: x, trace: a, npus: [4..7]}]\n",
          {"`jobs[1].name`", "'x' is the name of jobs[0]"});
  refused("jobs: [{name: a/b, trace: a, npus: [0..3]}]\n", {"`jobs[0].name`", "no name of a folder"});
  refused("jobs: [{name: job1, trace: a, npus: [0..3]}, {trace: a, npus: [4..7]}]\n",
          {"`jobs[1].name`", "'job1' is the name of jobs[0]"});
  refused("jobs: [{name: links.csv, trace: a, npus: [0..3]}]\n",
          {"`jobs[0].name`", "'links.csv' is the name of a file of the run's results"});
  refused("workload: {trace: a}\njobs: [{trace: a, npus: [0..3]}]\n", {"`jobs`", "`workload.trace`"});
  refused("jobs: [{trace: a, npus: [9]}]\n", {"`jobs[0].npus`", "'9'", "0 to 7"});
  refused("jobs: [{trace: a, npus: 3}]\n", {"`jobs[0].npus`", "a list of numbers and ranges"});
}

}  // namespace
}  // namespace weft::test
