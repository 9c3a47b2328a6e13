// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Algorithms, the rules of collectives, and the rules of fidelity.

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "configs/algorithms.h"
#include "configs/blueprint/shape.h"
#include "configs/loading/plugins.h"
#include "configs/loading/resolution.h"
#include "configs/units.h"

namespace weft::loading {
namespace {

/// The notation whose dimensions the lists outside `topology` mean.
std::string planned(const Resolution& r) {
  if (!r.config.logical.empty()) return r.config.logical;
  return r.config.graph != nullptr ? fmt::format("Ring({})", r.config.graph->npus()) : r.config.notation;
}

/// Why dimension d has no switches that could run `in_switch`; empty: it has.
std::string no_switch(const Resolution& r, size_t d) {
  const DimensionConfig& dimension = r.config.dimensions[d];
  if (!Shape(dimension).has_switches())
    return fmt::format("dimension {} is {}", d, print_dimension(dimension));
  if (dimension.tree != nullptr)
    return fmt::format("dimension {} is {}, a tree, whose switches have no collective units", d,
                       print_dimension(dimension));
  if (r.config.remapped())
    return fmt::format("the {} does not say which switch joins the NPUs of logical dimension {}",
                       r.config.graph != nullptr  ? "graph"
                       : r.config.mapping.empty() ? "logical topology"
                                                  : "mapping",
                       d);
  return {};
}

/// Reports the first dimension whose algorithm lacks the operation.
void check_operation(Resolution& r, const RawValue& raw, const std::string& path,
                     const std::vector<std::string>& names, CollectiveOp op) {
  for (size_t d = 0; d < names.size(); ++d) {
    const AlgorithmInfo* info = find_algorithm(names[d]);
    if (info == nullptr || r.config.dimensions[d].size < 2) continue;
    const std::string why = lacking(*info, op);
    if (why.empty()) continue;
    r.errors.add(raw.origin, path,
                 fmt::format("dimension {} ({}): {}", d, print_dimension(r.config.dimensions[d]), why));
    return;
  }
}

/// Reports the first dimension that has `in_switch` and no switch that could run it.
void check_in_switch(Resolution& r, const RawValue& raw, const std::string& path,
                     const std::vector<std::string>& names) {
  for (size_t d = 0; d < names.size(); ++d) {
    if (names[d] != "in_switch" || r.config.dimensions[d].size < 2) continue;
    const std::string why = no_switch(r, d);
    if (why.empty()) continue;
    r.errors.add(raw.origin, fmt::format("{}[{}]", path, d),
                 fmt::format("'in_switch' needs a switch, and {}; write `{}` or another algorithm here", why,
                             kDefaultAlgorithm));
    return;
  }
}

/// An algorithm of whole operations stands in every dimension or in none. False: reported.
bool check_whole(Resolution& r, const RawValue& raw, const std::string& path,
                 const std::vector<std::string>& names) {
  for (size_t d = 0; d < names.size(); ++d) {
    const AlgorithmInfo* info = find_algorithm(names[d]);
    if (info == nullptr || !info->whole) continue;
    const auto other =
        std::find_if(names.begin(), names.end(), [&](const std::string& name) { return name != names[d]; });
    if (other == names.end()) continue;
    const auto place = static_cast<size_t>(other - names.begin());
    r.errors.add(raw.origin, fmt::format("{}[{}]", path, d),
                 fmt::format("'{}' runs the whole operation over all NPUs, but dimension {} has '{}'; write "
                             "`{}: {}`, or a per-dimension algorithm here",
                             names[d], place, other->empty() ? kDefaultAlgorithm : *other,
                             path.substr(path.rfind('.') + 1), names[d]));
    return false;
  }
  return true;
}

/// One name for each dimension, with absolute paths; nothing after an error, which has been reported. `op` is
/// the operation that the algorithms must have, if there is just one.
std::optional<std::vector<std::string>> algorithm_list(Resolution& r, const RawValue& raw,
                                                       const std::string& path,
                                                       std::optional<CollectiveOp> op) {
  const size_t dimensions = r.config.dimensions.size();
  std::vector<std::string> names;
  if (const auto* one = std::get_if<std::string>(&raw.value))
    names.assign(dimensions, *one);
  else
    names = std::get<std::vector<std::string>>(raw.value);
  if (names.size() != dimensions) {
    r.errors.add(
        raw.origin, path,
        fmt::format("has {} algorithms, but the notation '{}' has {} dimensions; write {} names in the list, "
                    "or one name without a list for all",
                    names.size(), planned(r), dimensions, dimensions));
    return std::nullopt;
  }
  for (std::string& name : names) {
    const AlgorithmInfo* info = find_algorithm(name);
    if (info != nullptr && info->argument != nullptr)
      name = fmt::format("{}:{}", info->name, absolute_path(std::string(algorithm_argument(name)), r.file));
  }
  if (op) check_operation(r, raw, path, names, *op);
  check_in_switch(r, raw, path, names);
  if (!check_whole(r, raw, path, names)) return std::nullopt;
  return names;
}

/// The rule's dimensions in ascending order.
void resolve_dimensions_of(Resolution& r, FidelityRule& rule, const RawValue* raw, const std::string& path) {
  if (raw == nullptr) return;
  const std::vector<DimensionConfig>& dimensions = r.config.fabric_dimensions();
  for (const std::string& number : std::get<std::vector<std::string>>(raw->value)) {
    const auto d = static_cast<uint32_t>(std::stoul(number));
    if (d >= dimensions.size()) {
      r.errors.add(raw->origin, path + ".dimensions",
                   fmt::format("there is no dimension {}; `{}` has {}, which count from 0", d,
                               r.config.notation, dimensions.size()));
      return;
    }
    rule.dimensions.push_back(d);
  }
  std::sort(rule.dimensions.begin(), rule.dimensions.end());
  rule.dimensions.erase(std::unique(rule.dimensions.begin(), rule.dimensions.end()), rule.dimensions.end());
}

}  // namespace

void resolve_algorithms(Resolution& r, const KeySpec& key) {
  const RawValue* raw = r.find(key);
  const RawValue value = raw != nullptr ? *raw : RawValue{default_of(key), r.end};
  const auto op = static_cast<CollectiveOp>(key.index);
  if (const auto names = algorithm_list(r, value, key.path, op)) key.set(r.config, *names);
}

void resolve_rules(Resolution& r) {
  for (size_t i = 0; i < r.raw.rules.values.size(); ++i) {
    const RawValues& raw = r.raw.rules.values[i];
    const std::string path = fmt::format("{}[{}]", kRulesPath, i);
    CollectiveRule rule;
    rule.origin = fmt::format("{}: key `{}`", r.raw.rules.origins[i], path);
    const auto get = [&](const char* name) -> const RawValue* {
      const auto it = raw.find(find_key(std::string(kRulePrefix) + name));
      return it == raw.end() ? nullptr : &it->second;
    };
    for (const auto& [key, written] : raw)
      if (key->type != ValueType::algorithms) key->set(rule, written.value);
    if (const RawValue* v = get("algorithms"))
      if (auto names = algorithm_list(r, *v, path + ".algorithms", rule.operation))
        rule.algorithms = std::move(*names);
    const bool complete = r.raw.rules.broken.count(i) == 0;
    const bool sets = get("algorithms") != nullptr || rule.order || rule.chunks || rule.priority;
    if (complete && !sets && !rule.delay)
      r.errors.add(
          r.raw.rules.origins[i], path,
          "sets nothing; add `algorithms`, `order`, `chunks`, `priority` or `delay`, or remove the rule");
    if (sets && rule.delay)
      r.errors.add(get("delay")->origin, path + ".delay",
                   "stands beside a setting; give the delay a rule of its own, with the same conditions");
    for (const char* const name : {"iteration", "occurrence"})
      if (const RawValue* v = get(name); v != nullptr && complete && !rule.delay)
        r.errors.add(v->origin, fmt::format("{}.{}", path, name),
                     "is a condition of delays only; choose collectives by `name`, or add a `delay`");
    if (rule.min_bytes && rule.max_bytes && *rule.min_bytes > *rule.max_bytes)
      r.errors.add(get("max_bytes")->origin, path + ".max_bytes",
                   fmt::format("is {} B, less than `min_bytes`, {} B; no collective can match",
                               *rule.max_bytes, *rule.min_bytes));
    r.config.collectives.rules.push_back(std::move(rule));
  }
}

void resolve_fidelity_rules(Resolution& r) {
  const RawConfig::Rules& rules = r.raw.fidelity_rules;
  if (rules.values.empty()) return;
  if (r.config.graph != nullptr) {
    r.errors.add(rules.origins[0], kFidelityRulesPath,
                 "the links of a graph have one fidelity; remove the rules, or describe the machine by a "
                 "`notation` of dimensions");
    return;
  }
  for (size_t i = 0; i < rules.values.size(); ++i) {
    const RawValues& raw = rules.values[i];
    const std::string path = fmt::format("{}[{}]", kFidelityRulesPath, i);
    FidelityRule rule;
    rule.origin = fmt::format("{}: key `{}`", rules.origins[i], path);
    const auto get = [&](const char* name) -> const RawValue* {
      const auto it = raw.find(find_key(std::string(kFidelityRulePrefix) + name));
      return it == raw.end() ? nullptr : &it->second;
    };
    for (const auto& [key, written] : raw)
      if (key->type != ValueType::dimensions) key->set(rule, written.value);
    if (rule.point_to_point && !rule.group.empty())
      r.errors.add(get("operation")->origin, path + ".operation",
                   "point-to-point messages have no group; remove `group` from the rule");
    if (const RawValue* v = get("to"); v != nullptr && rule.to <= rule.from)
      r.errors.add(v->origin, path + ".to",
                   fmt::format("is {}, which is not after `from`, {}; make it later", print_time(rule.to),
                               print_time(rule.from)));
    if (get("fidelity") == nullptr) {
      if (rules.broken.count(i) == 0)
        r.errors.add(rules.origins[i], path, "has no `fidelity`; add one of analytical, message, packet");
      continue;
    }
    resolve_dimensions_of(r, rule, get("dimensions"), path);
    r.config.fidelity_rules.push_back(std::move(rule));
  }
}

}  // namespace weft::loading
