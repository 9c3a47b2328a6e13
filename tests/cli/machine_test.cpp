// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Machines by name, and `weft collective --format nccl-tests`.

#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/cli/weft_process.h"
#include "tests/support/paths.h"
#include "tests/trace/trace_files.h"

namespace weft::test {
namespace {

using nlohmann::json;

std::vector<std::string> machine_names() {
  std::vector<std::string> names;
  for (const json& machine : json::parse(weft({"machine", "list", "--json"}).out))
    names.push_back(machine["name"]);
  return names;
}

TEST(Machine, ListsEveryFileOfConfigsMachines) {
  const Ran ran = weft({"machine", "list", "--json"});
  ASSERT_EQ(ran.status, 0) << ran.err;
  std::vector<std::string> files;
  for (const auto& entry :
       std::filesystem::directory_iterator(weft::test::source_dir() + "/configs/machines"))
    files.push_back(entry.path().stem().string());
  std::sort(files.begin(), files.end());
  EXPECT_EQ(machine_names(), files);
  const Ran text = weft({"machine", "list"});
  EXPECT_EQ(text.status, 0);
  for (const json& machine : json::parse(ran.out)) {
    EXPECT_NE(text.out.find(machine["title"].get<std::string>()), std::string::npos);
    EXPECT_GT(machine["npus"].get<int>(), 1);
  }
}

TEST(Machine, ShowsTheFile) {
  for (const std::string& name : machine_names()) {
    const Ran ran = weft({"machine", "show", name});
    EXPECT_EQ(ran.status, 0) << ran.err;
    const std::string text = read(weft::test::source_dir() + "/configs/machines/" + name + ".yaml");
    EXPECT_EQ(ran.out, text);
    // Every preset says where its numbers are from.
    EXPECT_EQ(text.find("# "), 0u) << name;
    EXPECT_NE(text.find("unverified"), std::string::npos) << name;
  }
}

TEST(Machine, AnUnknownNameIsAnErrorWithThoseLikeIt) {
  const Ran typo = weft({"machine", "show", "dgx_h10"});
  EXPECT_EQ(typo.status, 2);
  EXPECT_TRUE(typo.says({"--machine dgx_h10", "did you mean", "dgx_h100", "weft machine list"})) << typo.err;
  EXPECT_TRUE(weft({"machine", "show", "H200"}).says({"dgx_h200 or dgx_h200_2node"}));
  EXPECT_TRUE(weft({"machine", "show", "DGX-A100"}).says({"dgx_a100 or"}));
  const Ran far = weft({"collective", "--machine", "qqqq", "--size", "1k"});
  EXPECT_EQ(far.status, 2);
  EXPECT_EQ(far.err.find("did you mean"), std::string::npos);
  EXPECT_TRUE(weft({"validate", "--machine", "no/such.yaml"}).says({"no/such.yaml"}));
  EXPECT_TRUE(weft({"machine"}).says({"a command is missing", "list, show"}));
}

TEST(Machine, EveryMachineIsValidAndRuns) {
  for (const std::string& name : machine_names()) {
    const Ran valid = weft({"validate", "--machine", name});
    EXPECT_EQ(valid.status, 0) << name << valid.err;
    EXPECT_EQ(valid.err, "") << name;
    EXPECT_EQ(weft({"describe", "--machine", name}).status, 0) << name;
    const Ran ran = weft({"collective", "--machine", name, "--size", "1MiB", "--json"});
    ASSERT_EQ(ran.status, 0) << name << ran.err;
    EXPECT_GT(json::parse(ran.out)["results"][0]["time_ns"].get<double>(), 1000) << name;
  }
}

TEST(Machine, AFileOrANameInThePlaceOfTheConfiguration) {
  const vcd::test::TemporaryFolder folder;
  write(folder.file("mine.yaml"), weft({"machine", "show", "tpu_v4"}).out);
  const auto time = [](const std::vector<std::string>& more) {
    std::vector<std::string> all = {"collective", "--size", "1MiB", "--json"};
    all.insert(all.end(), more.begin(), more.end());
    const Ran ran = weft(all);
    EXPECT_EQ(ran.status, 0) << ran.err;
    return json::parse(ran.out)["results"][0]["time_ns"].get<double>();
  };
  const double by_name = time({"--machine", "tpu_v4"});
  EXPECT_EQ(time({"--machine", folder.file("mine.yaml")}), by_name);
  EXPECT_EQ(time({folder.file("mine.yaml")}), by_name);
  EXPECT_LT(time({"--machine", "tpu_v4", "--bandwidth", "100 GB/s"}), by_name);
  const Ran both = weft({"collective", folder.file("mine.yaml"), "--machine", "tpu_v4", "--size", "1k"});
  EXPECT_EQ(both.status, 2);
  EXPECT_TRUE(both.says({"both given"})) << both.err;
  EXPECT_TRUE(weft({"describe", folder.file("mine.yaml"), "--machine", "tpu_v4"}).says({"both given"}));
  EXPECT_EQ(weft({"describe", "--machine", "tpu_v4"}).out, weft({"describe", folder.file("mine.yaml")}).out);
  for (int rank = 0; rank < 64; ++rank)
    trace::test::write_trace(folder.file("t." + std::to_string(rank) + ".et"), {trace::test::comp(1)});
  EXPECT_EQ(
      weft({"run", "--machine", "tpu_v4", "--trace", folder.file("t"), "--out", folder.file("out")}).status,
      0);
}

std::vector<std::string> words(const std::string& line) {
  std::istringstream in(line);
  std::vector<std::string> all;
  for (std::string word; in >> word;) all.push_back(word);
  return all;
}

std::vector<std::string> rows_of(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> rows;
  for (std::string line; std::getline(in, line);)
    if (!line.empty() && line[0] != '#') rows.push_back(line);
  return rows;
}

TEST(NcclTestsFormat, HasTheColumnsOfNcclTests) {
  const std::vector<std::string> machine = {"collective", "--topology", "Switch(8)", "--bandwidth",
                                            "100 GB/s"};
  struct Case {
    const char* op;
    const char* size;   ///< comm_size
    const char* bytes;  ///< of nccl-tests
    const char* count;
    const char* redop;
    const char* root;
    double factor;
  };
  for (const Case& c : std::vector<Case>{{"all_reduce", "1MiB", "1048576", "262144", "sum", "-1", 1.75},
                                         {"all_gather", "128KiB", "1048576", "32768", "none", "-1", 0.875},
                                         {"reduce_scatter", "1MiB", "1048576", "32768", "sum", "-1", 0.875},
                                         {"all_to_all", "1MiB", "1048576", "32768", "none", "-1", 0.875},
                                         {"broadcast", "1MiB", "1048576", "262144", "none", "0", 1},
                                         {"reduce", "1MiB", "1048576", "262144", "sum", "0", 1}}) {
    std::vector<std::string> arguments = machine;
    arguments.insert(arguments.end(), {"--op", c.op, "--size", c.size, "--format", "nccl-tests"});
    const Ran ran = weft(arguments);
    ASSERT_EQ(ran.status, 0) << ran.err;
    EXPECT_NE(ran.out.find("#wrong     time   algbw   busbw #wrong"), std::string::npos) << ran.out;
    const auto rows = rows_of(ran.out);
    ASSERT_EQ(rows.size(), 1u);
    const auto cells = words(rows[0]);
    ASSERT_EQ(cells.size(), 13u) << rows[0];
    EXPECT_EQ(cells[0], c.bytes) << c.op;
    EXPECT_EQ(cells[1], c.count) << c.op;
    EXPECT_EQ(cells[2], "float");
    EXPECT_EQ(cells[3], c.redop) << c.op;
    EXPECT_EQ(cells[4], c.root) << c.op;
    EXPECT_EQ(cells[8], "N/A") << "nothing was compared";
    const double us = std::stod(cells[5]), algbw = std::stod(cells[6]), busbw = std::stod(cells[7]);
    EXPECT_NEAR(algbw, 1048576 / us / 1000, 0.02 + 0.001 * algbw) << c.op;
    EXPECT_NEAR(busbw, algbw * c.factor, 0.02) << c.op;
    EXPECT_EQ(cells[9], cells[5]);
  }
}

TEST(NcclTestsFormat, IsReadByCompareWithoutErrors) {
  const vcd::test::TemporaryFolder folder;
  const std::vector<std::string> arguments = {"collective", "--machine", "trainium2",   "--op",
                                              "all_gather", "--sizes",   "1KiB:4MiB:x2"};
  auto as_log = arguments, as_json = arguments;
  as_log.insert(as_log.end(), {"--format", "nccl-tests"});
  as_json.emplace_back("--json");
  const Ran log = weft(as_log);
  ASSERT_EQ(log.status, 0) << log.err;
  EXPECT_NE(log.out.find("#  Rank 15 "), std::string::npos);
  write(folder.file("log"), log.out);
  write(folder.file("json"), weft(as_json).out);
  const Ran compared = weft({"compare", folder.file("json"), folder.file("log"), "--json"});
  ASSERT_EQ(compared.status, 0) << compared.err;
  const json report = json::parse(compared.out);
  EXPECT_EQ(report["test"]["rows"], 13);
  EXPECT_LT(report["test"]["max"].get<double>(), 0.1) << "times are printed with five digits";
  EXPECT_TRUE(report["parameters"].is_null());
  EXPECT_EQ(report["plan"][0]["bytes"], 16384) << "1 KiB of each of 16 ranks";
  EXPECT_TRUE(report["crossovers"].is_array());
}

// The header's step is a factor or an increment only where all sizes follow from it, in any order of them.
TEST(NcclTestsFormat, TheHeaderSaysHowSizesFollowEachOther) {
  const auto header = [](const char* sizes) {
    const Ran ran = weft({"collective", "--topology", "Ring(4)", "--bandwidth", "1 GB/s", "--op",
                          "all_gather", "--sizes", sizes, "--format", "nccl-tests"});
    EXPECT_EQ(ran.status, 0) << ran.err;
    const size_t at = ran.out.find("minBytes");
    return at == ran.out.npos ? ran.out : ran.out.substr(at, ran.out.find(" warmup", at) - at);
  };
  EXPECT_EQ(header("1KiB:16KiB:x4"), "minBytes 4096 maxBytes 65536 step: 4(factor)");
  EXPECT_EQ(header("1KiB:4KiB:+1KiB"), "minBytes 4096 maxBytes 16384 step: 4096(bytes)");
  EXPECT_EQ(header("3KiB,1KiB"), "minBytes 4096 maxBytes 12288 step: 1(bytes)");
  EXPECT_EQ(header("1KiB,3KiB,4KiB"), "minBytes 4096 maxBytes 16384 step: 1(bytes)");
}

TEST(NcclTestsFormat, VerifiedElementsAreNotWrong) {
  const Ran ran = weft({"collective", "--topology", "Ring(4)", "--bandwidth", "1 GB/s", "--size", "1KiB",
                        "--data", "bf16", "--reduce", "max", "--format", "nccl-tests"});
  ASSERT_EQ(ran.status, 0) << ran.err;
  const auto cells = words(rows_of(ran.out).at(0));
  EXPECT_EQ(cells[1], "512");
  EXPECT_EQ(cells[2], "bfloat16");
  EXPECT_EQ(cells[3], "max");
  EXPECT_EQ(cells[8], "0");
}

TEST(NcclTestsFormat, WhatItCannotPrintIsAnError) {
  const auto ran = [](std::vector<std::string> more) {
    more.insert(more.begin(),
                {"collective", "--topology", "Ring(4)", "--bandwidth", "1 GB/s", "--size", "1k"});
    const Ran result = weft(more);
    EXPECT_EQ(result.status, 2);
    return result;
  };
  EXPECT_TRUE(ran({"--format", "nccl"}).says({"--format nccl", "nccl-tests"}));
  EXPECT_TRUE(ran({"--format", "nccl-tests", "--json"}).says({"--json"}));
  EXPECT_TRUE(ran({"--format", "nccl-tests", "--op", "barrier"}).says({"barrier"}));
}

TEST(Compare, SaysWhatIsWrong) {
  const vcd::test::TemporaryFolder folder;
  write(folder.file("other.log"), "# OSU MPI Allreduce\n4 15.3\n");
  write(folder.file("real.json"), R"({"ranks": 4, "all_reduce_us": [[1024, 10], [2048, 12]]})");
  write(folder.file("sim.json"), R"({"results": [{"bytes": 1024, "time_ns": 10100}]})");
  const Ran other = weft({"compare", folder.file("sim.json"), folder.file("other.log")});
  EXPECT_EQ(other.status, 2);
  EXPECT_TRUE(other.says({"other.log", "no table of nccl-tests"})) << other.err;
  EXPECT_EQ(weft({"compare", folder.file("none"), folder.file("real.json")}).status, 2);
  EXPECT_TRUE(weft({"compare", folder.file("sim.json"), folder.file("real.json"), "--column", "both"})
                  .says({"--column both"}));
  // What `weft collective` prints names its operation, in either form.
  for (const std::vector<std::string>& format :
       {std::vector<std::string>{"--json"}, {"--format", "nccl-tests"}}) {
    std::vector<std::string> arguments = {"collective", "--topology", "Ring(4)", "--bandwidth", "1 GB/s",
                                          "--size",     "1 KiB",      "--op",    "all_gather"};
    arguments.insert(arguments.end(), format.begin(), format.end());
    write(folder.file("gather"), weft(arguments).out);
    const Ran gather = weft({"compare", folder.file("gather"), folder.file("real.json")});
    EXPECT_EQ(gather.status, 2);
    EXPECT_TRUE(gather.says({"gather", "all_reduce"})) << gather.err;
  }
  write(folder.file("named.json"), R"({"ranks": 4, "operation": "all_gather", "rows": [[1024, 10]]})");
  const Ran told =
      weft({"compare", folder.file("sim.json"), folder.file("named.json"), "--operation", "all_reduce"});
  EXPECT_EQ(told.status, 0) << told.err;
  EXPECT_TRUE(told.says({"warning", "named.json", "\"all_gather\"", "read as all_reduce"})) << told.err;
  const Ran good =
      weft({"compare", folder.file("sim.json"), folder.file("real.json"), "--svg", folder.file("c.svg")});
  EXPECT_EQ(good.status, 0);
  EXPECT_TRUE(good.says({"1 measured sizes are missing", "2 KiB"})) << good.err;
  EXPECT_NE(good.out.find("+1.0 %"), std::string::npos) << good.out;
  EXPECT_EQ(read(folder.file("c.svg")).find("<svg"), 0u);
}

}  // namespace
}  // namespace weft::test
