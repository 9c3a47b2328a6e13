// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// The routing policies there are. To add one: a file beside this one and a row here.

#include <fmt/format.h>

#include "tlm_interconnect/policies/routing/dimension_order.h"
#include "tlm_interconnect/policies/routing/minimal_adaptive.h"
#include "tlm_interconnect/policies/routing/nearest_common_ancestor.h"
#include "tlm_interconnect/policies/routing/routing_policy.h"
#include "tlm_interconnect/policies/routing/shortest_path.h"
#include "tlm_interconnect/policies/routing/table_routes.h"
#include "tlm_interconnect/policies/routing/unit_routes.h"
#include "tlm_interconnect/policies/routing/up_down.h"

namespace weft::packet {
namespace {

struct Row {
  const char* name;
  std::unique_ptr<RoutingPolicy> (*make)(const PacketTopology& topology, const PacketConfig& config);
};

template <typename T>
std::unique_ptr<RoutingPolicy> make(const PacketTopology& topology, const PacketConfig& config) {
  return std::make_unique<T>(topology, config);
}

const Row kRows[] = {
    {"dimension_order", make<DimensionOrder>},
    {"minimal_adaptive", make<MinimalAdaptive>},
    {"nearest_common_ancestor", make<NearestCommonAncestor>},
    {"shortest_path", make<ShortestPath>},
    {"table", make<TableRoutes>},
    {"up_down", make<UpDown>},
};

}  // namespace

std::unique_ptr<RoutingPolicy> make_routing_policy(const std::string& name, const PacketTopology& topology,
                                                   const PacketConfig& config) {
  std::string known;
  for (const Row& row : kRows) {
    if (name == row.name) {
      auto policy = row.make(topology, config);
      if (topology.units.empty()) return policy;
      return std::make_unique<UnitRoutes>(topology, config, std::move(policy));
    }
    known += known.empty() ? row.name : std::string(", ") + row.name;
  }
  throw UserError(ExitCode::usage, fmt::format("unknown routing '{}': use one of {}", name, known));
}

std::vector<std::string> routing_policy_names() {
  std::vector<std::string> result;
  for (const Row& row : kRows) result.emplace_back(row.name);
  return result;
}

}  // namespace weft::packet
