// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Explicit graphs: reading, routing, mapping, and every way of being wrong.

#include "configs/graph.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <set>

#include "configs/blueprint/geometry.h"
#include "configs/describe.h"
#include "configs/effective.h"
#include "configs/graph_reader.h"
#include "configs/graph_routing.h"
#include "configs/loader.h"
#include "configs/tree.h"
#include "tests/support/paths.h"

namespace weft {
namespace {

namespace fs = std::filesystem;

std::string yaml(const std::string& graph, const std::string& more = "") {
  return "weft: 1\ntopology:\n  graph:\n" + graph + more;
}

Config load(const std::string& graph, const std::string& more = "") {
  return parse_config(yaml(graph, more), "machine.yaml");
}

std::string error_of(const std::string& text, const std::string& file = "machine.yaml") {
  try {
    parse_config(text, file);
  } catch (const UserError& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
    return error.what();
  }
  return "no error";
}

const char* const kPair = "    npus: 2\n    links: [{from: npu0, to: npu1, bandwidth: 50 GB/s}]\n";
/// Four NPUs in a square.
const char* const kSquare =
    "    npus: 4\n"
    "    links:\n"
    "      - {from: npu0..npu2, to: npu1..npu3, pattern: one_to_one, bandwidth: 50 GB/s, latency: 1 us}\n"
    "      - {from: npu3, to: npu0, bandwidth: 50 GB/s, latency: 1 us}\n";

TEST(Graph, RangesListsAndPatterns) {
  const Config c = load(
      "    npus: 6\n"
      "    switches: [leaf0..leaf1, spine]\n"
      "    links:\n"
      "      - {from: npu0..npu2, to: leaf0, bandwidth: 50 GB/s, latency: 0.5 us}\n"
      "      - {from: [npu3, npu5, npu4], to: leaf1, bandwidth: 25 GB/s, count: 2}\n"
      "      - {from: leaf0..leaf1, to: spine, bandwidth: 100 GB/s, bidirectional: false}\n"
      "      - {from: spine, to: leaf0..leaf1, bandwidth: 200/3 GB/s, bidirectional: false, "
      "credit_latency: 2 us, flit_error_rate: 0.001, replay: 3 us}\n"
      "      - {from: npu0..npu2, to: npu0..npu2, bandwidth: 10 GB/s}\n");
  ASSERT_TRUE(c.graph);
  const GraphSpec& spec = c.graph->spec();
  EXPECT_EQ(spec.switches, (std::vector<std::string>{"leaf0", "leaf1", "spine"}));
  ASSERT_EQ(spec.links.size(), 3u + 3 + 2 + 2 + 3);
  EXPECT_EQ(spec.links[4].from, 5u);  // lists keep their order
  EXPECT_EQ(spec.links[4].to, 7u);
  EXPECT_EQ(spec.links[4].rate(), (Rate{50000000000ull, 1}));
  EXPECT_EQ(spec.links[4].latency, 500000u);
  EXPECT_FALSE(spec.links[6].bidirectional);
  EXPECT_EQ(spec.links[6].credit_latency, 0u);
  EXPECT_EQ(spec.links[8].credit_latency, 2000000u);
  EXPECT_EQ(spec.links[8].flit_error_rate, 0.001);
  EXPECT_EQ(spec.links[8].replay, 3000000u);
  const auto again = parse_config(effective_yaml(c), "again.yaml");
  for (size_t i = 0; i < spec.links.size(); ++i) {
    const GraphLink& link = again.graph->spec().links[i];
    EXPECT_EQ(link.credit_latency, spec.links[i].credit_latency) << i;
    EXPECT_EQ(link.flit_error_rate, spec.links[i].flit_error_rate) << i;
    EXPECT_EQ(link.replay, spec.links[i].replay) << i;
  }
  EXPECT_EQ(spec.links[8].bandwidth, (Rate{200000000000ull, 3}));
  EXPECT_EQ(spec.links[12].from, 1u);  // a group among itself: 0-1, 0-2, 1-2
  EXPECT_EQ(spec.links[12].to, 2u);
  // One logical dimension of all NPUs.
  ASSERT_EQ(c.dimensions.size(), 1u);
  EXPECT_EQ(c.dimensions[0].size, 6u);
  EXPECT_EQ(c.npus(), 6u);
  EXPECT_TRUE(c.fabric_dimensions().empty());
  EXPECT_EQ(c.dimensions[0].bandwidth.bytes_per_second, 10000000000ull);  // the slowest link
  EXPECT_EQ(
      load("    npus: 2\n    switches: 2\n    links: [{from: npu0..npu1, to: sw0..sw1, bandwidth: 1 GB/s}]\n")
          .graph->spec()
          .links.size(),
      4u);
  EXPECT_EQ(load("    npus: 1\n").npus(), 1u);
}

Config tree(const std::string& notation, const std::string& entries, const std::string& more = "") {
  return parse_config(
      "weft: 1\ntopology:\n  notation: " + notation + "\n  dimensions: [" + entries + "]\n" + more,
      "machine.yaml");
}
const char* const kTreeLink = "{bandwidth: 50 GB/s, latency: 1 us}";

TEST(Tree, FatTreesHaveTheirHopsAndWays) {
  const Config c = tree("fattree( 3, N=3 )", kTreeLink);
  EXPECT_EQ(c.notation, "FatTree(k=3,n=3)");
  EXPECT_EQ(c.logical, "Switch(27)");
  EXPECT_EQ(c.npus(), 27u);
  const Graph& g = *c.graph;
  EXPECT_EQ(g.spec().switches.size(), 27u);
  EXPECT_EQ(g.spec().links.size(), 27u * 3);
  for (uint32_t node = 0; node < g.nodes(); ++node)
    EXPECT_EQ(g.ports(node).size(), g.is_npu(node) ? 1u : node < 27 + 18 ? 6u : 3u) << g.name(node);
  // A message climbs to the lowest level whose switches reach both: 3^l NPUs lie below one of level l.
  for (uint32_t a = 0; a < 27; ++a) {
    for (uint32_t b = 0; b < 27; ++b) {
      if (a == b) continue;
      const uint32_t hops = a / 3 == b / 3 ? 2 : a / 9 == b / 9 ? 4 : 6;
      for (const uint64_t flow : {1u, 2u, 3u})
        EXPECT_EQ(g.path(a, b, Graph::flow(a, b, flow)).hops, hops) << a << " " << b;
    }
  }
  // Every root is used between the halves.
  std::set<uint32_t> used;
  for (uint64_t flow = 0; flow < 400; ++flow) {
    uint32_t node = 0;
    for (int hop = 0; hop < 3; ++hop)
      node = g.ports(node)[g.next_port(node, 26, Graph::flow(0, 26, flow))].peer;
    used.insert(node);
  }
  EXPECT_EQ(used.size(), 9u);
}

TEST(Tree, LevelsHaveTheirOwnLinks) {
  const Config c =
      tree("Clos(hosts=4,leaves=3,spines=2)",
           "{bandwidth: 50 GB/s, latency: 1 us}, {bandwidth: 25 GB/s, latency: 2 us, links_per_npu: 2}");
  const Graph& g = *c.graph;
  EXPECT_EQ(g.npus(), 12u);
  EXPECT_EQ(g.spec().links.size(), 12u + 6);
  EXPECT_EQ(g.path(0, 3, 1).latency, 2000000u);
  EXPECT_EQ(g.path(0, 4, 1).latency, 6000000u);
  EXPECT_EQ(g.spec().links.back().count, 2u);
  EXPECT_EQ(g.spec().routing, "ecmp");
  EXPECT_EQ(tree("Clos(4,3,2)", kTreeLink, "").notation, "Clos(hosts=4,leaves=3,spines=2)");
  EXPECT_EQ(
      parse_config("weft: 1\ntopology: {notation: 'Clos(spines=2,leaves=3,hosts=4)', routing: shortest_path, "
                   "dimensions: [{bandwidth: 1 GB/s}]}\n",
                   "x.yaml")
          .graph->per_flow(),
      false);
  // The effective configuration is the same machine, planned on alike.
  const Config again = parse_config(effective_yaml(c), "again.yaml");
  EXPECT_EQ(again.logical, "Switch(12)");
  EXPECT_EQ(again.graph->spec().links.size(), g.spec().links.size());
  EXPECT_EQ(effective_yaml(again), effective_yaml(c));
}

TEST(Tree, WhatIsWrongIsNamed) {
  const struct {
    const char* notation;
    const char* entries;
    const char* part;
  } cases[] = {
      {"FatTree(4)", kTreeLink, "'' is not a number for `n`; write it like `FatTree(k=4,n=3)`"},
      {"FatTree(k=1,n=3)", kTreeLink, "`k` is less than 2"},
      {"FatTree(k=2,k=3)", kTreeLink, "`k` is given twice"},
      {"FatTree(k=2,q=3)", kTreeLink, "unknown name 'q'"},
      {"FatTree(k=2,n=3,4)", kTreeLink, "'4' is left over"},
      {"FatTree(64,9)", kTreeLink, "more than 8192 NPUs and switches"},
      {"Clos(leaves=2,hosts=0,spines=1)", kTreeLink, "`hosts` is 0"},
      {"Clos(hosts=4,leaves=4,spines=4294967297)", kTreeLink,
       "`spines` is 4294967297, more than the 99999999 that are possible"},
      {"Clos(hosts=4,leaves=4,spines=18446744073709551617)", kTreeLink,
       "`spines` is 18446744073709551617, more than"},
      {"Clos(hosts=4,leaves=4,spines=-1)", kTreeLink, "'-1' is not a number for `spines`"},
      {"FatTree(2,3)", "{bandwidth: 1 GB/s}, {bandwidth: 2 GB/s}", "has 2 entries"},
      {"FatTree(2,2)", "{bandwidth: 1 GB/s}, {bandwidth: 2 GB/s, fidelity: analytical}",
       "one `fidelity`, one `switching` and one `implementation`"},
  };
  for (const auto& c : cases) {
    const std::string error = error_of("weft: 1\ntopology: {notation: '" + std::string(c.notation) +
                                       "', dimensions: [" + c.entries + "]}\n");
    EXPECT_NE(error.find(c.part), std::string::npos) << c.notation << ": " << error;
    EXPECT_NE(error.find("machine.yaml:2"), std::string::npos) << error;
  }
  EXPECT_NE(error_of("weft: 1\ntopology: {notation: 'FatTree(2,2)', routing: table, dimensions: [{bandwidth: "
                     "1 GB/s}]}\n")
                .find("a tree has no table"),
            std::string::npos);
  EXPECT_NE(error_of("weft: 1\ntopology: {notation: Ring(8), logical: 'FatTree(2,3)', dimensions: "
                     "[{bandwidth: 1 GB/s}]}\n")
                .find("'FatTree(k=2,n=3)' is a tree of switches, and collectives plan on a Switch of as many "
                      "NPUs; write Switch(8) in its place"),
            std::string::npos);
}

Config mixed(const std::string& notation, const std::string& entries) {
  return parse_config("weft: 1\ntopology:\n  notation: " + notation + "\n  dimensions:\n" + entries,
                      "machine.yaml");
}

TEST(TreeDimension, IsASwitchForCollectives) {
  const Config c =
      mixed("Ring(4)_clos( 2, 3, spines=2 )_FT(3,2)_SW(2)", "    - {bandwidth: 50 GB/s, latency: 1 us}\n");
  EXPECT_EQ(c.notation, "Ring(4)_Clos(hosts=2,leaves=3,spines=2)_FatTree(k=3,n=2)_Switch(2)");
  EXPECT_EQ(c.graph, nullptr);
  EXPECT_FALSE(c.remapped());
  EXPECT_EQ(c.npus(), 4u * 6 * 9 * 2);
  EXPECT_EQ(c.dimensions[1].kind, DimensionKind::switch_);
  EXPECT_EQ(c.dimensions[1].size, 6u);
  EXPECT_EQ(c.dimensions[0].tree, nullptr);
  EXPECT_EQ(c.dimensions[3].tree, nullptr);
  const Tree& clos = *c.dimensions[1].tree;
  EXPECT_EQ(clos.graph().nodes(), 6u + 3 + 2);
  EXPECT_EQ(clos.height(0, 1), 1u);
  EXPECT_EQ(clos.height(1, 2), 2u);
  EXPECT_EQ(clos.level(1).latency, 1000000u);  // as the NPUs' links
  const Tree& tree = *c.dimensions[2].tree;
  for (uint32_t a = 0; a < 9; ++a) {
    for (uint32_t b = 0; b < 9; ++b) {
      EXPECT_EQ(2 * tree.height(a, b), a == b ? 0 : tree.graph().path(a, b, 1).hops);
      EXPECT_EQ(2 * tree.height(a, b), Geometry(c).hops(2, a, b));
    }
  }
  EXPECT_EQ(tree.subtree(1), 3u);
  EXPECT_EQ(tree.uplinks(1), 3u);
  EXPECT_EQ(print_dimension(c.dimensions[2]), "FatTree(k=3,n=2)");
}

TEST(TreeDimension, LevelsHaveTheirOwnLinks) {
  const Config c =
      mixed("Switch(2)_FatTree(k=2,n=3)",
            "    - {bandwidth: 200 GB/s}\n"
            "    - bandwidth: 50 GB/s\n      latency: 100 ns\n      links_per_npu: 3\n      replay: 5 us\n"
            "      levels:\n        - {latency: 200 ns, credit_latency: 7 ns}\n"
            "        - {bandwidth: 40 GB/s, latency: 400 ns, flit_error_rate: 0.01, replay: auto}\n");
  const Tree& tree = *c.dimensions[1].tree;
  EXPECT_EQ(tree.level(1).rate(), (Rate{150000000000ull, 1}));  // three parallel ones, as the NPUs' links
  EXPECT_EQ(tree.level(2).rate(), (Rate{40000000000ull, 1}));
  EXPECT_EQ(tree.level(1).credit_latency, 7000u);
  EXPECT_EQ(tree.level(1).replay, 5000000u);
  EXPECT_EQ(tree.level(2).replay, 0u);
  EXPECT_EQ(tree.level(2).flit_error_rate, 0.01);
  const Geometry geometry(c);
  EXPECT_EQ(geometry.latency(1, 0, 1), 200000u);
  EXPECT_EQ(geometry.latency(1, 0, 2), 600000u);
  EXPECT_EQ(geometry.latency(1, 3, 4), 1400000u);
  // The effective configuration is the same machine.
  const Config again = parse_config(effective_yaml(c), "again.yaml");
  EXPECT_EQ(again.dimensions[1].tree->level(2).latency, 400000u);
  EXPECT_EQ(effective_yaml(again), effective_yaml(c));
  // One entry for all levels, and --set.
  const Config one = parse_config(
      "weft: 1\ntopology: {notation: 'R(2)_FT(2,3)', dimensions: [{bandwidth: 1 GB/s, levels: [{latency: 2 "
      "us}]}]}\n",
      "machine.yaml", {"topology.dimensions[1].levels[0].bandwidth=3 GB/s"});
  for (const uint32_t l : {1u, 2u}) {
    EXPECT_EQ(one.dimensions[1].tree->level(l).latency, 2000000u);
    EXPECT_EQ(one.dimensions[1].tree->level(l).bandwidth, (Rate{3000000000ull, 1}));
  }
}

TEST(TreeDimension, IsDescribed) {
  const Config c =
      mixed("Switch(8)_Clos(hosts=4,leaves=4,spines=2)",
            "    - {bandwidth: 400 GB/s, latency: 100 ns}\n"
            "    - {bandwidth: 50 GB/s, latency: 300 ns, levels: [{bandwidth: 50 GB/s, latency: 1 us}]}\n");
  const std::string text = describe_text(c);
  for (const char* part : {"dimension 1: Clos(hosts=4,leaves=4,spines=2), message fidelity",
                           "latency         300 ns to the leaf switch, 600 ns to 2.6 us from NPU to NPU",
                           "level 1         50 GB/s a direction, 1 us, oversubscribed 2 to 1",
                           "bisection       1.6 TB/s", "directed links  384, 48 switches"})
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
  const std::string dot = describe_dot(mixed("Ring(2)_FatTree(k=2,n=2)", "    - {bandwidth: 1 GB/s}\n"));
  size_t edges = 0;
  for (size_t at = 0; (at = dot.find(" -- ", at)) != std::string::npos; ++at) ++edges;
  EXPECT_EQ(edges, 4u + 2 * 8) << dot;  // rings of two, and in each tree four links of either level
}

TEST(TreeDimension, WhatIsWrongIsNamed) {
  const struct {
    const char* notation;
    const char* entries;
    const char* part;
  } cases[] = {
      {"Ring(2)_FatTree(4)", kTreeLink,
       "'FatTree(4)': '' is not a number for `n`; write it like `FatTree(k=4,n=3)`"},
      {"Clos(2,2)_Ring(2)", kTreeLink, "'' is not a number for `spines`"},
      {"Clos_Ring(2)", kTreeLink, "column 5: '(' and its numbers must follow 'Clos'"},
      {"Ring(2)_Clos(2,2,2", kTreeLink, "in one pair of brackets at the end"},
      {"FatTree(2,2)Ring(2)_Ring(2)", kTreeLink, "column 13: '_' must follow a dimension"},
      {"Tree(4)_Ring(2)", kTreeLink, "FatTree(k=,n=) or Clos(hosts=,leaves=,spines=)"},
      {"Ring(2)_FatTree(k=2,n=3)",
       "{bandwidth: 1 GB/s}, {bandwidth: 1 GB/s, levels: [{latency: 1 us}, {latency: 1 us}, {latency: 1 "
       "us}]}",
       "key `topology.dimensions[1].levels`: has 3 entries, but FatTree(k=2,n=3) has 2 levels above the "
       "links of its "
       "NPUs; write 2 entries, or one for all"},
      {"Ring(2)_FatTree(k=8,n=1)", "{bandwidth: 1 GB/s}, {bandwidth: 1 GB/s, levels: [{latency: 1 us}]}",
       "has 0 levels above the links of its NPUs; write none"},
      {"Ring(2)_Clos(2,2,2)", "{bandwidth: 1 GB/s, levels: [{latency: 1 us}]}, {bandwidth: 1 GB/s}",
       "key `topology.dimensions[0].levels`: is for trees of switches, and dimension 0 is Ring(2); remove "
       "it"},
      {"Ring(2)_Switch(8)", "{bandwidth: 1 GB/s, levels: [{latency: 1 us}]}",
       "is for trees of switches, and 'Ring(2)_Switch(8)' has none; remove it"},
      {"FatTree(2,2)", "{bandwidth: 1 GB/s, levels: [{latency: 1 us}]}",
       "'FatTree(k=2,n=2)' stands alone: write its levels as 2 entries of `dimensions`"},
      {"Ring(2)_Clos(2,2,2)", "{bandwidth: 1 GB/s, levels: [{latency: 1}]}",
       "key `topology.dimensions[0].levels[0].latency`"},
      {"Ring(2)_Clos(2,2,2)", "{bandwidth: 1 GB/s, levels: [{latncy: 1 us}]}", "did you mean `latency`?"},
      {"Ring(2)_Clos(2,2,2)", "{bandwidth: 1 GB/s, levels: []}",
       "is an empty list; allowed: a list of mappings"},
      {"Ring(2)_Clos(2,2,2)", "{bandwidth: 1 GB/s, levels: [1]}",
       "allowed: a mapping of bandwidth, latency, count, credit_latency"},
  };
  for (const auto& c : cases) {
    const std::string error = error_of("weft: 1\ntopology: {notation: '" + std::string(c.notation) +
                                       "', dimensions: [" + c.entries + "]}\n");
    EXPECT_NE(error.find(c.part), std::string::npos) << c.notation << ": " << error;
    EXPECT_NE(error.find("machine.yaml:2"), std::string::npos) << error;
  }
  EXPECT_NE(
      error_of("weft: 1\ntopology: {notation: 'Ring(2)_FatTree(2,2)', dimensions: [{bandwidth: 1 GB/s}]}\n"
               "collectives: {all_reduce: [ring, in_switch]}\n")
          .find(
              "'in_switch' needs a switch, and dimension 1 is FatTree(k=2,n=2), a tree, whose switches have "
              "no collective units"),
      std::string::npos);
  EXPECT_NE(
      error_of(
          "weft: 1\ntopology: {notation: 'Ring(2)_FatTree(2,2)', routing: ecmp, dimensions: [{bandwidth: "
          "1 GB/s}]}\n")
          .find("the trees among them by `ecmp`; remove it"),
      std::string::npos);
}

TEST(Graph, ShortestPathsCountHopsThenLatencyThenNumbers) {
  // 0 to 3 by switch a, b (one slower) or the NPUs 1 and 2; a is listed last but is the fast one.
  const Config c = load(
      "    npus: 4\n"
      "    switches: [b, a]\n"
      "    links:\n"
      "      - {from: [npu0, npu3], to: b, bandwidth: 50 GB/s, latency: 600 ns}\n"
      "      - {from: [npu0, npu3], to: npu2, bandwidth: 50 GB/s, latency: 500 ns}\n"
      "      - {from: [npu0, npu3], to: npu1, bandwidth: 50 GB/s, latency: 500 ns}\n"
      "      - {from: [npu0, npu3], to: a, bandwidth: 10 GB/s, latency: 500 ns}\n");
  const Graph& g = *c.graph;
  const Graph::Path path = g.path(0, 3, 7);
  EXPECT_EQ(path.hops, 2u);
  EXPECT_EQ(path.latency, 1000000u);
  EXPECT_EQ(g.ports(0)[path.first_port].peer, 1u);  // npu1 before npu2 and a
  EXPECT_EQ(path.slowest, (Rate{50000000000ull, 1}));
  EXPECT_FALSE(g.per_flow());
  // Where NPUs forward nothing, by the switch of least latency; npu1 to npu2 there is no way at all.
  const std::string without =
      error_of(yaml("    npus: 3\n    npus_forward: false\n    links: [{from: npu0, to: npu1..npu2, "
                    "bandwidth: 1 GB/s}]\n"));
  EXPECT_NE(without.find("npu2 cannot reach npu1: no way leads there without passing through an NPU"),
            std::string::npos)
      << without;
}

TEST(Graph, EcmpUsesEveryEquallyGoodWayAboutEqually) {
  const Config c = load(
      "    npus: 2\n    switches: 4\n    links:\n"
      "      - {from: npu0..npu1, to: sw0..sw2, bandwidth: 50 GB/s, latency: 1 us}\n"
      "      - {from: npu0..npu1, to: sw3, bandwidth: 50 GB/s, latency: 2 us}\n",
      "  routing: ecmp\n");
  ASSERT_TRUE(c.graph->per_flow());
  std::vector<int> used(4, 0);
  for (uint64_t m = 0; m < 3000; ++m) {
    const uint64_t flow = Graph::flow(0, 1, m);
    ++used[c.graph->next_port(0, 1, flow)];
    EXPECT_EQ(c.graph->path(0, 1, flow).latency, 2000000u);
    EXPECT_EQ(c.graph->next_port(0, 1, flow), c.graph->next_port(0, 1, flow));
  }
  for (int i = 0; i < 3; ++i) EXPECT_NEAR(used[i], 1000, 120) << i;
  EXPECT_EQ(used[3], 0);  // as many hops, but slower
}

/// Floyd and Warshall over (hops, latency), as a reference that shares no code with the policy.
TEST(Graph, RandomGraphsHaveShortestRoutes) {
  std::mt19937 random(5);
  for (int round = 0; round < 40; ++round) {
    GraphSpec spec;
    spec.npus = 2 + random() % 8;
    for (uint32_t s = random() % 4; s > 0; --s) spec.switches.push_back("s" + std::to_string(s));
    const auto n = static_cast<uint32_t>(spec.npus + spec.switches.size());
    for (uint32_t v = 1; v < n; ++v)
      spec.links.push_back(
          {v, static_cast<uint32_t>(random() % v), {1000000000, 1}, 1 + random() % 5, 1, true});
    for (uint32_t i = random() % 12; i > 0; --i) {
      const uint32_t a = random() % n;
      const uint32_t b = random() % n;
      if (a != b) spec.links.push_back({a, b, {1000000000, 1}, 1 + random() % 5, 1, random() % 2 == 0});
    }
    spec.routing = round % 2 == 0 ? "shortest_path" : "ecmp";
    constexpr uint64_t kFar = 1ull << 50;
    constexpr uint64_t kHop = 1ull << 32;  // hops above latency
    std::vector<std::vector<uint64_t>> best(n, std::vector<uint64_t>(n, kFar));
    for (uint32_t v = 0; v < n; ++v) best[v][v] = 0;
    for (const GraphLink& l : spec.links) {
      best[l.from][l.to] = std::min(best[l.from][l.to], kHop + l.latency);
      if (l.bidirectional) best[l.to][l.from] = std::min(best[l.to][l.from], kHop + l.latency);
    }
    for (uint32_t k = 0; k < n; ++k)
      for (uint32_t i = 0; i < n; ++i)
        for (uint32_t j = 0; j < n; ++j) best[i][j] = std::min(best[i][j], best[i][k] + best[k][j]);
    const Graph graph(spec);
    for (uint32_t s = 0; s < spec.npus; ++s) {
      for (uint32_t d = 0; d < spec.npus; ++d) {
        if (s == d) continue;
        const Graph::Path path = graph.path(s, d, random());
        EXPECT_EQ(path.hops * kHop + path.latency, best[s][d]) << round << ": " << s << " to " << d;
      }
    }
  }
}

TEST(Graph, TablesRouteWhatTheySay) {
  // Round the square in one direction, except 0 to 3.
  const std::string routes =
      "  routing: table\n"
      "  routes:\n"
      "    - {at: npu0, to: npu3, via: npu3}\n"
      "    - {at: npu0, via: npu1}\n"
      "    - {at: npu1, to: npu0..npu3, via: npu2}\n"
      "    - {at: npu2, via: npu3}\n"
      "    - {at: npu3, via: npu0}\n";
  const Config c = load(kSquare, routes);
  EXPECT_EQ(c.graph->path(0, 3, 0).hops, 1u);
  EXPECT_EQ(c.graph->path(1, 0, 0).hops, 3u);
  EXPECT_EQ(c.graph->path(3, 2, 0).hops, 3u);
  const std::string effective = effective_yaml(c);
  EXPECT_EQ(effective_yaml(parse_config(effective, "")), effective);

  const fs::path dir = fs::temp_directory_path() / "weft_graph_test";
  fs::create_directories(dir);
  std::ofstream(dir / "routes.yaml") << "- {at: npu0, via: npu1}\n- {at: npu1, via: npu0}\n";
  const Config file =
      parse_config(yaml(kPair, "  routing: table\n  routes_file: routes.yaml\n"), (dir / "m.yaml").string());
  EXPECT_EQ(file.graph->spec().routes.size(), 2u);
  std::ofstream(dir / "routes.yaml") << "- {at: npu0, via: npu1}\n- {at: npu1, via: npu7}\n";
  EXPECT_NE(error_of(yaml(kPair, "  routing: table\n  routes_file: routes.yaml\n"), (dir / "m.yaml").string())
                .find("routes.yaml:2: key `routes[1].via`: unknown node 'npu7'"),
            std::string::npos);
  fs::remove_all(dir);
}

TEST(Graph, LogicalTopologyAndMapping) {
  const Config c = load(
      kSquare, "  logical: R(2)_R(2)\n  mapping: [1..3, 0]\ncollectives: {all_reduce: [ring, direct]}\n");
  ASSERT_EQ(c.dimensions.size(), 2u);
  EXPECT_EQ(c.logical, "Ring(2)_Ring(2)");
  EXPECT_EQ(c.mapping, (std::vector<uint32_t>{1, 2, 3, 0}));
  EXPECT_EQ(load(kSquare, "  mapping: [3..0]\n").mapping, (std::vector<uint32_t>{3, 2, 1, 0}));
  EXPECT_TRUE(load(kSquare, "  mapping: [0..3]\n").mapping.empty());

  const std::string ring =
      "weft: 1\ntopology: {notation: Ring(8), dimensions: [{bandwidth: 1 GB/s, latency: 3 us}], ";
  const Config n = parse_config(ring + "logical: R(2)_FC(4), mapping: [7..0]}\n", "");
  EXPECT_TRUE(n.remapped());
  ASSERT_EQ(n.fabric_dimensions().size(), 1u);
  EXPECT_EQ(n.fabric_dimensions()[0].size, 8u);
  ASSERT_EQ(n.dimensions.size(), 2u);
  EXPECT_EQ(n.dimensions[1].kind, DimensionKind::fully_connected);
  EXPECT_EQ(n.dimensions[1].latency, 3000000u);
  EXPECT_FALSE(parse_config(ring + "logical: Ring(8)}\n", "").remapped());
  const std::string effective = effective_yaml(n);
  EXPECT_EQ(effective_yaml(parse_config(effective, "")), effective);
  // As many names as the logical topology has dimensions.
  EXPECT_NE(error_of(ring + "logical: R(2)_R(4)}\ncollectives: {all_reduce: [ring]}\n")
                .find("the notation 'Ring(2)_Ring(4)' has 2 dimensions"),
            std::string::npos);
}

TEST(Graph, ErrorsNameWhatIsWrong) {
  const auto link = [](const std::string& text) {
    return yaml("    npus: 4\n    switches: [sw0]\n    links:\n      - {" + text + "}\n");
  };
  const struct {
    std::string text;
    std::vector<const char*> parts;
  } cases[] = {
      {link("from: npu0, to: npu9, bandwidth: 1 GB/s"),
       {"machine.yaml:7: key `topology.graph.links[0].to`: unknown node 'npu9'", "npu0 to npu3"}},
      {link("from: npu0, to: sv0, bandwidth: 1 GB/s"), {"unknown node 'sv0' (did you mean `sw0`?)"}},
      {link("from: npu0, to: npu03, bandwidth: 1 GB/s"), {"unknown node 'npu03'"}},
      {link("from: npu0, to: npu0, bandwidth: 1 GB/s"),
       {"machine.yaml:7: key `topology.graph.links[0]`: joins npu0 to itself"}},
      {link("from: npu0..npu2, to: npu2, bandwidth: 1 GB/s"), {"joins npu2 to itself"}},
      {link("from: [npu0, npu1, npu0], to: npu2, bandwidth: 1 GB/s"), {"names a node twice"}},
      {link("from: npu3..npu0, to: sw0, bandwidth: 1 GB/s"), {"'npu3..npu0' runs backwards"}},
      {link("from: npu0..sw0, to: sw0, bandwidth: 1 GB/s"), {"'npu0..sw0' is no range"}},
      {link("from: npu0..npu99999999999, to: sw0, bandwidth: 1 GB/s"), {"number that is too long"}},
      {link("from: npu0..npu99999, to: sw0, bandwidth: 1 GB/s"), {"more than 8192 nodes"}},
      {link("from: [], to: sw0, bandwidth: 1 GB/s"), {"is an empty list"}},
      {link("from: {a: 1}, to: sw0, bandwidth: 1 GB/s"), {"is a mapping"}},
      {link("from: npu0, to: sw0"),
       {"machine.yaml:7: key `topology.graph.links[0].bandwidth`: missing", "from 1 MB/s"}},
      {link("from: npu0, to: sw0, bandwidth: 5"), {"`topology.graph.links[0].bandwidth`: '5' has no unit"}},
      {link("from: npu0, to: sw0, bandwidth: 0 GB/s"), {"'0 GB/s' is zero"}},
      {link("from: npu0, bandwidth: 1 GB/s"), {"key `topology.graph.links[0].to`: missing"}},
      {link("from: npu0, to: sw0, bandwith: 1 GB/s"), {"unknown key 'bandwith' (did you mean `bandwidth`?)"}},
      {link("from: npu0, to: sw0, bandwidth: 1 GB/s, to: npu1"), {"written twice"}},
      {link("from: npu0, to: sw0, bandwidth: 1 GB/s, count: 0"), {"'0' is zero", "from 1 to 1024"}},
      {link("from: npu0, to: sw0, bandwidth: 1000 PB/s, count: 1024"),
       {"1024 links from npu0 to sw0 is too large"}},
      {link("from: npu0..npu1, to: npu1..npu3, pattern: one_to_one, bandwidth: 1 GB/s"),
       {"2 nodes in `from` and 3 in `to`"}},
      {link("from: npu0..npu1, to: sw0, pattern: some, bandwidth: 1 GB/s"), {"'some' is unknown"}},
      {link("from: npu0..npu1, to: sw0, bandwidth: 1 GB/s"),
       {"machine.yaml:3: key `topology.graph`", "3 parts without a link between them",
        "{npu0, npu1, sw0} and {npu2} and {npu3}"}},
      {link("from: npu0..npu3, to: sw0, bandwidth: 1 GB/s, bidirectional: false"),
       {"npu1 cannot reach npu0: links of one direction"}},
      {yaml("    switches: 2\n"), {"key `topology.graph.npus`: missing"}},
      {yaml("    npus: 0\n"), {"key `topology.graph.npus`: '0' is zero"}},
      {yaml("    npus: 8193\n"), {"'8193' is too large"}},
      {yaml("    npus: 8192\n    switches: 1\n"), {"more than 8192 nodes"}},
      {yaml("    npus: 2\n"), {"2 parts"}},
      {yaml("    npus: 2\n    switches: [a, b, a]\n"), {"two switches are called 'a'"}},
      {yaml("    npus: 2\n    switches: [a0..a3, a2]\n"), {"two switches are called 'a2'"}},
      {yaml("    npus: 2\n    switches: [npu5]\n"), {"'npu5' is the name of an NPU"}},
      {yaml("    npus: 2\n    switches: [\"a b\"]\n"), {"'a b' is no name"}},
      {yaml("    npus: 2\n    switches: -1\n"), {"'-1' is negative"}},
      {yaml("    npus: 2\n    switches: 100000\n"), {"'100000' is too large"}},
      {yaml("    npus: 2\n    links: npu0\n"), {"key `topology.graph.links`: is 'npu0'; allowed: a list"}},
      {yaml("    npus: 2\n    links: [npu0]\n"),
       {"key `topology.graph.links[0]`: is 'npu0'; allowed: a mapping"}},
      {yaml("    npus: 2\n    fidelity: exact\n"), {"'exact' is unknown"}},
      {yaml("    npus: 2\n    nodes: 3\n"), {"unknown key 'nodes'", "npus"}},
      {"weft: 1\ntopology: {graph: 3}\n",
       {"machine.yaml:2: key `topology.graph`: is '3'; allowed: a mapping"}},
      {"weft: 1\ntopology: {graph: }\n", {"key `topology.graph`: is nothing"}},
      // mapping
      {yaml(kSquare, "  mapping: [0, 1, 1, 2]\n"),
       {"machine.yaml:8: key `topology.mapping`: NPU 1 is given to rank 1 and to rank 2"}},
      {yaml(kSquare, "  mapping: [0, 1, 3]\n"),
       {"has 3 entries for 4 ranks: rank 3 has no NPU, and NPU 2 no rank"}},
      {yaml(kSquare, "  mapping: [0, 1, 2, 4]\n"), {"'4' names an NPU that does not exist"}},
      {yaml(kSquare, "  mapping: [0..9]\n"), {"'0..9' names an NPU that does not exist"}},
      {yaml(kSquare, "  mapping: [a, b]\n"), {"'a' does not start with a number"}},
      {yaml(kSquare, "  mapping: 3\n"), {"is '3'; allowed: a list of all NPUs from 0 to 3"}},
      {yaml(kSquare, "  mapping: []\n"), {"has 0 entries for 4 ranks"}},
      {yaml(kSquare, "  logical: R(3)_R(2)\n"),
       {"key `topology.logical`: 'Ring(3)_Ring(2)' has 6 NPUs, but the machine has 4", "multiply to 4"}},
      {yaml(kSquare, "  logical: Rong(4)\n"), {"unknown kind 'Rong'"}},
      // routing
      {yaml(kSquare, "  routing: fastest\n"), {"'fastest' is unknown", "`ecmp`"}},
      {yaml(kSquare, "  routing: table\n"), {"key `topology.routing`: 'table' with no routes"}},
      {yaml(kSquare, "  routes: [{at: npu0, via: npu1}]\n"),
       {"key `topology.routes`: is for `routing: table`"}},
      {yaml(kSquare, "  routing: table\n  routes: [{at: npu0..npu3, via: npu1}]\n"),
       {"there is no link from npu1 to npu1"}},
      {yaml(kSquare, "  routing: table\n  routes: [{at: npu0, to: npu2, via: npu2}]\n"),
       {"there is no link from npu0 to npu2"}},
      {yaml(kSquare, "  routing: table\n  routes: [{at: npu0, via: [npu1, npu3]}]\n"),
       {"names several nodes"}},
      {yaml(kSquare,
            "  routing: table\n  routes: [{at: npu0, to: npu2, via: npu1}, {at: npu0, to: npu2, via: "
            "npu3}]\n"),
       {"a second next hop at npu0 for npu2: npu3, after npu1"}},
      {yaml(kSquare,
            "  routing: table\n  routes: [{at: npu0, via: npu1}, {at: npu2, via: npu3}, {at: npu3, via: "
            "npu0}]\n"),
       {"has no next hop at npu1 for npu0"}},
      {yaml(kSquare,
            "  routing: table\n  routes: [{at: npu0, via: npu1}, {at: npu1, via: npu0}, {at: npu2, via: "
            "npu1}, "
            "{at: npu3, via: npu0}]\n"),
       {"route from npu0 to npu2 loops: npu0 -> npu1 -> npu0"}},
      {"weft: 1\ntopology: {notation: Ring(4), dimensions: [{bandwidth: 1 GB/s}], routing: ecmp}\n",
       {"key `topology.routing`: is for `topology.graph`"}},
      {"weft: 1\ntopology: {notation: Ring(4), dimensions: [{bandwidth: 1 GB/s}], routes: []}\n",
       {"key `topology.routes`: is for `topology.graph`"}},
  };
  for (const auto& c : cases) {
    const std::string message = error_of(c.text);
    for (const char* part : c.parts)
      EXPECT_NE(message.find(part), std::string::npos) << part << "\nin: " << message << "\nof:\n" << c.text;
    EXPECT_EQ(message.find('\n'), std::string::npos) << "more than one error for one fault:\n" << message;
  }
}

TEST(Graph, TooManyLinksAtAnNpu) {
  GraphSpec spec;
  spec.npus = 2;
  for (int i = 0; i < 241; ++i) spec.links.push_back({0, 1, {1000000000, 1}, 1, 1, true});
  try {
    const Graph graph(spec);
    FAIL();
  } catch (const UserError& error) {
    EXPECT_NE(std::string(error.what()).find("npu0 has 241 links, more than 240"), std::string::npos);
  }
}

// Whatever a slip of the hand makes of a graph: a UserError, or a Config that survives its own
// effective.yaml.
TEST(Graph, MutatedGraphsAreRefusedOrRoundTrip) {
  const std::string original =
      yaml(kSquare,
           "  logical: R(2)_R(2)\n  mapping: [1..3, 0]\n  routing: table\n  routes: [{at: npu0, to: npu3, "
           "via: npu3}, "
           "{at: npu0, via: npu1}, {at: npu1, via: npu2}, {at: npu2, via: npu3}, {at: npu3, via: npu0}]\n");
  ASSERT_NO_THROW(parse_config(original, ""));
  const std::string bytes = "0123456789 \n:,.-[]{}npusGB/";
  std::mt19937 random(3);
  int accepted = 0;
  for (int i = 0; i < 4000; ++i) {
    std::string text = original;
    for (unsigned n = 1 + random() % 2; n > 0; --n) {
      const size_t at = random() % text.size();
      switch (random() % 3) {
        case 0:
          text[at] = bytes[random() % bytes.size()];
          break;
        case 1:
          text.insert(at, 1, bytes[random() % bytes.size()]);
          break;
        default:
          text.erase(at, 1 + random() % 4);
      }
    }
    Config config;
    try {
      config = parse_config(text, "");
    } catch (const UserError&) {
      continue;
    }
    ++accepted;
    const std::string effective = effective_yaml(config);
    ASSERT_EQ(effective_yaml(parse_config(effective, "")), effective) << text;
  }
  EXPECT_GT(accepted, 30);
}

TEST(Graph, OverridesReachInside) {
  const Config c = parse_config(
      yaml(kPair), "",
      {"topology.graph.links[0].bandwidth=7 GB/s", "topology.graph.switching=store_and_forward"});
  EXPECT_EQ(c.graph->spec().links[0].bandwidth.bytes_per_second, 7000000000ull);
  EXPECT_EQ(c.graph->spec().switching, Switching::store_and_forward);
  EXPECT_EQ(parse_config(yaml(kPair), "").graph->spec().switching, Switching::cut_through) << "the default";
}

TEST(Graph, DescribedInWordsAndDrawn) {
  const Config c = load_config(weft::test::source_dir() + "/configs/examples/group_4_and_6.yaml");
  const std::string text = describe_text(c);
  for (const char* part :
       {"graph: 10 NPUs, 2 switches, 24 directed links; message fidelity, cut_through, ecmp routing",
        "50 GB/s to 200 GB/s", "50 GB/s to 100 GB/s an NPU", "3 at most", "1.7 us at most",
        "logical topology: Ring(10)"})
    EXPECT_NE(text.find(part), std::string::npos) << part << " in\n" << text;
  const Config cube = load_config(weft::test::source_dir() + "/configs/examples/hybrid_cube_mesh.yaml");
  const std::string dot = describe_dot(cube);
  EXPECT_NE(dot.find("\"n0\" -- \"n3\" [label=\"25 GB/s x 2"), std::string::npos) << dot;
  EXPECT_NE(dot.find("NPU 3\\nrank 1"), std::string::npos) << dot;
  for (uint32_t n = 0; n < 8; ++n) EXPECT_DOUBLE_EQ(cube.graph->out_rate(n), 150e9);  // six links each
  // Every hop of the collectives' ring is one link.
  for (uint32_t r = 0; r < 8; ++r)
    EXPECT_EQ(cube.graph->path(cube.mapping[r], cube.mapping[(r + 1) % 8], 0).hops, 1u);
  if (std::system("dot -V >/dev/null 2>&1") != 0) return;
  const fs::path file = fs::temp_directory_path() / "weft_graph_test.dot";
  for (const Config* config : {&c, &cube}) {
    std::ofstream(file) << describe_dot(*config);
    EXPECT_EQ(std::system(("dot -Tcanon '" + file.string() + "' >/dev/null").c_str()), 0);
  }
  fs::remove(file);
}

TEST(Graph, PackagesByNotation) {
  EXPECT_EQ(parse_config("weft: 1\ntopology: {notation: Local(4)_Horizontal(2)_Vertical(3), dimensions: "
                         "[{bandwidth: 1 GB/s}]}\n",
                         "")
                .notation,
            "Ring(4)_Ring(2)_Ring(3)");
  EXPECT_EQ(parse_config(
                "weft: 1\ntopology: {notation: Local(4)_Global(8), dimensions: [{bandwidth: 1 GB/s}]}\n", "")
                .notation,
            "Ring(4)_Switch(8)");
}

}  // namespace
}  // namespace weft
