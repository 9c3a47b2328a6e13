// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Graphs and routing tables that are short to write and large when written out: what is refused, with which
// words. How long reading takes is the fuzz targets' matter (tests/fuzz/corpus/routes, graph).

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "configs/graph.h"
#include "configs/loader.h"

namespace weft {
namespace {

/// NPUs round one switch.
std::string star(uint32_t npus, const std::string& routes) {
  const std::string last = std::to_string(npus - 1);
  return "weft: 1\ntopology:\n  graph: {npus: " + std::to_string(npus) +
         ", switches: 1, links: [{from: npu0..npu" + last +
         ", to: sw0, bandwidth: 50 GB/s}]}\n  routing: table\n  routes:\n" + routes;
}

std::string error_of(const std::string& text) {
  try {
    parse_config(text, "machine.yaml");
  } catch (const UserError& e) {
    EXPECT_EQ(e.code(), ExitCode::usage);
    return e.what();
  }
  return "no error";
}

std::string repeated(const std::string& line, int times) {
  std::string text;
  for (int i = 0; i < times; ++i) text += line;
  return text;
}

size_t lines(const std::string& text) {
  return static_cast<size_t>(std::count(text.begin(), text.end(), '\n')) + 1;
}

TEST(GraphLimits, ARangeEndsAtItsFirstUnknownNode) {
  EXPECT_EQ(error_of(star(4, "    - {at: npu2..npu8190, via: sw0}\n")),
            "machine.yaml:6: key `topology.routes[0].at`: unknown node 'npu4'; the NPUs are npu0 to npu3");
  EXPECT_EQ(
      error_of(star(4, "    - {at: sw0..sw8191, via: npu0}\n")),
      "machine.yaml:6: key `topology.routes[0].at`: unknown node 'sw1' (did you mean `sw0`?); nodes are "
      "npu0 to npu3 and the names in `switches`");
  EXPECT_NE(error_of(star(4, "    - {at: npu0..npu8192, via: sw0}\n")).find("more than 8192 nodes"),
            std::string::npos);
}

TEST(GraphLimits, LongNamesAreShortInMessages) {
  for (const std::string& name : {std::string(5000, 'n'), "npu" + std::string(5000, '7'),
                                  std::string(5000, 'n') + "1.." + std::string(5000, 'm') + "2"}) {
    const std::string message = error_of(star(4, "    - {at: " + name + ", via: sw0}\n"));
    EXPECT_NE(message.find("machine.yaml:6: key `topology.routes[0].at`"), std::string::npos) << message;
    EXPECT_LT(message.size(), 300u) << message;
  }
}

TEST(GraphLimits, ManyWrongEntriesAreNotAllRead) {
  const std::string routes = error_of(star(4, repeated("    - {at: npu9, via: sw0}\n", 1000)));
  EXPECT_NE(
      routes.find("machine.yaml:6: key `topology.routes`: 20 entries are wrong; the other 980 are not read"),
      std::string::npos)
      << routes;
  EXPECT_EQ(lines(routes), 21u);
  const std::string links = error_of("weft: 1\ntopology:\n  graph:\n    npus: 4\n    links:\n" +
                                     repeated("      - {from: npu0, to: npu9, bandwidth: 50 GB/s}\n", 1000));
  EXPECT_NE(links.find("key `topology.graph.links`: 20 entries are wrong; the other 980 are not read"),
            std::string::npos)
      << links;
  // Fewer are all told.
  EXPECT_EQ(lines(error_of(star(4, repeated("    - {at: npu9, via: sw0}\n", 19)))), 19u);
}

TEST(GraphLimits, RoutesAreCountedAsWrittenOut) {
  EXPECT_NE(error_of(star(5000, "    - {at: npu0..npu4999, to: npu0..npu4999, via: sw0}\n"))
                .find("machine.yaml:6: key `topology.routes[0]`: more than 16777216 routes"),
            std::string::npos);
  // Also what says the same again.
  EXPECT_NE(error_of(star(2000, repeated("    - {at: npu0..npu1999, to: npu0..npu1999, via: sw0}\n", 5)))
                .find("key `topology.routes[4]`: more than 16777216 routes"),
            std::string::npos);
}

TEST(GraphLimits, RangesSayTheSameAsSingleLines) {
  std::string single;
  std::string down;
  for (int at = 0; at < 6; ++at) {
    const std::string name = "npu" + std::to_string(at);
    down += "    - {at: sw0, to: " + name + ", via: " + name + "}\n";
    for (int to = 0; to < 6; ++to)
      if (to != at) single += "    - {at: " + name + ", to: npu" + std::to_string(to) + ", via: sw0}\n";
  }
  const Config one = parse_config(star(6, single + down), "machine.yaml");
  const Config ranges = parse_config(star(6, "    - {at: npu0..npu5, to: npu0..npu5, via: sw0}\n" + down +
                                                 "    - {at: npu3, to: npu2..npu4, via: sw0}\n"),
                                     "machine.yaml");
  ASSERT_EQ(one.graph->spec().routes.size(), ranges.graph->spec().routes.size());
  for (uint32_t from = 0; from < 6; ++from)
    for (uint32_t to = 0; to < 6; ++to)
      if (from != to) {
        EXPECT_EQ(one.graph->path(from, to, 1).hops, 2u);
        EXPECT_EQ(ranges.graph->path(from, to, 1).hops, 2u);
      }
  // A default does not take the place of a line of its own.
  const Config defaults = parse_config(star(6, "    - {at: npu0..npu5, via: sw0}\n" + down), "machine.yaml");
  EXPECT_EQ(defaults.graph->path(1, 5, 1).hops, 2u);
}

}  // namespace
}  // namespace weft
