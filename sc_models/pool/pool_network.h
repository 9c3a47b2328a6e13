// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// The packet network of a memory pool with links of its own: a router for every switch, and interfaces at
// the ends of the layout's links. Kernel-free, so that `weft validate` can look at it. PoolGuests
// (pool_guests.h) is the same in a network of the machine.

#ifndef WEFT_SC_MODELS_POOL_POOL_NETWORK_H
#define WEFT_SC_MODELS_POOL_POOL_NETWORK_H

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "configs/config.h"
#include "tlm_interconnect/packet/network_interface.h"
#include "tlm_interconnect/packet/packet_config.h"
#include "tlm_interconnect/packet/topology.h"
#include "workload/pool/pool_layout.h"

namespace weft {

/// Every port of every node has an interface: those of NPUs and groups are the ends of their links, and those
/// of switches are where the switch takes part: contributions to a sum end there, copies begin there. The
/// interface's number is its rank. A destination is a rank and a way.
class PoolWays : public packet::GivenWays {
 public:
  /// `layout` outlives it, and is not folded.
  explicit PoolWays(const pool::PoolLayout& layout);

  uint32_t ranks() const { return first_.back(); }
  uint32_t rank_of(uint32_t node, uint32_t port) const { return first_[node] + port; }
  /// What a message from a group to an NPU or back is sent to. `port`: by which it comes.
  virtual uint32_t destination(uint32_t node, uint32_t port, uint32_t way) const {
    return rank_of(node, port) + way * ranks();
  }
  /// .. from a node to its neighbour, which it reaches by that port.
  virtual uint32_t neighbour(uint32_t node, uint32_t port) const { return rank_of(node, port); }
  /// The network's interface at a port of a node.
  virtual uint32_t interface_at(uint32_t node, uint32_t port) const { return rank_of(node, port); }
  /// What sends on the link that leaves a node by a port.
  struct Sender {
    bool of_interface = false;
    uint32_t module = 0;  ///< number of the interface or router
    uint32_t port = 0;    ///< of a router
  };
  virtual Sender sender(uint32_t node, uint32_t port) const;
  /// The link is in the results of the machine.
  virtual bool shared(uint32_t node, uint32_t port) const { return (void)node, (void)port, false; }
  uint32_t router_of(uint32_t node) const { return node - layout_.npus(); }
  bool is_switch(uint32_t node) const { return node >= layout_.npus() && node < layout_.group_node(0); }

  Hop next(uint32_t router, uint32_t destination) const override;
  uint32_t rank(uint32_t destination) const override { return destination % ranks(); }
  uint32_t vc_classes() const override { return layout_.vc_classes(); }

 protected:
  uint32_t node_of(uint32_t rank) const { return node_[rank]; }
  uint32_t port_of(uint32_t rank) const { return rank - first_[node_[rank]]; }

  const pool::PoolLayout& layout_;

 private:
  std::vector<uint32_t> first_;  ///< rank of its port 0, by node; and how many there are
  std::vector<uint32_t> node_;   ///< by rank
};

/// Of the links of a class. `network`: whose links they are.
packet::LinkTiming pool_link_timing(const Config& config, const packet::PacketConfig& network,
                                    const pool::PoolLayout::Class& links);
/// Throws UserError for more interfaces or destinations than a network can have.
void check_pool_size(const Config& config, const PoolWays& ways, uint64_t ways_of_each);

struct PoolNetwork {
  packet::PacketConfig config;
  packet::Segmentation segmentation;
  packet::PacketTopology topology;
  std::shared_ptr<const PoolWays> ways;  ///< of the topology
};

/// `config` has a memory_pool at packet fidelity; `layout` outlives what is made. Throws UserError when the
/// keys of `packet` do not fit.
PoolNetwork make_pool_network(const Config& config, const pool::PoolLayout& layout);

/// What works and is not as it should be: buffers that cannot cover the credit round trip, a clock slower
/// than the links.
std::vector<std::string> pool_network_warnings(const Config& config, const pool::PoolLayout& layout,
                                               const PoolNetwork& network);

}  // namespace weft

#endif
