// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// The kinds of dimensions: one class each, and the table of them.

#include <fmt/format.h>

#include <algorithm>

#include "configs/blueprint/shape.h"
#include "configs/tree.h"

namespace weft {
namespace {

std::string word_and_size(DimensionKind kind, const Shape& shape) {
  return fmt::format("{}({})", to_string(kind), shape.size());
}

/// Ring and Mesh.
class Neighbours : public ShapeKind {
 public:
  using ShapeKind::ShapeKind;
  uint32_t links(const Shape&) const override { return 2; }
  uint32_t link_back(const Shape&, uint32_t, uint32_t link) const override { return 1 - link; }
  const char* default_algorithm(CollectiveOp) const override { return "ring"; }
  std::string link_name(uint32_t link, uint32_t) const override {
    return link == Shape::kDown ? "_minus" : "_plus";
  }

 protected:
  ~Neighbours() = default;
};

class Ring final : public Neighbours {
 public:
  constexpr Ring() : Neighbours({true, true, false, false}) {}
  std::string name(const Shape& shape) const override { return word_and_size(DimensionKind::ring, shape); }
  uint32_t peer(const Shape& shape, uint32_t c, uint32_t link) const override {
    if (link == Shape::kUp) return c + 1 == shape.size() ? 0 : c + 1;
    return (c == 0 ? shape.size() : c) - 1;
  }
  uint64_t directed_npu_links(const Shape& shape) const override { return uint64_t{2} * shape.size(); }
  /// Two cuts make two halves. Each half sends upwards over the one and downwards over the other.
  uint64_t crossing_links(const Shape&, bool one_way) const override { return one_way ? 1 : 2; }
  uint32_t link_to(const Shape& shape, uint32_t from, uint32_t to, bool reverse) const override {
    const uint32_t up = to >= from ? to - from : to + shape.size() - from;
    const bool down = up * uint64_t{2} == shape.size() ? reverse : up * uint64_t{2} > shape.size();
    return down ? Shape::kDown : Shape::kUp;
  }
  uint32_t hops(const Shape& shape, uint32_t from, uint32_t to) const override {
    const uint32_t apart = from < to ? to - from : from - to;
    return std::min(apart, shape.size() - apart);
  }
  uint32_t diameter(const Shape& shape) const override { return shape.size() / 2; }
  double mean_hops(const Shape& shape) const override {
    const double n = shape.size();
    return shape.size() % 2 == 0 ? n / 4 : (n - 1 / n) / 4;
  }
};

class Mesh final : public Neighbours {
 public:
  constexpr Mesh() : Neighbours({true, false, false, false}) {}
  std::string name(const Shape& shape) const override { return word_and_size(DimensionKind::mesh, shape); }
  std::string difference(const Shape&) const override { return "is a Mesh, whose ends differ"; }
  uint32_t peer(const Shape& shape, uint32_t c, uint32_t link) const override {
    if (link == Shape::kUp) return c + 1 == shape.size() ? Shape::kNowhere : c + 1;
    return c == 0 ? Shape::kNowhere : c - 1;
  }
  uint64_t directed_npu_links(const Shape& shape) const override { return uint64_t{2} * (shape.size() - 1); }
  uint64_t crossing_links(const Shape&, bool) const override { return 1; }
  uint32_t link_to(const Shape&, uint32_t from, uint32_t to, bool) const override {
    return to < from ? Shape::kDown : Shape::kUp;
  }
  uint32_t hops(const Shape&, uint32_t from, uint32_t to) const override {
    return from < to ? to - from : from - to;
  }
  uint32_t diameter(const Shape& shape) const override { return shape.size() - 1; }
  double mean_hops(const Shape& shape) const override {
    const double n = shape.size();
    return (n - 1 / n) / 3;
  }
};

class FullyConnected final : public ShapeKind {
 public:
  constexpr FullyConnected() : ShapeKind({false, false, true, false}) {}
  std::string name(const Shape& shape) const override {
    return word_and_size(DimensionKind::fully_connected, shape);
  }
  uint32_t links(const Shape& shape) const override { return shape.size() - 1; }
  uint32_t peer(const Shape&, uint32_t c, uint32_t link) const override { return link < c ? link : link + 1; }
  uint32_t link_back(const Shape& shape, uint32_t c, uint32_t link) const override {
    return Shape::pair_link(peer(shape, c, link), c);
  }
  uint64_t directed_npu_links(const Shape& shape) const override {
    return uint64_t{shape.size()} * (shape.size() - 1);
  }
  uint64_t crossing_links(const Shape& shape, bool) const override {
    const uint64_t half = shape.size() / 2;
    return half * (shape.size() - half);
  }
  uint32_t link_to(const Shape&, uint32_t from, uint32_t to, bool) const override {
    return Shape::pair_link(from, to);
  }
  uint32_t hops(const Shape&, uint32_t, uint32_t) const override { return 1; }
  uint32_t diameter(const Shape&) const override { return 1; }
  double mean_hops(const Shape& shape) const override { return 1 - 1.0 / shape.size(); }
  uint32_t image(const Shape& shape, uint32_t link, uint32_t me, uint32_t other,
                 bool exchange) const override {
    const uint32_t n = shape.size();
    const uint32_t to = peer(shape, me, link);
    return Shape::pair_link(other, exchange ? to ^ me ^ other : (to + n - me + other) % n);
  }
  const char* default_algorithm(CollectiveOp) const override { return "direct"; }
  std::string link_name(uint32_t, uint32_t peer) const override { return fmt::format("_to{}", peer); }
};

/// Switch and tree.
class Switched : public ShapeKind {
 public:
  constexpr Switched() : ShapeKind({false, false, false, true}) {}
  uint32_t links(const Shape&) const override { return 1; }
  uint32_t peer(const Shape&, uint32_t, uint32_t) const override { return Shape::kSwitch; }
  uint32_t link_back(const Shape&, uint32_t, uint32_t) const override { return Shape::kNowhere; }
  uint64_t directed_npu_links(const Shape& shape) const override { return shape.size(); }
  /// Of the NPUs' own links; those above may be fewer.
  uint64_t crossing_links(const Shape& shape, bool) const override { return shape.size() / 2; }
  uint32_t link_to(const Shape&, uint32_t, uint32_t, bool) const override { return 0; }
  const char* default_algorithm(CollectiveOp op) const override {
    return op == CollectiveOp::all_to_all ? "direct" : "halving_doubling";
  }
  std::string link_name(uint32_t, uint32_t) const override { return "_up"; }

