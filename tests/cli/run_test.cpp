// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>
#include <vector>

#include "tests/cli/weft_process.h"
#include "tests/support/paths.h"
#include "tests/trace/trace_files.h"
#include "tests/vcd/vcd_parser.h"

namespace weft::test {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;
using trace::test::attribute;
using trace::test::make;
using trace::test::PbNode;
using trace::test::write_trace;

const std::string kQuickstart = weft::test::source_dir() + "/configs/examples/quickstart.yaml";

class Run : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    traces_ = new vcd::test::TemporaryFolder;
    const Ran made = weft({"generate",       "llm", "--tp",     "2",
                           "--dp",           "2",   "--pp",     "2",
                           "--layers",       "4",   "--hidden", "512",
                           "--seq",          "128", "--batch",  "8",
                           "--microbatches", "4",   "--out",    traces_->path()});
    ASSERT_EQ(made.status, 0) << made.err;
  }
  static void TearDownTestSuite() { delete traces_; }

  Ran run(std::vector<std::string> more = {}) const {
    std::vector<std::string> arguments = {
        "run",   kQuickstart, "--trace", traces_->file("llm"), "--groups", traces_->file("llm.groups.json"),
        "--out", out("")};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return weft(arguments);
  }
  std::string out(const std::string& name) const { return folder_.file("out/" + name); }

  /// The files of the output folder; summary.json without its two lines that may differ.
  std::map<std::string, std::string> results() const {
    std::map<std::string, std::string> files;
    for (const auto& entry : fs::directory_iterator(out(""))) {
      std::string text = read(entry.path().string());
      if (entry.path().filename() == "summary.json") {
        std::istringstream in(text);
        text.clear();
        for (std::string line; std::getline(in, line);)
          if (line.find("\"wall_s\"") == std::string::npos &&
              line.find("\"peak_rss_MiB\"") == std::string::npos)
            text += line + "\n";
      }
      files[entry.path().filename().string()] = text;
    }
    return files;
  }

  vcd::test::TemporaryFolder folder_;
  static vcd::test::TemporaryFolder* traces_;
};

vcd::test::TemporaryFolder* Run::traces_ = nullptr;

TEST_F(Run, FidelityRulesAreTold) {
  const Ran ran = run({"--set",
                       "topology.fidelity_rules=[{name: 'mb0.forward.*', fidelity: packet}, {name: "
                       "nothing, fidelity: packet}]",
                       "--set", "packet.packet_size=4 KiB", "--json"});
  ASSERT_EQ(ran.status, 0) << ran.err;
  EXPECT_NE(ran.err.find("key `topology.fidelity_rules[1]`: the rule (name `nothing`) was for no collective"),
            std::string::npos)
      << ran.err;
  const json s = json::parse(ran.out);
  const json& rules = s["fidelity_rules"];
  ASSERT_EQ(rules.size(), 3u);
  EXPECT_EQ(rules[0]["fidelity"], "default");
  EXPECT_EQ(rules[1]["fidelity"], "packet");
  EXPECT_EQ(rules[1]["rule"], 0);
  uint64_t lifted = 0;
  for (const auto& row : read_csv(out("collectives.csv"))) {
    const bool named = row.at("name").rfind("mb0.forward.", 0) == 0;
    EXPECT_EQ(row.at("fidelity_rule"), named ? "0" : "") << row.at("name");
    lifted += named ? 1 : 0;
  }
  EXPECT_GT(lifted, 0u);
  EXPECT_EQ(rules[1]["collectives"], lifted);
  EXPECT_GT(rules[1]["messages"], 0);
  EXPECT_EQ(rules[2]["collectives"], 0);
  EXPECT_EQ(rules[0]["messages"].get<uint64_t>() + rules[1]["messages"].get<uint64_t>(), s["messages"]);
  std::map<std::string, uint64_t> carried;
  for (const auto& row : read_csv(out("links.csv")))
    carried[row.at("fidelity")] += std::stoull(row.at("bytes"));
  EXPECT_GT(carried["packet"], 0u);
  EXPECT_GT(carried.size(), 1u);
  EXPECT_NE(read(out("effective.yaml")).find("fidelity_rules:"), std::string::npos);
}

/// A scale-up switch and rails that are trees: collectives and point-to-point messages, checked, at several
/// mixtures of fidelities.
TEST_F(Run, TraceOnRailsThatAreTrees) {
  const std::pair<const char*, const char*> mixtures[] = {
      {"message", "analytical"}, {"analytical", "message"}, {"packet", "message"}, {"packet", "packet"}};
  for (const auto& [inner, outer] : mixtures) {
    const Ran ran = run({"--set", "topology.notation=Switch(2)_FatTree(k=2,n=2)", "--set",
                         std::string("topology.dimensions[0].fidelity=") + inner, "--set",
                         std::string("topology.dimensions[1].fidelity=") + outer, "--set",
                         "topology.dimensions[1].levels=[{bandwidth: 100 Gb/s, latency: 2 us}]", "--set",
                         "packet.packet_size=4 KiB", "--set", "run.data=functional", "--json"});
    ASSERT_EQ(ran.status, 0) << inner << " " << outer << ": " << ran.err;
    const json s = json::parse(ran.out);
    EXPECT_GT(s["data"]["collectives_verified"], 0);
    EXPECT_GT(s["data"]["messages_verified"], 0);
    uint64_t levels = 0;
    for (const auto& row : read_csv(out("links.csv"))) {
      if (row.at("dimension") != "1") continue;
      EXPECT_EQ(row.at("fidelity"), outer);
      const std::string& name = row.at("name");
      if (name.find("_leaf") < name.find(".to_")) levels += std::stoull(row.at("bytes"));
    }
    EXPECT_EQ(levels > 0, std::string(outer) != "analytical");
  }
}

TEST_F(Run, PrintsASummaryAndWritesTheFiles) {
  const Ran ran = run();
  ASSERT_EQ(ran.status, 0) << ran.err;
  EXPECT_EQ(ran.err, "") << "no banner, no progress, no warnings";
  for (const char* part : {"time ", "bounds", "compute", "idle", "all_reduce", "links", "summary.json"})
    EXPECT_NE(ran.out.find(part), std::string::npos) << part;
  for (const char* name : {"summary.json", "effective.yaml", "ranks.csv", "collectives.csv", "phases.csv",
                           "layers.csv", "links.csv"})
    EXPECT_GT(fs::file_size(out(name)), 20u) << name;
  EXPECT_FALSE(fs::exists(out("waves.vcd")));
}

// A name is any text: a field of a CSV file holds it as it is (RFC 4180), and on the terminal it stays in its
// line.
TEST_F(Run, NamesOfNodesStayInTheirFieldAndInTheirLine) {
  const std::string name = "gradients, \"all\"\x1b[2J\nweft: error: none";
  const std::string field = "\"gradients, \"\"all\"\"\x1b[2J\nweft: error: none\"";
  const std::string line = "gradients, \"all\"?[2J?weft: error: none";
  for (int rank = 0; rank < 2; ++rank) {
    PbNode work = make(1, name, ChakraProtoMsg::COMP_NODE);
    work.set_duration_micros(10);
    PbNode reduce = trace::test::collective(2, ChakraProtoMsg::ALL_REDUCE, 1000);
    reduce.set_name(name);
    reduce.add_data_deps(1);
    write_trace(folder_.file("odd." + std::to_string(rank) + ".et"), {work, reduce});
  }
  write(folder_.file("odd.yaml"),
        "weft: 1\ntopology:\n  notation: Ring(2)\n  dimensions:\n    - {bandwidth: 50 GB/s, latency: 500 "
        "ns}\n");
  const std::vector<std::string> arguments = {
      "run", folder_.file("odd.yaml"), "--trace", folder_.file("odd"), "--out", out(""), "--critical-path"};
  const Ran ran = weft(arguments);
  ASSERT_EQ(ran.status, 0) << ran.err;
  for (const char* file : {"collectives.csv", "phases.csv", "critical_path.csv"})
    EXPECT_NE(read(out(file)).find(field), std::string::npos) << file << ":\n" << read(out(file));
  EXPECT_NE(ran.out.find(line), std::string::npos) << ran.out;
  for (const char c : ran.out + ran.err)
    ASSERT_TRUE(c == '\n' || static_cast<unsigned char>(c) >= 0x20) << ran.out << ran.err;
  // The same in an error.
  write_trace(folder_.file("odd.1.et"), {make(1, name, ChakraProtoMsg::COMP_NODE, {1})});
  const Ran cycle = weft(arguments);
  EXPECT_EQ(cycle.status, 3);
  EXPECT_TRUE(cycle.says({"odd.1.et", "rank 1", "cyclic", line})) << cycle.err;
  EXPECT_EQ(std::count(cycle.err.begin(), cycle.err.end(), '\n'), 1) << cycle.err;
}

