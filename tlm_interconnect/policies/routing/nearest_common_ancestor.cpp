// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "tlm_interconnect/policies/routing/nearest_common_ancestor.h"

#include <fmt/format.h>

namespace weft::packet {

NearestCommonAncestor::NearestCommonAncestor(const PacketTopology& topology, const PacketConfig& config)
    : topology_(topology), layout_(config.vcs, config.virtual_networks, 1), branch_(topology.levels, 1) {
  if (topology.levels == 0) {
    throw UserError(ExitCode::usage,
                    fmt::format("nearest_common_ancestor cannot route '{}': it is no tree alone; "
                                "dimension_order takes these ways in dimensions that are trees",
                                topology.name));
  }
  for (uint32_t level = topology.levels - 1; level > 0; --level)
    branch_[level - 1] = branch_[level] * topology.arity;
}

void NearestCommonAncestor::route(const RouteQuery& query, std::vector<RouteCandidate>& candidates) const {
  const TopologyRouter& router = topology_.routers[query.router];
  const uint32_t k = topology_.arity;
  const uint32_t below = branch_[router.level] * k;  // leaves below this router
  // A subtree of this level has below / k routers; all of them see the same leaves.
  const uint32_t first = router.position / branch_[router.level] * below;
  const VcMask all = layout_.all(query.virtual_network);
  if (query.destination >= first && query.destination < first + below) {
    candidates.push_back({(query.destination - first) / branch_[router.level], all, false});
    return;
  }
  for (uint32_t up = k; up < 2 * k; ++up) candidates.push_back({up, all, false});
}

}  // namespace weft::packet
