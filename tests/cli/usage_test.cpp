// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Help, versions, exit codes and the commands that run no simulation.

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <regex>

#include "tests/cli/weft_process.h"
#include "tests/support/paths.h"
#include "tests/trace/trace_files.h"
#include "tests/vcd/vcd_parser.h"

namespace weft::test {
namespace {

using nlohmann::json;

const std::string kRing8 = weft::test::source_dir() + "/configs/examples/ring8.yaml";

TEST(Usage, EveryCommandHasHelpWithExamples) {
  for (const std::vector<std::string>& command : std::vector<std::vector<std::string>>{{},
                                                                                       {"run"},
                                                                                       {"validate"},
                                                                                       {"describe"},
                                                                                       {"schema"},
                                                                                       {"collective"},
                                                                                       {"generate"},
                                                                                       {"generate", "llm"},
                                                                                       {"trace"},
                                                                                       {"trace", "info"}}) {
    auto arguments = command;
    arguments.emplace_back("--help");
    const Ran ran = weft(arguments);
    EXPECT_EQ(ran.status, 0) << ran.err;
    EXPECT_EQ(ran.err, "");
    EXPECT_NE(ran.out.find("Examples:\n  weft "), std::string::npos) << ran.out;
  }
}

TEST(Usage, TheVersionAndNothingElse) {
  const Ran ran = weft({"--version"});
  EXPECT_EQ(ran.status, 0);
  EXPECT_EQ(ran.out.find("weft 0."), 0u);
  EXPECT_EQ(ran.err, "") << "no banner of SystemC's";
}

TEST(Usage, BadUsageIsStatus2AndNamesTheHelp) {
  struct Case {
    std::vector<std::string> arguments;
    std::vector<std::string> parts;
  };
  for (const Case& c : std::vector<Case>{
           {{}, {"a command is missing", "weft --help"}},
           {{"bogus"}, {"weft --help"}},
           {{"run"}, {"CONFIG", "weft run --help"}},
           {{"run", kRing8, "--bogus"}, {"--bogus", "weft run --help"}},
           {{"run", kRing8, "--set"}, {"--set"}},
           {{"run", kRing8, "--set", "a=1", "b=2"}, {"b=2", "--set of its own"}},
           {{"run", kRing8, "--set", "npu.peak"}, {"npu.peak", "KEY=VALUE"}},
           {{"generate"}, {"weft generate --help", "a command is missing", "llm"}},
           {{"foo"}, {"no command `weft foo`", "run, emulate", "weft --help"}},
           {{"colective", "--topology", "Ring(4)"},
            {"no command `weft colective`", "did you mean `collective`?"}},
           {{"trace", "inf"}, {"no command `weft trace inf`", "did you mean `info`?"}},
           {{"generate", "lm", "--out", "x"}, {"no command `weft generate lm`", "llm"}},
           {{"collective", "--topology", "Ring(4)", "--bandwidth", "1 GB/s", "--size", "1MiB", "--algorithm",
             "custom:"},
            {"--algorithm custom:", "custom:PREFIX"}},
           {{"collective", "--topology", "Ring(4)", "--bandwidth", "1 GB/s", "--size", "1MiB", "--chunks",
             "a: b"},
            {"--chunks a: b", "'a: b'", "whole number"}},
           {{"traffic", kRing8, "--link-latency", "3"}, {"--link-latency 3", "--topology"}},
           {{"traffic", "--topology", "Ring(4)", "--flit-size", "64 B"},
            {"--flit-size 64 B", "configuration"}},
           {{"generate", "llm"}, {"--out", "weft generate llm --help"}},
           {{"generate", "llm", "--tp", "two", "--out", "x"}, {"--tp two: this value cannot be read"}},
           {{"generate", "llm", "--tp", "4294967296", "--out", "x"}, {"--tp 4294967296:", "too large"}},
           {{"generate", "llm", "--slow", "17", "--out", "x"}, {"--slow 17:", "--slow 17=1.5"}},
           {{"generate", "llm", "--slow", "17=0", "--out", "x"}, {"--slow 17=0:", "0.001 to 1000"}},
           {{"generate", "llm", "--slow", "1=2", "--slow", "1=3", "--out", "x"}, {"rank 1 is given twice"}},
           {{"generate", "llm", "--out", "x", "--name", "a/b"}, {"a/b", "--out"}},
           {{"trace", "info"}, {"FILE"}},
           {{"rtl", "new", "module", "--kind", "switch"},
            {"'module'", "a reserved word of SystemVerilog;", "my_module"}},
           {{"rtl", "new", "template", "--kind", "nmu"}, {"'template'", "a reserved word of C++;"}},
           {{"rtl", "new", "case", "--kind", "link"}, {"'case'", "of SystemVerilog and C++;"}},
           {{"collective", "--topology", "Ring(4)", "--bandwidth", "1 GB/s", "--size"}, {"--size"}}}) {
    const Ran ran = weft(c.arguments);
    EXPECT_EQ(ran.status, 2) << ran.err;
    EXPECT_EQ(ran.out, "");
    EXPECT_EQ(ran.err.find("weft: error: "), 0u) << ran.err;
    EXPECT_TRUE(ran.says(c.parts)) << ran.err;
  }
}

TEST(Usage, AStandardOutputThatCannotBeWrittenIsAnError) {
  const Ran ran = shell("\"$WEFT\" schema > /dev/full");
  EXPECT_EQ(ran.status, 1);
  EXPECT_TRUE(ran.says({"standard output", "No space left"})) << ran.err;
}

TEST(Usage, Schema) {
  const Ran ran = weft({"schema"});
  EXPECT_EQ(ran.status, 0);
  const json schema = json::parse(ran.out);
  EXPECT_TRUE(schema["properties"].contains("topology"));
  const Ran reference = weft({"schema", "--reference"});
  EXPECT_EQ(reference.status, 0);
  EXPECT_EQ(reference.out, read(weft::test::source_dir() + "/docs/configuration_reference.md"));
  EXPECT_EQ(weft({"waves", "--signals"}).out, read(weft::test::source_dir() + "/docs/signals.md"));
}

TEST(Usage, Describe) {
  const Ran words = weft({"describe", kRing8});
  EXPECT_EQ(words.status, 0) << words.err;
  EXPECT_NE(words.out.find("Ring(8)"), std::string::npos);
  const Ran dot = weft({"describe", kRing8, "--dot", "--set", "topology.notation=Ring(4)"});
  EXPECT_EQ(dot.status, 0) << dot.err;
  EXPECT_NE(dot.out.find("graph"), std::string::npos);
  EXPECT_EQ(dot.out.back(), '\n');
  const vcd::test::TemporaryFolder folder;
  const Ran file = weft({"describe", kRing8, "--dot", "--out", folder.file("m.dot")});
  EXPECT_EQ(file.status, 0);
  EXPECT_EQ(file.out, "");
  EXPECT_EQ(read(folder.file("m.dot")), weft({"describe", kRing8, "--dot"}).out);
  EXPECT_EQ(weft({"describe", kRing8, "--out", "/dev/full"}).status, 1);
  EXPECT_EQ(weft({"describe", kRing8, "--out", folder.file(std::string(300, 'x'))}).status, 2);
  EXPECT_EQ(weft({"describe", kRing8, "--out", folder.file("no/folder")}).status, 2);
}

// Graphviz itself reads what is drawn of every configuration there is.
TEST(Usage, DescribesEveryConfigurationAsDot) {
  if (std::system("command -v dot >/dev/null 2>&1") != 0) {
    ASSERT_EQ(std::getenv("CI"), nullptr) << "graphviz is not installed; run scripts/setup.sh";
    GTEST_SKIP() << "graphviz is not installed";
  }
  const vcd::test::TemporaryFolder folder;
  const auto draws = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "describe");
    arguments.insert(arguments.end(), {"--dot", "--out", folder.file("m.dot")});
    const Ran made = weft(arguments);
    ASSERT_EQ(made.status, 0) << made.err;
    // -Tcanon: read and checked, but not laid out.
    const Ran read = shell("dot -Tcanon '" + folder.file("m.dot") + "'");
    EXPECT_EQ(read.status, 0) << arguments[1] << ": " << read.err;
    EXPECT_EQ(read.err, "") << arguments[1];
  };
  size_t drawn = 0;
  for (const char* where : {"examples", "papers"}) {
    for (const auto& entry :
         std::filesystem::directory_iterator(weft::test::source_dir() + "/configs/" + where)) {
      if (entry.path().extension() != ".yaml") continue;
      std::ifstream file(entry.path());
      const std::string text{std::istreambuf_iterator<char>(file), {}};
      if (text.find("\npaper: ") != std::string::npos) continue;  // a figure (weft paper), no machine
      draws({entry.path().string()});
      ++drawn;
    }
  }
  EXPECT_GT(drawn, 10u);
  for (const char* notation : {"Ring(4)_Switch(2)", "Switch(8)_Clos(hosts=4,leaves=4,spines=2)",
                               "FatTree(k=4,n=2)", "Mesh(3)_FullyConnected(3)", "Ring(2)_FatTree(k=4,n=2)"})
    draws({kRing8, "--set", std::string("topology.notation=") + notation});
}

