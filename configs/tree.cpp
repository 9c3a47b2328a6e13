// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "configs/tree.h"

#include <stdexcept>
#include <utility>

namespace weft {
namespace {

GraphSpec one_line(const TreeNotation& notation) {
  DimensionConfig link;
  link.bandwidth = {1, 1};  // a graph has no links without one
  return tree_graph(notation, std::vector<DimensionConfig>(notation.levels(), link));
}

}  // namespace

Tree::Tree(const TreeNotation& notation, std::vector<TreeLevel> above)
    : notation_(notation), above_(std::move(above)), latency_above_{0}, graph_(one_line(notation)) {
  if (above_.size() + 1 != levels()) throw std::logic_error("a tree with links of other levels than its own");
  for (const TreeLevel& level : above_) latency_above_.push_back(latency_above_.back() + level.latency);
}

uint32_t Tree::level_of_link(uint32_t link) const {
  // As tree_graph() lists them: every level of a fat tree has as many links as there are NPUs.
  const uint32_t npus = notation_.npus();
  return notation_.kind == TreeNotation::Kind::clos ? (link < npus ? 0 : 1) : link / npus;
}

uint32_t Tree::height(uint32_t a, uint32_t b) const {
  if (a == b) return 0;
  if (notation_.kind == TreeNotation::Kind::clos) return a / notation_.hosts == b / notation_.hosts ? 1 : 2;
  uint32_t levels = 0;
  for (; a != b; ++levels) {
    a /= notation_.k;
    b /= notation_.k;
  }
  return levels;
}

bool Tree::uniform() const {
  return notation_.kind == TreeNotation::Kind::clos ? notation_.hosts == 1 || notation_.leaves == 1
                                                    : notation_.n == 1;
}

uint32_t Tree::subtree(uint32_t l) const {
  if (notation_.kind == TreeNotation::Kind::clos) return notation_.hosts;
  uint32_t leaves = 1;
  for (uint32_t i = 0; i < l; ++i) leaves *= notation_.k;
  return leaves;
}

uint32_t Tree::uplinks(uint32_t l) const {
  return notation_.kind == TreeNotation::Kind::clos ? notation_.spines : subtree(l);
}

void make_tree(DimensionConfig& dimension, const TreeNotation& notation, std::vector<TreeLevel> above) {
  dimension.kind = DimensionKind::switch_;
  dimension.size = notation.npus();
  if (above.empty()) {
    above.assign(notation.levels() - 1,
                 {dimension.bandwidth, dimension.latency, dimension.links_per_npu, dimension.credit_latency,
                  dimension.flit_error_rate, dimension.replay});
  }
  dimension.tree = std::make_shared<const Tree>(notation, std::move(above));
}

DimensionConfig at_level(const DimensionConfig& dimension, uint32_t level) {
  DimensionConfig result = dimension;
  if (level == 0) return result;
  const TreeLevel& links = dimension.tree->level(level);
  result.bandwidth = links.bandwidth;
  result.latency = links.latency;
  result.links_per_npu = links.count;
  result.credit_latency = links.credit_latency;
  result.flit_error_rate = links.flit_error_rate;
  result.replay = links.replay;
  return result;
}

uint32_t height(const DimensionConfig& dimension, uint32_t a, uint32_t b) {
  return dimension.tree != nullptr ? dimension.tree->height(a, b) : a != b ? 1 : 0;
}

uint32_t height(const DimensionConfig& dimension) {
  return dimension.tree != nullptr ? dimension.tree->height() : dimension.size > 1 ? 1 : 0;
}

}  // namespace weft
