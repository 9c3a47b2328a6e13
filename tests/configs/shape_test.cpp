// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Every kind of dimension against brute force: one line is built link by link, and what the Shape computes is
// counted or searched there.

#include "configs/blueprint/shape.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <queue>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "configs/blueprint/geometry.h"
#include "configs/blueprint/names.h"
#include "configs/tree.h"

namespace weft {
namespace {

constexpr DimensionKind kKinds[] = {DimensionKind::ring, DimensionKind::fully_connected,
                                    DimensionKind::switch_, DimensionKind::mesh};

/// A shape and what it refers to.
struct Case {
  Shape shape;
  std::shared_ptr<const Tree> tree;
};

Case tree_case(const std::string& notation) {
  const TreeNotation read = parse_tree_notation(notation);
  auto tree = std::make_shared<const Tree>(read, std::vector<TreeLevel>(read.levels() - 1));
  return {Shape(DimensionKind::switch_, read.npus(), tree.get()), tree};
}

/// All kinds, at small sizes, and at some drawn at random.
std::vector<Case> cases() {
  std::vector<Case> all;
  std::mt19937 random(20261122);
  for (const DimensionKind kind : kKinds) {
    for (uint32_t size = 2; size <= 9; ++size) all.push_back({Shape(kind, size), nullptr});
    for (int i = 0; i < 3; ++i)
      all.push_back({Shape(kind, 10 + static_cast<uint32_t>(random() % 40)), nullptr});
  }
  for (const char* notation : {"FatTree(k=2,n=1)", "FatTree(k=2,n=3)", "FatTree(k=3,n=2)", "FatTree(k=4,n=2)",
                               "Clos(hosts=4,leaves=3,spines=2)", "Clos(hosts=1,leaves=5,spines=2)",
                               "Clos(hosts=6,leaves=1,spines=2)"})
    all.push_back(tree_case(notation));
  return all;
}

/// A line as a graph: nodes are its NPUs, then its switches. One entry a directed link.
struct LineGraph {
  std::vector<std::vector<uint32_t>> to;

  explicit LineGraph(const Shape& shape) : to(shape.size() + shape.switches()) {
    for (uint32_t c = 0; c < shape.size(); ++c) {
      for (uint32_t link = 0; link < shape.links(); ++link) {
        const uint32_t peer = shape.peer(c, link);
        if (peer < shape.size()) to[c].push_back(peer);
        if (peer != Shape::kSwitch) continue;
        // A tree's own graph says which switch; its nodes have the same numbers.
        const uint32_t at =
            shape.tree() == nullptr ? shape.size() : shape.tree()->graph().ports(c)[link].peer;
        to[c].push_back(at);
        to[at].push_back(c);
      }
    }
    if (shape.tree() == nullptr) return;
    const Graph& graph = shape.tree()->graph();
    for (uint32_t n = graph.npus(); n < graph.nodes(); ++n)
      for (const Graph::Port& port : graph.ports(n))
        if (!graph.is_npu(port.peer)) to[n].push_back(port.peer);
  }