TEST_F(Run, ReportsLayersAndPhasesToThePicosecond) {
  for (int rank = 0; rank < 2; ++rank) {
    const auto comp = [](uint64_t id, const char* name, uint64_t micros, std::vector<uint64_t> deps) {
      PbNode node = make(id, name, ChakraProtoMsg::COMP_NODE);
      node.set_duration_micros(micros);
      for (const uint64_t d : deps) node.add_data_deps(d);
      return node;
    };
    PbNode reduce = trace::test::collective(2, ChakraProtoMsg::ALL_REDUCE, 1000000);
    reduce.set_name("iter1.layer0.gradients, all");
    reduce.add_data_deps(1);
    write_trace(folder_.file("two." + std::to_string(rank) + ".et"),
                {comp(1, "iter1.layer0.mlp", 10, {}), reduce, comp(3, "iter1.layer1.mlp", 5, {1})});
  }
  write(
      folder_.file("two.yaml"),
      "weft: 1\ntopology:\n  notation: Ring(2)\n  dimensions:\n    - {bandwidth: 50 GB/s, latency: 500 ns}\n"
      "collectives: {chunks: 2}\n");
  const Ran ran = weft({"run", folder_.file("two.yaml"), "--trace", folder_.file("two"), "--out", out("")});
  ASSERT_EQ(ran.status, 0) << ran.err;
  // A chunk: two steps of 250,000 B, 5.5 us each. The first from 10 to 21 us, the second until 32 us; the
  // compute of layer 1 hides the first 5 us.
  EXPECT_EQ(
      read(out("layers.csv")),
      "iteration,layer,ranks,nodes,compute_ns,local_memory_ns,remote_memory_ns,communication_ns,collectives,"
      "bytes,collective_time_ns,queue_ns,network_ns,P0_queue_ns,P0_network_ns\n"
      "1,layer0,2,4,10000,0,0,17000,1,1000000,22000,11000,22000,11000,22000\n"
      "1,layer1,2,2,5000,0,0,0,0,0,0,0,0,0,0\n");
  EXPECT_EQ(
      read(out("phases.csv")),
      "stream,op,group,name,iteration,layer,phase,what,phase_op,dimension,algorithm,queue_ns,network_ns\n"
      "1,all_reduce,,\"iter1.layer0.gradients, all\",1,layer0,P0,all_reduce d0 ring,all_reduce,0,ring,11000,"
      "22000\n");
  const json s = json::parse(read(out("summary.json")));
  EXPECT_EQ(s["collectives"]["all_reduce"]["phases"],
            json::parse(R"([{"queue_ns": 11000, "network_ns": 22000}])"));
  EXPECT_NE(ran.out.find("1/layer0"), std::string::npos) << ran.out;
}

/// Two ranks with an all-reduce each of two names.
class RunRules : public Run {
 protected:
  static PbNode all_reduce(uint64_t id, const std::string& name, const std::string& algorithm = "") {
    PbNode node = trace::test::collective(id, ChakraProtoMsg::ALL_REDUCE, 1000000);
    node.set_name(name);
    if (!algorithm.empty()) {
      auto* a = node.add_attr();
      a->set_name("algorithm");
      a->set_string_val(algorithm);
    }
    return node;
  }
  Ran run_with(const std::string& rules, const std::vector<PbNode>& rank0, const std::vector<PbNode>& rank1,
               const std::string& notation = "Ring(2)") const {
    write_trace(folder_.file("t.0.et"), rank0);
    write_trace(folder_.file("t.1.et"), rank1);
    write(folder_.file("m.yaml"), "weft: 1\ntopology:\n  notation: " + notation +
                                      "\n  dimensions:\n    - {bandwidth: 50 GB/s}\n" + rules);
    return weft({"run", folder_.file("m.yaml"), "--trace", folder_.file("t"), "--out", out("")});
  }
  /// "chunks algorithms" of each collective by name.
  std::map<std::string, std::string> plans() const {
    std::map<std::string, std::string> by_stream;
    std::map<std::string, std::string> by_name;
    std::istringstream phases(read(out("phases.csv")));
    std::istringstream rows(read(out("collectives.csv")));
    const auto cells = [](const std::string& line) {
      std::vector<std::string> list;
      std::istringstream in(line);
      for (std::string cell; std::getline(in, cell, ',');) list.push_back(cell);
      return list;
    };
    std::string line;
    std::getline(phases, line);
    while (std::getline(phases, line)) by_stream[cells(line)[0]] += " " + cells(line)[10];
    std::getline(rows, line);
    while (std::getline(rows, line)) by_name[cells(line)[3]] = cells(line)[6] + by_stream[cells(line)[0]];
    return by_name;
  }
};

TEST_F(RunRules, ChooseAlgorithmsAndChunksAndWarnWhenNoneMatches) {
  const std::vector<PbNode> nodes = {all_reduce(1, "a.x"), all_reduce(2, "b.x"),
                                     all_reduce(3, "b.y", "direct"), all_reduce(4, "c", "one_ring")};
  const Ran ran = run_with(
      "collectives:\n  rules:\n    - {name: 'b.*', chunks: 7, algorithms: halving_doubling}\n"
      "    - {group: \"0\", name: a.x, chunks: 2}\n    - {group: \"5\", chunks: 9}\n",
      nodes, nodes);
  ASSERT_EQ(ran.status, 0) << ran.err;
  EXPECT_EQ(plans(),
            (std::map<std::string, std::string>{
                {"a.x", "2 ring"}, {"b.x", "7 halving_doubling"}, {"b.y", "7 direct"}, {"c", "4 ring"}}));
  const std::string warning =
      "m.yaml:10: key `collectives.rules[2]`: the rule (group `5`) is for no collective";
  EXPECT_NE(ran.err.find(warning), std::string::npos) << ran.err;
  EXPECT_EQ(ran.err.find("rules[0]"), std::string::npos) << ran.err;
  EXPECT_NE(json::parse(read(out("summary.json")))["warnings"].dump().find("collectives.rules[2]"),
            std::string::npos);
  // The complete configuration holds the rules.
  EXPECT_EQ(weft({"validate", out("effective.yaml")}).status, 0);
  EXPECT_NE(read(out("effective.yaml"))
                .find("rules:\n    - {name: \"b.*\", algorithms: [halving_doubling], chunks: 7}"),
            std::string::npos)
      << read(out("effective.yaml"));
}

TEST_F(RunRules, MayLetTheSwitchReduce) {
  const std::vector<PbNode> nodes = {all_reduce(1, "a"), all_reduce(2, "b"), all_reduce(3, "c", "in_switch")};
  Ran ran =
      run_with("collectives:\n  rules:\n    - {name: a, algorithms: in_switch}\n", nodes, nodes, "Switch(2)");
  ASSERT_EQ(ran.status, 0) << ran.err;
  EXPECT_EQ(plans(), (std::map<std::string, std::string>{
                         {"a", "4 in_switch"}, {"b", "4 halving_doubling"}, {"c", "4 in_switch"}}));
  // Nothing has told that the switches need units.
  ran = run_with("", nodes, nodes, "Switch(2)");
  EXPECT_EQ(ran.status, 3);
  EXPECT_TRUE(ran.says({"t.0.et: rank 0, node 3 (`c`)", "in_switch", "dimension 0", "collective units"}))
      << ran.err;
  ran = run_with("", nodes, nodes);
  EXPECT_EQ(ran.status, 3);
  EXPECT_TRUE(ran.says({"t.0.et: rank 0, node 3 (`c`)", "in_switch needs a Switch dimension"})) << ran.err;
}

