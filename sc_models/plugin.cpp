// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_models/plugin.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <exception>
#include <filesystem>
#include <set>

#include "configs/algorithms.h"
#include "configs/extension.h"
#include "configs/keys.h"

namespace weft {
namespace {

[[noreturn]] void refuse(const std::string& origin, const std::string& path, const std::string& why) {
  throw UserError(ExitCode::usage, fmt::format("{}: {}: {}", origin, path, why));
}

/// A function that the plugin exports under a C name.
template <typename Function>
Function* exported(void* library, const char* name) {
  return reinterpret_cast<Function*>(dlsym(library, name));
}

/// Refuses a library that is no plugin, or one that was built for something else.
void check_versions(void* library, const std::string& origin, const std::string& path) {
  auto* const interface = exported<uint32_t()>(library, "weft_plugin_interface");
  auto* const build = exported<const char*()>(library, "weft_plugin_build");
  if (interface == nullptr || build == nullptr || dlsym(library, "weft_plugin_register") == nullptr)
    refuse(origin, path,
           fmt::format(
               "is no Weft plugin: it has no symbol {}; write WEFT_PLUGIN(registry) {{ .. }} in one of its "
               "files (sc_models/plugin.h)",
               interface == nullptr ? "weft_plugin_interface"
               : build == nullptr   ? "weft_plugin_build"
                                    : "weft_plugin_register"));
  if (interface() != kPluginInterface)
    refuse(origin, path,
           fmt::format(
               "was built for version {} of the plugin interface, and this program has version {}; build it "
               "against the Weft that loads it",
               interface(), kPluginInterface));
  if (std::string(build()) != WEFT_PLUGIN_BUILD)
    refuse(origin, path,
           fmt::format("was built with {}, and this program with {}; build it with the same", build(),
                       WEFT_PLUGIN_BUILD));
}

std::string hint(const std::string& why) {
  if (why.find("undefined symbol") != std::string::npos)
    return "; it uses something that this program does not have: build it against the Weft that loads it, "
           "and "
           "link its own libraries to it";
  if (why.find("cannot open shared object file") != std::string::npos)
    return "; relative paths begin at the configuration file's folder";
  return "";
}

}  // namespace

void PluginRegistry::add_switch(const std::string& name, const std::string& description, SwitchMaker maker) {
  switch_models().add({name, description, source_, std::move(maker), is_rtl_});
  for (const char* key : {"topology.dimensions[].implementation", "topology.graph.implementation"})
    add_choice(key, name, description);
  ++registered_;
}

void PluginRegistry::add_npu(const std::string& name, const std::string& description, NpuMaker maker) {
  npu_models().add({name, description, source_, std::move(maker), is_rtl_});
  add_choice("npu.implementation", name, description);
  ++registered_;
}

void PluginRegistry::add_nmu(const std::string& name, const std::string& description, NmuMaker maker) {
  nmu_models().add({name, description, source_, std::move(maker), is_rtl_});
  add_choice("nmu.implementation", name, description);
  ++registered_;
}

void PluginRegistry::add_unit(const std::string& name, const std::string& description, UnitMaker maker) {
  unit_models().add({name, description, source_, std::move(maker), is_rtl_});
  add_choice("topology.dimensions[].collective_unit.implementation", name, description);
  ++registered_;
}

void PluginRegistry::add_memory(const std::string& name, const std::string& description, MemoryMaker maker) {
  memory_models().add({name, description, source_, std::move(maker), is_rtl_});
  for (const char* key : {"hbm.implementation", "remote_memory.implementation", "memory.pool.group_memory",
                          "memory.host.implementation", "memory.nvme.implementation"})
    add_choice(key, name, description);
  ++registered_;
}

void PluginRegistry::add_router(const std::string& name, const std::string& description, RouterMaker maker) {
  router_models().add({name, description, source_, std::move(maker), is_rtl_});
  ++registered_;
}

void PluginRegistry::add_link(const std::string& name, const std::string& description, LinkMaker maker) {
  link_models().add({name, description, source_, std::move(maker), is_rtl_});
  ++registered_;
}

void PluginRegistry::add_routing_policy(const std::string& name, const std::string& description,
                                        packet::RoutingPolicyMaker maker) {
  packet::add_routing_policy(name, description, source_, std::move(maker));
  add_choice("packet.routing", name, description);
  ++registered_;
}

void PluginRegistry::add_striping(const std::string& name, const std::string& description,
                                  pool::StripingMaker maker) {
  pool::striping_policies().add({name, description, source_, std::move(maker)});
  add_choice("memory.pool.striping", name, description);
  ++registered_;
}

void PluginRegistry::add_algorithm(const collectives::Algorithm& algorithm, const std::string& description) {
  collectives::add_algorithm(algorithm, description, source_);
  ++registered_;
}

template <typename Maker>
void PluginRegistry::add(NamedRegistry<Maker>& registry, const char* key, const std::string& name,
                         const std::string& description, Maker maker) {
  registry.add({name, description, source_, std::move(maker)});
  add_choice(key, name, description);
  ++registered_;
}

void PluginRegistry::add_address_map(const std::string& name, const std::string& description,
                                     PolicyMaker<AddressMap> maker) {
  add(address_maps(), "hbm.address_map", name, description, std::move(maker));
}

void PluginRegistry::add_dram_scheduler(const std::string& name, const std::string& description,
                                        PolicyMaker<DramScheduler> maker) {
  add(dram_schedulers(), "hbm.scheduler", name, description, std::move(maker));
}

void PluginRegistry::add_grouping(const std::string& name, const std::string& description,
                                  PolicyMaker<GroupingPolicy> maker) {
  add(grouping_policies(), "hbm.grouping", name, description, std::move(maker));
}

void PluginRegistry::add_page_policy(const std::string& name, const std::string& description,
                                     PolicyMaker<PagePolicy> maker) {
  add(page_policies(), "hbm.page_policy", name, description, std::move(maker));
}

void PluginRegistry::add_refresh(const std::string& name, const std::string& description,
                                 RefreshMaker maker) {
  add(refresh_policies(), "hbm.refresh", name, description, std::move(maker));
}

void enable_plugins() {
  set_plugin_loader(load_plugin);
}

void load_plugin(const std::string& path, const std::string& origin) {
  static std::set<std::string> loaded;
  std::error_code error;
  const std::filesystem::path canonical = std::filesystem::canonical(path, error);
  const std::string file = error ? path : canonical.string();
  if (loaded.count(file) != 0) return;
  if (!error && !std::filesystem::is_regular_file(canonical)) refuse(origin, path, "is no file");
  // Never unloaded: its code and its names are used until the program ends.
  void* const library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* const text = dlerror();
    const std::string why = text == nullptr ? "unknown reason" : text;
    refuse(origin, path, "cannot be loaded: " + why + hint(why));
  }
  check_versions(library, origin, path);
  PluginRegistry registry(file);
  try {
    exported<void(PluginRegistry&)>(library, "weft_plugin_register")(registry);
  } catch (const std::exception& e) {
    refuse(origin, path, e.what());
  } catch (...) {
    refuse(origin, path, "its registration threw something that is no std::exception");
  }
  if (registry.registered() == 0)
    refuse(origin, path, "registers nothing; add a model, a policy or an algorithm");
  loaded.insert(file);
}

