// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// A memory pool in a packet network of the machine, where collectives and chunks contend: the graph's
// (`design: graph`), or that of all dimensions (`share`). The links of the layout that the machine has are
// the machine's; the others, and their switches, join the network. The pool sends through it as a guest
// (PacketTopology::guests), on a virtual network of its own. Kernel-free.

#ifndef WEFT_SC_MODELS_POOL_POOL_GUESTS_H
#define WEFT_SC_MODELS_POOL_POOL_GUESTS_H

#include <memory>
#include <string>
#include <vector>

#include "sc_models/packet_region.h"
#include "sc_models/pool/pool_network.h"

namespace weft {

class PoolGuests final : public PoolWays {
 public:
  /// The region with these dimensions (none: the graph) carries the pool of the configuration.
  static bool live_in(const Config& config, const std::vector<uint32_t>& dimensions);
  /// Rates of the links that the pool adds.
  static std::vector<Rate> rates(const Config& config);
  /// The virtual network of the pool's messages.
  static uint32_t network(const Config& config) { return config.packet.virtual_networks; }

  /// Adds the pool to a region whose interfaces and units are complete. `config` outlives the region.
  static void join(const Config& config, PacketRegion& region);

  uint32_t destination(uint32_t node, uint32_t port, uint32_t way) const override {
    return base_ + PoolWays::destination(node, port, way);
  }
  uint32_t neighbour(uint32_t node, uint32_t port) const override {
    return base_ + PoolWays::destination(node, port, layout_.ways());
  }
  uint32_t interface_at(uint32_t node, uint32_t port) const override {
    return ends_[rank_of(node, port)].interface;
  }
  Sender sender(uint32_t node, uint32_t port) const override { return ends_[rank_of(node, port)].sender; }
  bool shared(uint32_t node, uint32_t port) const override { return ends_[rank_of(node, port)].shared; }

  // GivenWays
  Hop next(uint32_t router, uint32_t destination) const override;
  uint32_t rank(uint32_t destination) const override;
  uint32_t interface(uint32_t destination) const override;

 private:
  PoolGuests(const Config& config, std::unique_ptr<pool::PoolLayout> layout, PacketRegion& region);

  void find_graph(const Config& config);
  void find_dimension(const Config& config);
  void add_links(const Config& config);
  void add_inner();

  static constexpr uint32_t kNone = ~0u;

  /// Of a port of a node.
  struct End {
    uint32_t interface = kNone;
    uint32_t rank = kNone;  ///< of the interface
    uint32_t port = kNone;  ///< of the node's router
    bool shared = false;    ///< the link is the machine's
    Sender sender;
  };
  uint32_t end_of(uint32_t node, uint32_t port) const { return rank_of(node, port); }
  void add_interface(uint32_t rank, uint32_t router, uint32_t link);

  const std::unique_ptr<pool::PoolLayout> own_layout_;
  packet::PacketTopology* topology_;  ///< while it is built
  const std::vector<uint32_t> dimensions_;
  uint32_t base_;
  std::vector<End> ends_;             ///< by the layout's rank
  std::vector<uint32_t> router_;      ///< by node; kNone: the machine's switch begins at its interface
  std::vector<uint32_t> node_at_;     ///< by router; kNone: not of the pool
  std::vector<uint32_t> inner_link_;  ///< by the link served
};

}  // namespace weft

#endif
