// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// The routing policies there are. To add one: a file beside this one and a row here.

#include <fmt/format.h>

#include <algorithm>

#include "tlm_interconnect/policies/routing/dimension_order.h"
#include "tlm_interconnect/policies/routing/given_routes.h"
#include "tlm_interconnect/policies/routing/guest_routes.h"
#include "tlm_interconnect/policies/routing/minimal_adaptive.h"
#include "tlm_interconnect/policies/routing/nearest_common_ancestor.h"
#include "tlm_interconnect/policies/routing/routing_policy.h"
#include "tlm_interconnect/policies/routing/shortest_path.h"
#include "tlm_interconnect/policies/routing/table_routes.h"
#include "tlm_interconnect/policies/routing/unit_routes.h"
#include "tlm_interconnect/policies/routing/up_down.h"

namespace weft::packet {
namespace {

template <typename T>
std::unique_ptr<RoutingPolicy> make(const PacketTopology& topology, const PacketConfig& config) {
  return std::make_unique<T>(topology, config);
}

NamedRegistry<RoutingPolicyMaker>& table() {
  static NamedRegistry<RoutingPolicyMaker> registry = [] {
    NamedRegistry<RoutingPolicyMaker> r("routing policy");
    const auto add = [&r](const char* name, const char* description, RoutingPolicyMaker maker) {
      r.add({name, description, "weft", std::move(maker)});
    };
    add("dimension_order", "one dimension after the other", make<DimensionOrder>);
    add("minimal_adaptive", "any shortest way, by credits", make<MinimalAdaptive>);
    add("nearest_common_ancestor", "up a tree as far as needed, then down", make<NearestCommonAncestor>);
    add("shortest_path", "fewest hops through a graph", make<ShortestPath>);
    add("table", "the next hops of `topology.routes`", make<TableRoutes>);
    add("up_down", "towards a root, then away from it", make<UpDown>);
    return r;
  }();
  return registry;
}

}  // namespace

const NamedRegistry<RoutingPolicyMaker>& routing_policy_registry() {
  return table();
}

void add_routing_policy(const std::string& name, const std::string& description, const std::string& source,
                        RoutingPolicyMaker maker) {
  table().add({name, description, source, std::move(maker)});
}

std::unique_ptr<RoutingPolicy> make_routing_policy(const std::string& name, const PacketTopology& topology,
                                                   const PacketConfig& config) {
  if (topology.ways) return std::make_unique<GivenRoutes>(topology, config);
  const auto& entry = table().at(name);
  auto policy = entry.make(topology, config);
  if (policy == nullptr)
    throw UserError(ExitCode::usage,
                    fmt::format("routing policy '{}' of {} made nothing", name, entry.source));
  if (!topology.units.empty()) policy = std::make_unique<UnitRoutes>(topology, config, std::move(policy));
  if (topology.guests) policy = std::make_unique<GuestRoutes>(topology, config, std::move(policy));
  return policy;
}

uint32_t fewest_vcs(const std::string& name, const PacketTopology& topology, PacketConfig config) {
  const uint32_t most = std::max(1u, kMostVcs / config.virtual_networks);
  for (config.vcs = 1; config.vcs < most; ++config.vcs) {
    try {
      make_routing_policy(name, topology, config);
      return config.vcs;
    } catch (const UserError&) {
      // Too few, or no number is enough.
    }
  }
  return most;
}

std::vector<std::string> routing_policy_names() {
  std::vector<std::string> result;
  for (const auto& entry : table().entries()) result.push_back(entry.name);
  return result;
}

}  // namespace weft::packet
