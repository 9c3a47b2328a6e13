// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// How one line of a dimension joins its NPUs: Ring, Mesh, FullyConnected, Switch, or a tree of switches.
// Every other part of Weft asks a Shape for what it needs to know (links, peers, hops, ways, names) and never
// for the kind. A new kind of dimension is a class in configs/blueprint/shapes.cpp (docs/architecture.md,
// "Where to add what").
//
// A line's NPUs have the coordinates 0 .. size - 1. An NPU numbers its links in the dimension from 0. A Shape
// is three words, computes every answer, and lives no longer than the tree it was made of.

#ifndef WEFT_CONFIGS_BLUEPRINT_SHAPE_H
#define WEFT_CONFIGS_BLUEPRINT_SHAPE_H

#include <cstdint>
#include <string>

#include "configs/blueprint/shape_kind.h"
#include "configs/config.h"
#include "configs/types.h"

namespace weft {

class Shape {
 public:
  /// Of neighbours: the links to higher and to lower coordinates.
  static constexpr uint32_t kUp = 0;
  static constexpr uint32_t kDown = 1;
  /// What peer() says of a link that leads to no NPU: to a switch of the line, or nowhere.
  static constexpr uint32_t kSwitch = ~0u - 1;
  static constexpr uint32_t kNowhere = ~0u;

  explicit Shape(DimensionKind kind = DimensionKind::ring, uint32_t size = 1, const Tree* tree = nullptr)
      : kind_(shape_kind(kind, tree != nullptr)), size_(size), tree_(tree) {}
  explicit Shape(const DimensionConfig& dimension)
      : Shape(dimension.kind, dimension.size, dimension.tree.get()) {}

  /// NPUs in the line.
  uint32_t size() const { return size_; }
  /// As the notation writes it: "Ring(4)", "Clos(hosts=4,leaves=4,spines=2)".
  std::string name() const { return kind_->name(*this); }
  /// The switches of the line; null: it is no tree.
  const Tree* tree() const { return tree_; }

  // -- What it is like. Exactly one of the first three holds.

  /// Ring, Mesh: NPUs are joined to their neighbours; link 0 leads up, link 1 down.
  bool joins_neighbours() const { return kind_->traits.neighbours; }
  /// FullyConnected: every NPU has a link to every other one.
  bool joins_pairs() const { return kind_->traits.pairs; }
  /// Switch, tree: every NPU has one link, to a switch.
  bool has_switches() const { return kind_->traits.switches; }
  /// Of neighbours: the last NPU is joined to the first.
  bool wraps() const { return kind_->traits.wraps; }
  /// .. and there are so many that two ways lead round. Buffers can then wait for each other in a circle.
  bool circular() const { return wraps() && size_ > 2; }
  /// One switch joins the NPUs of the line; it can have a collective unit.
  bool has_crossbar() const { return has_switches() && tree_ == nullptr; }
  /// Why NPUs differ in how they are joined; empty: all are alike. "is a Mesh, whose ends differ".
  std::string difference() const { return kind_->difference(*this); }
  /// The members of every subset of NPUs are joined alike, too (unless difference() says otherwise).
  bool subsets_alike() const { return has_switches(); }

  // -- Links of an NPU.

