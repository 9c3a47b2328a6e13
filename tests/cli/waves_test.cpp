// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// `weft waves` and the view of a run: sections as an architect reads, and a folder that moves.

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "tests/support/job_folder.h"
#include "vcd/glob.h"

namespace weft::test {
namespace {

namespace fs = std::filesystem;
using trace::test::collective;
using trace::test::comp;

constexpr const char* kMachine =
    "weft: 1\n"
    "topology:\n"
    "  notation: Ring(4)_Switch(2)\n"
    "  dimensions:\n"
    "    - {bandwidth: 50 GB/s, latency: 500 ns, fidelity: packet}\n"
    "    - {bandwidth: 50 GB/s, latency: 500 ns, fidelity: message}\n";

class WavesCommand : public JobFolder {
 protected:
  void run() const {
    traces(std::vector<Nodes>(8, Nodes{comp(1, {}, 3), collective(2, ChakraProtoMsg::ALL_REDUCE, 40000)}));
    const Ran ran = run_traces(kMachine, {"--waves", "*"});
    ASSERT_EQ(ran.status, 0) << ran.err;
  }
  Ran waves(const std::string& folder, const std::vector<std::string>& more = {"--no-window"}) const {
    std::vector<std::string> arguments = {"waves", at(folder)};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return weft(arguments);
  }
};

TEST_F(WavesCommand, TheViewBeginsWithTheRanksAndFoldsTheRest) {
  run();
  const std::string view = read(at("out/waves.gtkw"));
  size_t last = 0;
  for (const char* const part :
       {"@800200\n-ranks\n", "job.npu0.state[", "job.npu7.state[", "@1000200\n-ranks\n", "@c00200\n-NPUs\n",
        "job.npu0.node[", "@c00200\n-memory\n", "job.hbm0.queue[", "@c00200\n-routers\n",
        "job.packet0_0.router0.", "@c00200\n-links\n", "job.nmu0.d1_up.busy\n", "@c00200\n-NMUs\n",
        "job.nmu0.state[", "@1401200\n-NMUs\n"}) {
    const size_t found = view.find(part, last);
    ASSERT_NE(found, std::string::npos) << part << " behind place " << last;
    last = found;
  }
}

TEST_F(WavesCommand, AFolderThatMovedIsMended) {
  run();
  EXPECT_EQ(waves("out").out, "gtkwave " + at("out/waves.vcd") + " " + at("out/waves.gtkw") + "\n");
  const std::string before = read(at("out/waves.gtkw"));
  fs::rename(at("out"), at("a folder, moved"));
  EXPECT_EQ(waves("a folder, moved").out,
            "gtkwave '" + at("a folder, moved/waves.vcd") + "' '" + at("a folder, moved/waves.gtkw") + "'\n");
  const std::string after = read(at("a folder, moved/waves.gtkw"));
  EXPECT_EQ(after.find(at("out/")), std::string::npos);
  EXPECT_NE(after.find("[dumpfile] \"" + at("a folder, moved/waves.vcd") + "\""), std::string::npos);
  EXPECT_NE(after.find("^1 " + at("a folder, moved/waves.enum")), std::string::npos);
  fs::rename(at("a folder, moved"), at("out"));
  ASSERT_EQ(waves("out").status, 0);
  EXPECT_EQ(read(at("out/waves.gtkw")), before);
}

TEST_F(WavesCommand, GtkwaveShowsAMovedView) {
  if (shell("command -v gtkwave && command -v xvfb-run").status != 0)
    GTEST_SKIP() << "GTKWave or Xvfb is not installed";
  run();
  const std::string view = read(at("out/waves.gtkw"));
  size_t traces = 0;
  for (size_t line = 0; line < view.size(); line = view.find('\n', line) + 1)
    traces += view.compare(line, 4, "job.") == 0;
  fs::rename(at("out"), at("moved"));
  ASSERT_EQ(waves("moved").status, 0);
  write(at("count.tcl"),
        "set n 0\n"
        "for {set i 0} {$i < [gtkwave::getTotalNumTraces]} {incr i} {\n"
        "  if {([gtkwave::getTraceFlagsFromIndex $i] & 0x200) == 0} {incr n}\n"
        "}\n"
        "puts \"traces $n\"\n"
        "gtkwave::setMarker 1000\n"
        "puts \"state <[gtkwave::getTraceValueAtMarkerFromName {job.npu0.state[2:0]}]>\"\n"
        "gtkwave::/File/Quit\n");
  const Ran ran = shell("cd / && timeout 100 xvfb-run -a gtkwave " + at("moved/waves.vcd") + " " +
                        at("moved/waves.gtkw") + " -S " + at("count.tcl") + " 2>&1");
  EXPECT_NE(ran.out.find("traces " + std::to_string(traces) + "\n"), std::string::npos) << ran.out;
  EXPECT_NE(ran.out.find("state <compute>"), std::string::npos) << ran.out;
}

/// Every signal of these machines is in the page with its width, and the page has no signal that none of them
/// has.
TEST_F(WavesCommand, ThePageOfSignalsIsWhatMachinesHave) {
  const std::string page = weft({"waves", "--signals"}).out;
  std::vector<std::pair<std::string, std::string>> rows;  // pattern and width
  for (size_t line = 0; line < page.size(); line = page.find('\n', line) + 1) {
    const size_t name = page.find("| `", line);
    const size_t end = page.find('\n', line);
    if (page.compare(line, 2, "| ") != 0 || name == std::string::npos || name > end) continue;
    const size_t close = page.find('`', name + 3);
    const size_t width = page.find("| ", close) + 2;
    rows.emplace_back(page.substr(name + 3, close - name - 3),
                      page.substr(width, page.find(' ', width) - width));
  }
  ASSERT_GT(rows.size(), 20u) << page;
  traces(std::vector<Nodes>(8, Nodes{comp(1, {}, 3), collective(2, ChakraProtoMsg::ALL_REDUCE, 40000)}));
  const std::string dimensions =
      "weft: 1\ntopology:\n  dimensions:\n    - {bandwidth: 50 GB/s, "
      "latency: 500 ns";
  const std::string second = "}\n    - {bandwidth: 50 GB/s, latency: 500 ns, fidelity: message}\n";
  const std::string machines[] = {
      dimensions + ", fidelity: packet, flow_control: pfc" + second +
          "  notation: Clos(hosts=2,leaves=2,spines=1)_Switch(2)\nrun: {footprint: 'on'}\n",
      dimensions + ", fidelity: message, collective_unit: {reduction_bandwidth: 100 GB/s}" + second +
          "  notation: Switch(4)_Switch(2)\nhbm: {model: banked, preset: HBM3}\ncollectives: {all_reduce: "
          "in_switch}\n"};
  std::vector<bool> seen(rows.size());
  for (const std::string& machine : machines) {
    const Ran ran = run_traces(machine, {"--waves", "*"});
    ASSERT_EQ(ran.status, 0) << ran.err;
    const auto vcd = vcd::test::parse_vcd(read(at("out/waves.vcd")));
    for (const auto& [name, declared] : vcd.declared) {
      size_t row = 0;
      while (row < rows.size() && !vcd::Glob(rows[row].first).matches(name.substr(4))) ++row;
      ASSERT_LT(row, rows.size()) << name << " is not in sc_main/signal_table.cpp";
      EXPECT_EQ(declared.substr(declared.find(' ') + 1), rows[row].second) << name << ", " << rows[row].first;
      seen[row] = true;
    }
  }
  for (size_t row = 0; row < rows.size(); ++row)
    EXPECT_TRUE(seen[row]) << "no machine has " << rows[row].first;
}

TEST_F(WavesCommand, FstAndUnfinishedFiles) {
  run();
  if (shell("command -v vcd2fst").status == 0) {
    const Ran ran = waves("out", {"--no-window", "--fst"});
    EXPECT_EQ(ran.status, 0) << ran.err;
    EXPECT_EQ(ran.out, "gtkwave " + at("out/waves.fst") + " " + at("out/waves.gtkw") + "\n");
    EXPECT_GT(fs::file_size(at("out/waves.fst")), 0u);
  }
  fs::rename(at("out/waves.vcd"), at("out/waves.vcd.part"));
  fs::remove(at("out/waves.gtkw"));
  const Ran part = waves("out");
  EXPECT_EQ(part.status, 0);
  EXPECT_EQ(part.out, "gtkwave " + at("out/waves.vcd.part") + "\n");
  EXPECT_TRUE(part.says({"was killed"})) << part.err;
}

TEST_F(WavesCommand, WhatIsNotThereIsSaid) {
  Ran ran = waves("nowhere");
  EXPECT_EQ(ran.status, 2);
  EXPECT_TRUE(ran.says({"nowhere", "no such folder"})) << ran.err;
  fs::create_directory(at("empty"));
  ran = waves("empty");
  EXPECT_EQ(ran.status, 2);
  EXPECT_TRUE(ran.says({"no waves.vcd", "--waves"})) << ran.err;
  run();
  ran = shell("PATH=/nowhere $WEFT waves " + at("out"));
  EXPECT_EQ(ran.status, 2);
  EXPECT_TRUE(ran.says({"gtkwave cannot be started", "package gtkwave"})) << ran.err;
}

}  // namespace
}  // namespace weft::test
