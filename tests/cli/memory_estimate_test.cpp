// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Estimates of memory: held against the peak of real runs, and what is refused because of them.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "configs/loader.h"
#include "configs/units.h"
#include "sc_models/collective_job.h"
#include "sc_models/memory_estimate.h"
#include "tests/cli/weft_process.h"
#include "tests/vcd/vcd_parser.h"

namespace weft::test {
namespace {

using nlohmann::json;
constexpr double kMiB = 1 << 20;
constexpr double kLeast = 0.75;  // estimate over peak
constexpr double kMost = 2;

/// The peak memory of a program, in bytes; 0 if it fails.
double peak_of(const std::vector<std::string>& arguments) {
  const pid_t child = fork();
  if (child == 0) {
    const int null = open("/dev/null", O_WRONLY);
    dup2(null, 1);
    dup2(null, 2);
    std::vector<char*> words{const_cast<char*>(WEFT_BINARY)};
    for (const std::string& a : arguments) words.push_back(const_cast<char*>(a.c_str()));
    words.push_back(nullptr);
    execv(WEFT_BINARY, words.data());
    _exit(127);
  }
  int status = 0;
  rusage usage{};
  if (wait4(child, &status, 0, &usage) != child || status != 0) return 0;
  return static_cast<double>(usage.ru_maxrss) * 1024;
}

std::string machine(const std::string& notation, const std::string& fidelity, const std::string& more = "") {
  return "weft: 1\ntopology:\n  notation: " + notation +
         "\n  dimensions: [{bandwidth: 100 GB/s, fidelity: " + fidelity + "}]\n" + more;
}

std::string parts(const MemoryEstimate& estimate) {
  std::string text;
  for (const auto& part : estimate.parts) text += part.what + " " + std::to_string(part.bytes / kMiB) + "; ";
  return text;
}

void expect_honest(double estimate, double peak, const std::string& what) {
  ASSERT_GT(peak, 0) << what << " failed";
  std::printf("%.2f of %.0f MiB: %s\n", estimate / peak, peak / kMiB, what.c_str());
  EXPECT_GT(estimate, kLeast * peak) << what << ": " << estimate / kMiB << " MiB, peak " << peak / kMiB;
  EXPECT_LT(estimate, kMost * peak) << what << ": " << estimate / kMiB << " MiB, peak " << peak / kMiB;
}

struct CollectiveCase {
  const char *notation, *fidelity, *op;
  const char* more = "";
};

class OfCollectives : public ::testing::TestWithParam<CollectiveCase> {};

TEST_P(OfCollectives, AreNearThePeak) {
  const CollectiveCase& c = GetParam();
  vcd::test::TemporaryFolder folder;
  const std::string file = folder.file("machine.yaml");
  write(file, machine(c.notation, c.fidelity, c.more));
  const Config config = load_config(file);
  collectives::PlanBuilder plans(config);
  CollectiveOp op = CollectiveOp::all_reduce;
  for (int i = 0; i < kCollectiveOps; ++i)
    if (std::string(c.op) == to_string(static_cast<CollectiveOp>(i))) op = static_cast<CollectiveOp>(i);
  const auto plan = CollectiveJob::plan_of(plans, op, 64 << 10);
  const double data = config.run.data == "none" ? 0 : collectives::data_footprint(*plan);
  const MemoryEstimate estimate =
      collective_memory(config, false, collectives::plan_size(config, *plan), data);
  const double peak = peak_of({"collective", file, "--op", c.op, "--size", "64KiB", "--no-fold"});
  expect_honest(estimate.bytes(), peak,
                std::string(c.notation) + " " + c.fidelity + " " + c.op + " (" + parts(estimate) + ")");
}

INSTANTIATE_TEST_SUITE_P(
    Machines, OfCollectives,
    ::testing::Values(CollectiveCase{"Ring(4)", "message", "all_reduce"},
                      CollectiveCase{"Ring(64)_Ring(32)", "message", "barrier"},
                      CollectiveCase{"Ring(16)_Ring(16)_Ring(16)", "analytical", "barrier"},
                      CollectiveCase{"Mesh(64)_Mesh(64)", "message", "barrier"},
                      CollectiveCase{"Switch(64)_Switch(64)", "message", "all_reduce"},
                      CollectiveCase{"Switch(4096)", "message", "all_reduce"},
                      CollectiveCase{"Switch(64)_Switch(64)", "analytical", "all_reduce"},
                      CollectiveCase{"FullyConnected(64)_FullyConnected(64)", "message", "all_reduce"},
                      CollectiveCase{"FullyConnected(64)_FullyConnected(64)", "analytical", "all_gather"},
                      CollectiveCase{"Switch(512)", "message", "all_to_all"},
                      CollectiveCase{"Switch(512)", "analytical", "all_to_all"},
                      CollectiveCase{"Clos(hosts=16,leaves=64,spines=16)", "message", "barrier"},
                      CollectiveCase{"Switch(16)_Clos(hosts=8,leaves=16,spines=4)", "message", "barrier"},
                      CollectiveCase{"Switch(1024)", "packet", "barrier"},
                      CollectiveCase{"Switch(32)_Switch(64)", "packet", "barrier"},
                      CollectiveCase{"Switch(32)_Switch(32)", "packet", "barrier", "packet: {vcs: 8}\n"},
                      CollectiveCase{"Switch(32)_Switch(32)", "packet", "barrier",
                                     "packet: {flow_control: pfc, vcs: 2, virtual_networks: 4}\n"},
                      CollectiveCase{"FullyConnected(16)_FullyConnected(16)", "packet", "barrier"},
                      CollectiveCase{"Ring(8)_Mesh(8)_Ring(8)", "packet", "barrier"},
                      CollectiveCase{"Clos(hosts=16,leaves=32,spines=16)", "packet", "barrier"},
                      CollectiveCase{"Switch(64)_Switch(16)", "message", "all_reduce",
                                     "collectives: {chunks: 64}\n"},
                      CollectiveCase{"Switch(16)_Switch(16)", "message", "all_reduce",
                                     "run: {data: functional}\ncollectives: {chunks: 1}\n"}));

struct JobCase {
  const char *tp, *dp, *pp;  ///< of the traces; their product is the machine's NPUs
  const char *notation, *fidelity;
  const char *layers, *batch;
};

class OfJobs : public ::testing::TestWithParam<JobCase> {};

TEST_P(OfJobs, AreNearThePeak) {
  const JobCase& c = GetParam();
  vcd::test::TemporaryFolder folder;
  const std::string file = folder.file("machine.yaml");
  write(file, machine(c.notation, c.fidelity));
  const Ran made = weft({"generate", "llm",      "--tp",           c.tp,       "--dp",  c.dp,         "--pp",
                         c.pp,       "--layers", c.layers,         "--hidden", "256",   "--seq",      "32",
                         "--batch",  c.batch,    "--microbatches", "4",        "--out", folder.path()});
  ASSERT_EQ(made.status, 0) << made.err;
  const std::vector<std::string> traces = {"--trace", folder.file("llm"), "--groups",
                                           folder.file("llm.groups.json")};
  std::vector<std::string> validate = {"validate", file};
  std::vector<std::string> run = {"run", file, "--out", folder.file("out")};
  validate.insert(validate.end(), traces.begin(), traces.end());
  run.insert(run.end(), traces.begin(), traces.end());
  const Ran told = weft(validate);
  ASSERT_EQ(told.status, 0) << told.err;
  const size_t at = told.out.find("memory: about ");
  ASSERT_NE(at, std::string::npos) << told.out;
  const size_t from = at + std::string("memory: about ").size();
  const auto estimate =
      static_cast<double>(parse_size(told.out.substr(from, told.out.find('(', from) - 1 - from)));
  const Ran ran = weft(run);
  ASSERT_EQ(ran.status, 0) << ran.err;
  const double peak = json::parse(read(folder.file("out/summary.json")))["peak_rss_MiB"].get<double>() * kMiB;
  expect_honest(estimate, peak, told.out);
}

INSTANTIATE_TEST_SUITE_P(
    Machines, OfJobs,
    ::testing::Values(JobCase{"8", "4", "2", "Ring(8)_Ring(4)_Switch(2)", "message", "16", "64"},
                      JobCase{"8", "16", "1", "Ring(8)_Switch(16)", "message", "32", "64"},
                      JobCase{"8", "64", "1", "Ring(8)_Switch(64)", "analytical", "8", "256"},
                      JobCase{"8", "64", "2", "Ring(8)_Switch(64)_Ring(2)", "message", "2", "256"},
                      JobCase{"4", "8", "2", "Switch(4)_Switch(8)_Switch(2)", "packet", "2", "32"}));

TEST(MemoryRefusals, WhatNoMachineHolds) {
  vcd::test::TemporaryFolder folder;
  const std::string file = folder.file("machine.yaml");
  const std::string ring = folder.file("ring.yaml");  // may fold, but not for a command's collective
  write(file, machine("Mesh(16777216)", "message"));
  write(ring, machine("Ring(16777216)", "message"));
  for (const std::vector<std::string>& command : std::vector<std::vector<std::string>>{
           {"validate", file},
           {"collective", file, "--size", "1MiB"},
           {"collective", ring, "--size", "1MiB"},
           {"validate", file, "--trace", folder.file("none")},
           {"run", file, "--trace", folder.file("none"), "--out", folder.file("out")}}) {
    const Ran ran = weft(command);
    EXPECT_EQ(ran.status, 3) << ran.err;
    EXPECT_TRUE(ran.says({"(16777216)", "16,777,216 NPUs", "would need about ", "GiB (NPUs ", "there is ",
                          "fewer NPUs", "--force"}))
        << ran.err;
  }
  // Data that no machine holds, on one of 8 NPUs.
  write(file, machine("Ring(4)_Switch(2)", "message"));
  const Ran ran = weft({"collective", file, "--op", "all_gather", "--size", "1PiB", "--data", "fp32"});
  EXPECT_EQ(ran.status, 3) << ran.err;
  EXPECT_TRUE(ran.says({"elements (run.data)", "run.data: none"})) << ran.err;
}

TEST(MemoryRefusals, FoldedMachinesAreSmall) {
  vcd::test::TemporaryFolder folder;
  const std::string file = folder.file("machine.yaml");
  write(file, machine("Ring(32)_FullyConnected(32)_Ring(32)_Switch(32)", "analytical"));
  const Ran valid = weft({"validate", file});
  EXPECT_EQ(valid.status, 0) << valid.err;
  EXPECT_NE(valid.out.find("; folded about "), std::string::npos) << valid.out;
  const Ran ran = shell("ulimit -v 200000; \"$WEFT\" collective " + file + " --size 1MiB");
  EXPECT_EQ(ran.status, 0) << ran.err;
  const Ran whole = shell("ulimit -v 200000; \"$WEFT\" collective " + file + " --size 1MiB --no-fold");
  EXPECT_EQ(whole.status, 3) << whole.err;
}

TEST(MemoryRefusals, LimitsOfTheProcessCountAndForceGoesOn) {
  vcd::test::TemporaryFolder folder;
  const std::string file = folder.file("machine.yaml");
  write(file, machine("Ring(64)_Ring(256)", "message"));
  const std::string command = "\"$WEFT\" collective " + file + " --op barrier";
  const Ran refused = shell("ulimit -v 60000; " + command);
  EXPECT_EQ(refused.status, 3);
  EXPECT_TRUE(refused.says({"16,384 NPUs", "ulimit -v", "--force"})) << refused.err;
  EXPECT_EQ(shell(command).status, 0);
  const Ran forced = shell("ulimit -v 300000; " + command + " --force");
  EXPECT_EQ(forced.status, 0) << forced.err;
  const Ran hopeless = shell("ulimit -v 60000; " + command + " --force");
  EXPECT_TRUE(hopeless.says({"going on because of --force"})) << hopeless.err;
}

}  // namespace
}  // namespace weft::test
