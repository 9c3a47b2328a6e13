// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// The designs of memory pools. Private to this folder; PoolLayout::make() makes them.

#ifndef WEFT_WORKLOAD_POOL_LAYOUTS_H
#define WEFT_WORKLOAD_POOL_LAYOUTS_H

#include <array>
#include <vector>

#include "workload/pool/pool_layout.h"

namespace weft::pool {

/// hierarchical and multi_level: levels of switches, each joined completely with the next.
class TieredLayout final : public PoolLayout {
 public:
  TieredLayout(const Config& config, bool folded);
  uint32_t next(uint32_t node, uint32_t destination, uint32_t way) const override;

 private:
  uint64_t tree_key(uint32_t, uint32_t way) const override { return way; }
  uint32_t switch_of(uint32_t way, size_t level) const {
    return folded_ ? 0 : way / strides_[level] % pool_.upper[level].switches;
  }

  uint32_t per_node_;
  uint32_t stride_;                ///< of the shared dimension; 1: a node's NPUs are neighbours
  std::vector<uint32_t> strides_;  ///< of the ways, by level
  std::vector<uint32_t> level_;    ///< by node: 0 NPU, 1 in-node switch, ..
};

/// What ring and mesh have in common: places with routers, and NPUs or a group at each.
class PlacedLayout : public PoolLayout {
 public:
  uint32_t next(uint32_t node, uint32_t destination, uint32_t way) const final;
  uint32_t vc_class(uint32_t node, uint32_t destination, uint32_t way) const final;

 protected:
  using PoolLayout::PoolLayout;

  static constexpr uint32_t kNone = ~0u;
  /// The router of a node's or group's place.
  void add_place(Kind kind, uint32_t index);
  /// Attaches NPUs and groups; after the links between places.
  void attach();
  /// The port of the router at place `from` towards place `to`, another one.
  virtual uint32_t towards(uint32_t from, uint32_t to, uint32_t way) const = 0;
  /// The way there leads round a circle, over its end (Dally and Seitz: class 1 until it has passed it).
  virtual bool over_the_end(uint32_t from, uint32_t to, uint32_t way) const = 0;
  uint32_t router(uint32_t place) const { return npus_ + place; }

  uint32_t link_class_ = 0;
  std::vector<uint32_t> group_place_;  ///< by group
  std::vector<uint32_t> node_place_;   ///< by compute node

 private:
  uint32_t place_of(uint32_t end) const { return place_of_[end < npus_ ? end : npus_ + end - group_node(0)]; }

  std::vector<uint32_t> place_of_;  ///< by NPU, then by group
  std::vector<uint16_t> port_to_;   ///< likewise: of the router there
};

class RingLayout final : public PlacedLayout {
 public:
  explicit RingLayout(const Config& config);
  uint32_t vc_classes() const override { return 2; }

 private:
  uint32_t towards(uint32_t from, uint32_t to, uint32_t way) const override;
  bool over_the_end(uint32_t from, uint32_t to, uint32_t way) const override;
  bool upwards(uint32_t from, uint32_t to, uint32_t way) const;
  uint32_t places_;
};

class MeshLayout final : public PlacedLayout {
 public:
  explicit MeshLayout(const Config& config);
  uint32_t vc_classes() const override { return pool_.wraparound ? 2 : 1; }

 private:
  enum Way : uint8_t { kLeft, kRight, kUp, kDown };
  uint32_t towards(uint32_t from, uint32_t to, uint32_t way) const override;
  bool over_the_end(uint32_t from, uint32_t to, uint32_t way) const override;
  /// Steps along one axis: the way with the smaller number of steps.
  bool forward(uint32_t from, uint32_t to, uint32_t size) const;
  uint32_t width_, height_;
  std::vector<std::array<uint16_t, 4>> ports_to_;  ///< by place and Way
};

}  // namespace weft::pool

#endif