/// At analytical fidelity ranks fold: what rules choose must be alike for all that one stands for.
TEST_F(RunRules, HoldForFoldedRanks) {
  std::map<std::string, std::string> outputs[2];
  for (int r = 0; r < 8; ++r) {
    const std::string group = r < 4 ? "first" : "second";
    PbNode node = trace::test::collective(1, ChakraProtoMsg::ALL_REDUCE, 1000000, group);
    node.set_name("mb0.layer" + std::to_string(r % 2) + ".x");  // names may differ
    write_trace(folder_.file("f." + std::to_string(r) + ".et"), {trace::test::comp(5), node});
  }
  write(folder_.file("g.json"), R"({"first": [0, 1, 2, 3], "second": [4, 5, 6, 7]})");
  write(folder_.file("f.yaml"),
        "weft: 1\ntopology:\n  notation: Ring(4)_Switch(2)\n  dimensions:\n    - {bandwidth: 50 GB/s, "
        "fidelity: "
        "analytical}\ncollectives:\n  rules:\n    - {group: second, algorithms: [direct, default]}\n");
  for (const bool fold : {true, false}) {
    std::vector<std::string> arguments = {"run",      folder_.file("f.yaml"), "--trace", folder_.file("f"),
                                          "--groups", folder_.file("g.json"), "--out",   out("")};
    if (!fold) arguments.emplace_back("--no-fold");
    const Ran ran = weft(arguments);
    ASSERT_EQ(ran.status, 0) << ran.err;
    EXPECT_EQ(json::parse(read(out("summary.json")))["folding"]["simulated_ranks"], fold ? 2 : 8);
    outputs[fold ? 1 : 0] = {{"phases", read(out("phases.csv"))}, {"ranks", read(out("ranks.csv"))}};
    // Layers: the one rank's names.
    EXPECT_NE(read(out("layers.csv")).find(fold ? ",layer0,8," : ",layer0,4,"), std::string::npos)
        << read(out("layers.csv"));
  }
  EXPECT_EQ(outputs[0]["ranks"], outputs[1]["ranks"]);
  EXPECT_NE(outputs[1]["phases"].find(",first,"), std::string::npos);
  EXPECT_NE(outputs[1]["phases"].find("all_reduce d0 ring"), std::string::npos) << outputs[1]["phases"];
  EXPECT_NE(outputs[1]["phases"].find("all_reduce d0 direct"), std::string::npos) << outputs[1]["phases"];
}

TEST_F(RunRules, PrioritiesDecideWhichCollectiveGoesFirst) {
  const auto order = [&](const char* first) {
    const std::vector<PbNode> nodes = {all_reduce(1, "a"), all_reduce(2, "b")};
    const Ran ran =
        run_with(std::string("collectives:\n  scheduling: priority\n  chunks: 1\n  rules:\n    - {name: ") +
                     first + ", priority: 5}\n",
                 nodes, nodes);
    EXPECT_EQ(ran.status, 0) << ran.err;
    std::map<std::string, double> ends;
    std::istringstream rows(read(out("collectives.csv")));
    std::string line;
    std::getline(rows, line);
    while (std::getline(rows, line)) {
      std::vector<std::string> cells;
      std::istringstream in(line);
      for (std::string cell; std::getline(in, cell, ',');) cells.push_back(cell);
      ends[cells[3]] = std::stod(cells[8]);
    }
    return ends;
  };
  auto ends = order("a");
  EXPECT_EQ(ends["a"], 21000);
  EXPECT_EQ(ends["b"], 42000);
  ends = order("b");
  EXPECT_EQ(ends["b"], 21000);
  EXPECT_EQ(ends["a"], 42000);
}

TEST_F(RunRules, MembersMustAgree) {
  const std::string rules = "collectives:\n  rules:\n    - {name: 'a*', chunks: 2}\n";
  Ran ran = run_with(rules, {all_reduce(1, "a")}, {all_reduce(1, "other")});
  EXPECT_EQ(ran.status, 2);
  EXPECT_TRUE(ran.says({"t.1.et: rank 1, node 1 (`other`): no rule is for it",
                        "m.yaml:8: key `collectives.rules[0]`", "t.0.et: rank 0, node 1 \"a\""}))
      << ran.err;
  // One rule for both names is agreement.
  EXPECT_EQ(run_with(rules, {all_reduce(1, "a")}, {all_reduce(1, "abc")}).status, 0);
  // The same holds for rules of fidelity: which member starts first must not matter.
  const std::string fidelity = "  fidelity_rules:\n    - {name: 'a*', fidelity: analytical}\n";
  ran = run_with(fidelity, {all_reduce(1, "a")}, {all_reduce(1, "other")});
  EXPECT_EQ(ran.status, 2);
  EXPECT_TRUE(
      ran.says({"t.1.et: rank 1, node 1 (`other`)", "m.yaml:7: key `topology.fidelity_rules[0]`",
                "is not for it, but for the same collective on rank 0", "t.0.et: rank 0, node 1 \"a\""}))
      << ran.err;
  ran = run_with(fidelity, {all_reduce(1, "other")}, {all_reduce(1, "a")});
  EXPECT_TRUE(ran.says({"is for it, but not for the same collective on rank 0"})) << ran.err;
  EXPECT_EQ(run_with(fidelity, {all_reduce(1, "a")}, {all_reduce(1, "abc")}).status, 0);
  ran = run_with("", {all_reduce(1, "a", "ring")}, {all_reduce(1, "a", "direct")});
  EXPECT_EQ(ran.status, 3);
  EXPECT_TRUE(ran.says({"t.1.et: rank 1", "algorithm \"direct\"", "algorithm \"ring\"", "t.0.et: rank 0"}))
      << ran.err;
}

// `stream` and the order of the rows follow from the traces, not from the rank that starts a collective
// first.
TEST_F(RunRules, CollectivesHaveNumbersOfTheirOwn) {
  PbNode late = all_reduce(1, "late");
  late.add_data_deps(9);
  PbNode early = trace::test::collective(2, ChakraProtoMsg::ALL_GATHER, 1000, "b");
  PbNode first = trace::test::collective(3, ChakraProtoMsg::ALL_GATHER, 1000, "a");
  first.set_name("of_rank_0");
  const std::vector<PbNode> rank0 = {trace::test::comp(9, {}, 50), late, early, first};
  first.set_name("of_rank_1");
  // Rank 1 starts them in another order, and `late` before rank 0 does.
  const std::vector<PbNode> rank1 = {first, early, all_reduce(1, "late")};
  write(folder_.file("groups.json"), R"({"b": [0, 1], "a": [1, 0]})");
  run_with("", rank0, rank1);
  const Ran ran = weft({"run", folder_.file("m.yaml"), "--trace", folder_.file("t"), "--groups",
                        folder_.file("groups.json"), "--out", out("")});
  ASSERT_EQ(ran.status, 0) << ran.err;
  std::string rows;
  for (const auto& row : read_csv(out("collectives.csv")))
    rows += row.at("stream") + " " + row.at("group") + " " + row.at("name") + " " + row.at("start_ns") + "\n";
  EXPECT_EQ(rows, "1  late 0\n2 a of_rank_0 0\n3 b coll2 0\n");
}

