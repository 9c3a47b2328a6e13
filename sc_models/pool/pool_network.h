// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// The packet network of a memory pool with links of its own: a router for every switch, and interfaces at
// the ends of the layout's links. Kernel-free, so that `weft validate` can look at it.

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
class PoolWays final : public packet::GivenWays {
 public:
  /// `layout` outlives it, and is not folded.
  explicit PoolWays(const pool::PoolLayout& layout);

  uint32_t ranks() const { return first_.back(); }
  uint32_t rank_of(uint32_t node, uint32_t port) const { return first_[node] + port; }
  /// What a message from a group to an NPU or back is sent to. `port`: by which it comes.
  uint32_t destination(uint32_t node, uint32_t port, uint32_t way) const {
    return rank_of(node, port) + way * ranks();
  }
  uint32_t router_of(uint32_t node) const { return node - layout_.npus(); }
  bool is_switch(uint32_t node) const { return node >= layout_.npus() && node < layout_.group_node(0); }

  Hop next(uint32_t router, uint32_t destination) const override;
  uint32_t rank(uint32_t destination) const override { return destination % ranks(); }
  uint32_t vc_classes() const override { return layout_.vc_classes(); }

 private:
  const pool::PoolLayout& layout_;
  std::vector<uint32_t> first_;  ///< rank of its port 0, by node; and how many there are
  std::vector<uint32_t> node_;   ///< by rank
};

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
