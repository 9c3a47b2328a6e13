// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Dimension order from the highest dimension down (on a two-dimensional mesh: YX in place of XY). Packets
// that only ever turn from a higher dimension to a lower one close no cycle, so Mesh, FullyConnected and
// Switch dimensions need no classes of virtual channels. Rings would, and are refused.

#include <memory>
#include <vector>

#include "sc_models/plugin.h"

namespace {

using namespace weft::packet;

class HighestFirst final : public RoutingPolicy {
 public:
  HighestFirst(const PacketTopology& topology, const PacketConfig& config)
      : topology_(topology), layout_(config.vcs, config.virtual_networks, 1) {
    if (topology.dimensions.empty())
      throw weft::UserError(
          weft::ExitCode::usage,
          "highest_first routes dimensions, and this network is a graph; use shortest_path");
    for (const TopologyDimension& d : topology.dimensions)
      if (d.shape.circular() || d.tree != nullptr)
        throw weft::UserError(weft::ExitCode::usage,
                              "highest_first routes Mesh, FullyConnected and Switch dimensions; use "
                              "dimension_order for Rings and trees");
  }

  void route(const RouteQuery& query, std::vector<RouteCandidate>& candidates) const override {
    const TopologyRouter& router = topology_.routers[query.router];
    const uint32_t all = layout_.all(query.virtual_network);
    if (router.role == RouterRole::dimension_switch) {
      candidates.push_back(
          {router.ways[topology_.coordinate(query.destination, router.dimension)], all, false});
      return;
    }
    if (router.rank == query.destination) {
      candidates.push_back({topology_.ejection(router.rank, query.in_port), all, false});
      return;
    }
    auto d = static_cast<uint32_t>(topology_.dimensions.size()) - 1;
    while (topology_.coordinate(router.rank, d) == topology_.coordinate(query.destination, d)) --d;
    const uint32_t link = topology_.dimensions[d].shape.link_to(topology_.coordinate(router.rank, d),
                                                                topology_.coordinate(query.destination, d));
    candidates.push_back({topology_.port_of(router, d, link), all, false});
  }

 private:
  const PacketTopology& topology_;
  VcLayout layout_;
};

}  // namespace

WEFT_PLUGIN(registry) {
  registry.add_routing_policy(
      "highest_first", "dimension order from the highest dimension down",
      [](const PacketTopology& topology, const PacketConfig& config) -> std::unique_ptr<RoutingPolicy> {
        return std::make_unique<HighestFirst>(topology, config);
      });
}
