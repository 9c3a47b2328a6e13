// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_main/machine_trial.h"

#include <algorithm>

#include "configs/graph.h"
#include "sc_models/machine.h"
#include "workload/graph/folding.h"

namespace weft::cli {
namespace {

bool names_switches(const std::vector<DimensionConfig>& dimensions) {
  return std::any_of(dimensions.begin(), dimensions.end(), [](const DimensionConfig& d) {
    return d.implementation != kDefaultSwitchModel || d.collective_unit.implementation != kDefaultUnitModel;
  });
}

bool names_memories(const Config& c) {
  const auto named = [](const auto& section) {
    return section && section->implementation != kDefaultMemoryModel;
  };
  return c.hbm.banked() || c.hbm.implementation != kDefaultMemoryModel || named(c.remote_memory) ||
         named(c.host_memory) || named(c.nvme) ||
         (c.memory_pool && c.memory_pool->group_memory != kDefaultMemoryModel);
}

}  // namespace

void try_models(const Config& config) {
  const bool named = config.replaces_modules() || names_memories(config) ||
                     names_switches(config.dimensions) || names_switches(config.physical) ||
                     (config.graph != nullptr && config.graph->spec().implementation != kDefaultSwitchModel);
  if (!named) return;
  Machine::Options options;
  options.npus = true;
  // What folds need not be built whole: all ranks have the same models.
  const bool shared = config.memory_pool || (config.host_memory && config.host_memory->per != "npu");
  if (!shared && graph::folding_refusal(config).empty()) options.mirrored = {0};
  const Machine machine("job", config, options);
}

}  // namespace weft::cli
