// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Help, versions, exit codes and the commands that run no simulation.

#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "tests/cli/weft_process.h"
#include "tests/vcd/vcd_parser.h"

namespace weft::test {
namespace {

using nlohmann::json;

const std::string kRing8 = std::string(WEFT_SOURCE_DIR) + "/configs/examples/ring8.yaml";

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
           {{}, {"subcommand", "weft --help"}},
           {{"bogus"}, {"weft --help"}},
           {{"run"}, {"CONFIG", "weft run --help"}},
           {{"run", kRing8, "--bogus"}, {"--bogus", "weft run --help"}},
           {{"run", kRing8, "--set"}, {"--set"}},
           {{"run", kRing8, "--set", "a=1", "b=2"}, {"b=2", "--set of its own"}},
           {{"run", kRing8, "--set", "npu.peak"}, {"npu.peak", "KEY=VALUE"}},
           {{"generate"}, {"weft generate --help"}},
           {{"generate", "llm"}, {"--out", "weft generate llm --help"}},
           {{"generate", "llm", "--tp", "two", "--out", "x"}, {"two"}},
           {{"generate", "llm", "--out", "x", "--name", "a/b"}, {"a/b", "--out"}},
           {{"trace", "info"}, {"FILE"}},
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
  EXPECT_EQ(reference.out, read(std::string(WEFT_SOURCE_DIR) + "/docs/configuration_reference.md"));
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
}

TEST(Usage, Validate) {
  for (const auto& entry :
       std::filesystem::directory_iterator(std::string(WEFT_SOURCE_DIR) + "/configs/examples")) {
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
    const auto timeless = [](std::string text) {
      for (size_t at; (at = text.find("wall_s")) != std::string::npos;)
        text.erase(at, text.find('\n', at) - at);
      return text;
    };
    EXPECT_EQ(timeless(by_position.out), timeless(by_option.out));
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