std::string list_models() {
  std::string out;
  const auto kind = [&out](const std::string& title) { out += (out.empty() ? "" : "\n") + title + "\n"; };
  const auto row = [&out](const std::string& name, const std::string& source,
                          const std::string& description) {
    out += fmt::format("  {:<26} {:<6} {}\n", name, source, description);
  };
  const auto registry = [&](const std::string& title, const auto& entries) {
    kind(title);
    for (const auto& entry : entries)
      row(entry.rtl ? "rtl:" + entry.name : entry.name, entry.source, entry.description);
  };
  registry("NPUs (npu.implementation)", npu_models().entries());
  registry("NMUs (nmu.implementation)", nmu_models().entries());
  registry("switches at message fidelity (implementation:)", switch_models().entries());
  registry("collective units (collective_unit.implementation)", unit_models().entries());
  registry("routers at packet fidelity (implementations: packet0_0.router5)", router_models().entries());
  registry("links at message fidelity (implementations: nmu3.d0_plus)", link_models().entries());
  registry("striping of memory pools (memory.pool.striping)", pool::striping_policies().entries());
  registry("memories (hbm.implementation, remote_memory.implementation, memory.pool.group_memory)",
           memory_models().entries());
  kind("memories (hbm.model)");
  for (const Choice& c : find_key("hbm.model")->choices) row(c.name, "weft", c.description);
  registry("address maps of model banked (hbm.address_map)", address_maps().entries());
  registry("schedulers of model banked (hbm.scheduler)", dram_schedulers().entries());
  registry("grouping of reads and writes in model banked (hbm.grouping)", grouping_policies().entries());
  registry("page policies of model banked (hbm.page_policy)", page_policies().entries());
  registry("refresh of model banked (hbm.refresh)", refresh_policies().entries());
  registry("routing policies at packet fidelity (packet.routing)",
           packet::routing_policy_registry().entries());
  kind("collective algorithms (collectives.<operation>)");
  for (const AlgorithmInfo& info : algorithm_table()) row(info.name, info.source, info.description);
  return out;
}

}  // namespace weft