// What describe counts is what run has: every direction of every link.
TEST(Usage, DescribeAndRunCountTheSameLinks) {
  const vcd::test::TemporaryFolder folder;
  for (const std::string notation :
       {"Ring(2)", "Ring(5)", "Mesh(4)", "FullyConnected(4)", "Switch(4)",
        "Ring(4)_FullyConnected(3)_Switch(2)", "FatTree(k=4,n=2)",
        "Switch(2)_Clos(hosts=2,leaves=2,spines=2)", "Ring(3)_FatTree(k=4,n=2)"}) {
    for (const std::string fidelity : {"message", "packet", "analytical"}) {
      for (const std::string queues : {"1", "2"}) {
        const std::vector<std::string> sets = {"--set", "topology.notation=" + notation,
                                               "--set", "topology.dimensions[*].fidelity=" + fidelity,
                                               "--set", "collectives.queues_per_dimension=" + queues};
        std::vector<std::string> arguments = {"describe", kRing8};
        arguments.insert(arguments.end(), sets.begin(), sets.end());
        const Ran words = weft(arguments);
        ASSERT_EQ(words.status, 0) << words.err;
        const size_t at = words.out.find(" directed links");
        ASSERT_NE(at, std::string::npos) << words.out;
        size_t machine = words.out.find("machine: ");
        machine = machine == std::string::npos ? words.out.rfind(' ', at - 1) + 1 : machine + 9;
        const uint64_t described = std::stoull(words.out.substr(machine));
        for (uint32_t rank = 0; rank < 64; ++rank)
          trace::test::write_trace(folder.file("t." + std::to_string(rank) + ".et"), {trace::test::comp(1)});
        size_t npus = 0;
        const size_t colon = words.out.find(": ");
        npus = std::stoull(words.out.substr(words.out.find("graph: ") == 0 ? 7 : colon + 2));
        for (size_t rank = npus; rank < 64; ++rank)
          std::filesystem::remove(folder.file("t." + std::to_string(rank) + ".et"));
        arguments = {"run",    kRing8,     "--trace", folder.file("t"), "--out", folder.file("out"),
                     "--json", "--no-fold"};
        arguments.insert(arguments.end(), sets.begin(), sets.end());
        const Ran ran = weft(arguments);
        ASSERT_EQ(ran.status, 0) << notation << " " << fidelity << ran.err;
        EXPECT_EQ(json::parse(ran.out)["links"]["count"], described)
            << notation << " " << fidelity << " " << queues;
      }
    }
  }
}

