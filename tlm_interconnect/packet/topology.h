// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// A packet network as a neutral description: routers, ports, links, network interfaces. Generators make the
// regular ones; an explicit graph is built with add_router / connect / attach. Kernel-free.

#ifndef WEFT_TLM_INTERCONNECT_PACKET_TOPOLOGY_H
#define WEFT_TLM_INTERCONNECT_PACKET_TOPOLOGY_H

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "configs/blueprint/shape.h"
#include "configs/ticks.h"
#include "configs/tree.h"
#include "configs/types.h"

namespace weft::packet {

/// Timing of one direction of a link. Zero means "one cycle of the network".
struct LinkTiming {
  Ticks latency = 0;
  Ticks credit_latency = 0;  ///< 0: as `latency`
  Ticks flit_time = 0;       ///< how long a flit occupies the link
  double flit_error =
      0;             ///< chance that a flit is damaged; it and what follows are sent again (link-level retry)
  Ticks replay = 0;  ///< what a repetition costs; 0: a round trip of the link
  bool pfc = false;  ///< routers at its ends pause what sends to them (PacketConfig::pfc)
};

struct TopologyPort {
  bool ni = false;         ///< the peer is a network interface, else a router
  uint32_t peer = 0;       ///< its index
  uint32_t peer_port = 0;  ///< the port at the peer router
  uint32_t link = 0;       ///< index into PacketTopology::links
  bool up = false;         ///< trees: towards the roots
  bool sends = true;       ///< false: the receiving end of a one-way link, from which only credits go back
};

enum class RouterRole : uint8_t { npu, dimension_switch, tree, graph };

struct TopologyRouter {
  std::string name;
  RouterRole role = RouterRole::graph;
  uint32_t rank = 0;       ///< npu: its rank; dimension_switch: the lowest rank it joins
  uint32_t dimension = 0;  ///< dimension_switch: which one it is
  uint32_t node = 0;       ///< dimension_switch of a tree: its node of Tree::graph(), whose ports are its own
  uint32_t level = 0;      ///< tree: 0 is the root level
  uint32_t position = 0;   ///< tree: within the level
  std::vector<TopologyPort> ports;
  /// npu: the ports of its links, by dimension (see PacketTopology::port_of); dimension_switch: port of each
  /// coordinate.
  std::vector<uint32_t> ways;
  /// With lanes: of each port the port of the network interface that serves it (its own, for those); else
  /// empty.
  std::vector<uint32_t> lanes;
  /// dimension_switch with a collective unit: of each port to an NPU the port of the unit's interface that
  /// serves it; else empty.
  std::vector<uint32_t> unit_lanes;
};

struct TopologyDimension {
  Shape shape;  ///< of its lines
  LinkTiming link;
  std::shared_ptr<const Tree> tree;  ///< keeps shape.tree()
  std::vector<LinkTiming> levels;    ///< of the tree's links above the NPUs' own, from level 1 up
};

struct NiAttachment {
  uint32_t router = 0;
  uint32_t port = 0;
  uint32_t rank = 0;  ///< whose it is; interface i < PacketTopology::ranks() is the first one of rank i
};

/// Ways that who makes a topology knows, in place of a routing policy.
class GivenWays {
 public:
  struct Hop {
    uint32_t port = 0;
    uint32_t vc_class = 0;
  };
  virtual ~GivenWays() = default;
  /// Where a packet goes on at a router that is not the destination's.
  virtual Hop next(uint32_t router, uint32_t destination) const = 0;
  /// Whose the destination is: several may be one rank, by different ways.
  virtual uint32_t rank(uint32_t destination) const = 0;
  /// Its interface: NetworkInterface::rank() of it is rank(destination).
  virtual uint32_t interface(uint32_t destination) const { return rank(destination); }
  /// Classes of VCs, so that no cycle of buffers closes.
  virtual uint32_t vc_classes() const { return 1; }
};

struct PacketTopology {
  std::string name;
  std::string routing;                        ///< the policy this topology is made for
  std::string selection;                      ///< how to choose among equal routes
  std::vector<TopologyDimension> dimensions;  ///< regular topologies; empty for trees and graphs
  std::vector<uint32_t> strides;              ///< ranks from one coordinate to the next, per dimension
  std::vector<uint32_t> way_offset;           ///< npu routers: where a dimension's entries start in `ways`
  uint32_t arity = 0;                         ///< trees: k
  uint32_t levels = 0;                        ///< trees: n
  std::vector<TopologyRouter> routers;
  std::vector<NiAttachment> nis;
  std::vector<LinkTiming> links;
  /// Routing `table`: the ports at router r that lead to rank n are table_ports[table_first[i]] up to
  /// table_ports[table_first[i + 1]], i = n * routers + r. Empty: there is no table.
  std::vector<uint32_t> table_first;
  std::vector<uint16_t> table_ports;
  uint32_t more_nis = 0;  ///< interfaces beyond the first one of each rank (add_lanes, add_unit)
  std::shared_ptr<const GivenWays> ways;  ///< null: a routing policy finds the ways
  /// The switches of collective units. Unit u is the destination ranks() + u of contributions.
  std::vector<uint32_t> units;
  /// Whoever else sends through this network, such as a memory pool, by ways of its own: destinations from
  /// `first_guest` on are its, and links from `first_guest_link` on. A policy knows nothing of them.
  std::shared_ptr<const GivenWays> guests;
  uint32_t first_guest = ~0u;
  uint32_t first_guest_link = ~0u;

