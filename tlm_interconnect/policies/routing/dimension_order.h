// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Dimension order on any mix of Ring, Mesh, FullyConnected and Switch dimensions: the lowest dimension that
// differs is corrected first, the shorter way round a ring, both ways where they are equally long. Inside a
// tree of switches all ways up that are equally short, to a nearest common ancestor.

#ifndef WEFT_TLM_INTERCONNECT_POLICIES_ROUTING_DIMENSION_ORDER_H
#define WEFT_TLM_INTERCONNECT_POLICIES_ROUTING_DIMENSION_ORDER_H

#include "tlm_interconnect/policies/routing/ring_classes.h"
#include "tlm_interconnect/policies/routing/routing_policy.h"

namespace weft::packet {

class DimensionOrder final : public RoutingPolicy {
 public:
  DimensionOrder(const PacketTopology& topology, const PacketConfig& config);
  void route(const RouteQuery& query, std::vector<RouteCandidate>& candidates) const override;
  bool by_destination(uint32_t router) const override;

 private:
  void along(const RouteQuery& query, const TopologyRouter& router, uint32_t dimension,
             std::vector<RouteCandidate>& candidates) const;

  const PacketTopology& topology_;
  RingClasses classes_;
  VcLayout layout_;
  bool rings_;                         ///< some dimension wraps: ways depend on where a packet comes from
  std::vector<uint16_t> coordinates_;  ///< of ranks, dimension by dimension
};

}  // namespace weft::packet

#endif
