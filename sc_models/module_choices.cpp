// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_models/module_choices.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "configs/blueprint/carrier.h"
#include "configs/blueprint/names.h"
#include "configs/implementation.h"
#include "configs/keys.h"
#include "configs/tree.h"
#include "sc_models/link_model.h"
#include "sc_models/make_model.h"
#include "sc_models/memory_model.h"
#include "sc_models/nmu_model.h"
#include "sc_models/npu_model.h"
#include "sc_models/router_model.h"
#include "sc_models/switch_model.h"
#include "sc_models/unit_model.h"
#include "workload/collectives/in_switch.h"

namespace weft {
namespace {

/// f(registry) for the models of a kind.
template <typename F>
auto with_models(ModuleKind kind, F&& f) {
  switch (kind) {
    case ModuleKind::npu:
      return f(npu_models());
    case ModuleKind::nmu:
      return f(nmu_models());
    case ModuleKind::memory:
      return f(memory_models());
    case ModuleKind::unit:
      return f(unit_models());
    case ModuleKind::router:
      return f(router_models());
    case ModuleKind::link:
      return f(link_models());
    default:
      return f(switch_models());
  }
}

/// The names that the keys of the kind take.
std::vector<std::string> models_of(ModuleKind kind) {
  std::vector<std::string> names = with_models(kind, [](const auto& registry) { return registry.names(); });
  if (kind == ModuleKind::memory) names.emplace_back(kDefaultMemoryModel);
  return names;
}

/// The first plane that shows the dimension at this plane's fidelity has its modules.
bool first_plane(const graph::FidelityRules& fidelity, uint32_t p, uint32_t d) {
  const auto at = [&](uint32_t q) { return fidelity.plane(q).fabric_dimensions()[d].fidelity; };
  for (uint32_t q = 0; q < p; ++q)
    if (at(q) == at(p)) return false;
  return true;
}

void for_each_switch(const Config& config, const graph::FidelityRules& fidelity, const Geometry& geometry,
                     const std::function<void(const std::string&)>& f) {
  if (config.graph != nullptr) {
    const Graph& graph = *config.graph;
    for (uint32_t n = graph.npus(); carrier_of(graph) == Carrier::switches && n < graph.nodes(); ++n)
      f("switch_" + graph.name(n));
    return;
  }
  for (uint32_t p = 0; p < fidelity.planes(); ++p) {
    for (uint32_t d = 0; d < geometry.dimensions(); ++d) {
      const DimensionConfig& dimension = fidelity.plane(p).fabric_dimensions()[d];
      const Carrier carrier = carrier_of(dimension);
      if ((carrier != Carrier::crossbars && carrier != Carrier::switches) || !first_plane(fidelity, p, d))
        continue;
      const std::string suffix = p == 0 ? "" : fmt::format("_{}", to_string(dimension.fidelity));
      for (uint32_t r = 0; r < geometry.npus(); ++r) {
        if (geometry.coordinate(r, d) != 0) continue;
        const std::string name = switch_name(geometry, d, r, suffix);
        if (Shape(dimension).tree() == nullptr) {
          f(name);
          continue;
        }
        const Graph& graph = dimension.tree->graph();
        for (uint32_t n = graph.npus(); n < graph.nodes(); ++n) f(name + "_" + graph.name(n));
      }
    }
  }
}

void for_each_unit(const Config& config, const Geometry& geometry,
                   const std::function<void(const std::string&)>& f) {
  for (uint32_t d = 0; d < geometry.dimensions(); ++d) {
    for (uint32_t r = 0; collectives::uses_unit(config, d) && r < geometry.npus(); ++r)
      if (geometry.coordinate(r, d) == 0) f(switch_name(geometry, d, r) + ".unit");
  }
}

void for_each_group_memory(const Config& config, const std::function<void(const std::string&)>& f) {
  if (!config.memory_pool || config.memory_pool->group_memory == kDefaultMemoryModel) return;
  const auto layout = pool::PoolLayout::make(config, false);
  for (uint32_t g = 0; g < layout->groups(); ++g) f(group_memory_name(*layout, g));
}

}  // namespace

std::string group_memory_name(const pool::PoolLayout& layout, uint32_t group) {
  return fmt::format("pool.{}.memory", layout.node(layout.group_node(group)).name);
}

void for_each_named_module(const Config& config, const graph::FidelityRules& fidelity,
                           const Geometry& geometry,
                           const std::function<void(ModuleKind, const std::string&)>& f) {
  for (uint32_t r = 0; r < geometry.npus(); ++r) {
    f(ModuleKind::npu, fmt::format("npu{}", r));
    f(ModuleKind::nmu, fmt::format("nmu{}", r));
    f(ModuleKind::memory, fmt::format("hbm{}", r));
    if (config.remote_memory) f(ModuleKind::memory, fmt::format("remote{}", r));
  }
  const uint32_t hosts = config.host_memory ? config.host_memory->hosts(config.npus()) : 0;
  for (uint32_t h = 0; h < hosts; ++h) {
    f(ModuleKind::memory, fmt::format("host{}.memory", h));
    if (config.nvme) f(ModuleKind::memory, fmt::format("host{}.nvme", h));
  }
  for_each_group_memory(config, [&](const std::string& name) { f(ModuleKind::memory, name); });
  for_each_switch(config, fidelity, geometry,
                  [&](const std::string& name) { f(ModuleKind::fabric_switch, name); });
  for_each_unit(config, geometry, [&](const std::string& name) { f(ModuleKind::unit, name); });
}

ModuleChoices::ModuleChoices(const Config& config) : config_(config) {
  for (const ModuleChoice& choice : config.implementations) {
    Entry entry;
    entry.written = &choice;
    try {
      entry.modules = vcd::Glob(choice.modules);
    } catch (const vcd::GlobError& e) {
      throw UserError(ExitCode::usage, fmt::format("{}: {}", choice.origin, e.what()));
    }
    const Implementation wanted = parse_implementation(choice.implementation);
    entry.model = wanted.model;
    std::vector<std::string> known;
    for (const ModuleKind kind : kModuleKinds) {
      const std::vector<std::string> names = models_of(kind);
      entry.kinds.push_back(std::find(names.begin(), names.end(), entry.model) != names.end());
      known.insert(known.end(), names.begin(), names.end());
    }
    if (std::find(entry.kinds.begin(), entry.kinds.end(), true) == entry.kinds.end()) {
      const std::string near = nearest_name(entry.model, known);
      std::string list;
      for (const ModuleKind kind : kModuleKinds)
        list += fmt::format("; {}s: {}", with_models(kind, [](const auto& r) { return r.what(); }),
                            fmt::join(models_of(kind), ", "));
      throw UserError(
          ExitCode::usage,
          fmt::format(
              "{}: there is no model '{}'{}{}. A model of a plugin needs `plugins:` (weft replay: --plugin)",
              choice.origin, entry.model, near.empty() ? "" : fmt::format(" (did you mean `{}`?)", near),
              list));
    }
    const auto has = [&entry](ModuleKind kind) { return entry.kinds[static_cast<size_t>(kind)]; };
    for (const ModuleKind kind : kModuleKinds) {
      if (!has(kind)) continue;
      with_models(kind, [&](const auto& registry) {
        if (const auto* found = registry.find(entry.model))
          check_source(wanted, *found, registry.what(), choice.origin);
      });
    }
    entry.joined = has(ModuleKind::router) || has(ModuleKind::link);
    of_links_ = of_links_ || entry.joined;
    entries_.push_back(std::move(entry));
  }
}

ModuleChoices::Chosen ModuleChoices::of(ModuleKind kind, const std::string& name, Chosen general) {
  for (Entry& entry : entries_) {
    if (!entry.applies(kind, name)) continue;
    entry.used = true;
    return {entry.written->implementation, entry.written->origin};
  }
  return general;
}

void ModuleChoices::check_joined() const {
  for (const Entry& entry : entries_) {
    if (!entry.joined || entry.used) continue;
    const bool router = entry.kinds[static_cast<size_t>(ModuleKind::router)];
    throw UserError(
        ExitCode::usage,
        fmt::format("{}: '{}' applies to no {}", entry.written->origin, entry.written->modules,
                    router ? "router; '" + entry.model +
                                 "' is a model for single routers at `packet` fidelity, which have names "
                                 "such as packet0_0.router5"
                           : "link; '" + entry.model +
                                 "' is a model for links with two ends of their own at `message` fidelity, "
                                 "which have the names of links.csv without the machine's, such as "
                                 "nmu3.d0_plus"));
  }
}

void ModuleChoices::check(const graph::FidelityRules& fidelity, const Geometry& geometry) {
  if (entries_.empty()) return;
  std::vector<bool> used(entries_.size(), false);
  for_each_named_module(config_, fidelity, geometry, [&](ModuleKind kind, const std::string& name) {
    for (size_t i = 0; i < entries_.size(); ++i) {
      if (!entries_[i].applies(kind, name)) continue;
      used[i] = true;
      return;
    }
  });
  for (size_t i = 0; i < entries_.size(); ++i) {
    if (used[i] || entries_[i].joined) continue;
    std::string first;
    std::string last;
    uint64_t count = 0;
    for_each_named_module(config_, fidelity, geometry, [&](ModuleKind kind, const std::string& name) {
      if (!entries_[i].kinds[static_cast<size_t>(kind)]) return;
      if (count++ == 0) first = name;
      last = name;
    });
    throw UserError(
        ExitCode::usage,
        fmt::format("{}: '{}' applies to no module; {}, and entries before this one may have taken them",
                    entries_[i].written->origin, entries_[i].written->modules,
                    count == 0 ? fmt::format("this machine has none that can be '{}'", entries_[i].model)
                               : fmt::format("'{}' is a model for the {} modules {} .. {}", entries_[i].model,
                                             count, first, last)));
  }
}

}  // namespace weft
