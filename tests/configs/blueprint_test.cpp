// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// A machine of dimensions and the same machine as an explicit graph are one fabric to the Blueprint.

#include "configs/blueprint/blueprint.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <memory>
#include <random>
#include <string>
#include <vector>

namespace weft {
namespace {

/// Two or three dimensions, drawn at random.
Config drawn(std::mt19937& random) {
  constexpr DimensionKind kKinds[] = {DimensionKind::ring, DimensionKind::fully_connected,
                                      DimensionKind::switch_, DimensionKind::mesh};
  Config c;
  const auto count = 2 + random() % 2;
  for (uint32_t d = 0; d < count; ++d) {
    DimensionConfig dimension;
    dimension.kind = kKinds[random() % 4];
    dimension.size = 1 + static_cast<uint32_t>(random() % 5);
    dimension.bandwidth = {1000 * (1 + random() % 9), 1};
    dimension.links_per_npu = 1 + static_cast<uint32_t>(random() % 2);
    dimension.latency = 100 * (1 + random() % 9);
    c.dimensions.push_back(dimension);
  }
  return c;
}

std::string name_of(const Config& c) {
  std::string name;
  for (const DimensionConfig& d : c.dimensions) name += print_dimension(d) + " ";
  return name;
}

/// Every link of the dimensions as a link of a graph, found by the shapes' links alone.
GraphSpec as_graph(const Config& c) {
  GraphSpec spec;
  spec.npus = c.npus();
  const Geometry geometry(c);
  for (uint32_t d = 0; d < geometry.dimensions(); ++d) {
    const Shape shape = geometry.shape(d);
    const auto first_switch = spec.npus + static_cast<uint32_t>(spec.switches.size());
    for (uint32_t line = 0; shape.switches() != 0 && line < spec.npus / shape.size(); ++line)
      spec.switches.push_back(fmt::format("s{}_{}", d, line));
    for (uint32_t place = 0; place < spec.npus; ++place) {
      const uint32_t here = geometry.coordinate(place, d);
      for (uint32_t link = 0; link < shape.links(); ++link) {
        const uint32_t peer = shape.peer(here, link);
        GraphLink l;
        l.from = place;
        l.bandwidth = c.dimensions[d].link_rate();
        l.latency = c.dimensions[d].latency;
        if (peer == Shape::kSwitch) {
          l.to = first_switch + geometry.line(place, d);
        } else if (peer != Shape::kNowhere && link <= shape.link_back(here, link)) {
          // Both ends have it: the one with the lower link number tells, or the lower NPU.
          l.to = geometry.with_coordinate(place, d, peer);
          if (link == shape.link_back(here, link) && l.to < place) continue;
        } else {
          continue;
        }
        spec.links.push_back(l);
      }
    }
  }
  return spec;
}

TEST(Blueprint, DimensionsAndTheirGraphAreOneFabric) {
  std::mt19937 random(7);
  uint32_t compared = 0;
  for (int i = 0; i < 60; ++i) {
    const Config c = drawn(random);
    const uint32_t npus = c.npus();
    if (npus < 2) continue;
    SCOPED_TRACE(name_of(c));
    Config g = c;
    g.graph = std::make_shared<const Graph>(as_graph(c));
    const Blueprint by_dimensions(c);
    const Blueprint by_graph(g);
    EXPECT_EQ(by_dimensions.nearest(), by_graph.nearest());
    for (uint32_t a = 0; a < npus; ++a) {
      bool ends = false;  // of a Mesh: one of its links leads nowhere
      for (uint32_t d = 0; d < c.dimensions.size(); ++d) {
        const Shape shape(c.dimensions[d]);
        for (uint32_t link = 0; link < shape.links(); ++link)
          ends = ends || !shape.leads_on(by_dimensions.geometry().coordinate(a, d), link);
      }
      if (ends) {
        EXPECT_GT(by_dimensions.out_rate(a), by_graph.out_rate(a));
      } else {
        EXPECT_NEAR(by_dimensions.out_rate(a), by_graph.out_rate(a), 1e-6);
        EXPECT_NEAR(by_dimensions.in_rate(a), by_graph.in_rate(a), 1e-6);
      }
      for (uint32_t b = 0; b < npus; ++b) {
        const auto other = [&](auto&& f) { f(b); };
        const Picoseconds latency = by_graph.farthest(a, other);
        EXPECT_EQ(by_dimensions.farthest(a, other), latency) << a << " to " << b;
        Picoseconds on_way = 0;
        by_dimensions.for_each_link_on_way(a, b, [&](const DimensionConfig& link, uint32_t count) {
          EXPECT_NE(count, 0u);
          on_way += count * link.latency;
        });
        EXPECT_EQ(on_way, latency) << a << " to " << b;
        on_way = 0;
        by_graph.for_each_link_on_way(
            a, b, [&](const DimensionConfig& link, uint32_t count) { on_way += count * link.latency; });
        EXPECT_EQ(on_way, latency) << a << " to " << b;
        ++compared;
      }
    }
    EXPECT_EQ(by_dimensions.farthest(0,
                                     [&](auto&& f) {
                                       for (uint32_t b = 0; b < npus; ++b) f(b);
                                     }),
              by_graph.farthest(0, [&](auto&& f) {
                for (uint32_t b = 0; b < npus; ++b) f(b);
              }));
  }
  EXPECT_GT(compared, 1000u);
}

TEST(Blueprint, AWayThroughATreeClimbsItsLevels) {
  Config c;
  c.dimensions.resize(2);
  c.dimensions[0].size = 2;
  c.dimensions[0].latency = 10;
  c.dimensions[1].latency = 100;
  TreeLevel above;
  above.latency = 1000;
  TreeLevel roots;
  roots.latency = 5000;
  make_tree(c.dimensions[1], parse_tree_notation("FatTree(k=2,n=3)"), {above, roots});
  const Blueprint blueprint(c);
  std::vector<std::pair<Picoseconds, uint32_t>> links;
  const auto note = [&](const DimensionConfig& link, uint32_t count) {
    links.emplace_back(link.latency, count);
  };
  blueprint.for_each_link_on_way(1, 14, note);  // coordinates (1, 0) to (0, 7)
  EXPECT_EQ(links, (std::vector<std::pair<Picoseconds, uint32_t>>{{10, 1}, {100, 2}, {1000, 2}, {5000, 2}}));
  EXPECT_EQ(blueprint.farthest(1, [](auto&& f) { f(14); }), 10u + 2 * (100 + 1000 + 5000));
  links.clear();
  blueprint.for_each_link_on_way(4, 6, note);  // at one leaf switch
  EXPECT_EQ(links, (std::vector<std::pair<Picoseconds, uint32_t>>{{100, 2}}));
  EXPECT_EQ(blueprint.nearest(), 10u);
}

}  // namespace
}  // namespace weft
