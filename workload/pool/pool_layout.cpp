// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "workload/pool/pool_layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
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
      group_rate_(config.memory_pool->group_rate()),
      members_(1) {
  members_[0].resize(npus_);
  std::iota(members_[0].begin(), members_[0].end(), 0u);
}

bool PoolLayout::folds(const MemoryPoolConfig& pool) {
  if (pool.upper.empty() || pool.as_packets()) return false;
  return pool.as_flows() || (pool.split == PoolSplit::fluid && pool.group_memory == kDefaultMemoryModel);
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

std::vector<PoolLayout::Share> PoolLayout::shares(Wide tensor, uint32_t u) const {
  std::vector<Share> shares;
  Wide offset = 0;
  const auto add = [&](uint32_t group, uint32_t way, Wide bytes) {
    shares.push_back({group, way, offset, bytes});
    offset += bytes;
  };
  if (!spreads_ways_) {
    for (uint32_t r = 0; r < groups_; ++r)
      add(r, fluid_way(r, u), tensor / groups_ + (r < tensor % groups_ ? 1 : 0));
    return shares;
  }
  // Groups and ways move on together, and by one more way where they meet again, so that neighbours in this
  // order differ in both. Bytes that are left over go to the shares behind those of the NPU before.
  const uint64_t count = uint64_t{groups_} * ways_;
  const uint64_t round = std::lcm(uint64_t{groups_}, uint64_t{ways_});
  const auto more = static_cast<uint64_t>(tensor % count);
  const uint64_t first = static_cast<uint64_t>(static_cast<Wide>(u) * more % count);
  for (uint64_t i = 0; i < count; ++i)
    add(static_cast<uint32_t>(i % groups_), static_cast<uint32_t>((i + i / round) % ways_),
        tensor / count + ((i + count - first) % count < more ? 1 : 0));
  return shares;
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

const PoolLayout::Tree& PoolLayout::tree(uint32_t group, uint32_t way, uint32_t members) const {
  const auto key = std::make_pair(members, tree_key(group, way));
  const auto it = trees_.find(key);
  return it != trees_.end() ? it->second
                            : trees_.emplace(key, make_tree(group, way, members_[members])).first->second;
}

uint32_t PoolLayout::members_number(const std::vector<uint32_t>& npus) const {
  if (npus.empty()) return 0;
  const auto it = std::find(members_.begin(), members_.end(), npus);
  if (it != members_.end()) return static_cast<uint32_t>(it - members_.begin());
  members_.push_back(npus);
  return static_cast<uint32_t>(members_.size() - 1);
}

PoolLayout::Tree PoolLayout::make_tree(uint32_t group, uint32_t way,
                                       const std::vector<uint32_t>& npus) const {
  Tree tree;
  tree.children.resize(nodes_.size());
  tree.parent.resize(nodes_.size());
  for (const uint32_t u : npus) {
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
