// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Counts by hand what an access puts on the links of a memory pool: written from docs/memory_pool.md, without
// the layout of the simulator.

#ifndef WEFT_TESTS_SUPPORT_POOL_COUNT_H
#define WEFT_TESTS_SUPPORT_POOL_COUNT_H

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "configs/config.h"
#include "workload/pool/striping.h"

namespace weft::test {

class PoolCount {
 public:
  struct Class {
    uint64_t total = 0;
    uint64_t most = 0;
  };

  PoolCount(const Config& config, PoolOperation operation, uint64_t bytes)
      : p_(*config.memory_pool),
        npus_(config.npus()),
        per_node_(npus_ / p_.nodes),
        operation_(operation),
        bytes_(bytes) {
    if (p_.upper.empty()) {
      place();
      placed();
    } else if (!whole() && real_links()) {
      tiered_shares();
    } else if (!whole()) {
      tiered_fluid();
    } else {
      tiered_whole();
    }
  }
  const std::map<std::string, Class>& classes() const { return classes_; }

 private:
  using Key = std::vector<uint32_t>;

  void add(const std::string& name, const Key& link, uint64_t bytes) {
    uint64_t& on_link = links_[name][link];
    on_link += bytes;
    classes_[name].total += bytes;
    classes_[name].most = std::max(classes_[name].most, on_link);
  }
  void even(const std::string& name, uint64_t total, uint64_t links) {
    classes_[name] = {total, (total + links - 1) / links};
  }
  std::string level_name(size_t l) const {
    return l == 0                 ? "in_switch"
           : p_.upper.size() == 1 ? "out_switch"
                                  : "level" + std::to_string(l + 1) + "_switch";
  }
  uint64_t all() const { return bytes_ * npus_; }
  bool whole() const { return p_.split == PoolSplit::whole && p_.fidelity != Fidelity::analytical; }
  /// Each link and group by itself, where `split: fluid` spreads over all.
  bool real_links() const {
    return p_.fidelity == Fidelity::packet || (p_.group_memory != "auto" && p_.fidelity == Fidelity::message);
  }

  void tiered_fluid() {
    const uint64_t copies = in_switch(operation_) ? npus_ : 1;
    const size_t top = p_.upper.size();
    even("group", all(), p_.groups);
    even("group/" + level_name(top), all(), uint64_t{p_.groups} * p_.upper.back().switches);
    for (size_t l = top - 1; l > 0; --l)
      even(level_name(l + 1) + "/" + level_name(l), all(),
           uint64_t{p_.upper[l].switches} * p_.upper[l - 1].switches);
    const uint64_t to_node = in_switch(operation_) ? all() : bytes_ * per_node_;
    even(level_name(1) + "/in_switch", to_node, p_.upper[0].switches);
    classes_[level_name(1) + "/in_switch"].total = to_node * p_.nodes;
    classes_["in_switch/npu"] = {bytes_ * copies * npus_, bytes_ * copies};
  }

  template <typename F>
  void for_each_chunk(uint32_t ways, F&& f) {
    const auto striping = pool::make_striping("hash", p_.groups, ways);
    for (uint32_t u = 0; u < npus_; ++u) {
      for (uint64_t j = 0; j * p_.chunk < bytes_; ++j) {
        uint64_t group = (j + u) % p_.groups;
        uint64_t way = (u + j / p_.groups) % ways;
        if (p_.striping == "offset") way = (j + u) % ways;
        if (p_.striping == "hash") {
          group = striping->place(u, j).group;
          way = striping->place(u, j).way;
        }
        f(u, static_cast<uint32_t>(group), static_cast<uint32_t>(way),
          std::min(p_.chunk, bytes_ - j * p_.chunk));
      }
    }
  }

  uint32_t all_ways() const {
    uint32_t ways = 1;
    for (const PoolLevel& level : p_.upper) ways *= level.switches;
    return ways;
  }

  void tiered_whole() {
    for_each_chunk(all_ways(), [&](uint32_t u, uint32_t group, uint32_t way, uint64_t bytes) {
      tiered_one(u, group, way, bytes);
    });
  }

  /// A tensor is cut into groups x ways shares. What does not divide goes a byte each to the shares behind
  /// those that NPU u - 1 gave one more to.
  void tiered_shares() {
    const uint64_t tensor = in_switch(operation_) ? all() : bytes_;
    const uint64_t ways = all_ways();
    const uint64_t shares = p_.groups * ways;
    uint64_t next = 0;  // with a byte more
    for (uint32_t u = 0; u < (in_switch(operation_) ? 1 : npus_); ++u) {
      std::vector<uint64_t> bytes(shares, tensor / shares);
      for (uint64_t left = tensor % shares; left > 0; --left) {
        ++bytes[next];
        next = (next + 1) % shares;
      }
      uint64_t group = 0;
      uint64_t way = 0;
      for (uint64_t i = 0; i < shares; ++i) {
        if (i > 0 && i % p_.groups == 0 && i % ways == 0) way = (way + 1) % ways;  // both begin again
        if (bytes[i] != 0) tiered_one(u, static_cast<uint32_t>(group), static_cast<uint32_t>(way), bytes[i]);
        group = (group + 1) % p_.groups;
        way = (way + 1) % ways;
      }
    }
  }

