// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "vcd/waves.h"

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "vcd/gtkwave_view.h"
#include "vcd_parser.h"

namespace weft::vcd {
namespace {

namespace fs = std::filesystem;

enum class State { idle, send, wait };

bool in_ci() {
  const char* ci = std::getenv("CI");
  return ci != nullptr && std::string(ci) == "true";
}

bool has_tool(const std::string& tool) {
  return std::system(("command -v " + tool + " >/dev/null 2>&1").c_str()) == 0;
}

// A missing tool is a skip for a developer and an error where scripts/setup.sh has installed it.
#define NEED_TOOL(tool)                                                       \
  if (!has_tool(tool)) {                                                      \
    if (in_ci()) FAIL() << tool << " is not installed; run scripts/setup.sh"; \
    GTEST_SKIP() << tool << " is not installed";                              \
  }

std::string output_of(const std::string& command) {
  std::string text;
  FILE* pipe = ::popen(command.c_str(), "r");
  if (pipe == nullptr) return text;
  char part[4096];
  for (size_t n = 0; (n = std::fread(part, 1, sizeof part, pipe)) != 0;) text.append(part, n);
  ::pclose(pipe);
  return text;
}

class WavesTest : public ::testing::Test {
 protected:
  WavesOptions options(const std::string& selection) const {
    WavesOptions o;
    o.selection = selection;
    o.writer.path = folder_.file("waves.vcd");
    return o;
  }
  test::TemporaryFolder folder_;
};

TEST_F(WavesTest, WithoutASelectionNothingIsMadeAndProbesAreEmpty) {
  Waves off;
  Waves none(options(""));
  for (Waves* waves : {&off, &none}) {
    EXPECT_FALSE(waves->on());
    ProbeHub probes;
    waves->listen(probes);
    EXPECT_FALSE(probes.on());
    const Probe p = probes.bit("a name that is not even checked");
    EXPECT_FALSE(p);
    p.set(10, true);
    p.add({20}, 1);
    FutureHandle h = p.at(20, true);
    EXPECT_FALSE(p.revoke(h));
    waves->begin();
    waves->close(100);
  }
  EXPECT_FALSE(fs::exists(folder_.file("waves.vcd")));
}

TEST_F(WavesTest, OnlySelectedNamesAreRecorded) {
  {
    ProbeHub probes;
    Waves waves(options("npu0.*,*.state,typo"));
    waves.listen(probes);
    const Probe bytes = probes.number("npu0.bytes", 32);
    const Probe other = probes.number("npu1.bytes", 32);
    const Probe state = probes.enumeration("npu1.state", {"idle", "send", "wait"});
    const Probe rate = probes.real("npu0.rate");
    const Probe name = probes.text("npu0.collective");
    EXPECT_TRUE(bytes);
    EXPECT_FALSE(other);
    ASSERT_TRUE(state);
    EXPECT_EQ(waves.unmatched(), std::vector<std::string>{"typo"});
    waves.begin();
    bytes.set(0, 1u);
    other.set(0, 1u);
    state.set(0, State::wait);
    rate.set(0, 0.5f);
    name.set(0, "all_reduce");
    FutureHandle h = state.at(10, State::send);
    EXPECT_TRUE(h);
    EXPECT_TRUE(state.revoke(h));
    EXPECT_FALSE(h);
    state.at(20, State::idle);
    waves.close(30);
  }
  auto vcd = test::parse_vcd(test::read_file(folder_.file("waves.vcd")));
  EXPECT_EQ(vcd.declared.size(), 4u);
  EXPECT_EQ(vcd.declared.count("npu1.bytes"), 0u);
  EXPECT_EQ(vcd.changes["npu1.state"], (std::vector<test::Change>{{0, "b10"}, {20, "b0"}}));
  EXPECT_EQ(vcd.changes["npu0.rate"], (std::vector<test::Change>{{0, "r0.5"}}));
  EXPECT_EQ(vcd.changes["npu0.collective"], (std::vector<test::Change>{{0, "sall_reduce"}}));
}

TEST_F(WavesTest, TheViewHasAFlagBeforeEachTraceAndExactNames) {
  {
    ProbeHub probes;
    Waves waves(options("*"));
    waves.listen(probes);
    probes.bit("npu0.nmu.busy");
    probes.number("npu0.nmu.bytes", 64);
    probes.real("npu0.nmu.rate");
    probes.enumeration("npu0.state", {"idle", "send data", "wait"});
    probes.enumeration("npu1.state", {"idle", "send data", "wait"});
    probes.number("npu0.nmu.flag", 1);
    EXPECT_EQ(waves.view_path(), folder_.file("waves.gtkw"));
    waves.begin();
    waves.close(10);
  }
  const std::string stem = fs::absolute(folder_.file("waves")).string();
  EXPECT_EQ(test::read_file(stem + ".gtkw"),
            "[*]\n[*] Weft\n[*]\n[dumpfile] \"" + stem + ".vcd\"\n[savefile] \"" + stem +
                ".gtkw\"\n[timestart] 0\n[size] 1600 900\n[pos] -1 -1\n[sst_width] 260\n[signals_width] 320\n"
                "[sst_expanded] 1\n[treeopen] npu0.\n[treeopen] npu1.\n"
                "@200\n-npu0.nmu\n@28\nnpu0.nmu.busy\n@24\nnpu0.nmu.bytes[63:0]\n@8420\nnpu0.nmu.rate\n"
                "@24\nnpu0.nmu.flag\n"
                "@200\n-npu0\n@2028\n^1 " +
                stem + ".enum1.txt\nnpu0.state[1:0]\n@200\n-npu1\n@2028\n^1 " + stem +
                ".enum1.txt\nnpu1.state[1:0]\n");
  EXPECT_EQ(test::read_file(stem + ".enum1.txt"), "00 idle\n01 send data\n10 wait\n");
  EXPECT_FALSE(fs::exists(stem + ".enum2.txt"));
}

TEST_F(WavesTest, AViewThatCannotBeWrittenIsAnError) {
  fs::create_directory(folder_.file("waves.gtkw"));
  ProbeHub probes;
  Waves waves(options("*"));
  waves.listen(probes);
  probes.bit("a");
  EXPECT_THROW(waves.begin(), WriteError);
}

TEST_F(WavesTest, ARunThatFailsLeavesAReadableFileAndView) {
  try {
    ProbeHub probes;
    Waves waves(options("*"));
    waves.listen(probes);
    const Probe a = probes.bit("a");
    waves.writer()->advance(5);
    a.set(5, true);
    throw std::runtime_error("the model failed");
  } catch (const std::runtime_error&) {
  }
  auto vcd = test::parse_vcd(test::read_file(folder_.file("waves.vcd")));
  EXPECT_EQ(vcd.changes["a"], (std::vector<test::Change>{{0, "x"}, {5, "1"}}));
  EXPECT_TRUE(fs::exists(folder_.file("waves.gtkw")));
}

TEST_F(WavesTest, AHugeViewIsCutAndSaysSo) {
  ProbeHub probes;
  Waves waves(options("*"));
  waves.listen(probes);
  for (size_t i = 0; i < kMaxViewTraces + 5; ++i) probes.bit("x.s" + std::to_string(i));
  EXPECT_EQ(write_gtkwave_view(*waves.writer(), folder_.file("v.gtkw")), kMaxViewTraces);
  EXPECT_NE(test::read_file(folder_.file("v.gtkw")).find("@200\n-5 more signals are in the tree\n"),
            std::string::npos);
}

/// A recording with every kind of signal, random values, and values that come late or are cut short.
class RecordedWaves : public WavesTest {
 protected:
  void record() {
    std::mt19937_64 random(5);
    ProbeHub probes;
    Waves waves(options("*"));
    waves.listen(probes);
    std::vector<Probe> bits;
    std::vector<Probe> numbers;
    std::vector<Probe> reals;
    std::vector<Probe> states;
    for (int i = 0; i < 30; ++i) {
      const std::string npu = "npu" + std::to_string(i);
      bits.push_back(probes.bit(npu + ".nmu.port0.busy"));
      numbers.push_back(probes.number(npu + ".nmu.port0.bytes", 1 + static_cast<unsigned>(i) * 2));
      reals.push_back(probes.real(npu + ".nmu.rate"));
      states.push_back(
          probes.enumeration(npu + ".state", {"idle", "send", "wait", "compute", "stalled by credit"}));
      ++signals_;
      signals_ += 3;
    }
    probes.bit("running");
    ++signals_;
    scopes_ = 30 * 3;
    waves.begin();
    for (Time t = 0; t < 100000; t += 1 + random() % 300) {
      waves.writer()->advance(t);
      for (int k = 0; k < 4; ++k) {
        const size_t i = random() % 30;
        bits[i].set(t, (random() & 1) != 0);
        numbers[i].set(t, random() & (~uint64_t{0} >> (63 - 2 * i)));
        reals[i].set(t + random() % 50, static_cast<double>(random() % 4096) / 64);
        states[i].set(t, random() % 5);
      }
    }
    waves.close(100000);
  }
  std::string vcd() const { return folder_.file("waves.vcd"); }
  size_t signals_ = 0;
  size_t scopes_ = 0;
};

TEST_F(RecordedWaves, TheFstToolsReadTheFileAndGiveTheSameChanges) {
  NEED_TOOL("vcd2fst");
  NEED_TOOL("fst2vcd");
  record();
  ASSERT_EQ(std::system(("vcd2fst " + vcd() + " " + folder_.file("w.fst") + " >/dev/null 2>&1").c_str()), 0);
  ASSERT_EQ(
      std::system(
          ("fst2vcd " + folder_.file("w.fst") + " > " + folder_.file("back.vcd") + " 2>/dev/null").c_str()),
      0);
  const auto ours = test::parse_vcd(test::read_file(vcd()));
  const auto back = test::parse_vcd(test::read_file(folder_.file("back.vcd")));
  ASSERT_EQ(ours.changes.size(), signals_);
  ASSERT_GT(ours.times.size(), 300u);
  EXPECT_EQ(ours.declared, back.declared);
  EXPECT_EQ(ours.changes, back.changes);
}

TEST_F(RecordedWaves, GtkwaveShowsEveryTraceOfTheView) {
  NEED_TOOL("gtkwave");
  NEED_TOOL("xvfb-run");
  record();
  std::ofstream(folder_.file("count.tcl")) << "puts \"traces [gtkwave::getTotalNumTraces]\"\n"
                                              "gtkwave::setMarker 0\n"
                                              "puts \"facilities [gtkwave::getNumFacs]\"\n"
                                              "gtkwave::/File/Quit\n";
  const auto show = [this](const std::string& view) {
    return output_of("cd " + folder_.path() + " && timeout 100 xvfb-run -a gtkwave waves.vcd " + view +
                     " -S count.tcl 2>&1");
  };
  const std::string shown = show("waves.gtkw");
  EXPECT_NE(shown.find("traces " + std::to_string(signals_ + scopes_) + "\n"), std::string::npos) << shown;
  EXPECT_NE(shown.find("facilities " + std::to_string(signals_) + "\n"), std::string::npos) << shown;

  // The count sees a wrong name: without its range a vector vanishes.
  std::string view = test::read_file(folder_.file("waves.gtkw"));
  const std::string exact = "npu3.nmu.port0.bytes[6:0]";
  ASSERT_NE(view.find(exact), std::string::npos);
  view.replace(view.find(exact), exact.size(), "npu3.nmu.port0.bytes");
  std::ofstream(folder_.file("wrong.gtkw")) << view;
  const std::string fewer = show("wrong.gtkw");
  EXPECT_NE(fewer.find("traces " + std::to_string(signals_ + scopes_ - 1) + "\n"), std::string::npos)
      << fewer;
}

TEST_F(RecordedWaves, GtkwaveShowsTheNamesOfAnEnumeration) {
  NEED_TOOL("gtkwave");
  NEED_TOOL("xvfb-run");
  {
    ProbeHub probes;
    Waves waves(options("*"));
    waves.listen(probes);
    const Probe state = probes.enumeration("npu0.state", {"idle", "stalled by credit"});
    waves.begin();
    state.set(0, 0);
    state.set(100, 1);
    waves.close(1000);
  }
  std::ofstream(folder_.file("names.tcl"))
      << "foreach t {50 500} {\n"
         "  gtkwave::setMarker $t\n"
         "  puts \"value <[gtkwave::getTraceValueAtMarkerFromName {npu0.state[1:0]}]>\"\n"
         "}\n"
         "gtkwave::/File/Quit\n";
  const std::string shown = output_of(
      "cd " + folder_.path() + " && timeout 100 xvfb-run -a gtkwave waves.vcd waves.gtkw -S names.tcl 2>&1");
  EXPECT_NE(shown.find("value <idle>\nvalue <stalled by credit>\n"), std::string::npos) << shown;
}

}  // namespace
}  // namespace weft::vcd
