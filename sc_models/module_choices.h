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
#include "workload/pool/pool_layout.h"

namespace weft {

/// The kinds of modules whose models have names.
enum class ModuleKind : uint8_t { npu, nmu, memory, fabric_switch, unit, router, link };
inline constexpr ModuleKind kModuleKinds[] = {ModuleKind::npu,           ModuleKind::nmu,  ModuleKind::memory,
                                              ModuleKind::fabric_switch, ModuleKind::unit, ModuleKind::router,
                                              ModuleKind::link};

/// Calls f(kind, name) for every module of the machine whose model can be chosen: `nmu3`, `switch0_1`,
/// `switch0_1.unit` .. Routers and links are named where they are joined.
void for_each_named_module(const Config& config, const graph::FidelityRules& fidelity,
                           const Geometry& geometry,
                           const std::function<void(ModuleKind, const std::string&)>& f);

/// The memory of a group of the memory pool: `pool.group3.memory`. There is one with
/// `memory.pool.group_memory`.
std::string group_memory_name(const pool::PoolLayout& layout, uint32_t group);

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

  /// An entry names a model of links or of routers.
  bool of_links() const { return of_links_; }

  /// Errors: UserError(usage) for an entry that applies to no module. Those of routers and links apply where
  /// these are joined: see check_joined().
  void check(const graph::FidelityRules& fidelity, const Geometry& geometry);

  /// Once everything is joined. Errors: UserError(usage) for an entry that applied to no router or link.
  void check_joined() const;

 private:
  struct Entry {
    const ModuleChoice* written = nullptr;
    vcd::Glob modules;
    std::string model;
    std::vector<bool> kinds;  ///< by ModuleKind: it has such a model
    bool joined = false;      ///< .. of routers or links
    bool used = false;
    bool applies(ModuleKind kind, const std::string& name) {
      return kinds[static_cast<size_t>(kind)] && modules.matches(name);
    }
  };
  const Config& config_;
  std::vector<Entry> entries_;
  bool of_links_ = false;
};

}  // namespace weft

#endif