TEST(Usage, Validate) {
  for (const auto& entry :
       std::filesystem::directory_iterator(weft::test::source_dir() + "/configs/examples")) {
    const Ran ran = weft({"validate", entry.path().string()});
    EXPECT_EQ(ran.status, 0) << ran.err;
    EXPECT_NE(ran.out.find("valid"), std::string::npos);
  }
  const Ran bad = weft({"validate", kRing8, "--set", "collectives.chunks=0"});
  EXPECT_EQ(bad.status, 2);
  EXPECT_TRUE(bad.says({"collectives.chunks", "--set collectives.chunks=0"})) << bad.err;
  EXPECT_EQ(bad.out, "");
}

TEST(Usage, TheConfigurationByPositionOrByOption) {
  for (const std::vector<std::string>& command : std::vector<std::vector<std::string>>{
           {"validate"},
           {"describe"},
           {"collective", "--size", "1k", "--json"},
           {"traffic", "--load", "0.1", "--warmup", "10", "--measure", "100", "--seeds", "1", "--json"}}) {
    const auto with = [&](std::vector<std::string> more) {
      std::vector<std::string> all = command;
      all.insert(all.begin() + 1, more.begin(), more.end());
      return weft(all);
    };
    const Ran by_position = with({kRing8});
    const Ran by_option = with({"--config", kRing8});
    EXPECT_EQ(by_position.status, 0) << command[0] << ": " << by_position.err;
    EXPECT_EQ(by_option.status, 0) << command[0] << ": " << by_option.err;
    // What differs from one moment to the next: wall time, and the memory that the machine has free.
    const auto lasting = [](const std::string& text) {
      static const std::regex passing("wall_s[^\n]*|; [0-9.]+ .iB (available|left)");
      return std::regex_replace(text, passing, "");
    };
    EXPECT_EQ(lasting(by_position.out), lasting(by_option.out));
    const Ran both = with({kRing8, "--config", kRing8});
    EXPECT_EQ(both.status, 2) << command[0];
    EXPECT_TRUE(both.says({"CONFIG", "--config", "weft " + command[0] + " --help"})) << both.err;
    const Ran missing = with({"--config", "/no/such.yaml"});
    EXPECT_EQ(missing.status, 2);
    EXPECT_TRUE(missing.says({"/no/such.yaml"})) << missing.err;
  }
  EXPECT_TRUE(weft({"run", "--config", kRing8}).says({"workload.trace"}));
}

