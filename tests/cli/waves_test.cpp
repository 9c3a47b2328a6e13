// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// `weft waves` and the view of a run: sections as an architect reads, and a folder that moves.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <sstream>
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
       {"@800200\n-ranks\n", "+{npu0 state} job.npu0.state[", "+{npu7 state} job.npu7.state[",
        "@1000200\n-ranks\n", "@c00200\n-NPUs\n", "job.npu0.node[", "@c00200\n-memory\n", "job.hbm0.queue[",
        "@c00200\n-routers\n", "job.packet0_0.router0.", "@c00200\n-links\n", "job.nmu0.d1_up.busy\n",
        "@c00200\n-NMUs\n", "job.nmu0.state[", "@1401200\n-NMUs\n"}) {
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
    traces += view.compare(line, 4, "job.") == 0 || view.compare(line, 2, "+{") == 0;
  fs::rename(at("out"), at("moved"));
  ASSERT_EQ(waves("moved").status, 0);
  write(at("count.tcl"),
        "set n 0\n"
        "for {set i 0} {$i < [gtkwave::getTotalNumTraces]} {incr i} {\n"
        "  if {([gtkwave::getTraceFlagsFromIndex $i] & 0x200) == 0} {incr n}\n"
        "}\n"
        "puts \"traces $n\"\n"
        "gtkwave::setMarker 1000\n"
        "puts \"state <[gtkwave::getTraceValueAtMarkerFromName {npu0 state}]>\"\n"
        "gtkwave::/File/Quit\n");
  const Ran ran = shell("cd / && timeout 100 xvfb-run -a gtkwave " + at("moved/waves.vcd") + " " +
                        at("moved/waves.gtkw") + " -S " + at("count.tcl") + " 2>&1");
  EXPECT_NE(ran.out.find("traces " + std::to_string(traces) + "\n"), std::string::npos) << ran.out;
  EXPECT_NE(ran.out.find("state <compute>"), std::string::npos) << ran.out;
}

struct SignalOfPage {
  std::string pattern, width;
  std::string values;  ///< of an enumeration: "idle, waiting"
};

std::vector<SignalOfPage> signals_of_page(const std::string& page) {
  std::vector<SignalOfPage> rows;
  std::istringstream lines(page);
  for (std::string line; std::getline(lines, line);) {
    const size_t name = line.find("| `");
    if (line.compare(0, 2, "| ") != 0 || name == std::string::npos) continue;
    const size_t close = line.find('`', name + 3);
    const size_t width = line.find("| ", close) + 2;
    const size_t values = line.find("; values: ");
    rows.push_back({line.substr(name + 3, close - name - 3),
                    line.substr(width, line.find(' ', width) - width),
                    values == std::string::npos ? "" : line.substr(values + 10, line.size() - values - 12)});
  }
  return rows;
}

/// The values of a view's enumerations, "idle, waiting", by signal without its range.
std::map<std::string, std::string> enumerations_of(const std::string& view) {
  std::map<std::string, std::string> values;
  std::istringstream lines(view);
  for (std::string line; std::getline(lines, line);) {
    if (line.compare(0, 3, "^1 ") != 0) continue;
    std::istringstream table(read(line.substr(3)));
    std::string signal, text;
    std::getline(lines, signal);
    for (std::string number, word; table >> number >> word;) text += (text.empty() ? "" : ", ") + word;
    const size_t name = signal.rfind(' ') + 1;  // behind the alias, if there is one
    values[signal.substr(name, signal.find('[') - name)] = text;
  }
  return values;
}

/// Every signal of these machines is in the page with its width and its values, and the page has no signal
/// that none of them has.
TEST_F(WavesCommand, ThePageOfSignalsIsWhatMachinesHave) {
  const std::string page = weft({"waves", "--signals"}).out;
  const std::vector<SignalOfPage> rows = signals_of_page(page);
  ASSERT_GT(rows.size(), 20u) << page;
  traces(std::vector<Nodes>(8, Nodes{comp(1, {}, 3), collective(2, ChakraProtoMsg::ALL_REDUCE, 40000)}));
  const std::string dimensions =
      "weft: 1\ntopology:\n  dimensions:\n    - {bandwidth: 50 GB/s, "
      "latency: 500 ns";
  const std::string second = "}\n    - {bandwidth: 50 GB/s, latency: 500 ns, fidelity: message}\n";
  const std::string pool =
      "memory:\n  pool: {nodes: 2, out_switches: 2, groups: 4, out_node_bandwidth: 200 GB/s, "
      "in_node_bandwidth: 80 GB/s, chunk: 64 KiB, ";
  const std::string machines[] = {
      dimensions + ", fidelity: packet, flow_control: pfc" + second +
          "  notation: Clos(hosts=2,leaves=2,spines=1)_Switch(2)\nrun: {footprint: 'on'}\n",
      dimensions + ", fidelity: message, collective_unit: {reduction_bandwidth: 100 GB/s}" + second +
          "  notation: Switch(4)_Switch(2)\nhbm: {model: banked, preset: HBM3}\ncollectives: {all_reduce: "
          "in_switch}\n",
      dimensions + second + "  notation: Switch(4)_Switch(2)\n" + pool +
          "group_bandwidth: 100 GB/s, group_memory: cxl(preset=cxl2_x16)}\n",
      dimensions + second + "  notation: Switch(4)_Switch(2)\n" + pool +
          "group_bandwidth: 100 GB/s, fidelity: packet}\n"};
  std::vector<bool> seen(rows.size());
  for (const std::string& machine : machines) {
    const Ran ran = run_traces(machine, {"--waves", "*"});
    ASSERT_EQ(ran.status, 0) << ran.err;
    const auto vcd = vcd::test::parse_vcd(read(at("out/waves.vcd")));
    const auto enumerations = enumerations_of(read(at("out/waves.gtkw")));
    EXPECT_FALSE(enumerations.empty());
    for (const auto& [name, declared] : vcd.declared) {
      size_t row = 0;
      while (row < rows.size() && !vcd::Glob(rows[row].pattern).matches(name.substr(4))) ++row;
      ASSERT_LT(row, rows.size()) << name << " is not in sc_main/signal_table.cpp";
      EXPECT_EQ(declared.substr(declared.find(' ') + 1), rows[row].width)
          << name << ", " << rows[row].pattern;
      const auto values = enumerations.find(name);
      EXPECT_EQ(values == enumerations.end() ? "" : values->second, rows[row].values) << name;
      seen[row] = true;
    }
  }
  for (size_t row = 0; row < rows.size(); ++row)
    EXPECT_TRUE(seen[row]) << "no machine has " << rows[row].pattern;
}