TEST_F(RunRules, AnUnknownAlgorithmOfANodeIsNamed) {
  const std::vector<PbNode> typo = {all_reduce(1, "a"), all_reduce(9, "b", "halving_dubling")};
  Ran ran = run_with("", typo, typo);
  EXPECT_EQ(ran.status, 3);
  EXPECT_TRUE(ran.says({"t.0.et: rank 0, node 9 (`b`): the attribute `algorithm` is \"halving_dubling\"",
                        "did you mean `halving_doubling`?"}))
      << ran.err;
  // One that cannot run the operation.
  PbNode gather = all_reduce(9, "b", "double_binary_tree");
  gather.mutable_attr(0)->set_int64_val(ChakraProtoMsg::ALL_GATHER);
  ran = run_with("", {gather}, {gather});
  EXPECT_EQ(ran.status, 3);
  EXPECT_TRUE(ran.says({"t.0.et: rank 0, node 9 (`b`)", "double_binary_tree", "dimension 0 (Ring(2))"}))
      << ran.err;
}

TEST_F(Run, LayersAddUpToTheRanks) {
  Ran ran = run();
  ASSERT_EQ(ran.status, 0) << ran.err;
  EXPECT_NE(ran.out.find("more layers, in layers.csv"), std::string::npos) << ran.out;
  const auto column = [&](const std::string& file, const std::string& name, bool weigh) {
    std::istringstream in(read(out(file)));
    std::string line;
    std::vector<std::string> head;
    double sum = 0;
    while (std::getline(in, line)) {
      std::vector<std::string> cells;
      std::istringstream parts(line);
      for (std::string cell; std::getline(parts, cell, ',');) cells.push_back(cell);
      if (head.empty()) {
        head = cells;
        continue;
      }
      const auto at = [&](const char* key) {
        return std::stod(
            cells.at(static_cast<size_t>(std::find(head.begin(), head.end(), key) - head.begin())));
      };
      sum += at(name.c_str()) * (weigh ? at("ranks") : 1);
    }
    return sum;
  };
  for (const char* name : {"compute_ns", "communication_ns"}) {
    const double ranks = column("ranks.csv", name, false);
    EXPECT_GT(ranks, 0);
    EXPECT_NEAR(column("layers.csv", name, true), ranks, 0.1) << name;
  }
  EXPECT_EQ(column("layers.csv", "collectives", false),
            json::parse(read(out("summary.json")))["collectives"]["all_reduce"]["count"].get<double>());
  ran = run({"--per-layer"});
  EXPECT_EQ(ran.out.find("more layers"), std::string::npos);
  for (const char* layer : {"layer0", "layer3", "embedding", "optimizer"})
    EXPECT_NE(ran.out.find(std::string("\n") + layer + " "), std::string::npos) << layer;
}

TEST_F(Run, CarriesAndChecksDataWhenAsked) {
  ASSERT_EQ(run().status, 0);
  EXPECT_FALSE(json::parse(read(out("summary.json"))).contains("data"));
  const Ran ran =
      run({"--set", "run.data=functional", "--set", "run.element=bf16", "--set", "run.reduce=max"});
  ASSERT_EQ(ran.status, 0) << ran.err;
  const json s = json::parse(read(out("summary.json")));
  EXPECT_EQ(s["invariants"], "ok");
  EXPECT_EQ(s["data"]["element"], "bf16");
  EXPECT_EQ(s["data"]["reduce"], "max");
  uint64_t collectives = 0;
  for (const auto& [op, sums] : s["collectives"].items()) {
    collectives += op == "barrier" ? 0 : sums["count"].get<uint64_t>();
  }
  EXPECT_EQ(s["data"]["collectives_verified"], collectives);
  EXPECT_GT(s["data"]["elements_verified"], 100000u);
}

TEST_F(Run, NamesTheNodeWhoseSizeIsNoWholeNumberOfElements) {
  for (int rank = 0; rank < 2; ++rank) {
    PbNode node = trace::test::collective(7, ChakraProtoMsg::ALL_REDUCE, 4098);
    node.set_name("odd");
    write_trace(folder_.file("odd." + std::to_string(rank) + ".et"), {node});
  }
  const std::vector<std::string> arguments = {
      "run",     kQuickstart,         "--set", "topology.notation=Ring(2)_Ring(1)",
      "--trace", folder_.file("odd"), "--out", out("")};
  EXPECT_EQ(weft(arguments).status, 0);
  auto with_data = arguments;
  with_data.insert(with_data.end(), {"--set", "run.data=functional"});
  const Ran ran = weft(with_data);
  EXPECT_EQ(ran.status, 3);
  EXPECT_NE(ran.err.find("rank 0, node 7 (`odd`): 4098 B are not a whole number of fp32 elements"),
            std::string::npos)
      << ran.err;
}

TEST_F(Run, SaysWhatWasFolded) {
  for (int rank = 0; rank < 4; ++rank) {
    write_trace(folder_.file("alike." + std::to_string(rank) + ".et"),
                {trace::test::collective(1, ChakraProtoMsg::ALL_REDUCE, 1 << 20)});
  }
  std::vector<std::string> arguments = {"run",     kQuickstart,
                                        "--set",   "topology.notation=Ring(4)_Ring(1)",
                                        "--set",   "topology.dimensions[*].fidelity=analytical",
                                        "--trace", folder_.file("alike"),
                                        "--out",   out("")};
  const Ran folded = weft(arguments);
  ASSERT_EQ(folded.status, 0) << folded.err;
  EXPECT_NE(folded.err.find("folded: 4 of 4 ranks are identical to another; 1 rank is simulated for them"),
            std::string::npos)
      << folded.err;
  const json one = json::parse(read(out("summary.json")));
  EXPECT_EQ(one["folded"], true);
  EXPECT_EQ(one["folding"]["simulated_ranks"], 1);
  EXPECT_EQ(one["folding"]["collectives"], 1);
  EXPECT_EQ(read_csv(out("collectives.csv")).at(0).at("folded_ranks"), "4");
  arguments.emplace_back("--no-fold");
  ASSERT_EQ(weft(arguments).status, 0);
  const json all = json::parse(read(out("summary.json")));
  EXPECT_EQ(all["folded"], false);
  EXPECT_EQ(all["folding"]["simulated_ranks"], 4);
  EXPECT_EQ(all["folding"]["not_folded"]["folding is off"], 4);
  EXPECT_EQ(all["time_ns"], one["time_ns"]);
  EXPECT_EQ(all["messages"], one["messages"]);
  EXPECT_EQ(read_csv(out("collectives.csv")).at(0).at("folded_ranks"), "0");
}

TEST_F(Run, SummaryHasTheFixedKeys) {
  ASSERT_EQ(run().status, 0);
  const json s = json::parse(read(out("summary.json")));
  for (const char* key : {"weft_summary", "time_ns", "categories", "collectives", "links", "messages",
                          "events", "fidelity", "folded", "invariants", "wall_s", "peak_rss_MiB"})
    EXPECT_TRUE(s.contains(key)) << key;
  EXPECT_EQ(s["weft_summary"], 1);
  EXPECT_EQ(s["invariants"], "ok");
  EXPECT_EQ(s["finished"], true);
  EXPECT_EQ(s["fidelity"], json::array({"message", "message"}));
  for (const char* key :
       {"compute_ns", "local_memory_ns", "remote_memory_ns", "communication_ns", "idle_ns"}) {
    EXPECT_GE(s["categories"][key]["max"], s["categories"][key]["mean"]) << key;
  }
  for (const char* key :
       {"count", "bytes", "time_ns", "queue_ns", "network_ns", "algbw_GBps", "busbw_GBps", "efficiency"})
    EXPECT_GT(s["collectives"]["all_reduce"][key], 0) << key;
  for (const char* key : {"count", "bytes", "busy_ns"}) EXPECT_GT(s["links"][key], 0) << key;
  EXPECT_LE(s["lower_bound_ns"], s["time_ns"]);
  EXPECT_LE(s["time_ns"], s["upper_bound_ns"]);
}

