// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// SIGINT, SIGTERM and SIGKILL at many moments: exit codes, and which files are there afterwards. Runs that
// would take hours must end; none of the tests measures how soon.

#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "tests/cli/weft_process.h"
#include "tests/support/paths.h"
#include "tests/trace/trace_files.h"
#include "tests/vcd/vcd_parser.h"

namespace weft::test {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;
using trace::test::collective;
using trace::test::comp;
using trace::test::PbNode;
using trace::test::write_trace;

const char kEndless[] =
    "weft: 1\n"
    "topology:\n"
    "  notation: Switch(8)\n"
    "  dimensions: [{bandwidth: 50 GB/s, latency: 500 ns, fidelity: FIDELITY}]\n"
    "packet: {packet_size: 256 B, flit_size: 64 B}\n"
    "collectives: {chunks: 65535, all_to_all: direct}\n";

void sleep_ms(int ms) {
  ::usleep(static_cast<useconds_t>(ms) * 1000);
}

class Signals : public ::testing::Test {
 protected:
  std::string at(const std::string& name) const { return folder_.file(name); }

  /// A machine of eight and, on every rank, a finished node and many huge collectives.
  std::vector<std::string> endless(const std::string& fidelity) const {
    std::string text = kEndless;
    text.replace(text.find("FIDELITY"), 8, fidelity);
    write(at("machine.yaml"), text);
    for (int rank = 0; rank < 8; ++rank) {
      std::vector<PbNode> nodes = {comp(1, {}, 1)};
      for (uint64_t i = 2; i < 200; ++i) {
        PbNode node = collective(i, ChakraProtoMsg::ALL_TO_ALL, int64_t{1} << 36);
        node.add_data_deps(i - 1);
        nodes.push_back(node);
      }
      write_trace(at("t." + std::to_string(rank) + ".et"), nodes);
    }
    return {"run", at("machine.yaml"), "--trace", at("t"), "--out", at("out")};
  }

  std::set<std::string> files() const {
    std::set<std::string> names;
    if (!fs::exists(at("out"))) return names;
    for (const auto& entry : fs::directory_iterator(at("out")))
      names.insert(entry.path().filename().string());
    return names;
  }

  void wait_for(const std::string& name, RunningWeft& weft) const {
    while (!fs::exists(at("out/" + name)) && weft.running()) sleep_ms(5);
  }