TEST(Usage, GenerateValidateInfo) {
  const vcd::test::TemporaryFolder folder;
  const Ran made = weft(
      {"generate", "llm", "--tp",  "2",   "--dp",    "2", "--pp",           "2", "--layers", "4",
       "--hidden", "256", "--seq", "128", "--batch", "8", "--microbatches", "2", "--out",    folder.file("t"),
       "--name",   "m"});
  ASSERT_EQ(made.status, 0) << made.err;
  EXPECT_NE(made.out.find("8 ranks"), std::string::npos) << made.out;
  EXPECT_TRUE(std::filesystem::exists(folder.file("t/m.7.et")));
  EXPECT_TRUE(std::filesystem::exists(folder.file("t/m.groups.json")));

  const Ran valid = weft({"validate", kRing8, "--set", "workload.trace=" + folder.file("t/m"), "--set",
                          "workload.groups=" + folder.file("t/m.groups.json")});
  EXPECT_EQ(valid.status, 0) << valid.err;
  EXPECT_NE(valid.out.find("agree"), std::string::npos) << valid.out;
  const Ran no_groups = weft({"validate", kRing8, "--set", "workload.trace=" + folder.file("t/m")});
  EXPECT_EQ(no_groups.status, 3);
  EXPECT_TRUE(no_groups.says({"group", "workload.groups", "m.0.et"})) << no_groups.err;

  const Ran text = weft({"trace", "info", folder.file("t/m.0.et"), folder.file("t/m.7.et")});
  EXPECT_EQ(text.status, 0) << text.err;
  EXPECT_NE(text.out.find("total of 2 files"), std::string::npos) << text.out;
  const Ran info = weft({"trace", "info", "--json", folder.file("t/m.0.et"), folder.file("t/m.7.et")});
  EXPECT_EQ(info.status, 0);
  const json parsed = json::parse(info.out);
  EXPECT_EQ(parsed["files"].size(), 2u);
  EXPECT_GT(parsed["total"]["nodes"], 10);
  EXPECT_EQ(weft({"trace", "info", "--strict", folder.file("t/m.0.et")}).status, 0);
  const Ran missing = weft({"trace", "info", folder.file("t/m.8.et")});
  EXPECT_EQ(missing.status, 3);
  EXPECT_TRUE(missing.says({"m.8.et"})) << missing.err;

  const Ran bad = weft({"generate", "llm", "--tp", "3", "--hidden", "256", "--out", folder.file("u")});
  EXPECT_EQ(bad.status, 2);
  EXPECT_FALSE(std::filesystem::exists(folder.file("u/llm.0.et")));
}

}  // namespace
}  // namespace weft::test