TEST_F(Run, TheFilesAgreeWithEachOther) {
  ASSERT_EQ(run().status, 0);
  const json s = json::parse(read(out("summary.json")));
  const std::string text = read(out("summary.json"));
  EXPECT_EQ(read(out("ranks.csv"))
                .find("rank,time_ns,compute_ns,local_memory_ns,remote_memory_ns,communication_ns,idle_ns,"
                      "communicating_ns,finished_ns\n"),
            0u);
  const auto ranks = read_csv(out("ranks.csv"));
  ASSERT_EQ(ranks.size(), 8u);
  uint64_t most_compute = 0;
  for (size_t r = 0; r < ranks.size(); ++r) {
    const auto& row = ranks[r];
    EXPECT_EQ(row.at("rank"), std::to_string(r));
    EXPECT_NE(text.find("\"time_ns\": " + row.at("time_ns") + ","), std::string::npos);
    EXPECT_EQ(picoseconds(row.at("compute_ns")) + picoseconds(row.at("local_memory_ns")) +
                  picoseconds(row.at("remote_memory_ns")) + picoseconds(row.at("communication_ns")) +
                  picoseconds(row.at("idle_ns")),
              picoseconds(row.at("time_ns")));
    most_compute = std::max(most_compute, picoseconds(row.at("compute_ns")));
    EXPECT_LE(picoseconds(row.at("communication_ns")), picoseconds(row.at("communicating_ns")));
    EXPECT_LE(picoseconds(row.at("communicating_ns")), picoseconds(row.at("time_ns")));
  }
  EXPECT_GT(most_compute, 0u);

  uint64_t count = 0;
  uint64_t bytes = 0;
  uint64_t time = 0;
  for (const auto& row : read_csv(out("collectives.csv"))) {
    EXPECT_EQ(picoseconds(row.at("end_ns")) - picoseconds(row.at("start_ns")),
              picoseconds(row.at("time_ns")));
    EXPECT_GE(picoseconds(row.at("time_ns")), picoseconds(row.at("lower_bound_ns")));
    EXPECT_EQ(row.at("ranks"), "2");
    if (row.at("op") != "all_reduce") continue;
    ++count;
    bytes += std::stoull(row.at("bytes"));
    time += picoseconds(row.at("time_ns"));
  }
  EXPECT_EQ(s["collectives"]["all_reduce"]["count"], count);
  EXPECT_EQ(s["collectives"]["all_reduce"]["bytes"], bytes);
  EXPECT_NEAR(s["collectives"]["all_reduce"]["time_ns"].get<double>(), static_cast<double>(time) / 1000,
              1e-3);

  const auto links = read_csv(out("links.csv"));
  EXPECT_EQ(s["links"]["count"], links.size());
  uint64_t link_bytes = 0;
  for (const auto& row : links) {
    link_bytes += std::stoull(row.at("bytes"));
    const double fraction = std::stod(row.at("busy_fraction"));
    EXPECT_LE(fraction, 1);
    EXPECT_NEAR(fraction, std::stod(row.at("busy_ns")) / s["time_ns"].get<double>(), 1e-6);
  }
  EXPECT_EQ(s["links"]["bytes"], link_bytes);
}

// Long messages on empty paths go by train. What is said of them adds up, and a run without trains says
// nothing.
TEST_F(Run, PacketTrainsAreReported) {
  const std::vector<std::string> packets = {"--set", "topology.dimensions[*].fidelity=packet",
                                            "--set", "packet.packet_size=256 B",
                                            "--set", "packet.flit_size=64 B"};
  const Ran ran = run(packets);
  ASSERT_EQ(ran.status, 0) << ran.err;
  const json summary = json::parse(read(out("summary.json")));
  const json& trains = summary["trains"];
  uint64_t one_by_one = 0;
  for (const char* key :
       {"filling", "not_recurred", "company", "last", "no_balance", "no_certain_path", "replayed"})
    one_by_one += trains[key].get<uint64_t>();
  EXPECT_GT(trains["carried"], 0);
  EXPECT_GT(one_by_one, 0u);
  EXPECT_EQ(trains["carried"].get<uint64_t>() + one_by_one, trains["packets"]);
  EXPECT_GE(trains["carried_hops"], trains["carried"]);
  EXPECT_LT(trains["carried_hops"], summary["packet_hops"]);

  std::vector<std::string> marked = packets;
  marked.insert(marked.end(), {"--set", "packet.ecn.enabled=true", "--force"});
  const Ran none = run(marked);
  ASSERT_EQ(none.status, 0) << none.err;
  EXPECT_FALSE(json::parse(read(out("summary.json"))).contains("trains"));
}

/// Everything at packet fidelity, and every packet is marked.
const std::vector<std::string> kCongested = {"--set", "topology.dimensions[*].fidelity=packet",
                                             "--set", "packet.packet_size=4 KiB",
                                             "--set", "packet.flit_size=64 B",
                                             "--set", "packet.ecn.enabled=true",
                                             "--set", "packet.ecn.k_min=0 B",
                                             "--set", "packet.ecn.k_max=0 B",
                                             "--set", "packet.dcqcn.enabled=true",
                                             "--set", "packet.dcqcn.cnp_interval=1 us"};

TEST_F(Run, CongestionControlIsReported) {
  const Ran ran = run(kCongested);
  ASSERT_EQ(ran.status, 0) << ran.err;
  const json summary = json::parse(read(out("summary.json")));
  const json& congestion = summary["congestion"];
  EXPECT_GT(congestion["packets_marked"], 0);
  EXPECT_GT(congestion["notifications"], 0);
  uint64_t notifications = 0;
  Picoseconds below = 0;
  const auto flows = read_csv(out("flows.csv"));
  for (const auto& row : flows) {
    notifications += std::stoull(row.at("notifications"));
    below += picoseconds(row.at("below_line_ns"));
    EXPECT_LT(std::stod(row.at("lowest_GBps")), std::stod(row.at("line_GBps")));
    EXPECT_NE(row.at("source"), row.at("destination"));
    EXPECT_NE(row.at("interface").find("packet"), std::string::npos);
  }
  EXPECT_EQ(congestion["flows_slowed"], flows.size());
  EXPECT_EQ(congestion["notifications"], notifications);
  EXPECT_NEAR(congestion["below_line_rate_ns"].get<double>(), static_cast<double>(below) / 1000, 1);
  uint64_t marked = 0;
  for (const auto& row : read_csv(out("links.csv"))) marked += std::stoull(row.at("marked"));
  EXPECT_GT(marked, 0u);
  EXPECT_LE(marked, congestion["packets_marked"].get<uint64_t>());
  for (const char* part : {"ecn ", "packet-hops marked", "notifications slowed", "flows.csv"})
    EXPECT_NE(ran.out.find(part), std::string::npos) << part;
  const auto first = results();
  ASSERT_EQ(run(kCongested).status, 0);
  EXPECT_EQ(results(), first);
  // Without it there is neither key nor file, not even of the run before.
  ASSERT_EQ(run().status, 0);
  EXPECT_EQ(results().count("flows.csv"), 0u);
  EXPECT_FALSE(json::parse(read(out("summary.json"))).contains("congestion"));
}

TEST_F(Run, TheUserGuideNamesEveryKeyAndColumn) {
  ASSERT_EQ(run(kCongested).status, 0);
  const std::string guide = read(weft::test::source_dir() + "/docs/guide/results.md");
  const auto documented = [&](const std::string& name) {
    EXPECT_NE(guide.find("`" + name + "`"), std::string::npos) << name;
  };
  const json summary = json::parse(read(out("summary.json")));
  for (const auto& item : summary.items()) documented(item.key());
  for (const auto& item : summary["congestion"].items()) documented(item.key());
  for (const char* name :
       {"ranks.csv", "collectives.csv", "phases.csv", "layers.csv", "links.csv", "flows.csv"}) {
    const auto rows = read_csv(out(name));
    ASSERT_FALSE(rows.empty()) << name;
    for (const auto& [column, cell] : rows[0]) documented(column);
  }
}

TEST_F(Run, TheSameTwiceIsByteIdentical) {
  ASSERT_EQ(run({"--waves", "*"}).status, 0);
  const auto first = results();
  ASSERT_EQ(first.count("waves.vcd"), 1u);
  ASSERT_EQ(run({"--waves", "*"}).status, 0);
  const auto second = results();
  ASSERT_EQ(first.size(), second.size());
  for (const auto& [name, text] : first) EXPECT_EQ(text, second.at(name)) << name;
  ASSERT_EQ(run({"--set", "collectives.chunks=2"}).status, 0);
  EXPECT_NE(results().at("ranks.csv"), first.at("ranks.csv")) << "the comparison can fail";
}