  /// Links from a node to every node, by breadth-first search.
  std::vector<uint32_t> hops_from(uint32_t node) const {
    std::vector<uint32_t> hops(to.size(), ~0u);
    std::queue<uint32_t> next;
    hops[node] = 0;
    for (next.push(node); !next.empty(); next.pop())
      for (const uint32_t peer : to[next.front()])
        if (hops[peer] == ~0u) hops[peer] = hops[next.front()] + 1, next.push(peer);
    return hops;
  }
};

TEST(Shape, HopsAreThoseOfABreadthFirstSearch) {
  for (const Case& one : cases()) {
    const Shape& shape = one.shape;
    SCOPED_TRACE(shape.name());
    const LineGraph graph(shape);
    uint32_t diameter = 0;
    uint32_t nearest = ~0u;
    uint64_t sum = 0;
    for (uint32_t a = 0; a < shape.size(); ++a) {
      const std::vector<uint32_t> hops = graph.hops_from(a);
      for (uint32_t b = 0; b < shape.size(); ++b) {
        ASSERT_EQ(shape.hops(a, b), hops[b]) << a << " to " << b;
        diameter = std::max(diameter, hops[b]);
        if (a != b) nearest = std::min(nearest, hops[b]);
        sum += hops[b];
      }
    }
    EXPECT_EQ(shape.diameter(), diameter);
    // Where every leaf switch has one NPU the nearest is farther away.
    if (shape.tree() == nullptr || !shape.tree()->uniform()) {
      EXPECT_EQ(shape.nearest_hops(), nearest);
    }
    EXPECT_LE(shape.nearest_hops(), nearest);
    const double pairs = static_cast<double>(shape.size()) * shape.size();
    EXPECT_NEAR(shape.mean_hops(), static_cast<double>(sum) / pairs, 1e-12);
  }
}

TEST(Shape, EveryLinkHasOneBack) {
  for (const Case& one : cases()) {
    const Shape& shape = one.shape;
    SCOPED_TRACE(shape.name());
    for (uint32_t c = 0; c < shape.size(); ++c) {
      std::set<uint32_t> peers;
      for (uint32_t link = 0; link < shape.links(); ++link) {
        const uint32_t peer = shape.peer(c, link);
        EXPECT_EQ(shape.leads_on(c, link), peer != Shape::kNowhere);
        EXPECT_EQ(shape.has_switches(), peer == Shape::kSwitch);
        if (peer >= shape.size()) continue;
        EXPECT_NE(peer, c);
        peers.insert(peer);
        const uint32_t back = shape.link_back(c, link);
        ASSERT_LT(back, shape.links());
        EXPECT_EQ(shape.peer(peer, back), c);
        EXPECT_EQ(shape.link_back(peer, back), link);
      }
      if (shape.joins_pairs()) {
        EXPECT_EQ(peers.size(), shape.size() - 1);
      }
    }
  }
}

TEST(Shape, LinksAreCounted) {
  for (const Case& one : cases()) {
    const Shape& shape = one.shape;
    SCOPED_TRACE(shape.name());
    const LineGraph graph(shape);
    uint64_t npus = 0;
    uint64_t switches = 0;
    size_t most = 0;
    for (uint32_t n = 0; n < graph.to.size(); ++n) {
      (n < shape.size() ? npus : switches) += graph.to[n].size();
      if (n < shape.size()) most = std::max(most, graph.to[n].size());
    }
    EXPECT_EQ(shape.directed_npu_links(), npus);
    EXPECT_EQ(shape.directed_switch_links(), switches);
    EXPECT_EQ(shape.most_links(), most);
    EXPECT_GE(shape.links(), most);
    DimensionConfig dimension;
    dimension.size = shape.size();
    dimension.tree = one.tree;
    // Five lines.
    for (const DimensionKind kind : kKinds) {
      dimension.kind = kind;
      if (Shape(dimension).name() != shape.name()) continue;
      EXPECT_EQ(directed_links(dimension, 5 * shape.size()), 5 * (npus + switches));
      dimension.fidelity = Fidelity::analytical;
      EXPECT_EQ(directed_links(dimension, 5 * shape.size()), 5 * npus);
      dimension.fidelity = Fidelity::message;
    }
  }
}

TEST(Shape, CutsInHalves) {
  for (const Case& one : cases()) {
    const Shape& shape = one.shape;
    if (shape.has_switches()) continue;  // as many as there are NPUs in the half
    SCOPED_TRACE(shape.name());
    uint64_t crossing = 0;
    uint64_t upwards = 0;
    for (uint32_t c = 0; c < shape.size() / 2; ++c) {
      for (uint32_t link = 0; link < shape.links(); ++link) {
        const uint32_t peer = shape.peer(c, link);
        if (peer == Shape::kNowhere || peer < shape.size() / 2) continue;
        ++crossing;
        upwards += link == Shape::kUp ? 1 : 0;
      }
    }
    EXPECT_EQ(shape.crossing_links(false), crossing);
    if (shape.joins_neighbours()) {
      EXPECT_EQ(shape.crossing_links(true), upwards);
    }
  }
}

TEST(Shape, WaysAreShortestAndArrive) {
  for (const Case& one : cases()) {
    const Shape& shape = one.shape;
    SCOPED_TRACE(shape.name());
    for (uint32_t a = 0; a < shape.size(); ++a) {
      for (uint32_t b = 0; b < shape.size(); ++b) {
        if (a == b) continue;
        for (const bool reverse : {false, true}) {
          uint32_t steps = 0;
          for (uint32_t at = a; at != b; ++steps) {
            ASSERT_LT(steps, shape.size());
            const uint32_t link = shape.link_to(at, b, reverse);
            ASSERT_LT(link, shape.links());
            ASSERT_TRUE(shape.leads_on(at, link));
            EXPECT_EQ(shape.descends(at, b, reverse), shape.joins_neighbours() && link == Shape::kDown);
            at = shape.next(at, b, reverse);
          }
          EXPECT_EQ(shape.has_switches() ? 1u : shape.hops(a, b), steps);
        }
        // `reverse` decides between equal ways, and nothing else.
        const bool equal = shape.wraps() && 2 * shape.hops(a, b) == shape.size();
        EXPECT_EQ(shape.link_to(a, b, false) != shape.link_to(a, b, true), equal);
        if (equal) {
          EXPECT_EQ(shape.link_to(a, b, true), Shape::kDown);
        }
      }
    }
  }
}

TEST(Shape, TraitsSayWhatTheLinksAre) {
  for (const Case& one : cases()) {
    const Shape& shape = one.shape;
    SCOPED_TRACE(shape.name());
    EXPECT_EQ(shape.joins_neighbours() + shape.joins_pairs() + shape.has_switches(), 1);
    EXPECT_EQ(shape.has_crossbar(), shape.switches() == 1 && shape.tree() == nullptr);
    // All NPUs are alike if each sees the same distances.
    const LineGraph graph(shape);
    std::set<std::vector<uint32_t>> views;
    std::set<size_t> degrees;
    bool members_alike = true;  // .. of every pair, too
    for (uint32_t c = 0; c < shape.size(); ++c) {
      std::vector<uint32_t> hops = graph.hops_from(c);
      hops.resize(shape.size());
      members_alike = members_alike && std::count(hops.begin(), hops.end(), hops[c == 0 ? 1 : 0]) + 1 ==
                                           static_cast<int64_t>(hops.size());
      std::sort(hops.begin(), hops.end());
      views.insert(hops);
      degrees.insert(graph.to[c].size());
    }
    if (shape.difference().empty()) {
      EXPECT_EQ(views.size(), 1u);
      EXPECT_EQ(degrees.size(), 1u);
      if (shape.subsets_alike()) {
        EXPECT_TRUE(members_alike);
      }
    } else if (shape.tree() == nullptr) {
      EXPECT_TRUE(views.size() > 1 || shape.size() == 2);
    } else {
      EXPECT_FALSE(members_alike);
    }
    // A circle of buffers needs a way round that is longer than there and back.
    if (shape.joins_neighbours()) {
      EXPECT_EQ(shape.wraps(), shape.leads_on(0, Shape::kDown));
      EXPECT_EQ(shape.circular(), shape.wraps() && shape.peer(0, Shape::kUp) != shape.peer(0, Shape::kDown));
    }
  }
}

TEST(Shape, ImagesKeepTheRelationOfLinkAndPeer) {
  for (const Case& one : cases()) {
    const Shape& shape = one.shape;
    if (shape.size() > 16) continue;
    SCOPED_TRACE(shape.name());
    const bool power = (shape.size() & (shape.size() - 1)) == 0;
    for (uint32_t me = 0; me < shape.size(); ++me) {
      for (uint32_t other = 0; other < shape.size(); ++other) {
        for (const bool exchange : {false, true}) {
          if (exchange && !power) continue;
          std::set<uint32_t> images;
          for (uint32_t link = 0; link < shape.links(); ++link) {
            const uint32_t image = shape.image(link, me, other, exchange);
            images.insert(image);
            ASSERT_LT(image, shape.links());
            if (me == other) {
              EXPECT_EQ(image, link);
            }
            if (!shape.joins_pairs()) continue;
            const uint32_t peer = shape.peer(me, link);
            const uint32_t like = shape.peer(other, image);
            const uint32_t n = shape.size();
            EXPECT_EQ(exchange ? like ^ other : (like + n - other) % n,
                      exchange ? peer ^ me : (peer + n - me) % n);
          }
          EXPECT_EQ(images.size(), shape.links());
        }
      }
    }
  }
}

TEST(Shape, LinksOfACollective) {
  EXPECT_EQ(Shape(DimensionKind::ring, 8).links_at_once(8, 2), 2u);
  EXPECT_EQ(Shape(DimensionKind::mesh, 8).links_at_once(8, 1), 1u);
  EXPECT_EQ(Shape(DimensionKind::fully_connected, 8).links_at_once(8, 2), 7u);
  EXPECT_EQ(Shape(DimensionKind::fully_connected, 8).links_at_once(3, 2), 2u);
  EXPECT_EQ(Shape(DimensionKind::switch_, 8).links_at_once(8, 2), 1u);
}

TEST(Shape, ALineOfOneNpuHasNoLinks) {
  for (const DimensionKind kind : kKinds) {
    const Shape shape(kind, 1);
    EXPECT_EQ(shape.links(), 0u);
    EXPECT_EQ(shape.most_links(), 0u);
    EXPECT_EQ(shape.directed_npu_links() + shape.directed_switch_links(), 0u);
    EXPECT_EQ(shape.switches(), 0u);
    EXPECT_EQ(shape.diameter(), 0u);
    EXPECT_EQ(shape.mean_hops(), 0.0);
    EXPECT_EQ(shape.hops(0, 0), 0u);
    EXPECT_FALSE(shape.circular());
  }
}

TEST(Shape, NamesAndLatencies) {
  EXPECT_EQ(Shape(DimensionKind::ring, 4).name(), "Ring(4)");
  EXPECT_EQ(Shape(DimensionKind::mesh, 5).name(), "Mesh(5)");
  EXPECT_EQ(Shape(DimensionKind::fully_connected, 6).name(), "FullyConnected(6)");
  EXPECT_EQ(Shape(DimensionKind::switch_, 7).name(), "Switch(7)");
  DimensionConfig d;
  d.size = 8;
  d.latency = 300;
  EXPECT_EQ(nearest_latency(d), 300u);
  EXPECT_EQ(step_latency(d), 300u);
  d.kind = DimensionKind::switch_;
  EXPECT_EQ(nearest_latency(d), 600u);
  EXPECT_EQ(step_latency(d), 600u);
  TreeLevel above;
  above.latency = 1000;
  make_tree(d, parse_tree_notation("FatTree(k=2,n=3)"), {above, above});
  EXPECT_EQ(nearest_latency(d), 600u);
  EXPECT_EQ(step_latency(d), 600u + 4 * 1000u);
}

/// Names of the links of a small machine whose ranks are not their own places.
TEST(BlueprintNames, LinksAndTheirEnds) {
  Config c;
  c.dimensions.resize(3);
  c.dimensions[0].size = 3;
  c.dimensions[1].kind = DimensionKind::fully_connected;
  c.dimensions[1].size = 2;
  c.dimensions[2].kind = DimensionKind::switch_;
  c.dimensions[2].size = 2;
  for (uint32_t r = 0; r < 12; ++r) c.mapping.push_back(11 - r);
  const Geometry g = Geometry::of_fabric(c);
  EXPECT_EQ(nmu_name(g, 4), "nmu7");
  EXPECT_EQ(link_name(g, 0, 4, Shape::kUp), "d0_plus");
  EXPECT_EQ(link_end(g, 0, 5, Shape::kUp), "nmu8");  // place 3
  EXPECT_EQ(link_name(g, 0, 3, Shape::kDown), "d0_minus");
  EXPECT_EQ(link_end(g, 0, 3, Shape::kDown), "nmu6");             // place 5
  EXPECT_EQ(link_name(g, 1, 4, 0, "_packet"), "d1_packet_to10");  // place 1
  EXPECT_EQ(link_end(g, 1, 4, 0), "nmu10");
  EXPECT_EQ(link_name(g, 2, 4, 0), "d2_up");
  EXPECT_EQ(link_end(g, 2, 4, 0), "switch2_4");
  EXPECT_EQ(switch_name(g, 2, 10, "_packet"), "switch2_4_packet");
  make_tree(c.dimensions[2], parse_tree_notation("Clos(hosts=1,leaves=2,spines=1)"));
  EXPECT_EQ(link_end(g, 2, 10, 0, "_packet"), "switch2_4_packet_leaf1");
}

}  // namespace
}  // namespace weft
