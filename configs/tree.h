// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// A tree of switches as one dimension of a machine: every line of the dimension has its own switches, level
// by level, in place of one crossbar. For collectives it is a Switch of as many NPUs. The links of level 0
// join NPUs and leaf switches and are the dimension's own; those above are described here. Immutable, shared
// by copies of a dimension.

#ifndef WEFT_CONFIGS_TREE_H
#define WEFT_CONFIGS_TREE_H

#include <memory>
#include <string>
#include <vector>

#include "configs/config.h"
#include "configs/graph.h"
#include "configs/tree_notation.h"

namespace weft {

/// The links of one level above the NPUs' own.
struct TreeLevel {
  Rate bandwidth;  ///< per direction, of one of `count`
  Picoseconds latency = 0;
  uint32_t count = 1;  ///< parallel links that work as one
  // At packet fidelity, as in DimensionConfig:
  Picoseconds credit_latency = 0;
  double flit_error_rate = 0;
  Picoseconds replay = 0;

  Rate rate() const { return {bandwidth.bytes_per_second * count, bandwidth.divisor}; }
};

class Tree {
 public:
  /// `above`: the links of level 1, 2, .. up to the roots. Errors: as those of Graph.
  Tree(const TreeNotation& notation, std::vector<TreeLevel> above);

  const TreeNotation& notation() const { return notation_; }
  /// One line of the dimension. Its NPUs are the coordinates. It has the connections and the ways (ECMP); its
  /// links have no times.
  const Graph& graph() const { return graph_; }
  uint32_t levels() const { return notation_.levels(); }
  /// 1 .. levels() - 1
  const TreeLevel& level(uint32_t l) const { return above_[l - 1]; }
  /// Of a link of graph().
  uint32_t level_of_link(uint32_t link) const;

  /// Levels of links from leaf a up to the nearest common ancestor with leaf b; 0: they are the same.
  uint32_t height(uint32_t a, uint32_t b) const;
  /// The greatest height.
  uint32_t height() const { return height(0, notation_.npus() - 1); }
  /// True if all leaves are equally far from each other.
  bool uniform() const;
  /// Up over `height` levels of links and down again, `first` being the latency of level 0.
  Picoseconds latency(Picoseconds first, uint32_t height) const {
    return height == 0 ? 0 : 2 * (first + latency_above_[height - 1]);
  }

  /// The leaves below one switch of level l - 1 are a subtree (l = 1 .. levels() - 1). The number of its
  /// leaves, and of the links of level l that lead out of it.
  uint32_t subtree(uint32_t l) const;
  uint32_t uplinks(uint32_t l) const;

 private:
  TreeNotation notation_;
  std::vector<TreeLevel> above_;
  std::vector<Picoseconds> latency_above_;  ///< of levels 1 .. i together
  Graph graph_;
};

/// Turns a dimension into a Switch whose lines are trees. Without `above`, the links above the NPUs' own have
/// the same values as these.
void make_tree(DimensionConfig& dimension, const TreeNotation& notation, std::vector<TreeLevel> above = {});

/// The dimension with the links of a level of its tree in place of its own. Level 0: the dimension.
DimensionConfig at_level(const DimensionConfig& dimension, uint32_t level);

/// Links of a way between two coordinates up to where it turns (Tree::height); it goes as many down. 1 at a
/// crossbar; 0 for the same coordinate.
uint32_t height(const DimensionConfig& dimension, uint32_t a, uint32_t b);
/// The greatest height of all.
uint32_t height(const DimensionConfig& dimension);

}  // namespace weft

#endif