TEST_F(Run, TheEffectiveConfigurationGivesTheSameResults) {
  ASSERT_EQ(run().status, 0);
  const std::string ranks = read(out("ranks.csv"));
  fs::copy(out("effective.yaml"), folder_.file("again.yaml"));
  const Ran ran = weft({"run", folder_.file("again.yaml"), "--out", folder_.file("out2")});
  ASSERT_EQ(ran.status, 0) << ran.err;
  EXPECT_EQ(read(folder_.file("out2/ranks.csv")), ranks);
  EXPECT_EQ(read(folder_.file("out2/links.csv")), read(out("links.csv")));
}

TEST_F(Run, JsonIsTheSummaryAndAllElseIsOnTheStandardError) {
  const Ran ran = run({"--json"});
  ASSERT_EQ(ran.status, 0) << ran.err;
  EXPECT_EQ(ran.out, read(out("summary.json")));
  EXPECT_TRUE(json::parse(ran.out).is_object());
  EXPECT_NE(ran.err.find("all_reduce"), std::string::npos);
}

TEST_F(Run, WavesDoNotChangeTimeAndAreReadByOtherTools) {
  ASSERT_EQ(run().status, 0);
  const std::string ranks = read(out("ranks.csv"));
  ASSERT_EQ(run({"--waves", "*"}).status, 0);
  EXPECT_EQ(read(out("ranks.csv")), ranks);
  const vcd::test::ParsedVcd parsed = vcd::test::parse_vcd(read(out("waves.vcd")));
  EXPECT_GT(parsed.declared.size(), 16u);
  const json s = json::parse(read(out("summary.json")));
  EXPECT_EQ(parsed.times.back(), picoseconds(read_csv(out("ranks.csv"))[0].at("time_ns")));
  // Somebody sends, and some NPU computes.
  const auto changes = [&](const std::string& part) {
    size_t n = 0;
    for (const auto& [name, list] : parsed.changes)
      if (name.find(part) != std::string::npos) n += list.size() > 1 ? 1 : 0;
    return n;
  };
  EXPECT_GT(changes("bytes"), 0u);
  EXPECT_GT(changes("busy"), 0u);
  EXPECT_GT(changes("state"), 0u);
  EXPECT_TRUE(fs::exists(out("waves.gtkw")));
  if (std::system("command -v vcd2fst >/dev/null 2>&1") != 0) GTEST_SKIP() << "vcd2fst is not installed";
  const Ran fst = shell("vcd2fst '" + out("waves.vcd") + "' '" + out("waves.fst") + "'");
  EXPECT_EQ(fst.status, 0) << fst.err;
  EXPECT_GT(fs::file_size(out("waves.fst")), 100u);
}

TEST_F(Run, WavesOfASelection) {
  const Ran ran = run({"--waves", "*bytes"});
  ASSERT_EQ(ran.status, 0) << ran.err;
  const vcd::test::ParsedVcd parsed = vcd::test::parse_vcd(read(out("waves.vcd")));
  EXPECT_GT(parsed.declared.size(), 0u);
  for (const auto& [name, list] : parsed.changes) EXPECT_EQ(name.substr(name.size() - 5), "bytes");
  const Ran bad = run({"--waves", "npu[0"});
  EXPECT_EQ(bad.status, 2);
  EXPECT_TRUE(bad.says({"--waves", "npu[0"})) << bad.err;
}

// The patterns that the guide and the help show.
TEST_F(Run, WavesOfPatternsWithAndWithoutTheModuleOfEverything) {
  const auto signals = [&](const std::string& pattern) {
    const Ran ran = run({"--waves", pattern});
    EXPECT_EQ(ran.status, 0) << pattern << ": " << ran.err;
    return vcd::test::parse_vcd(read(out("waves.vcd"))).declared.size();
  };
  const size_t all = signals("*");
  EXPECT_EQ(signals("job"), all);
  EXPECT_EQ(signals("npu[0-3].*"), 8u);
  EXPECT_EQ(signals("job.npu[0-3].*"), 8u);
  EXPECT_EQ(signals("npu0"), 2u);
  const Ran help = weft({"run", "--help"});
  for (const std::string& text : {help.out, read(weft::test::source_dir() + "/docs/guide/waveforms.md")}) {
    size_t found = 0;
    for (size_t at = text.find("--waves '"); at != std::string::npos; at = text.find("--waves '", at + 1)) {
      const size_t begin = at + 9;
      EXPECT_GT(signals(text.substr(begin, text.find('\'', begin) - begin)), 0u);
      ++found;
    }
    EXPECT_GT(found, 0u);
  }
}

TEST_F(Run, APatternThatMatchesNothingIsAnErrorWithTheNearestNames) {
  const Ran ran = run({"--waves", "*bytes,npu0.stat"});
  EXPECT_EQ(ran.status, 2) << ran.err;
  EXPECT_EQ(ran.out, "");
  EXPECT_TRUE(ran.says({"--waves", "'npu0.stat' matches no signal", "job.npu0.state"})) << ran.err;
  for (const auto& entry : fs::directory_iterator(out("")))
    EXPECT_EQ(entry.path().filename(), "effective.yaml");
}

TEST_F(Run, WavesOfAWindowAndABudget) {
  ASSERT_EQ(run({"--waves", "*"}).status, 0);
  const vcd::test::ParsedVcd all = vcd::test::parse_vcd(read(out("waves.vcd")));
  const uint64_t end = all.times.back();
  const std::string from = std::to_string(end / 4) + " ps";
  const std::string to = std::to_string(end / 2) + " ps";
  ASSERT_EQ(run({"--waves", "*", "--waves-window", from + ":" + to}).status, 0);
  const vcd::test::ParsedVcd part = vcd::test::parse_vcd(read(out("waves.vcd")));
  EXPECT_EQ(part.times.front(), end / 4);
  EXPECT_EQ(part.times.back(), end / 2);
  const std::string file = read(out("waves.vcd"));
  ASSERT_EQ(
      run({"--waves", "*", "--set", "output.waves_from=" + from, "--set", "output.waves_to=" + to}).status,
      0);
  EXPECT_EQ(read(out("waves.vcd")), file);
  ASSERT_EQ(run({"--waves", "*", "--waves-window", ":" + to}).status, 0);
  EXPECT_EQ(vcd::test::parse_vcd(read(out("waves.vcd"))).times.back(), end / 2);

  const Ran small = run({"--waves", "*", "--waves-budget", "40 KiB"});
  ASSERT_EQ(small.status, 0) << small.err;
  EXPECT_LE(fs::file_size(out("waves.vcd")), 40u << 10);
  EXPECT_TRUE(small.says({"warning", "waves.vcd", "40 KiB", "--waves-budget"})) << small.err;

  const Ran none = run({"--waves", "*", "--waves-budget", "1 KiB"});
  EXPECT_EQ(none.status, 2);
  EXPECT_TRUE(none.says({"the names and initial values of ", "the limit is 1024", "raise the limit"}))
      << none.err;
  EXPECT_EQ(none.err.find("free some space"), std::string::npos) << none.err;

  for (const std::vector<std::string>& bad : {std::vector<std::string>{"--waves-window", "1 us"},
                                              {"--waves-window", "2 us:1 us"},
                                              {"--waves-window", "1:2"},
                                              {"--waves-window", "1 us:0 ns"},
                                              {"--waves-budget", "1 B"},
                                              {"--waves-budget", "much"},
                                              {"--set", "output.waves_from=1"}}) {
    const Ran ran = run({"--waves", "*", bad[0], bad[1]});
    EXPECT_EQ(ran.status, 2) << bad[1] << ran.err;
    EXPECT_TRUE(ran.says({bad[0] == "--set" ? "output.waves_from" : bad[0]})) << ran.err;
  }
  // Nothing is recorded that they could be of.
  for (const std::vector<std::string>& alone : std::vector<std::vector<std::string>>{
           {"--waves-window", "1 us:2 us"}, {"--waves-budget", "1 MiB"}, {"--waves-flits"}}) {
    const Ran ran = run(alone);
    EXPECT_EQ(ran.status, 2) << alone[0];
    EXPECT_TRUE(ran.says({alone[0], "--waves", "is missing; add it"})) << ran.err;
  }
  EXPECT_EQ(run({"--waves-flits", "--set", "output.waves=*.busy"}).status, 0);
}

