// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Plugins: shared libraries that bring models, routing policies and collective algorithms, which a
// configuration then uses by name. docs/plugins.md shows each kind; examples/plugins holds them.
//
// A plugin is one or more source files, one of which says once:
//
//   WEFT_PLUGIN(registry) {
//     registry.add_switch("shared_buffer", "all outputs share one buffer",
//                         [](sc_core::sc_module_name name, weft::SwitchContext context, weft::Parameters& p)
//                         {
//                           return std::make_unique<SharedBuffer>(name, std::move(context), p);
//                         });
//   }
//
// It is built as a module that links no Weft library: the program that loads it has them (CMake:
// weft_add_plugin).

#ifndef WEFT_SC_MODELS_PLUGIN_H
#define WEFT_SC_MODELS_PLUGIN_H

#include <cstdint>
#include <memory>
#include <string>

#include "sc_models/dram_policies.h"
#include "sc_models/link_model.h"
#include "sc_models/memory_model.h"
#include "sc_models/nmu.h"
#include "sc_models/npu.h"
#include "sc_models/router_model.h"
#include "sc_models/switch_model.h"
#include "sc_models/switch_unit.h"
#include "tlm_interconnect/policies/routing/routing_policy.h"
#include "workload/collectives/algorithm.h"
#include "workload/pool/striping.h"

namespace weft {

/// Grows with every change that a plugin built before would not survive.
constexpr uint32_t kPluginInterface = 10;

/// What a plugin must share with the program besides: the SystemC release, and whether internal assertions
/// are compiled in, which changes classes.
#ifdef WEFT_CHECKS
#define WEFT_PLUGIN_BUILD "SystemC " SC_VERSION ", with WEFT_CHECKS"
#else
#define WEFT_PLUGIN_BUILD "SystemC " SC_VERSION
#endif

/// What a plugin registers with. Every name is there once. Errors: UserError(usage) when it is taken.
class PluginRegistry {
 public:
  /// `source`: the plugin's file.
  explicit PluginRegistry(std::string source) : source_(std::move(source)) {}

  /// Registers a model that is RTL behind an adapter, which `implementation: rtl:NAME` asks for:
  /// registry.rtl().add_switch(..). Of NPUs, NMUs, switches, units, memories, routers and links.
  PluginRegistry& rtl() {
    if (!rtl_) {
      rtl_ = std::make_unique<PluginRegistry>(source_);
      rtl_->is_rtl_ = true;
    }
    return *rtl_;
  }

  /// A model of switches at `message` fidelity: `implementation:` of a dimension or a graph.
  void add_switch(const std::string& name, const std::string& description, SwitchMaker maker);
  /// A model of NPUs: `npu.implementation`, and `implementations` of single NPUs.
  void add_npu(const std::string& name, const std::string& description, NpuMaker maker);
  /// A model of NMUs: `nmu.implementation`, and `implementations` of single NMUs.
  void add_nmu(const std::string& name, const std::string& description, NmuMaker maker);
  /// A model of the collective units in switches: `collective_unit.implementation` of a dimension.
  void add_unit(const std::string& name, const std::string& description, UnitMaker maker);
  /// A model of memories: `hbm.implementation`, `remote_memory.implementation`, `memory.pool.group_memory`.
  void add_memory(const std::string& name, const std::string& description, MemoryMaker maker);
  /// What stands for single routers at `packet` fidelity: `implementations` of `packet0_0.router5`.
  void add_router(const std::string& name, const std::string& description, RouterMaker maker);
  /// What stands in single links at `message` fidelity: `implementations` of `nmu3.d0_plus`.
  void add_link(const std::string& name, const std::string& description, LinkMaker maker);
  /// A routing policy at `packet` fidelity: `packet.routing`.
  void add_routing_policy(const std::string& name, const std::string& description,
                          packet::RoutingPolicyMaker maker);
  /// A policy of striping in memory pools: `memory.pool.striping`.
  void add_striping(const std::string& name, const std::string& description, pool::StripingMaker maker);
  /// A collective algorithm: `collectives.<operation>`; also `one_<name>`. `algorithm` lives as long as the
  /// program.
  void add_algorithm(const collectives::Algorithm& algorithm, const std::string& description);

  // What the controllers of HBM model `banked` do (sc_models/dram_policies.h): `hbm.address_map`,
  // `hbm.scheduler`, `hbm.grouping`, `hbm.page_policy`, `hbm.refresh`.
  void add_address_map(const std::string& name, const std::string& description,
                       PolicyMaker<AddressMap> maker);
  void add_dram_scheduler(const std::string& name, const std::string& description,
                          PolicyMaker<DramScheduler> maker);
  void add_grouping(const std::string& name, const std::string& description,
                    PolicyMaker<GroupingPolicy> maker);
  void add_page_policy(const std::string& name, const std::string& description,
                       PolicyMaker<PagePolicy> maker);
  void add_refresh(const std::string& name, const std::string& description, RefreshMaker maker);

  uint32_t registered() const { return registered_ + (rtl_ ? rtl_->registered_ : 0); }

 private:
  template <typename Maker>
  void add(NamedRegistry<Maker>& registry, const char* key, const std::string& name,
           const std::string& description, Maker maker);

  std::string source_;
  bool is_rtl_ = false;
  std::unique_ptr<PluginRegistry> rtl_;
  uint32_t registered_ = 0;
};

/// Lets configurations of this program name plugins. A program that links Weft's libraries statically must
/// export their symbols (CMake: ENABLE_EXPORTS, and the whole archives).
void enable_plugins();

/// Loads one plugin; a second time does nothing. `origin` begins messages. Errors: UserError(usage) when the
/// file cannot be loaded (which symbol is missing), is no plugin, was built for another interface (both
/// versions), brings a name that is taken, or throws.
void load_plugin(const std::string& path, const std::string& origin);

/// Everything that can be named, with its source: what `weft describe --models` prints.
std::string list_models();

}  // namespace weft

#define WEFT_PLUGIN_EXPORT extern "C" __attribute__((visibility("default")))
#define WEFT_PLUGIN(registry)                                               \
  static void weft_plugin_body(::weft::PluginRegistry& registry);           \
  WEFT_PLUGIN_EXPORT uint32_t weft_plugin_interface() {                     \
    return ::weft::kPluginInterface;                                        \
  }                                                                         \
  WEFT_PLUGIN_EXPORT const char* weft_plugin_build() {                      \
    return WEFT_PLUGIN_BUILD;                                               \
  }                                                                         \
  WEFT_PLUGIN_EXPORT void weft_plugin_register(::weft::PluginRegistry& r) { \
    weft_plugin_body(r);                                                    \
  }                                                                         \
  static void weft_plugin_body(::weft::PluginRegistry& registry)

#endif
