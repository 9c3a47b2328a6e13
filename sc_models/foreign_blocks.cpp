// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_models/foreign_blocks.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "configs/graph.h"
#include "configs/implementation.h"
#include "sc_models/dram_policies.h"
#include "sc_models/link_model.h"
#include "sc_models/make_model.h"
#include "sc_models/memory_model.h"
#include "sc_models/nmu_model.h"
#include "sc_models/npu_model.h"
#include "sc_models/router_model.h"
#include "sc_models/switch_model.h"
#include "sc_models/unit_model.h"
#include "tlm_interconnect/policies/routing/routing_policy.h"
#include "workload/pool/striping.h"

namespace weft {

std::vector<std::string> foreign_blocks(const Config& config) {
  std::vector<std::string> blocks;
  const auto look = [&blocks](const std::string& where, const std::string& named, const auto& registry) {
    const auto* const entry = registry.find(parse_implementation(named).model);
    if (entry == nullptr || entry->source == kOwnModels) return false;
    blocks.push_back(fmt::format("{} ({} of {})", where, named, entry->source));
    return true;
  };
  for (const ModuleChoice& choice : config.implementations) {
    const auto is = [&](const auto& registry) {
      return look(choice.modules, choice.implementation, registry);
    };
    if (is(npu_models()) || is(nmu_models()) || is(memory_models()) || is(switch_models()) ||
        is(unit_models()) || is(router_models()))
      continue;
    is(link_models());
  }
  look("npu", config.npu.implementation, npu_models());
  look("nmu", config.nmu.implementation, nmu_models());
  look("hbm", config.hbm.implementation, memory_models());
  if (config.remote_memory) look("remote_memory", config.remote_memory->implementation, memory_models());
  if (config.host_memory) look("memory.host", config.host_memory->implementation, memory_models());
  if (config.nvme) look("memory.nvme", config.nvme->implementation, memory_models());
  if (config.memory_pool) {
    look("memory.pool", config.memory_pool->group_memory, memory_models());
    look("memory.pool.striping", config.memory_pool->striping, pool::striping_policies());
  }
  for (size_t d = 0; d < config.fabric_dimensions().size(); ++d)
    look(fmt::format("topology.dimensions[{}]", d), config.fabric_dimensions()[d].implementation,
         switch_models());
  for (size_t d = 0; d < config.dimensions.size(); ++d)
    look(fmt::format("topology.dimensions[{}].collective_unit", d),
         config.dimensions[d].collective_unit.implementation, unit_models());
  if (config.graph != nullptr) look("topology.graph", config.graph->spec().implementation, switch_models());
  look("packet.routing", config.packet.routing, packet::routing_policy_registry());
  look("hbm.address_map", config.hbm.address_map, address_maps());
  look("hbm.scheduler", config.hbm.scheduler, dram_schedulers());
  look("hbm.grouping", config.hbm.grouping, grouping_policies());
  look("hbm.page_policy", config.hbm.page_policy, page_policies());
  look("hbm.refresh", config.hbm.refresh, refresh_policies());
  return blocks;
}

std::string advice_on_broken_invariants(const Config& config, const std::string& with) {
  const std::vector<std::string> blocks = foreign_blocks(config);
  if (blocks.empty()) return "please report this with " + with;
  return fmt::format("a block that is not Weft's own may have broken them: {}", fmt::join(blocks, ", "));
}

}  // namespace weft