// An all-reduce of S over n NPUs in C chunks moves 2(n-1) S/n bytes over each link of a ring, in 2(n-1) C
// messages.
TEST_F(Run, BytesAndMessagesOfALinkAreTheAlgorithms) {
  for (int r = 0; r < 4; ++r)
    write_trace(folder_.file("ar." + std::to_string(r) + ".et"),
                {trace::test::collective(1, ChakraProtoMsg::ALL_REDUCE, 1 << 20)});
  const Ran ran = weft({"run", kQuickstart, "--set", "topology.notation=Ring(4)_Ring(1)", "--trace",
                        folder_.file("ar"), "--set", "collectives.chunks=4", "--no-fold", "--out", out("")});
  ASSERT_EQ(ran.status, 0) << ran.err;
  size_t used = 0;
  for (const auto& row : read_csv(out("links.csv"))) {
    if (row.at("bytes") == "0") continue;
    ++used;
    EXPECT_EQ(row.at("bytes"), std::to_string(2 * 3 * (1 << 20) / 4));
    EXPECT_EQ(row.at("messages"), std::to_string(2 * 3 * 4));
    EXPECT_EQ(picoseconds(row.at("busy_ns")), 2u * 3 * (1 << 20) / 4 * 10);  // 100 GB/s: 10 ps a byte
  }
  EXPECT_EQ(used, 4u) << "one direction of the ring";
  const json s = json::parse(read(out("summary.json")));
  EXPECT_EQ(s["messages"], 4 * 2 * 3 * 4);
  EXPECT_GE(s["events"], 4 * 2 * 3 * 4);
}

TEST_F(Run, AnEmptyTraceAndSingleNodes) {
  write_trace(folder_.file("e.0.et"), {});
  const Ran empty = weft({"run", kQuickstart, "--set", "topology.notation=Ring(1)_Ring(1)", "--trace",
                          folder_.file("e"), "--out", out("")});
  EXPECT_EQ(empty.status, 0) << empty.err;
  EXPECT_EQ(json::parse(read(out("summary.json")))["time_ns"], 0);
  write_trace(folder_.file("c.0.et"), {trace::test::comp(1, {}, 5)});
  const Ran one = weft({"run", kQuickstart, "--set", "topology.notation=Ring(1)_Ring(1)", "--trace",
                        folder_.file("c"), "--out", out("")});
  EXPECT_EQ(one.status, 0) << one.err;
  EXPECT_EQ(read_csv(out("ranks.csv"))[0].at("compute_ns"), "5000");
}

TEST_F(Run, TheLinksOfAFoldedMeshAreThoseThatThereAre) {
  for (const char* rank : {"0", "1", "2"})
    write_trace(folder_.file(std::string("i.") + rank + ".et"), {trace::test::comp(1, {}, 5)});
  write(folder_.file("mesh.yaml"),
        "weft: 1\ntopology: {notation: Mesh(3), dimensions: [{bandwidth: 1 GB/s, fidelity: analytical}]}\n");
  const std::vector<std::string> words = {
      "run", folder_.file("mesh.yaml"), "--trace", folder_.file("i"), "--out", out("")};
  ASSERT_EQ(weft(words).status, 0);
  EXPECT_EQ(json::parse(read(out("summary.json")))["folded"], true);
  const std::string folded = read(out("links.csv"));
  std::vector<std::string> whole = words;
  whole.push_back("--no-fold");
  ASSERT_EQ(weft(whole).status, 0);
  EXPECT_EQ(folded, read(out("links.csv")));
  EXPECT_NE(folded.find("nmu2.d0_minus,nmu1"), std::string::npos) << folded;
  EXPECT_EQ(folded.find("nmu2.d0_plus"), std::string::npos) << folded;
}

TEST_F(Run, MemoryIsExposedWhereNothingHidesIt) {
  PbNode local = make(1, "local", ChakraProtoMsg::MEM_LOAD_NODE);
  attribute(local, "tensor_size", 2000000);
  PbNode remote = make(2, "remote", ChakraProtoMsg::MEM_STORE_NODE, {1});
  attribute(remote, "tensor_size", 10000);
  attribute(remote, "is_remote", 1);
  write_trace(folder_.file("m.0.et"), {local, remote, trace::test::comp(3, {2}, 3)});
  const Ran ran = weft({"run", kQuickstart, "--set", "topology.notation=Ring(1)_Ring(1)", "--set",
                        "remote_memory.bandwidth=10 GB/s", "--set", "remote_memory.latency=1 us", "--trace",
                        folder_.file("m"), "--out", out("")});
  ASSERT_EQ(ran.status, 0) << ran.err;
  const auto row = read_csv(out("ranks.csv"))[0];
  EXPECT_EQ(row.at("local_memory_ns"), "1120");  // 120 ns + 2 MB at 2 TB/s
  EXPECT_EQ(row.at("remote_memory_ns"), "2000");
  EXPECT_EQ(row.at("compute_ns"), "3000");
  EXPECT_EQ(row.at("time_ns"), "6120");
}

TEST_F(Run, AStallIsStatus4WithAReportAndTheResultsSoFar) {
  // Each waits for the other's message before it sends its own: no check before the run can see it.
  for (int r = 0; r < 2; ++r) {
    PbNode send = trace::test::send(3, 1 - r, 1000, 7);
    send.add_data_deps(2);
    write_trace(folder_.file("d." + std::to_string(r) + ".et"),
                {trace::test::comp(1), trace::test::receive(2, 1 - r, 1000, 7), send});
  }
  const Ran ran = weft({"run", kQuickstart, "--set", "topology.notation=Ring(2)_Ring(1)", "--trace",
                        folder_.file("d"), "--no-fold", "--out", out(""), "--json"});
  EXPECT_EQ(ran.status, 4) << ran.err;
  EXPECT_TRUE(ran.says({"stalled", "rank 0", "rank 1", "recv2", "tag 7", "cycle"})) << ran.err;
  const json s = json::parse(read(out("summary.json")));
  EXPECT_EQ(s["finished"], false);
  EXPECT_EQ(s, json::parse(ran.out));
  for (const auto& row : read_csv(out("ranks.csv"))) EXPECT_EQ(row.at("compute_ns"), "1000");
}

TEST_F(Run, OrdersOfCollectivesThatCrossAreAStall) {
  // Two groups over the same ranks, joined in opposite orders: each rank waits inside the other's collective.
  write(folder_.file("g.json"), R"({"1": [0, 1], "2": [0, 1]})");
  for (int r = 0; r < 2; ++r) {
    PbNode first = trace::test::collective(1, ChakraProtoMsg::ALL_REDUCE, 4096, r == 0 ? "1" : "2");
    PbNode second = trace::test::collective(2, ChakraProtoMsg::ALL_REDUCE, 4096, r == 0 ? "2" : "1");
    second.add_data_deps(1);
    write_trace(folder_.file("x." + std::to_string(r) + ".et"), {first, second});
  }
  const Ran ran = weft({"run", kQuickstart, "--set", "topology.notation=Ring(2)_Ring(1)", "--trace",
                        folder_.file("x"), "--groups", folder_.file("g.json"), "--out", out("")});
  EXPECT_EQ(ran.status, 4) << ran.err;
  EXPECT_TRUE(ran.says({"stalled", "rank 0", "rank 1", "cycle"})) << ran.err;
}