 protected:
  ~Switched() = default;
};

class Crossbar final : public Switched {
 public:
  std::string name(const Shape& shape) const override { return word_and_size(DimensionKind::switch_, shape); }
  uint64_t directed_switch_links(const Shape& shape) const override { return shape.size(); }
  uint32_t switches(const Shape&) const override { return 1; }
  uint32_t hops(const Shape&, uint32_t, uint32_t) const override { return 2; }
  uint32_t diameter(const Shape&) const override { return 2; }
  double mean_hops(const Shape& shape) const override { return 2 * (1 - 1.0 / shape.size()); }
};

class TreeOfSwitches final : public Switched {
 public:
  std::string name(const Shape& shape) const override {
    return print_tree_notation(shape.tree()->notation());
  }
  std::string difference(const Shape& shape) const override {
    return shape.tree()->uniform() ? "" : "is a tree of switches, in which some ranks are nearer than others";
  }
  uint64_t directed_switch_links(const Shape& shape) const override {
    return uint64_t{2} * shape.tree()->graph().spec().links.size() - shape.size();
  }
  uint32_t switches(const Shape& shape) const override {
    return shape.tree()->graph().nodes() - shape.size();
  }
  uint32_t hops(const Shape& shape, uint32_t from, uint32_t to) const override {
    return 2 * shape.tree()->height(from, to);
  }
  uint32_t diameter(const Shape& shape) const override { return 2 * shape.tree()->height(); }
  double mean_hops(const Shape& shape) const override {
    // Leaves of one subtree of level l + 1 that are not of one of level l are 2 (l + 1) links apart.
    const double n = shape.size();
    double hops = 0;
    double nearer = 1;
    for (uint32_t l = 1; l <= shape.tree()->levels(); ++l) {
      const double within = l == shape.tree()->levels() ? n : shape.tree()->subtree(l);
      hops += 2 * l * (within - nearer);
      nearer = within;
    }
    return hops / n;
  }
};

constexpr Ring kRing;
constexpr Mesh kMesh;
constexpr FullyConnected kFullyConnected;
constexpr Crossbar kCrossbar;
constexpr TreeOfSwitches kTreeOfSwitches;

}  // namespace

// In the order of DimensionKind.
const ShapeKind* const kShapeKinds[] = {&kRing, &kFullyConnected, &kCrossbar, &kMesh};
const ShapeKind* const kTreeShape = &kTreeOfSwitches;

uint32_t Shape::most_links() const {
  if (!joins_neighbours()) return links();
  const uint32_t middle = size_ / 2;
  uint32_t most = 0;
  for (uint32_t link = 0; link < links(); ++link) most += leads_on(middle, link) ? 1 : 0;
  return most;
}

uint32_t Shape::links_at_once(uint32_t members, uint32_t queues) const {
  if (joins_neighbours()) return queues;
  return joins_pairs() ? std::max(members, 2u) - 1 : 1;
}

Picoseconds step_latency(const DimensionConfig& dimension) {
  const Tree* const tree = dimension.tree.get();
  return tree != nullptr ? tree->latency(dimension.latency, tree->height()) : nearest_latency(dimension);
}

uint64_t directed_links(const DimensionConfig& dimension, uint32_t npus) {
  const Shape shape(dimension);
  const bool switches_send = dimension.fidelity != Fidelity::analytical;
  return npus / dimension.size *
         (shape.directed_npu_links() + (switches_send ? shape.directed_switch_links() : 0));
}

}  // namespace weft
