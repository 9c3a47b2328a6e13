// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// `--record` changes no result, and what it records drives the block alone, which does the same again.

#include <gtest/gtest.h>

#include <filesystem>
#include <regex>
#include <string>
#include <vector>

#include "tests/cli/weft_process.h"
#include "tests/trace/trace_files.h"
#include "tests/vcd/vcd_parser.h"

namespace weft::test {
namespace {

const char kMachine[] =
    "weft: 1\n"
    "topology:\n"
    "  notation: Ring(4)_FullyConnected(2)_Switch(4)\n"
    "  dimensions:\n"
    "    - {bandwidth: 100 GB/s, latency: 300 ns, fidelity: FIRST}\n"
    "    - {bandwidth: 50 GB/s, latency: 400 ns}\n"
    "    - {bandwidth: 25 GB/s, latency: 1 us, fidelity: LAST}\n"
    "collectives: {chunks: 4}\n";

class Record : public ::testing::Test {
 protected:
  std::string at(const std::string& name) const { return folder_.file(name); }
  std::string machine(const std::string& first, const std::string& last) const {
    std::string text = kMachine;
    text.replace(text.find("FIRST"), 5, first);
    text.replace(text.find("LAST"), 4, last);
    write(at("machine.yaml"), text);
    return at("machine.yaml");
  }
  void traces() const {
    const Ran made = weft({"generate", "llm", "--tp", "4", "--dp", "8", "--layers", "2", "--hidden", "256",
                           "--batch", "8", "--out", at("trace")});
    ASSERT_EQ(made.status, 0) << made.err;
  }
  Ran run(const std::string& out, const std::vector<std::string>& more) const {
    std::vector<std::string> arguments = {"run",      at("machine.yaml"),          "--trace", at("trace/llm"),
                                          "--groups", at("trace/llm.groups.json"), "--out",   at(out)};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return weft(arguments);
  }
  /// Result files are the same, but for what a run measures of itself and, at `packet` fidelity, activations.
  void expect_same(const std::string& a, const std::string& b, bool events) const {
    for (const char* const name : {"ranks.csv", "collectives.csv", "phases.csv", "layers.csv", "links.csv"})
      EXPECT_EQ(read(at(a + "/" + name)), read(at(b + "/" + name))) << name;
    const auto without = [&](std::string text) {
      text = std::regex_replace(text, std::regex("\"(wall_s|peak_rss_MiB)\": [^,\n]*"), "");
      return events ? text
                    : std::regex_replace(
                          text, std::regex("\"events[a-z_]*\": [^,\n]*|\n *\"trains\": \\{[^}]*\\},"), "");
    };
    EXPECT_EQ(without(read(at(a + "/summary.json"))), without(read(at(b + "/summary.json"))));
  }

