// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_models/machine_check.h"

#include <fmt/format.h>

#include <utility>

#include "sc_models/packet_region.h"
#include "sc_models/pool/pool_network.h"
#include "sc_models/remote_npus.h"
#include "workload/graph/fidelity_rules.h"
#include "workload/library/communication_library.h"

namespace weft {

namespace {

void check_pool(const Config& config, std::vector<std::string>* warnings) {
  if (!config.memory_pool || !config.memory_pool->as_packets()) return;
  if (config.memory_pool->share || config.memory_pool->design == PoolDesign::graph) return;  // in a region
  const auto layout = pool::PoolLayout::make(config, false);
  const PoolNetwork network = make_pool_network(config, *layout);
  if (warnings == nullptr) return;
  for (std::string& warning : pool_network_warnings(config, *layout, network))
    warnings->push_back(std::move(warning));
}

}  // namespace

void check_machine(const Config& config, std::vector<std::string>* warnings) {
  const graph::FidelityRules rules(config);
  for (uint32_t p = 0; p < rules.planes(); ++p) {
    const Config& plane = rules.plane(p);
    const std::vector<PacketRegion> regions = packet_regions_of(plane);
    if (warnings == nullptr) continue;
    for (std::string& warning : packet_warnings(plane, regions)) warnings->push_back(std::move(warning));
  }
  check_pool(config, warnings);
  ModuleChoices choices(config);
  choices.check(rules, Geometry::of_fabric(config));
  refuse_remote_npus(config);
  if (config.collectives.library.on())
    library::CommunicationLibrary(library::LibraryMachine::of(config));  // for what it refuses
}

std::string switch_model_key(uint32_t dimension) {
  return fmt::format("topology.dimensions[{}].implementation", dimension);
}

}  // namespace weft