  uint32_t ranks() const { return static_cast<uint32_t>(nis.size()) - more_nis; }
  uint32_t coordinate(uint32_t rank, uint32_t dimension) const {
    return rank / strides[dimension] % dimensions[dimension].shape.size();
  }
  /// npu router: the port of a link, numbered as the dimension's shape does (Shape::link_to).
  uint32_t port_of(const TopologyRouter& router, uint32_t dimension, uint32_t link) const {
    return router.ways[way_offset[dimension] + link];
  }

  // -- for explicit graphs
  uint32_t add_link(const LinkTiming& timing);
  uint32_t add_router(const std::string& router_name);
  /// A link between two routers, full-duplex or for flits from `a` to `b` only (their credits have a way back
  /// of their own); answers the two ports.
  std::pair<uint32_t, uint32_t> connect(uint32_t a, uint32_t b, uint32_t link, bool bidirectional = true);
  /// A network interface (the next rank) at a router.
  uint32_t attach(uint32_t router, uint32_t link);

  /// Gives every rank one network interface for each link of its router, as fast as that link: what leaves by
  /// the link goes in there, what came by the link goes out there. With a single interface a rank would be
  /// limited to one flit a cycle over all its links, and a packet that waits for one link would hold up those
  /// for the others. Interfaces directly at a switch have one link and stay as they are.
  void add_lanes();
  /// The interface of a rank that serves a port of its router.
  uint32_t lane(uint32_t rank, uint32_t port) const {
    const TopologyRouter& router = routers[nis[rank].router];
    return router.lanes.empty() ? rank : router.ports[router.lanes[port]].peer;
  }
  /// Where a packet for `rank` that came in by `in_port` leaves the router of that rank.
  uint32_t ejection(uint32_t rank, uint32_t in_port) const {
    const TopologyRouter& router = routers[nis[rank].router];
    return router.lanes.empty() ? nis[rank].port : router.lanes[in_port];
  }
  /// A packet that has just been injected prefers the output its lane is for, where that is one of several.
  bool lane_of(const TopologyRouter& router, uint32_t in_port, uint32_t out_port) const {
    return !router.lanes.empty() && router.ports[in_port].ni && router.lanes[out_port] == in_port;
  }

  /// Gives a dimension_switch a collective unit: an interface for every port to an NPU, as fast as that
  /// port's link. What came by the port for the unit goes out to its interface, and what the unit sends by
  /// the port comes in there. Call after add_lanes().
  void add_unit(uint32_t router);
  /// An interface of a guest, the next one; `rank` is its number as a destination. Answers its port.
  uint32_t add_guest(uint32_t router, uint32_t link, uint32_t rank);
  /// The unit at a router; units.size(): it has none.
  uint32_t unit_at(uint32_t router) const;

  static constexpr uint32_t kUnreached = ~0u;
  /// Links from a router to every router over the fewest links; kUnreached where no way leads.
  std::vector<uint32_t> hops_from(uint32_t router) const { return hops(router, true); }
  /// .. from every router to this one.
  std::vector<uint32_t> hops_to(uint32_t router) const { return hops(router, false); }
  /// Has a link that goes one way only.
  bool one_way() const;
  /// Has a link with priority flow control.
  bool has_pfc() const;

  /// Throws UserError if a port is dangling, an index is out of range or a rank cannot reach another.
  void check() const;

 private:
  std::vector<uint32_t> hops(uint32_t router, bool from) const;
};

/// Direct dimensions share one router an NPU; every Switch dimension has a crossbar, or a tree of them, per
/// group. A single Switch dimension is one crossbar, or tree, with the network interfaces at its ports.
PacketTopology make_dimensions(const std::vector<TopologyDimension>& dimensions, const LinkTiming& ni_link);
/// k-ary n-tree: k^n network interfaces, n levels of k^(n-1) routers with k ports down and k up (the roots:
/// only down).
PacketTopology make_fat_tree(uint32_t k, uint32_t n, const LinkTiming& link, const LinkTiming& ni_link);
/// With links of their own for each level, from the leaves up: n - 1 entries.
PacketTopology make_fat_tree(uint32_t k, uint32_t n, const std::vector<LinkTiming>& levels,
                             const LinkTiming& ni_link);
/// Every leaf joined to every spine; ranks are network interfaces at the leaves. Spines by a hash of the
/// flow.
PacketTopology make_clos(uint32_t hosts, uint32_t leaves, uint32_t spines, const LinkTiming& link);
/// Any notation that configurations take: "Ring(4)_Mesh(8)_Switch(8)", "FatTree(k=4,n=3)", all links alike.
PacketTopology make_from_notation(const std::string& notation, const LinkTiming& link,
                                  const LinkTiming& ni_link);

}  // namespace weft::packet

#endif
