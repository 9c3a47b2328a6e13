// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// k-ary n-trees: any way up to a router above the destination, then the only way down.

#ifndef WEFT_TLM_INTERCONNECT_POLICIES_ROUTING_NEAREST_COMMON_ANCESTOR_H
#define WEFT_TLM_INTERCONNECT_POLICIES_ROUTING_NEAREST_COMMON_ANCESTOR_H

#include "tlm_interconnect/policies/routing/routing_policy.h"

namespace weft::packet {

class NearestCommonAncestor final : public RoutingPolicy {
 public:
  NearestCommonAncestor(const PacketTopology& topology, const PacketConfig& config);
  void route(const RouteQuery& query, std::vector<RouteCandidate>& candidates) const override;

 private:
  const PacketTopology& topology_;
  VcLayout layout_;
  std::vector<uint32_t> branch_;  ///< leaves below one down port, per level
};

}  // namespace weft::packet

#endif
