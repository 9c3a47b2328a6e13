// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Trees of switches by one word: `FatTree(k=4,n=3)`, the k-ary n-tree, and `Clos(hosts=8,leaves=4,spines=2)`,
// every leaf switch joined to every spine. They become explicit graphs (configs/graph.h).

#ifndef WEFT_CONFIGS_TREE_NOTATION_H
#define WEFT_CONFIGS_TREE_NOTATION_H

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "configs/config.h"
#include "configs/graph.h"

namespace weft {

struct TreeNotation {
  enum class Kind : uint8_t { fat_tree, clos };
  Kind kind = Kind::fat_tree;
  uint32_t k = 2;       ///< fat tree: ports down (and up) of a switch; k^n NPUs
  uint32_t n = 1;       ///< fat tree: levels of switches, each of k^(n-1)
  uint32_t hosts = 1;   ///< Clos: NPUs a leaf
  uint32_t leaves = 1;  ///< Clos
  uint32_t spines = 1;  ///< Clos

  uint32_t npus() const;
  /// Kinds of links, from the NPUs up: a fat tree has n (NPU to leaf, then level by level), a Clos 2.
  uint32_t levels() const { return kind == Kind::clos ? 2 : n; }
};

/// Does the text begin like a tree? Then parse_tree_notation() reads it or says what is wrong with it.
bool is_tree_notation(std::string_view text);

/// Numbers may have their names or stand in the order of the examples; the word is read in any case. Errors:
/// UserError(usage) with the notation and what is allowed; more NPUs and switches than `most_nodes`.
TreeNotation parse_tree_notation(std::string_view text, uint64_t most_nodes = kMaxGraphNodes);

/// Entries that `topology.dimensions` may have: the dimensions of a notation, or the levels of a tree.
/// Errors: UserError(usage).
size_t link_entries(std::string_view notation);

/// The canonical spelling.
std::string print_tree_notation(const TreeNotation& tree);

/// The graph: switches level by level from the leaves up, in the order of their positions (`leaf0`, ..,
/// `level1_0`, .., `spine0`, ..); ECMP routing, NPUs do not forward. `levels` holds the links of each level
/// from the NPUs up; fidelity and switching are those of the first.
GraphSpec tree_graph(const TreeNotation& tree, const std::vector<DimensionConfig>& levels);

/// What parse_tree_notation reads, as an ECMAScript regular expression without anchors.
std::string tree_notation_pattern();

}  // namespace weft

#endif
