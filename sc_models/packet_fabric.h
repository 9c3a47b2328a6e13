// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// The packet networks of one region (a run of adjacent dimensions at packet fidelity): one for each
// combination of the other coordinates. NMUs hand messages over and get them back at the NPU where the region
// ends for them.

#ifndef WEFT_SC_MODELS_PACKET_FABRIC_H
#define WEFT_SC_MODELS_PACKET_FABRIC_H

#include <memory>
#include <string>
#include <vector>

#include "configs/blueprint/geometry.h"
#include "configs/config.h"
#include "sc_models/component.h"
#include "sc_models/link_cuts.h"
#include "sc_models/network_joiner.h"
#include "sc_models/packet_hops.h"
#include "sc_models/packet_parts.h"
#include "sc_models/packet_region.h"
#include "tlm_interconnect/packet/packet_network.h"

namespace weft::insight {
class CausalLog;
}

namespace weft {

class PacketFabric : public Component {
 public:
  /// Builds the networks below the module that is being constructed. `config` and `geometry` outlive it.
  /// `suffix`: of their names, to tell them from others that begin with the same dimension. `cuts`: joins
  /// the links. `links`: of a machine in parts, else null.
  PacketFabric(const Config& config, const Geometry& geometry, const PacketRegion& region,
               const std::string& suffix, LinkCuts& cuts, PartLinks* links);

  // Component: of all its networks
  void count(Counters& counters) const override;
  void for_each_link(const LinkVisitor& visit) const override {
    for (uint32_t n = 0; n < networks(); ++n) links_of(n, visit);
  }
  LinkPlace link_place() const override { return LinkPlace::packets; }
  std::string stall_text() const override;
  void find_unbalanced(std::vector<std::string>& lines) const override;

  /// Tells the log's listener of what crosses its links, burst by burst, and follows the packets over them if
  /// the log keeps anything. While the machine is built.
  void tell_bursts(insight::CausalLog& log);
  /// For who is just told that a message has arrived at `place`: the way of the packet that completed it.
  /// Empty: nobody follows packets.
  std::vector<PacketHop> take_hops(uint32_t place) {
    return hops_.empty() ? std::vector<PacketHop>{} : hops_[network_[place]].take();
  }

  /// Of a network, after tell_bursts(). Null: nobody follows packets.
  PacketHops* hops(uint32_t network) { return hops_.empty() ? nullptr : &hops_[network]; }

  const std::vector<uint32_t>& dimensions() const { return dimensions_; }
  uint32_t networks() const { return static_cast<uint32_t>(networks_.size()); }
  packet::PacketNetwork& network(uint32_t i) { return *networks_[i]; }
  const packet::PacketNetwork& network(uint32_t i) const { return *networks_[i]; }

  /// What arrives at a place is told to `sink`.
  void attach(uint32_t place, packet::PacketSink& sink);
  /// .. and at an interface of a collective unit, with what is sent from there.
  packet::NetworkInterface& attach_unit(uint32_t place, uint32_t dimension, packet::PacketSink& sink);
  /// Hands a message over at its first NPU; `message.destination` is set. `reverse`: of two equal ways round
  /// a ring take the descending one.
  /// `flow` chooses among equal ways of a graph.
  /// `to`: a place, or a collective unit (kUnitPeer | dimension).
  void send(uint32_t from, uint32_t to, bool reverse, uint64_t flow, packet::Message message);
  /// What the collective unit of a place's switch in `dimension` sends to that place, by `interface`
  /// (attach_unit).
  void send_result(packet::NetworkInterface& interface, uint32_t place, packet::Message message) const;

  /// Where the message's leg in this region ends: its destination's coordinates in the region's dimensions.
  uint32_t end_of_leg(uint32_t from, uint32_t destination) const;
  /// Does the first link on the way lead to smaller coordinates of a ring or mesh?
  bool leaves_descending(uint32_t from, uint32_t to, bool reverse) const;
  /// The next NPU on the way there (`packet.forwarding: software`).
  uint32_t next_hop(uint32_t from, uint32_t to, bool reverse) const;

  /// A message of `bytes` alone in the network, from one place to another. One of the two may be the
  /// collective unit (kUnitPeer | dimension) of the other's switch.
  struct Unloaded {
    Picoseconds latency = 0;    ///< of its first flit
    Picoseconds serialise = 0;  ///< of all of them on the slowest link
  };
  Unloaded unloaded(uint32_t from, uint32_t to, uint64_t bytes) const;

  /// One flow that DCQCN has slowed down: what an interface sends to one NPU.
  struct FlowUse {
    std::string interface;     ///< hierarchical name
    uint32_t source = 0;       ///< rank
    uint32_t destination = 0;  ///< rank
    uint64_t notifications = 0;
    double lowest_rate = 0;      ///< bytes a second
    double line_rate = 0;        ///< of the interface, the same
    Picoseconds below_line = 0;  ///< time at less
  };
  /// In a fixed order.
  std::vector<FlowUse> slowed_flows() const;

 private:
  uint32_t submit(packet::NetworkInterface& interface, packet::Message& message) const;
  void links_of(uint32_t n, const LinkVisitor& visit) const;
  /// Calls interface(rank) and output(router, port) for what sends on the links of a network.
  template <typename Interface, typename Output>
  void for_each_sender(uint32_t n, Interface&& interface, Output&& output) const;
  /// The switch of a place's line, in its network.
  uint32_t switch_of(uint32_t place, uint32_t dimension) const;
  LinkReport report_of(uint32_t n, uint32_t router, uint32_t port) const;
  /// A network that is being built, or is.
  struct Named {
    uint32_t number = 0;
    std::string name;
    const packet::PacketTopology& topology;
  };
  /// The link that leaves a router by a port, without what it has carried. Also of those within an NPU or a
  /// switch, which are in no results.
  LinkReport name_of(const Named& network, uint32_t router, uint32_t port) const;
  class Joiner;
  std::unique_ptr<PacketParts> parts_of(uint32_t n, const packet::PacketTopology& topology,
                                        PartLinks* links) const;
  uint32_t entry(uint32_t from, uint32_t to, bool reverse, uint64_t flow) const;
  uint32_t index_of(uint32_t dimension) const;
  /// Where a message goes first: along the first of the region's dimensions in which the places differ.
  struct Step {
    uint32_t index = 0;  ///< of the dimension in the region
    uint32_t dimension = 0;
    uint32_t here = 0;  ///< coordinate; `there` is the same: the places do not differ
    uint32_t there = 0;
  };
  Step first_step(uint32_t from, uint32_t to) const;

  const Config& config_;
  const PacketFabricConfig packet_;  ///< of its messages
  const Geometry& geometry_;
  const std::vector<uint32_t> dimensions_;
  const Ticks cycle_;
  std::vector<uint32_t> network_;                    ///< by place
  std::vector<uint32_t> local_;                      ///< by place: its rank in its network
  std::vector<std::vector<uint32_t>> places_;        ///< by network and rank
  packet::PacketWheel wheel_;                        ///< of all its networks
  std::vector<std::unique_ptr<PacketParts>> parts_;  ///< by network; null: it is whole
  std::vector<std::unique_ptr<packet::PacketNetwork>> networks_;
  RouterBlocks blocks_;
  std::vector<std::unique_ptr<packet::BurstWatch>> watches_;
  std::vector<PacketHops> hops_;  ///< by network; empty: nobody asks
};

}  // namespace weft

#endif