  vcd::test::TemporaryFolder folder_;
};

TEST_F(Signals, ARunThatWouldTakeHoursEndsWithItsPartialResults) {
  for (const char* fidelity : {"packet", "message", "analytical"}) {
    for (const int number : {SIGINT, SIGTERM}) {
      SCOPED_TRACE(std::string(fidelity) + " " + std::to_string(number));
      fs::remove_all(at("out"));
      RunningWeft weft(endless(fidelity));
      wait_for("effective.yaml", weft);
      sleep_ms(300);
      weft.signal(number);
      const Ran ran = weft.wait();
      EXPECT_EQ(ran.status, 128 + number) << ran.err;
      EXPECT_TRUE(ran.says({"interrupted by", number == SIGINT ? "SIGINT" : "SIGTERM"})) << ran.err;
      const std::set<std::string> all = {"summary.json", "effective.yaml", "ranks.csv", "collectives.csv",
                                         "phases.csv",   "layers.csv",     "links.csv"};
      EXPECT_EQ(files(), all);
      const json summary = json::parse(read(at("out/summary.json")));
      EXPECT_EQ(summary["finished"], false);
      EXPECT_EQ(summary["invariants"], "ok") << "what is under way breaks none";
      const auto ranks = read_csv(at("out/ranks.csv"));
      for (const auto& row : ranks) {
        uint64_t sum = 0;
        for (const char* column :
             {"compute_ns", "local_memory_ns", "remote_memory_ns", "communication_ns", "idle_ns"})
          sum += picoseconds(row.at(column));
        EXPECT_EQ(sum, picoseconds(row.at("time_ns")));
      }
    }
  }
}

// Packets that are under way by trains are in links.csv as they are in summary.json.
TEST_F(Signals, LinksHaveWhatIsUnderWay) {
  std::vector<std::string> arguments = endless("packet");
  for (int64_t rank = 0; rank < 8; ++rank) {
    std::vector<PbNode> nodes;
    for (int64_t i = 1; i < 30000; ++i) {
      const int64_t bytes = 8'000'000 + 256'000 * (rank / 2);  // no two pairs end at the same time
      const auto id = static_cast<uint64_t>(i);
      nodes.push_back(rank % 2 == 0 ? trace::test::send(id, rank + 1, bytes, i)
                                    : trace::test::receive(id, rank - 1, bytes, i));
      if (i > 1) nodes.back().add_data_deps(id - 1);
    }
    write_trace(at("t." + std::to_string(rank) + ".et"), nodes);
  }
  for (const int ms : {100, 200, 300}) {
    fs::remove_all(at("out"));
    RunningWeft weft(arguments);
    wait_for("effective.yaml", weft);
    sleep_ms(ms);
    weft.signal(SIGINT);
    EXPECT_EQ(weft.wait().status, 130);
    const json summary = json::parse(read(at("out/summary.json")));
    EXPECT_GT(summary["trains"]["carried"].get<uint64_t>(), 0u);
    uint64_t bytes = 0;
    for (const auto& row : read_csv(at("out/links.csv"))) bytes += std::stoull(row.at("bytes"));
    // Each flit passes two links. What is on its way, or decided ahead of time, is a few of their latencies.
    const auto flits = static_cast<int64_t>(bytes / 64 / 2);
    EXPECT_LT(std::abs(flits - summary["flits"].get<int64_t>()), 4 * 4 * 500e-9 * 50e9 / 64);
  }
}

TEST_F(Signals, AWaveformIsReadableUpToTheSignal) {
  std::vector<std::string> arguments = endless("message");
  arguments.insert(arguments.end(), {"--waves", "npu*,nmu0.*"});
  RunningWeft weft(arguments);
  wait_for("waves.vcd.part", weft);
  sleep_ms(300);
  EXPECT_FALSE(fs::exists(at("out/waves.vcd"))) << "it is not complete";
  weft.signal(SIGINT);
  const Ran ran = weft.wait();
  EXPECT_EQ(ran.status, 130) << ran.err;
  EXPECT_FALSE(fs::exists(at("out/waves.vcd.part")));
  EXPECT_TRUE(fs::exists(at("out/waves.gtkw")));
  const vcd::test::ParsedVcd parsed = vcd::test::parse_vcd(read(at("out/waves.vcd")));
  EXPECT_GT(parsed.declared.size(), 8u);
}

TEST_F(Signals, AKilledRunLeavesNothingThatLooksComplete) {
  for (const int ms : {0, 30, 100, 400}) {
    fs::remove_all(at("out"));
    std::vector<std::string> arguments = endless("packet");
    arguments.insert(arguments.end(), {"--waves", "npu*"});
    RunningWeft weft(arguments);
    wait_for("effective.yaml", weft);
    sleep_ms(ms);
    weft.signal(SIGKILL);
    EXPECT_EQ(weft.wait().status, 128 + SIGKILL);
    for (const std::string& name : files())
      EXPECT_TRUE(name == "effective.yaml" || fs::path(name).extension() == ".part" ||
                  name.find(".weft-probe") == 0)
          << name;
  }
  // The next run in that folder takes what is left away.
  std::ofstream(at("out/links.csv.part")) << "half";
  fs::remove(at("out/effective.yaml"));
  RunningWeft weft(endless("packet"));
  wait_for("effective.yaml", weft);
  weft.signal(SIGTERM);
  weft.wait();
  for (const std::string& name : files()) EXPECT_NE(fs::path(name).extension(), ".part") << name;
}

TEST_F(Signals, ASecondOneEndsItHard) {
  RunningWeft weft(endless("packet"));
  wait_for("effective.yaml", weft);
  weft.signal(SIGINT);
  sleep_ms(150);  // sooner it is the same request
  weft.signal(SIGTERM);
  const int status = weft.wait().status;
  EXPECT_TRUE(status == 128 + SIGINT || status == 128 + SIGTERM) << status;
}

// Wherever it comes: no half file, and what says it is finished is.
TEST_F(Signals, AtManyMomentsOfARunThatIsSoonOver) {
  const std::string trace = at("llm/llm");
  ASSERT_EQ(
      weft({"generate", "llm", "--tp", "2", "--dp", "4", "--pp", "2", "--layers", "8", "--out", at("llm")})
          .status,
      0);
  int interrupted = 0;
  for (int ms = 0; ms < 300; ms += 12) {
    fs::remove_all(at("out"));
    RunningWeft weft({"run", weft::test::source_dir() + "/configs/examples/quickstart.yaml", "--set",
                      "topology.notation=Ring(4)_Switch(4)", "--trace", trace, "--groups",
                      trace + ".groups.json", "--no-fold", "--out", at("out")});
    sleep_ms(ms);
    weft.signal(SIGINT);
    const Ran ran = weft.wait();
    EXPECT_TRUE(ran.status == 0 || ran.status == 130) << ran.status << ": " << ran.err;
    interrupted += ran.status == 130 ? 1 : 0;
    for (const std::string& name : files()) {
      EXPECT_NE(fs::path(name).extension(), ".part") << name << " at " << ms << " ms";
      if (name != "summary.json") continue;
      EXPECT_EQ(json::parse(read(at("out/summary.json")))["finished"], ran.status == 0) << ran.err;
    }
    EXPECT_TRUE(ran.status != 0 || files().count("summary.json") == 1);
  }
  EXPECT_GT(interrupted, 0);
}

TEST_F(Signals, CollectivesTellWhatIsFinished) {
  // The first size is soon over, the second one would take hours.
  for (const std::string& fidelity : {std::string("packet"), std::string("message")}) {
    const std::vector<std::string> arguments = {"collective",      "--topology",
                                                "Ring(4)_Ring(4)", "--bandwidth",
                                                "50 GB/s",         "--fidelity",
                                                fidelity,          "--sizes",
                                                "64KiB,1TiB",      "--chunks",
                                                "65535",           "--json",
                                                "--out",           at("out"),
                                                "--set",           "collectives.all_reduce=direct",
                                                "--set",           "packet.packet_size=256 B"};
    fs::remove_all(at("out"));
    RunningWeft weft(arguments);
    while (!fs::exists(at("out")) && weft.running()) sleep_ms(5);
    sleep_ms(1500);
    weft.signal(SIGINT);
    const Ran ran = weft.wait();
    EXPECT_EQ(ran.status, 130) << ran.err;
    EXPECT_TRUE(ran.says({"interrupted by SIGINT", "of 2 sizes are finished"})) << ran.err;
    const json result = json::parse(ran.out);
    EXPECT_EQ(result["finished"], false);
    EXPECT_LT(result["results"].size(), 2u);
    EXPECT_TRUE(fs::exists(at("out/collectives.csv")));
  }
}

TEST_F(Signals, TrafficTellsTheLoadsThatAreFinished) {
  for (const int number : {SIGINT, SIGTERM}) {
    RunningWeft weft({"traffic", "--topology", "Mesh(16)_Mesh(16)", "--load", "0.01,0.3", "--seeds", "1",
                      "--jobs", "2", "--measure", "100000000", "--json"});
    sleep_ms(1000);
    weft.signal(number);
    const Ran ran = weft.wait();
    EXPECT_EQ(ran.status, 128 + number) << ran.err;
    EXPECT_TRUE(ran.says({"interrupted by", "of 2 loads are finished"})) << ran.err;
    EXPECT_EQ(json::parse(ran.out)["finished"], false);
  }
}

TEST_F(Signals, GeneratedTracesAppearTogetherOrNotAtAll) {
  for (const int number : {SIGINT, SIGTERM, SIGKILL}) {
    fs::remove_all(at("out"));
    RunningWeft weft({"generate", "llm", "--tp", "8", "--dp", "16", "--pp", "8", "--layers", "96", "--batch",
                      "4096", "--microbatches", "256", "--out", at("out")});
    while (!fs::exists(at("out/llm.3.et.part")) && weft.running()) sleep_ms(5);
    weft.signal(number);
    EXPECT_EQ(weft.wait().status, 128 + number);
    for (const std::string& name : files())
      EXPECT_TRUE(number == SIGKILL && fs::path(name).extension() == ".part") << name;
  }
}

TEST_F(Signals, WhileALargeTraceIsRead) {
  std::vector<PbNode> nodes;
  for (uint64_t i = 1; i <= 400000; ++i) nodes.push_back(comp(i, {}, 1));
  write_trace(at("big.0.et"), nodes);
  write(at("one.yaml"), "weft: 1\ntopology: {notation: Ring(1), dimensions: [{bandwidth: 1 GB/s}]}\n");
  int interrupted = 0;
  for (int ms = 20; ms < 400; ms += 40) {
    for (const char* command : {"run", "validate"}) {
      fs::remove_all(at("out"));
      std::vector<std::string> arguments = {command, at("one.yaml"),
                                            "--set", "workload.trace=" + at("big"),
                                            "--set", "output.dir=" + at("out")};
      RunningWeft weft(arguments);
      sleep_ms(ms);
      weft.signal(SIGTERM);
      const Ran ran = weft.wait();
      EXPECT_TRUE(ran.status == 0 || ran.status == 143) << ran.status << ": " << ran.err;
      interrupted += ran.status == 143 ? 1 : 0;
      for (const std::string& name : files()) EXPECT_NE(fs::path(name).extension(), ".part") << name;
      if (fs::exists(at("out/summary.json"))) {
        EXPECT_EQ(json::parse(read(at("out/summary.json")))["finished"], ran.status == 0);
      }
    }
  }
  EXPECT_GT(interrupted, 0);
}

}  // namespace
}  // namespace weft::test
