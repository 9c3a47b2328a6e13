// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// A memory pool as nodes and links: NPUs, switches and memory groups, and the way of every chunk between
// them. Kernel-free; the modules, the closed forms and the tests all ask it.
//
// Nodes are numbered: NPUs, in-node switches, the other switches, groups. A folded layout, for
// `split: fluid`, has one node for all switches of a level above the nodes and one for all groups, and links
// that stand for `count` links: a chunk that is spread evenly uses them alike.

#ifndef WEFT_WORKLOAD_POOL_POOL_LAYOUT_H
#define WEFT_WORKLOAD_POOL_POOL_LAYOUT_H

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "configs/config.h"

namespace weft::pool {

class PoolLayout {
 public:
  enum class Kind : uint8_t { npu, in_switch, out_switch, router, group };

  struct Node {
    Kind kind = Kind::npu;
    uint32_t index = 0;  ///< among its kind
    std::string name;    ///< of its module
  };
  /// Links that do the same: they have one rate.
  struct Class {
    std::string name;  ///< "out_switch/in_switch"
    Rate rate;         ///< of one link
    Picoseconds latency = 0;
  };
  /// Full duplex.
  struct Link {
    uint32_t a = 0;      ///< node, on the side of the NPUs
    uint32_t b = 0;      ///< node, on the side of the groups
    uint32_t cls = 0;    ///< classes()
    uint32_t count = 1;  ///< links that it stands for
  };
  struct Port {
    uint32_t link = 0;
    uint32_t peer = 0;
    uint16_t peer_port = 0;
    bool at_a = false;  ///< this is the link's end `a`
  };

  /// `folded`: see above; only hierarchical and multi_level pools fold. `config` has a memory_pool.
  static std::unique_ptr<PoolLayout> make(const Config& config, bool folded);
  /// `split: fluid`, or no chunks at all, on a design that folds. Packets have real links, and so have groups
  /// with a memory of their own.
  static bool folds(const MemoryPoolConfig& pool);

  virtual ~PoolLayout() = default;

  uint32_t npus() const { return npus_; }
  uint32_t groups() const { return groups_; }  ///< nodes: 1 when folded
  uint32_t nodes() const { return static_cast<uint32_t>(nodes_.size()); }
  const Node& node(uint32_t n) const { return nodes_[n]; }
  uint32_t group_node(uint32_t group) const { return nodes() - groups_ + group; }
  bool folded() const { return folded_; }
  uint32_t group_ports() const { return static_cast<uint32_t>(ports_[group_node(0)].size()); }
  /// Groups serve by themselves before their links (a hop of its own); false: the link is the service.
  bool group_hop() const { return group_hop_; }
  Rate group_rate() const { return group_rate_; }
  /// Links that share a chunk's round: of a group node.
  uint64_t round_links() const { return round_links_; }
  /// Ways between a group and an NPU, by which chunks are striped.
  uint32_t ways() const { return ways_; }

  /// What of a tensor is in one group, and goes one way, with `split: fluid`.
  struct Share {
    uint32_t group = 0;
    uint32_t way = 0;
    Wide offset = 0;
    Wide bytes = 0;
  };
  /// Shares of a tensor of NPU u (in-switch: of all, u = 0), in the order of their offsets; some may be
  /// empty.
  std::vector<Share> shares(Wide tensor, uint32_t u) const;
  /// .. where a group's share goes one way.
  uint32_t fluid_way(uint32_t group, uint32_t npu) const { return folded_ ? 0 : (group + npu) % ways_; }
  /// They go all ways: of levels of switches that are not folded.
  bool spreads_ways() const { return spreads_ways_; }

  const std::vector<Class>& classes() const { return classes_; }
  /// Its links carry one access in both directions: those of a ring or mesh.
  bool both_ways(uint32_t cls) const { return all_both_ways_ || (placed_ && cls == 0); }
  const std::vector<Link>& links() const { return links_; }
  const std::vector<Port>& ports(uint32_t node) const { return ports_[node]; }
  Rate rate(const Link& link) const;  ///< of all that it stands for

  /// The port by which a message leaves `node` for an NPU or a group (a node's number).
  virtual uint32_t next(uint32_t node, uint32_t destination, uint32_t way) const = 0;

  /// Classes of virtual channels by which no cycle of buffers closes, and the class of a packet that leaves
  /// `node` for `destination`.
  virtual uint32_t vc_classes() const { return 1; }
  virtual uint32_t vc_class(uint32_t node, uint32_t destination, uint32_t way) const {
    (void)node, (void)destination, (void)way;
    return 0;
  }

  /// A link in one direction: 2 x link, and 1 more if it is from `b` to `a`.
  static uint32_t directed(const Port& from) { return 2 * from.link + (from.at_a ? 0 : 1); }
  /// The directed links of the way between a group and an NPU.
  std::vector<uint32_t> path(uint32_t group, uint32_t npu, uint32_t way, bool store) const;

  /// The tree by which a chunk of a group gets to all members; sums go the other way.
  struct Tree {
    std::vector<std::vector<uint16_t>> children;  ///< ports by node; none: the node is not part of it
    std::vector<uint16_t> parent;  ///< port by node; of the node next to the group: to one of the groups
    std::vector<uint32_t> links;   ///< directed, each once, from the group on, without the group's own
    uint32_t depth = 0;            ///< links from the group to the farthest NPU
  };
  const Tree& tree(uint32_t group, uint32_t way, uint32_t members = 0) const;

  /// NPUs that take part in in-switch accesses, ascending, as a number: 0 is all. Empty: all.
  uint32_t members_number(const std::vector<uint32_t>& npus) const;
  const std::vector<uint32_t>& members(uint32_t number) const { return members_[number]; }

  /// A node and port of the machine's graph.
  struct GraphEnd {
    uint32_t node = 0;
    uint32_t port = 0;
  };
  /// What sends on the link of this port in the machine; of design `graph` only.
  virtual GraphEnd graph_end(uint32_t node, uint32_t port) const { return {node, port}; }

 protected:
  PoolLayout(const Config& config, bool folded);

  uint32_t add_node(Kind kind, uint32_t index, std::string name);
  uint32_t add_class(std::string name, Rate rate, Picoseconds latency);
  void join(uint32_t a, uint32_t b, uint32_t cls, uint32_t count = 1);
  /// Trees of different groups are the same but for the group's own link.
  virtual uint64_t tree_key(uint32_t group, uint32_t way) const {
    return static_cast<uint64_t>(way) << 32 | group;
  }

  const MemoryPoolConfig& pool_;
  uint32_t npus_;
  uint32_t groups_;
  bool folded_;
  bool group_hop_ = false;
  Rate group_rate_;
  bool all_both_ways_ = false;  ///< those of a graph
  bool spreads_ways_ = false;
  bool placed_ = false;  ///< class 0 joins places of a ring or mesh
  uint64_t round_links_ = 1;
  uint32_t ways_ = 1;

 private:
  virtual Tree make_tree(uint32_t group, uint32_t way, const std::vector<uint32_t>& npus) const;

  std::vector<Node> nodes_;
  std::vector<Class> classes_;
  std::vector<Link> links_;
  std::vector<std::vector<Port>> ports_;
  mutable std::map<std::pair<uint32_t, uint64_t>, Tree> trees_;
  mutable std::deque<std::vector<uint32_t>> members_;  ///< whose addresses others keep
};

}  // namespace weft::pool

#endif
