// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "workload/pool/layouts.h"

#include <fmt/format.h>

#include <array>

#include "configs/units.h"

namespace weft::pool {

TieredLayout::TieredLayout(const Config& config, bool folded) : PoolLayout(config, folded) {
  per_node_ = npus_ / pool_.nodes;
  stride_ = 1;
  for (uint32_t d = 0; pool_.share && d < *pool_.share; ++d) stride_ *= config.dimensions[d].size;
  const bool plain = pool_.upper.size() == 1;
  for (uint32_t u = 0; u < npus_; ++u) add_node(Kind::npu, u, fmt::format("npu{}", u));
  for (uint32_t n = 0; n < pool_.nodes; ++n) add_node(Kind::in_switch, n, fmt::format("in{}", n));
  level_.assign(npus_, 0);
  level_.resize(npus_ + pool_.nodes, 1);
  std::vector<std::vector<uint32_t>> levels{{}};
  for (uint32_t n = 0; n < pool_.nodes; ++n) levels[0].push_back(npus_ + n);
  std::vector<uint32_t> multiplicity{1};
  for (size_t l = 0; l < pool_.upper.size(); ++l) {
    const uint32_t there = pool_.upper[l].switches;
    strides_.push_back(ways_);
    if (!folded) ways_ *= there;
    multiplicity.push_back(folded ? there : 1);
    levels.emplace_back();
    for (uint32_t s = 0; s < (folded ? 1 : there); ++s) {
      const std::string level = plain ? "out" : fmt::format("level{}_", l + 2);
      levels.back().push_back(
          add_node(Kind::out_switch, s, folded ? level + "s" : fmt::format("{}{}", level, s)));
      level_.push_back(static_cast<uint32_t>(l + 2));
    }
  }
  const uint32_t top = pool_.upper.back().switches;
  for (uint32_t r = 0; r < groups_; ++r) {
    add_node(Kind::group, r, folded ? "groups" : fmt::format("group{}", r));
    level_.push_back(static_cast<uint32_t>(levels.size() + 1));
  }
  // Classes in the order in which loads travel.
  const auto name_of = [&](size_t level) {
    return level == 0 ? std::string("in_switch")
           : plain    ? "out_switch"
                      : fmt::format("level{}_switch", level + 1);
  };
  group_hop_ = !folded;
  spreads_ways_ = !folded;
  const uint32_t group_class =
      add_class("group/" + name_of(pool_.upper.size()), divided(group_rate_, top), pool_.latency);
  std::vector<uint32_t> between(pool_.upper.size());
  for (size_t l = pool_.upper.size(); l-- > 0;)
    between[l] = add_class(name_of(l + 1) + "/" + name_of(l), pool_.upper[l].bandwidth, pool_.latency);
  const uint32_t npu_class = add_class("in_switch/npu", pool_.in_node_bandwidth, pool_.latency);
  // A switch's ports: those downwards first.
  for (uint32_t u = 0; u < npus_; ++u)
    join(u, npus_ + (u / (stride_ * per_node_) * stride_ + u % stride_), npu_class);
  for (size_t l = 0; l < pool_.upper.size(); ++l)
    for (const uint32_t upper : levels[l + 1])
      for (const uint32_t lower : levels[l])
        join(lower, upper, between[l], multiplicity[l] * multiplicity[l + 1]);
  round_links_ = folded ? static_cast<uint64_t>(pool_.groups) * top : 1;
  for (uint32_t r = 0; r < groups_; ++r)
    for (const uint32_t upper : levels.back())
      join(upper, group_node(r), group_class, folded ? static_cast<uint32_t>(round_links_) : 1);
}

uint32_t TieredLayout::next(uint32_t node, uint32_t destination, uint32_t way) const {
  const uint32_t level = level_[node];
  if (destination < npus_) {
    if (level == 1) return destination / stride_ % per_node_;
    if (level == 2) return destination / (stride_ * per_node_) * stride_ + destination % stride_;
    return switch_of(way, level - 3);  // of a level below, or a group's link
  }
  if (level == 0) return 0;
  const uint32_t below = level == 1   ? per_node_
                         : level == 2 ? pool_.nodes
                         : folded_    ? 1
                                      : pool_.upper[level - 3].switches;
  return below + (level - 1 < pool_.upper.size() ? switch_of(way, level - 1) : destination - group_node(0));
}

uint32_t PlacedLayout::next(uint32_t node, uint32_t destination, uint32_t way) const {
  if (node < npus_ || node >= group_node(0)) return 0;
  const uint32_t end = destination < npus_ ? destination : npus_ + destination - group_node(0);
  const uint32_t here = node - npus_;
  return here == place_of_[end] ? port_to_[end] : towards(here, place_of_[end], way);
}

uint32_t PlacedLayout::vc_class(uint32_t node, uint32_t destination, uint32_t way) const {
  if (node < npus_ || node >= group_node(0) || node - npus_ == place_of(destination)) return 0;
  return over_the_end(node - npus_, place_of(destination), way) ? 1 : 0;
}

void PlacedLayout::add_place(Kind kind, uint32_t index) {
  add_node(kind, index, fmt::format("{}{}", kind == Kind::in_switch ? "in" : "at_group", index));
}

void PlacedLayout::attach() {
  placed_ = true;
  for (uint32_t r = 0; r < groups_; ++r) add_node(Kind::group, r, fmt::format("group{}", r));
  const uint32_t group_class = add_class("group", group_rate_, 0);
  const uint32_t npu_class = add_class("in_switch/npu", pool_.in_node_bandwidth, pool_.latency);
  const uint32_t per_node = npus_ / pool_.nodes;
  for (uint32_t u = 0; u < npus_; ++u) {
    place_of_.push_back(node_place_[u / per_node]);
    port_to_.push_back(static_cast<uint16_t>(ports(router(place_of_.back())).size()));
    join(u, router(place_of_.back()), npu_class);
  }
  for (uint32_t r = 0; r < groups_; ++r) {
    place_of_.push_back(group_place_[r]);
    port_to_.push_back(static_cast<uint16_t>(ports(router(place_of_.back())).size()));
    join(router(place_of_.back()), group_node(r), group_class);
  }
}

RingLayout::RingLayout(const Config& config) : PlacedLayout(config, false) {
  places_ = pool_.nodes + pool_.groups;
  for (uint32_t u = 0; u < npus_; ++u) add_node(Kind::npu, u, fmt::format("npu{}", u));
  // In turns; where there are more of one kind, as evenly as possible.
  uint32_t node = 0;
  uint32_t group = 0;
  for (uint32_t p = 0; p < places_; ++p) {
    const bool is_group = node == pool_.nodes ||
                          (group < pool_.groups &&
                           uint64_t{2 * group + 1} * pool_.nodes <= uint64_t{2 * node + 1} * pool_.groups);
    if (is_group) {
      group_place_.push_back(p);
      add_place(Kind::router, group++);
    } else {
      node_place_.push_back(p);
      add_place(Kind::in_switch, node++);
    }
  }
  link_class_ = add_class("ring", pool_.out_node_bandwidth, pool_.latency);
  // Ports 0 and 1 are those up and down the ring.
  for (uint32_t p = 0; p < places_; ++p) join(router(p), router((p + 1) % places_), link_class_);
  attach();
  ways_ = 2;
}

bool RingLayout::upwards(uint32_t from, uint32_t to, uint32_t way) const {
  const uint32_t up = (to + places_ - from) % places_;
  return 2 * up != places_ ? 2 * up < places_ : (way & 1) == 0;
}

bool RingLayout::over_the_end(uint32_t from, uint32_t to, uint32_t way) const {
  return upwards(from, to, way) ? from > to : from < to;
}

uint32_t RingLayout::towards(uint32_t from, uint32_t to, uint32_t way) const {
  // The links are joined in the order of the places: place 0's up comes before its down.
  const bool first_is_up = from == 0;
  return upwards(from, to, way) == first_is_up ? 0 : 1;
}

MeshLayout::MeshLayout(const Config& config) : PlacedLayout(config, false) {
  width_ = pool_.width;
  height_ = pool_.height;
  const uint32_t places = width_ * height_;
  for (uint32_t u = 0; u < npus_; ++u) add_node(Kind::npu, u, fmt::format("npu{}", u));
  const bool edge = pool_.placement == PoolPlacement::edge;
  // Interleaved: groups on the fields whose coordinates have an even sum, then on others.
  std::vector<bool> is_group(places, false);
  uint32_t left = edge ? 0 : pool_.groups;
  for (const uint32_t odd : {0u, 1u})
    for (uint32_t p = 0; p < places; ++p)
      if ((p % width_ + p / width_) % 2 == odd && left > 0 && !is_group[p]) {
        is_group[p] = true;
        --left;
      }
  uint32_t node = 0;
  uint32_t group = 0;
  for (uint32_t p = 0; p < places; ++p) {
    if (is_group[p]) {
      group_place_.push_back(p);
      add_place(Kind::router, group++);
    } else {
      node_place_.push_back(p);
      add_place(Kind::in_switch, node++);
    }
  }
  for (uint32_t y = 0; edge && y < height_; ++y)
    for (const uint32_t x : {0u, width_ - 1}) group_place_.push_back(y * width_ + x);
  link_class_ = add_class("mesh", pool_.out_node_bandwidth, pool_.latency);
  ports_to_.resize(places);
  const auto join_places = [&](uint32_t a, uint32_t b, Way from_a, Way from_b) {
    ports_to_[a][from_a] = static_cast<uint16_t>(ports(router(a)).size());
    ports_to_[b][from_b] = static_cast<uint16_t>(ports(router(b)).size());
    join(router(a), router(b), link_class_);
  };
  const auto wraps = [&](uint32_t size) { return pool_.wraparound && size > 2; };
  for (uint32_t p = 0; p < places; ++p) {
    const uint32_t x = p % width_;
    const uint32_t y = p / width_;
    if (x + 1 < width_ || wraps(width_)) join_places(p, y * width_ + (x + 1) % width_, kRight, kLeft);
    if (y + 1 < height_ || wraps(height_)) join_places(p, (y + 1) % height_ * width_ + x, kDown, kUp);
  }
  attach();
}

bool MeshLayout::forward(uint32_t from, uint32_t to, uint32_t size) const {
  if (!pool_.wraparound || size <= 2) return to > from;
  const uint32_t steps = (to + size - from) % size;
  return 2 * steps <= size;
}

bool MeshLayout::over_the_end(uint32_t from, uint32_t to, uint32_t) const {
  const bool along_x = from % width_ != to % width_;
  const uint32_t here = along_x ? from % width_ : from / width_;
  const uint32_t there = along_x ? to % width_ : to / width_;
  return forward(here, there, along_x ? width_ : height_) ? here > there : here < there;
}

uint32_t MeshLayout::towards(uint32_t from, uint32_t to, uint32_t) const {
  const uint32_t x = from % width_;
  const uint32_t to_x = to % width_;
  if (x != to_x) return ports_to_[from][forward(x, to_x, width_) ? kRight : kLeft];
  return ports_to_[from][forward(from / width_, to / width_, height_) ? kDown : kUp];
}

}  // namespace weft::pool
