// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// `weft describe --svg` and `--results`: each pair of modules that links join is drawn once, with how busy
// both directions were as links.csv has it, and Graphviz reads it.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <tuple>

#include "tests/support/job_folder.h"

namespace weft::test {
namespace {

using trace::test::collective;

std::string machine(const std::string& notation, const std::string& fidelity) {
  return "weft: 1\ntopology:\n  notation: " + notation +
         "\n  dimensions: [{bandwidth: 50 GB/s, latency: 500 ns, fidelity: " + fidelity + "}]\n";
}

class Drawing : public JobFolder {
 protected:
  void run(const std::string& text, uint32_t ranks) const {
    traces(std::vector<Nodes>(ranks, Nodes{collective(1, ChakraProtoMsg::ALL_REDUCE, 100000)}));
    const Ran ran = run_traces(text);
    ASSERT_EQ(ran.status, 0) << ran.err;
  }
};

size_t count(const std::string& text, const std::string& part) {
  size_t n = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++n;
  return n;
}

TEST_F(Drawing, EachPairIsDrawnWithItsUtilisation) {
  for (const char* const fidelity : {"message", "packet"}) {
    run(machine("Ring(4)", fidelity), 4);
    const Ran ran = weft({"describe", "--results", at("out")});
    ASSERT_EQ(ran.status, 0) << ran.err;
    EXPECT_EQ(count(ran.out, " -- "), 4u) << ran.out;  // a ring of four: eight directions
    std::multiset<std::string> expected;
    for (const auto& row : read_csv(at("out/links.csv")))
      expected.insert(fmt::format("{:.0f}", 100 * std::stod(row.at("busy_fraction"))));
    std::multiset<std::string> found;
    for (size_t at = ran.out.find("label=\""); at != std::string::npos;
         at = ran.out.find("label=\"", at + 1)) {
      const std::string label = ran.out.substr(at + 7, ran.out.find('"', at + 7) - at - 7);
      const size_t slash = label.find(" / ");
      if (slash == std::string::npos || label.find(" %") == std::string::npos) continue;
      found.insert(label.substr(0, slash));
      found.insert(label.substr(slash + 3, label.find(" %") - slash - 3));
    }
    EXPECT_EQ(found, expected) << fidelity;
  }
}

/// Every NPU and switch once, whatever fidelity its links have: what is joined by several dimensions is one
/// piece.
TEST_F(Drawing, PlacesHaveOneNameAtEveryFidelity) {
  const std::string mixed =
      "weft: 1\ntopology:\n  notation: Ring(4)_Switch(2)\n  dimensions:\n"
      "    - {bandwidth: 50 GB/s, latency: 500 ns, fidelity: packet}\n"
      "    - {bandwidth: 50 GB/s, latency: 500 ns, fidelity: message}\n";
  for (const auto& [text, modules, edges] :
       {std::tuple<std::string, size_t, size_t>{machine("Clos(hosts=2,leaves=2,spines=2)", "packet"), 4 + 4,
                                                4 + 4},
        {mixed, 8 + 4, 8 + 8}}) {
    run(text, modules == 12 ? 8 : 4);
    const Ran ran = weft({"describe", "--results", at("out")});
    ASSERT_EQ(ran.status, 0) << ran.err;
    EXPECT_EQ(count(ran.out, " [label=\"NPU ") + count(ran.out, ", shape=ellipse]"), modules) << ran.out;
    EXPECT_EQ(count(ran.out, " -- "), edges) << ran.out;
  }
}

TEST_F(Drawing, LargeMachinesAreDrawnByDimension) {
  run(machine("Switch(200)", "message"), 200);
  const Ran ran = weft({"describe", "--results", at("out")});
  EXPECT_EQ(count(ran.out, " -- "), 1u) << ran.out;
  EXPECT_NE(ran.out.find("400 directed links"), std::string::npos) << ran.out;
}

TEST_F(Drawing, GraphvizDrawsIt) {
  if (shell("dot -V").status != 0) GTEST_SKIP() << "Graphviz is not installed";
  run(machine("Ring(4)", "message"), 4);
  for (const std::vector<std::string>& what :
       {std::vector<std::string>{at("machine.yaml")}, std::vector<std::string>{"--results", at("out")}}) {
    std::vector<std::string> arguments = {"describe", "--svg", "--out", at("x.svg")};
    arguments.insert(arguments.end(), what.begin(), what.end());
    const Ran ran = weft(arguments);
    ASSERT_EQ(ran.status, 0) << ran.err;
    const std::string svg = read(at("x.svg"));
    EXPECT_EQ(svg.compare(0, 5, "<?xml"), 0);
    EXPECT_EQ(count(svg, "class=\"edge\""), 4u);
    EXPECT_EQ(count(svg, "</svg>"), 1u);
  }
}

TEST_F(Drawing, WithoutGraphvizItSaysSo) {
  config(machine("Ring(4)", "message"));
  const Ran ran = shell("PATH=/nowhere $WEFT describe --svg " + at("machine.yaml"));
  EXPECT_EQ(ran.status, 2);
  EXPECT_TRUE(ran.says({"needs Graphviz", "--dot"})) << ran.err;
}

TEST_F(Drawing, WhatCannotBeIsSaid) {
  config(machine("Ring(4)", "message"));
  Ran ran = weft({"describe", at("machine.yaml"), "--results", at("out")});
  EXPECT_EQ(ran.status, 2);
  EXPECT_TRUE(ran.says({"--results", "take CONFIG"})) << ran.err;
  ran = weft({"describe", "--results", at("out")});
  EXPECT_EQ(ran.status, 2);
  EXPECT_TRUE(ran.says({"no such folder"})) << ran.err;
}

}  // namespace
}  // namespace weft::test
