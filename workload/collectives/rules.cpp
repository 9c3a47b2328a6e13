// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "workload/collectives/rules.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>

#include "configs/algorithms.h"
#include "configs/keys.h"
#include "configs/rules_text.h"
#include "workload/collectives/in_switch.h"

namespace weft::collectives {

bool matches(std::string_view pattern, std::string_view text) {
  size_t p = 0;
  size_t t = 0;
  size_t star = std::string_view::npos;  // the last `*`, and the text from which it may take more
  size_t from = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      from = t;
    } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == text[t])) {
      ++p;
      ++t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++from;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

Rules::Rules(const Config& config, PlanBuilder& plans)
    : rules_(config.collectives.rules), plans_(plans), delays_(rules_) {
  for (const CollectiveRule& rule : rules_) {
    settings_.push_back(plans_.settings({rule.algorithms, rule.order, rule.chunks, rule.origin}));
  }
  matched_.assign(rules_.size(), false);
}

uint32_t Rules::find(const CollectiveRequest& request, std::string_view node_name) const {
  for (uint32_t i = 0; i < rules_.size(); ++i) {
    const CollectiveRule& rule = rules_[i];
    if (!rule.delay && meets(rule, request.op, request.bytes, request.group->name, node_name)) return i;
  }
  return ~0u;
}

int32_t Rules::apply(CollectiveRequest& request, std::string_view node_name, int32_t priority,
                     const std::vector<std::string>& algorithms, const std::string& origin) {
  const uint32_t rule = find(request, node_name);
  request.settings = 0;
  if (rule != ~0u) {
    matched_[rule] = true;
    request.settings = settings_[rule];
    priority = rules_[rule].priority.value_or(priority);
  }
  if (!algorithms.empty()) {
    PlanSettings settings = plans_.settings(request.settings);
    settings.algorithms = algorithms;
    settings.origin = origin;
    request.settings = plans_.settings(settings);
  }
  return priority;
}

int32_t Rules::apply(CollectiveRequest& request, const trace::Node& node, uint32_t rank,
                     const std::string& path) {
  if (node.algorithm.empty()) {
    return rules_.empty() ? node.priority : apply(request, std::string_view(node.name), node.priority);
  }
  const size_t slash = path.rfind('/');
  const auto names =
      parse_algorithms(node.algorithm, plans_.config().dimensions.size(),
                       slash == std::string::npos ? std::string(".") : path.substr(0, slash + 1),
                       fmt::format("{}: rank {}, node {} (`{}`)", path, rank, node.id, node.name));
  for (uint32_t d = 0; d < names.size(); ++d) {
    const Config& config = plans_.config();
    if (names[d] != in_switch_algorithm()->name() || uses_unit(config, d)) continue;
    if (config.dimensions[d].size < 2 || !Shape(config.dimensions[d]).has_crossbar())
      continue;  // the plan refuses
    // Switches are built before the trace's nodes are known one by one.
    throw UserError(
        ExitCode::trace,
        fmt::format(
            "{}: rank {}, node {} (`{}`): the attribute `algorithm` names in_switch for dimension {}, whose "
            "switches are built without collective units; let the configuration name in_switch for the "
            "dimension somewhere, in `collectives` or one of its rules",
            path, rank, node.id, node.name, d));
  }
  // Alike for all members, or every rank would make a plan of its own.
  return apply(request, std::string_view(node.name), node.priority, names,
               fmt::format("the attribute `algorithm` \"{}\"", node.algorithm));
}

std::shared_ptr<const CollectivePlan> Rules::plan(const CollectiveRequest& request, const trace::Node& node,
                                                  uint32_t rank, const std::string& path) {
  try {
    return plans_.plan(request);
  } catch (const UserError& e) {
    if (node.algorithm.empty()) throw;
    throw UserError(ExitCode::trace,
                    fmt::format("{}: rank {}, node {} (`{}`): {}", path, rank, node.id, node.name, e.what()));
  }
}

void Rules::delay(CollectiveRequest& request, Picoseconds time) {
  if (time == 0) return;
  PlanSettings settings = plans_.settings(request.settings);
  settings.delay = time;
  request.settings = plans_.settings(settings);
}

std::vector<std::string> Rules::unmatched() const {
  std::vector<std::string> lines;
  for (size_t i = 0; i < rules_.size(); ++i) {
    if (matched_[i] || delays_.matched(i)) continue;
    const std::string wants = conditions_text(rules_[i]);
    lines.push_back(
        fmt::format("{}: the rule{} is for no collective: none matches, or earlier rules take them all",
                    rules_[i].origin, wants.empty() ? "" : " (" + wants + ")"));
  }
  return lines;
}

std::vector<std::string> parse_algorithms(const std::string& text, size_t dimensions,
                                          const std::string& folder, const std::string& where) {
  const auto fail = [&](const std::string& what) {
    throw UserError(ExitCode::trace, fmt::format("{}: the attribute `algorithm` is \"{}\": {}", where,
                                                 text.substr(0, 200), what));
  };
  std::vector<std::string> names;
  for (size_t at = 0; at <= text.size();) {
    const size_t end = std::min(text.find(',', at), text.size());
    std::string name = text.substr(at, end - at);
    at = end + 1;
    name.erase(0, std::min(name.find_first_not_of(" \t"), name.size()));
    name.erase(name.find_last_not_of(" \t") + 1);
    if (name == kDefaultAlgorithm) {
      names.emplace_back();
      continue;
    }
    const AlgorithmInfo* info = weft::find_algorithm(name);
    if (info == nullptr || !info->available) {
      const std::string near = nearest_name(name, available_algorithms());
      fail(fmt::format("`{}` is no algorithm{}; use one of {}", name,
                       near.empty() ? "" : fmt::format(" (did you mean `{}`?)", near),
                       fmt::join(available_algorithms(), ", ")));
    }
    if (info->argument != nullptr) {
      name = fmt::format(
          "{}:{}", info->name,
          std::filesystem::absolute(std::filesystem::path(folder) / std::string(algorithm_argument(name)))
              .lexically_normal()
              .string());
    }
    names.push_back(std::move(name));
  }
  if (names.size() == 1) names.resize(dimensions, names[0]);
  if (names.size() != dimensions) {
    fail(fmt::format("{} names for {} dimensions; give one for all, or one a dimension", names.size(),
                     dimensions));
  }
  return names;
}

}  // namespace weft::collectives
