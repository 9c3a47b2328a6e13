// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Which model each module is of: what the key of its kind says, or an entry of `implementations`.

#ifndef WEFT_SC_MODELS_MODULE_CHOICES_H
#define WEFT_SC_MODELS_MODULE_CHOICES_H

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "configs/blueprint/geometry.h"
#include "configs/config.h"
#include "vcd/glob.h"
#include "workload/graph/fidelity_rules.h"

namespace weft {

/// The kinds of modules whose models have names.
enum class ModuleKind : uint8_t { npu, nmu, memory, fabric_switch, unit };
inline constexpr ModuleKind kModuleKinds[] = {ModuleKind::npu, ModuleKind::nmu, ModuleKind::memory,
                                              ModuleKind::fabric_switch, ModuleKind::unit};

/// Calls f(kind, name) for every module of the machine whose model can be chosen: `nmu3`, `switch0_1`,
/// `switch0_1.unit` ..
void for_each_named_module(const Config& config, const graph::FidelityRules& fidelity,
                           const Geometry& geometry,
                           const std::function<void(ModuleKind, const std::string&)>& f);

class ModuleChoices {
 public:
  /// Errors: UserError(usage) for a pattern that cannot be read and for a model that no kind has.
  explicit ModuleChoices(const Config& config);

  struct Chosen {
    std::string implementation;
    std::string owner;  ///< begins messages: the key
  };
  /// The model of a module. `general`: what the key of its kind says.
  Chosen of(ModuleKind kind, const std::string& name, Chosen general);

  /// Errors: UserError(usage) for an entry that applies to no module.
  void check(const graph::FidelityRules& fidelity, const Geometry& geometry);

 private:
  struct Entry {
    const ModuleChoice* written = nullptr;
    vcd::Glob modules;
    std::string model;
    std::vector<bool> kinds;  ///< by ModuleKind: it has such a model
    bool applies(ModuleKind kind, const std::string& name) {
      return kinds[static_cast<size_t>(kind)] && modules.matches(name);
    }
  };
  const Config& config_;
  std::vector<Entry> entries_;
};

}  // namespace weft

#endif
