// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// up*/down* on any graph (Schroeder et al., "Autonet", IEEE JSAC 9(8), 1991): links point up towards a root;
// a way goes up as often as it likes, then down, never up again; so channels form no cycle. Of the legal ways
// the shortest ones.

#ifndef WEFT_TLM_INTERCONNECT_POLICIES_ROUTING_UP_DOWN_H
#define WEFT_TLM_INTERCONNECT_POLICIES_ROUTING_UP_DOWN_H

#include "tlm_interconnect/policies/routing/routing_policy.h"

namespace weft::packet {

class UpDown final : public RoutingPolicy {
 public:
  UpDown(const PacketTopology& topology, const PacketConfig& config);
  void route(const RouteQuery& query, std::vector<RouteCandidate>& candidates) const override;

 private:
  /// True: going from router `from` to router `to` is a step up.
  bool up(uint32_t from, uint32_t to) const {
    return level_[to] != level_[from] ? level_[to] < level_[from] : to < from;
  }

  const PacketTopology& topology_;
  VcLayout layout_;
  std::vector<uint32_t> level_;  ///< of a tree its own, else hops from the root
  std::vector<uint32_t> table_of_;
  std::vector<uint16_t> down_;  ///< tables x routers: hops with steps down only
  std::vector<uint16_t> any_;   ///< tables x routers: hops of the shortest legal way
};

}  // namespace weft::packet

#endif
