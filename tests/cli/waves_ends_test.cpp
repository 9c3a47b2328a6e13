// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Waveforms where something ends early: a window of one instant or beyond the run, patterns without a signal,
// a disk that is full in the middle of a run, a folder that cannot be written, and signals of the system.
// What is left can be read, and the error names the file and what to do.

#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <string>
#include <vector>

#include "tests/support/job_folder.h"

namespace weft::test {
namespace {

namespace fs = std::filesystem;
using trace::test::collective;
using trace::test::comp;
using vcd::test::parse_vcd;
using vcd::test::ParsedVcd;

std::string machine(const std::string& fidelity) {
  return "weft: 1\ntopology:\n  notation: Switch(8)\n  dimensions:\n"
         "    - {bandwidth: 50 GB/s, latency: 500 ns, fidelity: " +
         fidelity + "}\npacket: {packet_size: 256 B, flit_size: 64 B}\n";
}

class WavesEnds : public JobFolder {
 protected:
  void job(int64_t bytes, uint32_t collectives = 1) const {
    Nodes nodes = {comp(1, {}, 3)};
    for (uint64_t i = 0; i < collectives; ++i) {
      nodes.push_back(collective(2 + i, ChakraProtoMsg::ALL_TO_ALL, bytes));
      nodes.back().add_data_deps(1 + i);
    }
    traces(std::vector<Nodes>(8, nodes));
  }
  /// A run in a shell that does `before` first.
  Ran shell_run(const std::string& before, const std::string& out) const {
    return shell(before + " $WEFT run " + config(machine("packet")) + " --trace " + at("t") + " --out " +
                 out + " --waves '*'");
  }
};

TEST_F(WavesEnds, AWindowOfOneInstantHasItsValues) {
  job(400000);
  ASSERT_EQ(run_traces(machine("message"), {"--waves", "*"}).status, 0);
  const ParsedVcd all = parse_vcd(read(at("out/waves.vcd")));
  const uint64_t instant = 5'000'000;
  ASSERT_GT(all.times.back(), instant);
  const Ran ran = run_traces(machine("message"), {"--waves", "*", "--waves-window", "5 us:5 us"});
  ASSERT_EQ(ran.status, 0) << ran.err;
  const ParsedVcd one = parse_vcd(read(at("out/waves.vcd")));
  EXPECT_EQ(one.times, std::vector<uint64_t>{instant});
  EXPECT_EQ(one.declared, all.declared);
  for (const auto& [name, changes] : all.changes) {
    std::string value;
    for (const auto& change : changes)
      if (change.time <= instant) value = change.value;
    ASSERT_EQ(one.changes.at(name).size(), 1u) << name;
    EXPECT_EQ(one.changes.at(name)[0].value, value) << name;
  }
}

TEST_F(WavesEnds, AWindowBeyondTheRunIsSaid) {
  job(40000);
  const Ran ran = run_traces(machine("message"), {"--waves", "*", "--waves-window", "5 s:6 s"});
  EXPECT_EQ(ran.status, 0);
  EXPECT_TRUE(ran.says({"waves.vcd has no values", "--waves-window", "5 s"})) << ran.err;
  EXPECT_FALSE(parse_vcd(read(at("out/waves.vcd"))).dumped);
}

TEST_F(WavesEnds, APatternWithoutASignalNamesNearOnesOfEveryKind) {
  job(40000);
  for (const auto& [pattern, near] : std::vector<std::pair<std::string, std::string>>{
           {"*.rates", ".rate"}, {"nmu0.injectqueue", "job.nmu0.inject_queue"}, {"*.stal", ".stall"}}) {
    const Ran ran = run_traces(machine("message"), {"--waves", pattern});
    EXPECT_EQ(ran.status, 2) << pattern;
    EXPECT_TRUE(ran.says({"'" + pattern + "' matches no signal", near})) << ran.err;
  }
}

// The waveform needs more than these sizes, and nothing else does.
TEST_F(WavesEnds, ADiskThatIsFullLeavesWholeSteps) {
  job(2'000'000);
  for (const int kib : {64, 400, 1500}) {
    SCOPED_TRACE(kib);
    fs::remove_all(at("out"));
    // Blocks of 512 B in POSIX shells. Whoever ignores SIGXFSZ gets an error for each write.
    const Ran ran = shell_run("trap '' XFSZ; ulimit -f " + std::to_string(2 * kib) + ";", at("out"));
    EXPECT_EQ(ran.status, 1) << ran.err;
    EXPECT_TRUE(ran.says({at("out/waves.vcd.part"), "cannot be written", "make room"})) << ran.err;
    EXPECT_FALSE(fs::exists(at("out/waves.vcd")));
    const std::string text = read(at("out/waves.vcd.part"));
    EXPECT_LE(text.size(), static_cast<size_t>(kib) << 10);
    EXPECT_EQ(text.back(), '\n');
    const ParsedVcd waves = parse_vcd(text);
    EXPECT_TRUE(waves.dumped);
    EXPECT_GT(waves.times.size(), 10u);
    EXPECT_EQ(weft({"waves", at("out"), "--no-window"}).status, 0);
  }
}

TEST_F(WavesEnds, ALinkInThePlaceOfTheFileIsRefused) {
  job(40000);
  fs::create_directory(at("out"));
  fs::create_symlink("/dev/full", at("out/waves.vcd.part"));
  const Ran ran = shell_run("", at("out"));
  EXPECT_EQ(ran.status, 2);
  EXPECT_TRUE(ran.says({at("out/waves.vcd.part"), "symlink", "remove it"})) << ran.err;
}

TEST_F(WavesEnds, AFolderThatCannotBeWrittenIsNamedBeforeTheRun) {
  job(40000);
  write(at("file"), "not a folder");
  const Ran ran = shell_run("", at("file/out"));
  EXPECT_NE(ran.status, 0);
  EXPECT_TRUE(ran.says({at("file/out")})) << ran.err;
  EXPECT_EQ(ran.out, "");
}

TEST_F(WavesEnds, AfterASignalOfTheSystemTheFileIsWhole) {
  job(int64_t{1} << 34, 20);
  for (const char* const fidelity : {"analytical", "message", "packet"}) {
    for (const int number : {SIGINT, SIGTERM}) {
      SCOPED_TRACE(std::string(fidelity) + " " + std::to_string(number));
      fs::remove_all(at("out"));
      // Many small chunks, so that no fidelity comes to an end.
      RunningWeft weft({"run", config(machine(fidelity) + "collectives: {chunks: 65535}\n"), "--trace",
                        at("t"), "--out", at("out"), "--waves",
                        fidelity == std::string("packet") ? "npu*,nmu0.*,packet*.out0.*" : "npu*,nmu0.*",
                        "--no-fold"});
      while (!fs::exists(at("out/waves.vcd.part")) && weft.running()) ::usleep(5000);
      ::usleep(300'000);
      weft.signal(number);
      const Ran ran = weft.wait();
      EXPECT_EQ(ran.status, 128 + number) << ran.err;
      EXPECT_FALSE(fs::exists(at("out/waves.vcd.part")));
      const ParsedVcd waves = parse_vcd(read(at("out/waves.vcd")));
      EXPECT_TRUE(waves.dumped);
      EXPECT_GT(waves.declared.size(), 25u);
      EXPECT_TRUE(fs::exists(at("out/waves.gtkw")));
    }
  }
}

}  // namespace
}  // namespace weft::test
