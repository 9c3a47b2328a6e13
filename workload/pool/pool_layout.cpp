// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "workload/pool/pool_layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "configs/units.h"
#include "workload/pool/graph_layout.h"
#include "workload/pool/layouts.h"

namespace weft::pool {

PoolLayout::PoolLayout(const Config& config, bool folded)
    : pool_(*config.memory_pool),
      npus_(config.npus()),
      groups_(folded ? 1 : config.memory_pool->groups),
      folded_(folded),
      group_rate_(config.memory_pool->group_rate()) {}

bool PoolLayout::folds(const MemoryPoolConfig& pool) {
  return !pool.upper.empty() && (pool.split == PoolSplit::fluid || pool.fidelity == Fidelity::analytical);
}

std::unique_ptr<PoolLayout> PoolLayout::make(const Config& config, bool folded) {
  switch (config.memory_pool->design) {
    case PoolDesign::hierarchical:
    case PoolDesign::multi_level:
      return std::make_unique<TieredLayout>(config, folded);
    case PoolDesign::ring:
      return std::make_unique<RingLayout>(config);
    case PoolDesign::mesh:
      return std::make_unique<MeshLayout>(config);
    case PoolDesign::graph:
      break;
  }
  return std::make_unique<GraphLayout>(config);
}

uint32_t PoolLayout::add_node(Kind kind, uint32_t index, std::string name) {
  nodes_.push_back({kind, index, std::move(name)});
  ports_.emplace_back();
  return nodes() - 1;
}

uint32_t PoolLayout::add_class(std::string name, Rate rate, Picoseconds latency) {
  classes_.push_back({std::move(name), rate, latency});
  return static_cast<uint32_t>(classes_.size() - 1);
}

void PoolLayout::join(uint32_t a, uint32_t b, uint32_t cls, uint32_t count) {
  const auto link = static_cast<uint32_t>(links_.size());
  links_.push_back({a, b, cls, count});
  const auto port_a = static_cast<uint16_t>(ports_[a].size());
  ports_[a].push_back({link, b, 0, true});
  const auto port_b = static_cast<uint16_t>(ports_[b].size());
  ports_[b].push_back({link, a, port_a, false});
  ports_[a][port_a].peer_port = port_b;
}

Rate PoolLayout::rate(const Link& link) const {
  const Rate one = classes_[link.cls].rate;
  uint64_t all = 0;
  if (__builtin_mul_overflow(one.bytes_per_second, uint64_t{link.count}, &all))
    throw UserError(
        ExitCode::usage,
        fmt::format("key `memory.pool`: {} links of {} between {} are more than Weft can count; use "
                    "lower bandwidths",
                    link.count, print_bandwidth(one), classes_[link.cls].name));
  return {all, one.divisor};
}

std::vector<uint32_t> PoolLayout::path(uint32_t group, uint32_t npu, uint32_t way, bool store) const {
  std::vector<uint32_t> links;
  uint32_t at = store ? npu : group_node(group);
  const uint32_t to = store ? group_node(group) : npu;
  while (at != to) {
    const Port& port = ports_[at][next(at, to, way)];
    links.push_back(directed(port));
    at = port.peer;
    if (links.size() > 2 * links_.size())
      throw std::logic_error("a way through the memory pool does not end");
  }
  return links;
}

const PoolLayout::Tree& PoolLayout::tree(uint32_t group, uint32_t way) const {
  const uint64_t key = tree_key(group, way);
  const auto it = trees_.find(key);
  return it != trees_.end() ? it->second : trees_.emplace(key, make_tree(group, way)).first->second;
}

PoolLayout::Tree PoolLayout::make_tree(uint32_t group, uint32_t way) const {
  Tree tree;
  tree.children.resize(nodes_.size());
  tree.parent.resize(nodes_.size());
  for (uint32_t u = 0; u < npus_; ++u) {
    uint32_t at = group_node(group);
    uint32_t depth = 0;
    while (at != u) {
      const auto port = static_cast<uint16_t>(next(at, u, way));
      const Port& end = ports_[at][port];
      std::vector<uint16_t>& children = tree.children[at];
      if (std::find(children.begin(), children.end(), port) == children.end()) {
        children.push_back(port);
        if (at < group_node(0)) tree.links.push_back(directed(end));
        tree.parent[end.peer] = end.peer_port;
      }
      at = end.peer;
      ++depth;
    }
    tree.depth = std::max(tree.depth, depth);
  }
  return tree;
}

}  // namespace weft::pool
