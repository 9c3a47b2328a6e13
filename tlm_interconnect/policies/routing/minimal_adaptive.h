// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Minimal adaptive routing on Ring and Mesh dimensions: any output that brings the packet nearer, on the
// upper VCs; the lowest VCs are an escape network routed in dimension order, which a packet that entered it
// does not leave (Duato, "A new theory of deadlock-free adaptive routing in wormhole networks", IEEE TPDS
// 4(12), 1993).

#ifndef WEFT_TLM_INTERCONNECT_POLICIES_ROUTING_MINIMAL_ADAPTIVE_H
#define WEFT_TLM_INTERCONNECT_POLICIES_ROUTING_MINIMAL_ADAPTIVE_H

#include "tlm_interconnect/policies/routing/routing_policy.h"

namespace weft::packet {

class MinimalAdaptive final : public RoutingPolicy {
 public:
  MinimalAdaptive(const PacketTopology& topology, const PacketConfig& config);
  void route(const RouteQuery& query, std::vector<RouteCandidate>& candidates) const override;
  bool adaptive() const override { return true; }

 private:
  const PacketTopology& topology_;
  const uint32_t vcs_;
  uint32_t escape_vcs_ = 1;  ///< 2 with rings: before and after the dateline
};

}  // namespace weft::packet

#endif