  /// Link numbers of an NPU. At the ends of a Mesh one of them leads nowhere. A line of one NPU has none.
  uint32_t links() const { return size_ > 1 ? kind_->links(*this) : 0; }
  /// .. of which so many lead on, at the NPU that has most.
  uint32_t most_links() const;
  /// Where a link leads: a coordinate, kSwitch or kNowhere.
  uint32_t peer(uint32_t coordinate, uint32_t link) const { return kind_->peer(*this, coordinate, link); }
  bool leads_on(uint32_t coordinate, uint32_t link) const { return peer(coordinate, link) != kNowhere; }
  /// The peer's link that leads back. Not of links to switches.
  uint32_t link_back(uint32_t coordinate, uint32_t link) const {
    return kind_->link_back(*this, coordinate, link);
  }
  /// Links between NPUs and to switches, in one line. Each direction counts.
  uint64_t directed_npu_links() const { return size_ > 1 ? kind_->directed_npu_links(*this) : 0; }
  /// .. and those that switches send on.
  uint64_t directed_switch_links() const { return size_ > 1 ? kind_->directed_switch_links(*this) : 0; }
  /// Switches in one line.
  uint32_t switches() const { return size_ > 1 ? kind_->switches(*this) : 0; }
  /// Links that a collective of `members` NPUs of the line drives at once at each of them, with so many
  /// queues a dimension.
  uint32_t links_at_once(uint32_t members, uint32_t queues) const;
  /// Links from one half of the line to the other. `one_way`: messages go round in one direction only.
  uint64_t crossing_links(bool one_way) const { return kind_->crossing_links(*this, one_way); }

  // -- Ways.

  /// The link by which a message leaves `from` for another coordinate, on a shortest way. `reverse`: of two
  /// equal ways round a Ring the descending one.
  uint32_t link_to(uint32_t from, uint32_t to, bool reverse = false) const {
    return kind_->link_to(*this, from, to, reverse);
  }
  /// .. of a FullyConnected: its links are numbered by their peers, without the NPU itself.
  static uint32_t pair_link(uint32_t from, uint32_t to) { return to < from ? to : to - 1; }
  /// .. leads to lower coordinates.
  bool descends(uint32_t from, uint32_t to, bool reverse = false) const {
    return joins_neighbours() && link_to(from, to, reverse) == kDown;
  }
  /// The next NPU on that way: a neighbour, or `to` itself.
  uint32_t next(uint32_t from, uint32_t to, bool reverse = false) const {
    return has_switches() ? to : peer(from, link_to(from, to, reverse));
  }
  /// Links on a shortest way. Through a switch there are two; through a tree, those up to where the ways meet
  /// and as many down.
  uint32_t hops(uint32_t from, uint32_t to) const { return from == to ? 0 : kind_->hops(*this, from, to); }
  /// .. to the nearest other NPU.
  uint32_t nearest_hops() const { return has_switches() ? 2 : 1; }
  /// .. between the two farthest apart.
  uint32_t diameter() const { return size_ > 1 ? kind_->diameter(*this) : 0; }
  /// .. in the mean over all pairs of NPUs, in both orders and with themselves.
  double mean_hops() const { return size_ > 1 ? kind_->mean_hops(*this) : 0; }

  // -- Collectives.

  /// NPUs `me` and `other` send the same messages at the same times. The link of `other` that carries what
  /// `link` of `me` carries. Of a FullyConnected: with `exchange` the one to peer ^ me ^ other, else to peer
  /// - me + other.
  uint32_t image(uint32_t link, uint32_t me, uint32_t other, bool exchange) const {
    return kind_->image(*this, link, me, other, exchange);
  }
  /// Name of the algorithm that a collective uses where the configuration names none.
  const char* default_algorithm(CollectiveOp op) const { return kind_->default_algorithm(op); }

  // -- Names.

  /// What a link is called behind its dimension: "_plus", "_to7", "_up". `peer`: the rank at its other end.
  std::string link_name(uint32_t link, uint32_t peer) const { return kind_->link_name(link, peer); }

 private:
  const ShapeKind* kind_;
  uint32_t size_;
  const Tree* tree_;
};

/// Latency from an NPU to the nearest other one of its line.
inline Picoseconds nearest_latency(const DimensionConfig& dimension) {
  return dimension.latency * Shape(dimension).nearest_hops();
}
/// Latency of a message's step in the dimension: to a neighbour or peer, or through the switches, of a tree
/// by the longest way.
Picoseconds step_latency(const DimensionConfig& dimension);

/// Directed links of a dimension, all lines. Analytical: what leaves a switch has no link of its own.
uint64_t directed_links(const DimensionConfig& dimension, uint32_t npus);

}  // namespace weft

#endif