/// The number of a signal at each of these times, of which each is one of its changes or comes after one.
std::map<std::string, std::vector<uint64_t>> at_times(const vcd::test::ParsedVcd& waves,
                                                      const std::string& prefix) {
  std::map<std::string, std::vector<uint64_t>> values;
  for (const auto& [name, changes] : waves.changes) {
    if (name.compare(0, prefix.size(), prefix) != 0) continue;
    const std::string last = name.substr(name.rfind('.'));
    if (last != ".queue" && last != ".data" && last != ".requests") continue;
    size_t next = 0;
    for (const uint64_t time : waves.times) {
      while (next < changes.size() && changes[next].time <= time) ++next;
      static const std::string none;
      const std::string& value = next == 0 ? none : changes[next - 1].value;
      const bool number = value[0] == 'b' && value.find('x') == std::string::npos;
      values[name].push_back(number ? std::stoull(value.substr(1), nullptr, 2) : 0);
    }
  }
  return values;
}

/// What a memory group tells of its ports is, summed, what it tells of itself, at every instant; and it
/// moves.
TEST_F(WavesCommand, PortsOfMemoryGroupsAddUp) {
  Nodes nodes;
  for (uint64_t i = 1; i <= 3; ++i) {
    nodes.push_back(trace::test::make(
        i, "access", i == 2 ? ChakraProtoMsg::MEM_STORE_NODE : ChakraProtoMsg::MEM_LOAD_NODE));
    trace::test::attribute(nodes.back(), "tensor_size", 250'000);
    trace::test::attribute(nodes.back(), "tensor_loc", 1);
  }
  traces(std::vector<Nodes>(8, nodes));
  const std::string pool =
      "weft: 1\ntopology: {notation: Switch(4)_Switch(2), dimensions: [{bandwidth: 50 GB/s, latency: 500 "
      "ns}, "
      "{bandwidth: 50 GB/s, latency: 500 ns}]}\n"
      "memory:\n  pool: {nodes: 2, out_switches: 2, groups: 4, out_node_bandwidth: 200 GB/s, "
      "in_node_bandwidth: 80 GB/s, chunk: 64 KiB, group_bandwidth: 60 GB/s";
  for (const char* const more : {"}\n", ", fidelity: packet}\n", ", split: whole}\n",
                                 ", split: whole, fidelity: packet, group_memory: cxl(preset=cxl2_x16)}\n"}) {
    SCOPED_TRACE(more);
    const Ran ran = run_traces(pool + more, {"--waves", "pool"});
    ASSERT_EQ(ran.status, 0) << ran.err;
    const auto waves = vcd::test::parse_vcd(read(at("out/waves.vcd")));
    uint64_t most_requests = 0, most_data = 0;
    uint32_t groups = 0;
    for (const auto& [name, declared] : waves.declared) {  // equal groups are one
      if (name.compare(0, 14, "job.pool.group") != 0 || name.substr(name.rfind('.')) != ".requests") continue;
      const std::string group = name.substr(0, name.rfind('.'));
      ++groups;
      auto values = at_times(waves, group + ".");
      std::vector<uint64_t> queued(waves.times.size()), data(waves.times.size());
      uint32_t ports = 0;
      for (; values.count(group + ".port" + std::to_string(ports) + ".queue") != 0; ++ports) {
        const std::string port = group + ".port" + std::to_string(ports);
        for (size_t i = 0; i < queued.size(); ++i) {
          queued[i] += values[port + ".queue"][i];
          data[i] += values[port + ".data"][i];
        }
      }
      EXPECT_GT(ports, 0u);
      EXPECT_EQ(queued, values[group + ".requests"]) << group;
      EXPECT_EQ(data, values[group + ".data"]) << group;
      EXPECT_EQ(queued.back() + data.back(), 0u) << group;
      most_requests = std::max(most_requests, *std::max_element(queued.begin(), queued.end()));
      most_data = std::max(most_data, *std::max_element(data.begin(), data.end()));
    }
    EXPECT_GT(groups, 0u);
    if (std::string(more).find("whole") != std::string::npos) {
      EXPECT_GT(most_requests, 0u);
    }
    if (std::string(more).find("packet") != std::string::npos) {
      EXPECT_GT(most_data, 0u);
      EXPECT_LE(most_data, 8u * 250'000) << "no byte counts twice";
    }
  }
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