TEST_F(Run, OutputFoldersThatCannotBeWritten) {
  write(folder_.file("file"), "x");
  for (const std::string& path :
       {folder_.file("file"), folder_.file("file/below"), std::string("/proc/weft")}) {
    const Ran only = weft({"run", kQuickstart, "--trace", traces_->file("llm"), "--groups",
                           traces_->file("llm.groups.json"), "--out", path});
    EXPECT_EQ(only.status, 2) << only.err;
    EXPECT_TRUE(only.says({path, "--out"})) << only.err;
    EXPECT_EQ(only.out, "");
  }
}

TEST_F(Run, SymlinksInTheFolderAreRefusedBeforeAnythingRuns) {
  for (const char* name : {"summary.json", "effective.yaml", "ranks.csv", "collectives.csv", "phases.csv",
                           "layers.csv", "links.csv", "waves.vcd", "waves.gtkw", "waves.vcd.part"}) {
    fs::remove_all(out(""));
    fs::create_directories(out(""));
    write(folder_.file("mine"), "keep");
    fs::create_symlink(folder_.file("mine"), out(name));
    const Ran ran = run({"--waves", "*"});
    EXPECT_EQ(ran.status, 2) << name << ": " << ran.err;
    EXPECT_TRUE(ran.says({name, "symlink", "--out"})) << ran.err;
    EXPECT_EQ(read(folder_.file("mine")), "keep");
  }
}

TEST_F(Run, PathsThatAreTooLongAreStatus2) {
  const std::string far(300, 'x');
  fs::create_symlink("loop", folder_.file("loop"));
  for (const std::string& path : {folder_.file(far), folder_.file("loop")}) {
    const Ran ran = weft({"run", kQuickstart, "--trace", traces_->file("llm"), "--groups",
                          traces_->file("llm.groups.json"), "--out", path});
    EXPECT_EQ(ran.status, 2) << ran.err;
    EXPECT_TRUE(ran.says({"--out"})) << ran.err;
    const Ran pattern = weft({"traffic", "--topology", "Switch(4)", "--pattern", path});
    EXPECT_EQ(pattern.status, 2) << pattern.err;
    EXPECT_TRUE(pattern.says({"--pattern"})) << pattern.err;
    const Ran collective = weft(
        {"collective", "--topology", "Switch(4)", "--bandwidth", "1 GB/s", "--size", "1MiB", "--out", path});
    EXPECT_EQ(collective.status, 2) << collective.err;
    for (const char* what : {"llm", "collective"}) {
      std::vector<std::string> words = {"generate", what};
      if (words[1] == "collective") words.insert(words.end(), {"ring", "4"});
      words.insert(words.end(), {"--out", path});
      EXPECT_EQ(weft(words).status, 2) << what;
    }
  }
}

TEST_F(Run, AFileLimitIsStatus1) {
  const Ran ran = shell("ulimit -f 2; \"$WEFT\" run '" + kQuickstart + "' --trace '" + traces_->file("llm") +
                        "' --groups '" + traces_->file("llm.groups.json") + "' --out '" + out("") + "'");
  EXPECT_EQ(ran.status, 1) << ran.err;
  EXPECT_TRUE(ran.says({"File too large", "--out"})) << ran.err;
}

TEST_F(Run, AnErrorInTheMiddleOfTheRunHasItsCode) {
  // Each of the nodes is possible, the second one ends after the end of time.
  const uint64_t days = 120 * uint64_t{86400} * 1000000;  // in us
  const std::vector<PbNode> nodes = {trace::test::comp(1, {}, days), trace::test::comp(2, {1}, days)};
  write_trace(folder_.file("e.0.et"), {nodes[0]});
  write_trace(folder_.file("e.1.et"), nodes);
  const Ran ran = weft({"run", kQuickstart, "--set", "topology.notation=Ring(2)_Ring(1)", "--trace",
                        folder_.file("e"), "--out", out("")});
  EXPECT_EQ(ran.status, 3) << ran.err;
  EXPECT_TRUE(ran.says({"at 10368000 s: ", "rank 1, node 2", "213 days"})) << ran.err;
}

// The root of the tree comes last, finds what the other has sent, and is done at once.
TEST_F(Run, TheLowerBoundHoldsWhereTheRootOfATreeComesLast) {
  ASSERT_EQ(weft({"generate", "llm", "--tp", "2", "--layers", "2", "--hidden", "64", "--seq", "8", "--batch",
                  "1", "--slow", "1=1000", "--out", folder_.file("tree")})
                .status,
            0);
  write(folder_.file("m.yaml"),
        "weft: 1\n"
        "topology: {notation: Switch(2), dimensions: [{bandwidth: 100 GB/s, latency: 500 ns}]}\n"
        "collectives: {all_reduce: double_binary_tree, chunks: 1}\n");
  const Ran ran = weft({"run", folder_.file("m.yaml"), "--trace", folder_.file("tree/llm"), "--groups",
                        folder_.file("tree/llm.groups.json"), "--out", out("")});
  EXPECT_EQ(ran.status, 0) << ran.err;
}

TEST_F(Run, TheUpperBoundHoldsWhereRoutesTakeCycles) {
  write(folder_.file("m.yaml"),
        "weft: 1\n"
        "topology:\n"
        "  notation: FullyConnected(2)\n"
        "  dimensions: [{bandwidth: 100 GB/s, latency: 100 ns, fidelity: packet}]\n"
        "packet: {packet_size: 512 B, flit_size: 100 B, vcs: 1, route_cycles: 3}\n");
  write(folder_.file("s.goal"),
        "num_ranks 2\n"
        "rank 0 {\n l1: send 1000000b to 1 tag 1\n}\n"
        "rank 1 {\n l1: recv 1000000b from 0 tag 1\n}\n");
  const Ran ran = weft({"run", folder_.file("m.yaml"), "--goal", folder_.file("s.goal"), "--out", out("")});
  EXPECT_EQ(ran.status, 0) << ran.err;
  const json summary = json::parse(read(out("summary.json")));
  EXPECT_LE(summary["time_ns"], summary["upper_bound_ns"]);
}

// Messages of no length arrive in the instant in which they are sent.
TEST_F(Run, NothingRepeatsOnLinksWithoutLatency) {
  ASSERT_EQ(weft({"generate",       "llm",
                  "--tp",           "8",
                  "--dp",           "2",
                  "--layers",       "2",
                  "--hidden",       "64",
                  "--heads",        "8",
                  "--seq",          "1",
                  "--batch",        "4",
                  "--slow",         "9=3",
                  "--microbatches", "2",
                  "--out",          folder_.file("zero")})
                .status,
            0);
  write(folder_.file("m.yaml"),
        "weft: 1\n"
        "topology:\n"
        "  notation: Switch(8)_Switch(2)\n"
        "  dimensions: [{bandwidth: 100 GB/s, latency: 0 ns}, {bandwidth: 100 GB/s, latency: 500 ns}]\n"
        "collectives: {chunks: 4, active_chunks_per_dimension: 2, all_reduce: ring}\n");
  const auto files = [&](const std::vector<std::string>& more) {
    std::vector<std::string> arguments = {"run",      folder_.file("m.yaml"),
                                          "--trace",  folder_.file("zero/llm"),
                                          "--groups", folder_.file("zero/llm.groups.json"),
                                          "--out",    out(""),
                                          "--force"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Ran ran = weft(arguments);
    EXPECT_EQ(ran.status, 0) << ran.err;
    return results();
  };
  const auto folded = files({});
  const auto simulated = files({"--no-fold"});
  for (const char* name : {"ranks.csv", "collectives.csv", "phases.csv", "layers.csv", "links.csv"})
    EXPECT_EQ(folded.at(name), simulated.at(name)) << name;
}

TEST_F(Run, OldResultsDoNotSurviveARunThatFails) {
  ASSERT_EQ(run({"--waves", "*"}).status, 0);
  EXPECT_NE(run({"--waves", "nothing"}).status, 0);
  EXPECT_FALSE(fs::exists(out("summary.json")));
  EXPECT_FALSE(fs::exists(out("waves.vcd")));
}

}  // namespace
}  // namespace weft::test