  vcd::test::TemporaryFolder folder_;
};

TEST_F(Record, ChangesNoResult) {
  traces();
  machine("message", "message");
  ASSERT_EQ(run("plain", {}).status, 0);
  for (const char* const block : {"npu[3].nmu", "switch2_1", "nmu31"}) {
    const Ran recorded = run("recorded", {"--record", block, "--record-file", at("a.rec")});
    ASSERT_EQ(recorded.status, 0) << recorded.err;
    EXPECT_TRUE(recorded.says({"weft: recorded ", " events, "})) << recorded.err;
    expect_same("plain", "recorded", true);
    const Ran shown = weft({"record", "show", at("a.rec"), "--limit", "3"});
    EXPECT_EQ(shown.status, 0) << shown.err;
    EXPECT_NE(shown.out.find("collective "), std::string::npos) << shown.out;
    EXPECT_NE(shown.out.find("chunk "), std::string::npos) << shown.out;
    EXPECT_NE(shown.out.find("more; --limit shows more"), std::string::npos) << shown.out;
  }
}

TEST_F(Record, ChangesNoResultAtPacketFidelity) {
  traces();
  machine("packet", "packet");
  ASSERT_EQ(run("plain", {}).status, 0);
  const Ran recorded = run("recorded", {"--record", "packet0_0.router1"});
  ASSERT_EQ(recorded.status, 0) << recorded.err;
  expect_same("plain", "recorded", false);
  const Ran shown = weft({"record", "show", at("recorded/packet0_0.router1.rec")});
  EXPECT_EQ(shown.status, 0) << shown.err;
  EXPECT_NE(shown.out.find("router packet0_0.router1 at packet fidelity"), std::string::npos) << shown.out;
  EXPECT_NE(shown.out.find("credits of VC"), std::string::npos) << shown.out;
  // The packet's message by its id, with the collective's name: not by a handle.
  EXPECT_TRUE(
      std::regex_search(shown.out, std::regex("flits 0.*collective [0-9]+ \\([a-z_]+ of [0-9]+ B, node")))
      << shown.out;
}

TEST_F(Record, ASwitchDoesAloneWhatItDidInTheJob) {
  traces();
  machine("message", "message");
  for (const char* const data : {"none", "functional"}) {
    const Ran recorded = run("out", {"--record", "switch2_1", "--set", std::string("run.data=") + data});
    ASSERT_EQ(recorded.status, 0) << recorded.err;
    const Ran same = weft({"replay", at("out/switch2_1.rec"), "--implementation", "crossbar"});
    EXPECT_EQ(same.status, 0) << same.out << same.err;
    EXPECT_NE(same.out.find("answers as recorded"), std::string::npos) << same.out;
    EXPECT_EQ(same.out.find("first difference"), std::string::npos) << same.out;
    // Every answer is there.
    std::smatch counts;
    ASSERT_TRUE(std::regex_search(same.out, counts, std::regex("([0-9,]+) of ([0-9,]+) answers")));
    EXPECT_EQ(counts[1], counts[2]);
    EXPECT_NE(counts[1], "0");
  }
}

TEST_F(Record, AnNpuDoesAloneWhatItDidInTheJob) {
  traces();
  machine("message", "message");
  ASSERT_EQ(run("plain", {}).status, 0);
  const Ran recorded = run("out", {"--record", "npu[5]"});
  ASSERT_EQ(recorded.status, 0) << recorded.err;
  expect_same("plain", "out", true);
  const Ran shown = weft({"record", "show", at("out/npu5.rec"), "--limit", "2"});
  EXPECT_NE(shown.out.find("npu npu5 at node fidelity"), std::string::npos) << shown.out;
  EXPECT_TRUE(std::regex_search(shown.out, std::regex("start 0: node [0-9]+ \".*\", [0-9]+ FLOP")))
      << shown.out;
  const Ran same = weft({"replay", at("out/npu5.rec"), "--implementation", "model"});
  EXPECT_EQ(same.status, 0) << same.out << same.err;
  std::smatch counts;
  ASSERT_TRUE(std::regex_search(same.out, counts,
                                std::regex(": ([0-9,]+) nodes in, ([0-9,]+) of ([0-9,]+) answers")));
  EXPECT_EQ(counts[1], counts[3]);
  EXPECT_EQ(counts[2], counts[3]);
  EXPECT_NE(counts[1], "0");
  const Ran other = weft({"replay", at("out/npu5.rec"), "--implementation", "crossbar"});
  EXPECT_EQ(other.status, 2);
  EXPECT_NE(other.err.find("there is no NPU model 'crossbar'"), std::string::npos) << other.err;
}

// A replay goes on to the next event, however late it is.
TEST_F(Record, AReplayEndsWhereNothingHappensForSeconds) {
  write(at("long.yaml"),
        "weft: 1\ntopology:\n  notation: Ring(2)\n  dimensions: [{bandwidth: 50 GB/s, latency: 500 ns}]\n");
  for (const char* const rank : {"0", "1"})
    trace::test::write_trace(at(std::string("long.") + rank + ".et"),
                             {trace::test::comp(1, {}, 2'500'000), trace::test::comp(2, {1}, 3)});
  const Ran recorded =
      weft({"run", at("long.yaml"), "--trace", at("long"), "--out", at("out"), "--record", "npu1"});
  ASSERT_EQ(recorded.status, 0) << recorded.err;
  const Ran same = weft({"replay", at("out/npu1.rec"), "--implementation", "model"});
  EXPECT_EQ(same.status, 0) << same.out << same.err;
  EXPECT_NE(same.out.find("2 nodes in, 2 of 2 answers as recorded"), std::string::npos) << same.out;
}

TEST_F(Record, CollectivesAreRecordedToo) {
  const std::string config = machine("message", "message");
  const std::vector<std::string> command = {"collective", config, "--size", "64 KiB", "--json"};
  std::vector<std::string> recording = command;
  recording.insert(recording.end(), {"--record", "switch2_0", "--out", at("out")});
  const Ran plain = weft(command);
  const Ran recorded = weft(recording);
  ASSERT_EQ(recorded.status, 0) << recorded.err;
  const auto time = [](const std::string& text) { return text.substr(text.find("\"time_ns\""), 40); };
  EXPECT_EQ(time(plain.out), time(recorded.out));
  const Ran same = weft({"replay", at("out/switch2_0.rec"), "--implementation", "crossbar"});
  EXPECT_EQ(same.status, 0) << same.out << same.err;
}

TEST_F(Record, WhatCannotBeIsTold) {
  const std::string config = machine("message", "message");
  const auto collective = [&](const std::vector<std::string>& more) {
    std::vector<std::string> arguments = {"collective", config, "--size", "4 KiB", "--no-fold"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return weft(arguments);
  };
  Ran ran = collective({"--record", "switch9_9", "--record-file", at("a.rec")});
  EXPECT_EQ(ran.status, 2);
  EXPECT_TRUE(ran.says({"--record 'switch9_9': no block of that name", "the blocks are nmu0"})) << ran.err;
  // Modules that the machine has and this run does not build.
  for (const std::string module : {"hbm3", "npu3"}) {
    ran = collective({"--record", module, "--record-file", at("a.rec")});
    EXPECT_EQ(ran.status, 2);
    EXPECT_TRUE(ran.says({"--record '" + module + "': no block", "`collectives.reduction: hbm`"})) << ran.err;
  }
  ran = collective({"--record-file", at("a.rec")});
  EXPECT_EQ(ran.status, 2);
  EXPECT_TRUE(ran.says({"--record says which block"})) << ran.err;
  ran = collective({"--record", "nmu3", "--record-file", at("no/such/folder/a.rec")});
  EXPECT_EQ(ran.status, 2);
  EXPECT_TRUE(ran.says({"the recording cannot be written"})) << ran.err;
  ran = collective({"--record", "nmu3", "--record-file", at("a.rec"), "--fidelity", "analytical"});
  EXPECT_EQ(ran.status, 2);
  EXPECT_TRUE(ran.says({"`analytical` fidelity", "`fidelity: message`"})) << ran.err;

  ASSERT_EQ(collective({"--record", "nmu3", "--record-file", at("a.rec")}).status, 0);
  ran = weft({"replay", at("a.rec"), "--implementation", "crossbar"});
  EXPECT_EQ(ran.status, 2);
  EXPECT_TRUE(ran.says({"a.rec: there is no NMU model 'crossbar'"})) << ran.err;
  ASSERT_EQ(collective({"--record", "switch2_0", "--record-file", at("b.rec")}).status, 0);
  ran = weft({"replay", at("b.rec"), "--implementation", "crossbar", "--block", "switch2_1"});
  EXPECT_EQ(ran.status, 2);
  EXPECT_TRUE(ran.says({"a recording of the switch 'switch2_0', not of 'switch2_1'"})) << ran.err;
  ran = weft({"replay", at("b.rec"), "--implementation", "rtl:crossbar"});
  EXPECT_EQ(ran.status, 2);
  EXPECT_TRUE(ran.says({"the switch model 'crossbar' of weft is no RTL"})) << ran.err;
  const std::string whole = read(at("b.rec"));
  write(at("c.rec"), whole.substr(0, whole.size() / 2));
  ran = weft({"replay", at("c.rec"), "--implementation", "crossbar"});
  EXPECT_EQ(ran.status, 2);
  EXPECT_TRUE(ran.says({"c.rec: the recording is cut short after "})) << ran.err;
}

/// (messages in, answers as recorded, answers in all)
std::vector<uint64_t> counts_of(const std::string& text) {
  std::smatch found;
  if (!std::regex_search(text, found, std::regex(": ([0-9,]+) [a-z]+ in, ([0-9,]+) of ([0-9,]+) answers")))
    return {0, 0, 0};
  std::vector<uint64_t> counts;
  for (size_t i = 1; i < 4; ++i)
    counts.push_back(std::stoull(std::regex_replace(found[i].str(), std::regex(","), "")));
  return counts;
}

TEST_F(Record, AnNmuDoesAloneWhatItDidInTheJob) {
  traces();
  machine("message", "message");
  for (const char* const more : {"run.data=none", "run.data=functional", "nmu.injection_queue=1",
                                 "nmu.injection_bandwidth=30 GB/s", "collectives.reduction=hbm"}) {
    const Ran recorded = run("out", {"--record", "npu[5].nmu", "--set", more});
    ASSERT_EQ(recorded.status, 0) << recorded.err;
    const Ran same = weft({"replay", at("out/nmu5.rec"), "--implementation", "model"});
    EXPECT_EQ(same.status, 0) << more << same.out << same.err;
    const std::vector<uint64_t> counts = counts_of(same.out);
    EXPECT_GT(counts[0], 100u) << same.out;
    EXPECT_GT(counts[2], 100u) << same.out;
    EXPECT_EQ(counts[1], counts[2]) << same.out;
  }
}

// A point-to-point message leaves before the messages of a collective that starts when it is due.
TEST_F(Record, AnNmuSendsPointToPointMessagesBeforeCollectivesOfTheInstant) {
  for (const int rank : {0, 1, 2}) {
    std::vector<trace::test::PbNode> nodes = {trace::test::collective(1, ChakraProtoMsg::BARRIER, 0)};
    if (rank == 1) nodes.push_back(trace::test::send(2, 2, 100'003, 7));
    if (rank == 2) nodes.push_back(trace::test::receive(2, 1, 100'003, 7));
    trace::test::write_trace(at("t." + std::to_string(rank) + ".et"), nodes);
  }
  for (const char* const topology : {"Ring(3)", "FullyConnected(3)", "Switch(3)"}) {
    for (const char* const delay : {"0 ns", "300 ns"}) {
      write(at("m.yaml"), std::string("weft: 1\ntopology: {notation: ") + topology +
                              ", dimensions: [{bandwidth: 100 GB/s, latency: 500 ns}]}\n" +
                              "nmu: {endpoint_delay: " + delay + "}\n");
      const Ran recorded =
          weft({"run", at("m.yaml"), "--trace", at("t"), "--out", at("out"), "--record", "nmu1"});
      ASSERT_EQ(recorded.status, 0) << recorded.err;
      const Ran same = weft({"replay", at("out/nmu1.rec"), "--implementation", "model"});
      EXPECT_EQ(same.status, 0) << topology << " " << delay << same.out << same.err;
    }
  }
}

TEST_F(Record, AnNmuIsReplayedOnEveryKindOfLink) {
  const std::string config = at("one.yaml");
  write(config,
        "weft: 1\ntopology: {notation: Ring(2), dimensions: [{bandwidth: 40 GB/s, latency: 90 ns}]}\n");
  for (const char* const topology :
       {"Ring(5)", "Mesh(4)_Ring(3)", "FullyConnected(6)", "Switch(8)_Ring(4)", "FatTree(k=4,n=2)"}) {
    for (const char* const op : {"all_reduce", "all_to_all"}) {
      const Ran recorded = weft({"collective", config, "--op", op, "--size", "60 KiB", "--set",
                                 std::string("topology.notation=") + topology, "--record", "nmu2",
                                 "--record-file", at("a.rec")});
      ASSERT_EQ(recorded.status, 0) << topology << recorded.err;
      const Ran same = weft({"replay", at("a.rec"), "--implementation", "model"});
      EXPECT_EQ(same.status, 0) << topology << " " << op << same.out << same.err;
      const std::vector<uint64_t> counts = counts_of(same.out);
      EXPECT_GT(counts[0], 4u) << same.out;
      EXPECT_EQ(counts[1], counts[2]) << same.out;
    }
  }
}

TEST_F(Record, AMemoryDoesAloneWhatItDidInTheJob) {
  traces();
  machine("message", "message");
  const std::vector<std::string> reduced = {"--set", "collectives.reduction=hbm", "--set",
                                            "hbm.bandwidth=400 GB/s"};
  ASSERT_EQ(run("plain", reduced).status, 0);
  std::vector<std::string> more = reduced;
  more.insert(more.end(), {"--record", "npu[3].hbm"});
  const Ran recorded = run("out", more);
  ASSERT_EQ(recorded.status, 0) << recorded.err;
  expect_same("plain", "out", true);
  const Ran same = weft({"replay", at("out/hbm3.rec"), "--implementation", "auto"});
  EXPECT_EQ(same.status, 0) << same.out << same.err;
  const std::vector<uint64_t> counts = counts_of(same.out);
  EXPECT_GT(counts[0], 100u) << same.out;
  EXPECT_EQ(counts[1], counts[2]) << same.out;
  EXPECT_EQ(counts[0], counts[2]) << same.out;
  const Ran shown = weft({"record", "show", at("out/hbm3.rec"), "--limit", "1"});
  EXPECT_NE(shown.out.find("B at address 0x"), std::string::npos) << shown.out;
}

TEST_F(Record, TheRecordedSwitchingHolds) {
  const std::string config = machine("message", "message");
  const std::string file = at("a.rec");
  ASSERT_EQ(weft({"collective", config, "--size", "64 KiB", "--set",
                  "topology.dimensions[2].switching=store_and_forward", "--record", "switch2_0",
                  "--record-file", file})
                .status,
            0);
  const Ran same = weft({"replay", file, "--implementation", "crossbar"});
  EXPECT_EQ(same.status, 0) << same.out;
}

}  // namespace
}  // namespace weft::test
