// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "configs/loading/implementations.h"

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "configs/blueprint/shape.h"
#include "configs/graph.h"
#include "configs/implementation.h"
#include "configs/keys.h"

namespace weft::loading {

void check_implementations(Config& config, const RawConfig& raw, const std::string& end, Errors& errors) {
  const std::string none = kDefaultSwitchModel;
  const auto complain = [&](const std::string& origin, const std::string& key, const std::string& model,
                            const std::string& why) {
    errors.add(
        origin, key,
        fmt::format("'{}' would be the model of switches at `message` fidelity, and {}; take the key out",
                    model, why));
  };
  if (config.graph != nullptr) {
    const GraphSpec& spec = config.graph->spec();
    if (spec.implementation != none && (spec.fidelity != Fidelity::message || spec.switches.empty()))
      complain(end, "topology.graph.implementation", spec.implementation,
               spec.switches.empty() ? "the graph has no switches"
                                     : fmt::format("the graph is at `{}`", to_string(spec.fidelity)));
    return;
  }
  std::vector<DimensionConfig>& dimensions = config.physical.empty() ? config.dimensions : config.physical;
  const bool one_for_all = raw.dimensions.size() == 1 && dimensions.size() > 1;
  bool used = false;
  std::string unused;
  for (size_t d = 0; d < dimensions.size() && !raw.dimension_origins.empty(); ++d) {
    DimensionConfig& dimension = dimensions[d];
    if (dimension.implementation == none) continue;
    if (Shape(dimension).has_switches() && dimension.fidelity == Fidelity::message) {
      used = true;
    } else if (one_for_all) {
      unused = std::exchange(dimension.implementation, none);
    } else {
      complain(raw.dimension_origins[d], fmt::format("{}[{}].implementation", kDimensionsPath, d),
               dimension.implementation,
               Shape(dimension).has_switches()
                   ? fmt::format("the dimension is at `{}`", to_string(dimension.fidelity))
                   : fmt::format("{} has no switches", print_dimension(dimension)));
    }
  }
  if (!used && !unused.empty())
    complain(raw.dimension_origins[0], fmt::format("{}[0].implementation", kDimensionsPath), unused,
             "no dimension has switches at it");
}

namespace {

void check_binding(const ModuleChoice& choice, const std::string& origin, const std::string& key,
                   Errors& errors) {
  const std::string model = parse_implementation(choice.implementation).model;
  if (model != "remote")
    errors.add(origin, key,
               fmt::format("is '{}'; allowed: remote(socket=PATH, ..); other models are an `implementation`",
                           model));
}

}  // namespace

void resolve_implementations(Config& config, const RawConfig& raw, Errors& errors) {
  const RawConfig::Rules& list = raw.implementations;
  for (size_t i = 0; i < list.values.size(); ++i) {
    if (list.broken.count(i) != 0) continue;
    const std::string path = fmt::format("{}[{}]", kImplementationsPath, i);
    ModuleChoice choice;
    choice.origin = fmt::format("{}: key `{}`", list.origins[i], path);
    for (const auto& [key, written] : list.values[i]) key->set(choice, written.value);
    const auto key_of = [](const char* name) { return find_key(std::string(kImplementationPrefix) + name); };
    const auto has = [&](const char* name) { return list.values[i].count(key_of(name)) != 0; };
    const auto needs = [&](const char* name) {
      errors.add(list.origins[i], path + "." + name, "missing; add it: " + allowed_values(*key_of(name)));
    };
    if (!has("modules")) needs("modules");
    if (!has("implementation") && !has("binding")) needs("implementation");
    if (has("implementation") && has("binding"))
      errors.add(list.origins[i], path + ".binding", "stands beside `implementation`; take one of them out");
    if (has("binding")) check_binding(choice, list.origins[i], path + ".binding", errors);
    config.implementations.push_back(std::move(choice));
  }
}

}  // namespace weft::loading