  void tiered_one(uint32_t u, uint32_t group, uint32_t way, uint64_t bytes) {
    const size_t top = p_.upper.size();
    Key at;  // the switch of every level
    for (const PoolLevel& level : p_.upper) {
      at.push_back(way % level.switches);
      way /= level.switches;
    }
    add("group", {group}, bytes);
    add("group/" + level_name(top), {group, at.back()}, bytes);
    for (size_t l = top - 1; l > 0; --l)
      add(level_name(l + 1) + "/" + level_name(l), {at[l], at[l - 1]}, bytes);
    for (uint32_t n = 0; n < p_.nodes; ++n)
      if (in_switch(operation_) || n == u / per_node_) add(level_name(1) + "/in_switch", {at[0], n}, bytes);
    for (uint32_t v = 0; v < npus_; ++v)
      if (in_switch(operation_) || v == u) add("in_switch/npu", {v}, bytes);
  }

  // Ring and mesh: places.
  void place() {
    const uint32_t places = p_.design == PoolDesign::ring || p_.placement == PoolPlacement::interleaved
                                ? p_.nodes + p_.groups
                                : p_.nodes;
    if (p_.design == PoolDesign::ring) {
      width_ = places;
      uint32_t n = 0;
      uint32_t r = 0;
      for (uint32_t at = 0; at < places; ++at) {
        const double node_due = n < p_.nodes ? (n + 0.5) / p_.nodes : 2;
        const double group_due = r < p_.groups ? (r + 0.5) / p_.groups : 2;
        (group_due <= node_due + 1e-12 ? (++r, group_at_) : (++n, node_at_)).push_back(at);
      }
      return;
    }
    width_ = p_.width;
    if (p_.placement == PoolPlacement::edge) {
      for (uint32_t at = 0; at < places; ++at) node_at_.push_back(at);
      for (uint32_t y = 0; y < p_.height; ++y) {
        group_at_.push_back(y * width_);
        group_at_.push_back(y * width_ + width_ - 1);
      }
      return;
    }
    std::vector<uint32_t> fields;
    for (uint32_t odd = 0; odd < 2; ++odd)
      for (uint32_t at = 0; at < places; ++at)
        if ((at % width_ + at / width_) % 2 == odd) fields.push_back(at);
    group_at_.assign(fields.begin(), fields.begin() + p_.groups);
    node_at_.assign(fields.begin() + p_.groups, fields.end());
    std::sort(group_at_.begin(), group_at_.end());
    std::sort(node_at_.begin(), node_at_.end());
  }

  /// One step from `a` to `b` on a line of `size`, or a circle.
  static uint32_t step(uint32_t a, uint32_t b, uint32_t size, bool circle, bool tie_down) {
    if (!circle || size <= 2) return b > a ? a + 1 : a - 1;
    const uint32_t up = (b + size - a) % size;
    const bool upwards = 2 * up < size || (2 * up == size && !tie_down);
    return upwards ? (a + 1) % size : (a + size - 1) % size;
  }

  /// Directed steps from place to place: {from, to, 1 if downwards}.
  std::vector<Key> way(uint32_t from, uint32_t to, uint32_t choice) const {
    std::vector<Key> steps;
    while (from != to) {
      uint32_t next = 0;
      if (p_.design == PoolDesign::ring) {
        const uint32_t up = (to + width_ - from) % width_;
        const bool upwards = 2 * up < width_ || (2 * up == width_ && choice % 2 == 0);
        next = upwards ? (from + 1) % width_ : (from + width_ - 1) % width_;
        steps.push_back({from, next, upwards ? 0u : 1u});
      } else {
        const uint32_t x = from % width_;
        const uint32_t y = from / width_;
        if (x != to % width_) {
          next = y * width_ + step(x, to % width_, width_, p_.wraparound, false);
        } else {
          next = step(y, to / width_, p_.height, p_.wraparound, false) * width_ + x;
        }
        steps.push_back({from, next, 0});
      }
      from = next;
    }
    return steps;
  }

  void one(uint32_t u, uint32_t group, uint32_t choice, uint64_t bytes) {
    const char* const name = p_.design == PoolDesign::ring ? "ring" : "mesh";
    const bool store = stores(operation_);
    add("group", {group}, bytes);
    if (!in_switch(operation_)) {
      const uint32_t node = node_at_[u / per_node_];
      const std::vector<Key> steps =
          store ? way(node, group_at_[group], choice) : way(group_at_[group], node, choice);
      for (const Key& link : steps) add(name, link, bytes);
      add("in_switch/npu", {u}, bytes);
      return;
    }
    std::map<Key, bool> tree;
    for (const uint32_t node : node_at_)
      for (const Key& link : way(group_at_[group], node, choice)) tree[link] = true;
    for (const auto& link : tree)
      add(name, store ? Key{link.first[1], link.first[0], 1 - link.first[2]} : link.first, bytes);
    for (uint32_t v = 0; v < npus_; ++v) add("in_switch/npu", {v}, bytes);
  }

  void placed() {
    const uint32_t ways = p_.design == PoolDesign::ring ? 2 : 1;
    if (whole()) {
      for_each_chunk(ways, [&](uint32_t u, uint32_t group, uint32_t choice, uint64_t bytes) {
        one(u, group, choice, bytes);
      });
      return;
    }
    const uint64_t tensor = in_switch(operation_) ? all() : bytes_;
    for (uint32_t u = 0; u < (in_switch(operation_) ? 1 : npus_); ++u)
      for (uint32_t r = 0; r < p_.groups; ++r) {
        const uint64_t share = tensor / p_.groups + (r < tensor % p_.groups ? 1 : 0);
        if (share != 0) one(u, r, r + u, share);
      }
  }

  const MemoryPoolConfig& p_;
  uint32_t npus_;
  uint32_t per_node_;
  PoolOperation operation_;
  uint64_t bytes_;
  uint32_t width_ = 0;
  std::vector<uint32_t> node_at_;
  std::vector<uint32_t> group_at_;
  std::map<std::string, Class> classes_;
  std::map<std::string, std::map<Key, uint64_t>> links_;
};

}  // namespace weft::test

#endif
