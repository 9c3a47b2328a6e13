// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "configs/effective.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "configs/blueprint/shape.h"
#include "configs/dram_spec.h"
#include "configs/graph.h"
#include "configs/graph_reader.h"
#include "configs/keys.h"
#include "configs/tree.h"
#include "configs/units.h"

namespace weft {

namespace {

/// `levels:` of a tree.
std::string print_levels(const Tree& tree) {
  std::string out;
  for (uint32_t l = 1; l < tree.levels(); ++l) {
    const TreeLevel& level = tree.level(l);
    std::string entry;
    const auto add = [&](const char* name, const Value& value) {
      entry += fmt::format("{}{}: {}", entry.empty() ? "" : ", ", name,
                           print_value(*find_key(std::string(kLevelPrefix) + name), value));
    };
    add("bandwidth", level.bandwidth);
    add("latency", level.latency);
    add("count", uint64_t{level.count});
    add("credit_latency", level.credit_latency);
    add("flit_error_rate", level.flit_error_rate);
    add("replay", level.replay);
    out += fmt::format("{}{{{}}}", out.empty() ? "" : ", ", entry);
  }
  return "[" + out + "]";
}

/// `dimensions:` with every key of every entry.
void print_dimensions(const Config& config, size_t entries, std::string& out) {
  out += "  dimensions:\n";
  for (size_t d = 0; d < entries; ++d) {
    std::string entry;
    std::string unit;
    const std::string unit_prefix = std::string(kUnitPath) + ".";
    for (const KeySpec& row : keys()) {
      if (row.path.rfind(kDimensionPrefix, 0) != 0 || row.get == nullptr) continue;
      const bool of_unit = row.path.rfind(unit_prefix, 0) == 0;
      std::string& text = of_unit ? unit : entry;
      text +=
          fmt::format("{}{}: {}", text.empty() ? "" : ", ",
                      row.path.substr(of_unit ? unit_prefix.size() : std::string(kDimensionPrefix).size()),
                      print_value(row, row.get(config, d)));
    }
    const DimensionConfig& dimension = config.fabric_dimensions()[d];
    if (dimension.tree != nullptr && dimension.tree->levels() > 1)
      entry += ", levels: " + print_levels(*dimension.tree);
    if (Shape(dimension).has_crossbar()) entry += ", collective_unit: {" + unit + "}";
    out += "    - {" + entry + "}\n";
  }
}

void print_tree(const Config& config, std::string& out) {
  Config levels;  // the entries as the rows of the table see them
  levels.dimensions = config.levels;
  levels.collectives = config.collectives;
  out += fmt::format("topology:\n  notation: {}\n  routing: {}\n", config.notation,
                     config.graph->spec().routing);
  print_dimensions(levels, levels.dimensions.size(), out);
}

void print_logical(const Config& config, std::string& out) {
  if (!config.logical.empty()) out += "  logical: " + config.logical + "\n";
  if (!config.mapping.empty()) out += "  mapping: " + print_mapping(config.mapping) + "\n";
}

void print_rules(const std::vector<CollectiveRule>& rules, std::string& out) {
  if (rules.empty()) return;
  out += "  rules:\n";
  for (const CollectiveRule& rule : rules) {
    std::string entry;
    const auto add = [&](const char* name, const Value& value) {
      entry += fmt::format("{}{}: {}", entry.empty() ? "" : ", ", name,
                           print_value(*find_key(std::string(kRulePrefix) + name), value));
    };
    if (!rule.group.empty()) add("group", rule.group);
    if (!rule.name.empty()) add("name", rule.name);
    if (rule.operation) add("operation", std::string(to_string(*rule.operation)));
    if (!rule.algorithms.empty()) add("algorithms", rule.algorithms);
    if (rule.order) add("order", std::string(to_string(*rule.order)));
    if (rule.chunks) add("chunks", uint64_t{*rule.chunks});
    if (rule.priority) add("priority", static_cast<uint64_t>(*rule.priority));
    out += "    - {" + entry + "}\n";
  }
}

void print_fidelity_rules(const std::vector<FidelityRule>& rules, std::string& out) {
  if (rules.empty()) return;
  out += "  fidelity_rules:\n";
  for (const FidelityRule& rule : rules) {
    std::string entry;
    const auto add = [&](const char* name, const Value& value) {
      entry += fmt::format("{}{}: {}", entry.empty() ? "" : ", ", name,
                           print_value(*find_key(std::string(kFidelityRulePrefix) + name), value));
    };
    if (!rule.name.empty()) add("name", rule.name);
    if (!rule.group.empty()) add("group", rule.group);
    if (rule.operation) add("operation", std::string(to_string(*rule.operation)));
    if (rule.point_to_point) add("operation", std::string(kPointToPoint));
    if (rule.iteration) add("iteration", *rule.iteration);
    if (rule.from != 0) add("from", rule.from);
    if (rule.to != kNever) add("to", rule.to);
    std::vector<std::string> dimensions;
    for (const uint32_t d : rule.dimensions) dimensions.push_back(std::to_string(d));
    add("dimensions", dimensions);
    add("fidelity", std::string(to_string(rule.fidelity)));
    out += "    - {" + entry + "}\n";
  }
}

}  // namespace

std::string effective_yaml(const Config& config) {
  std::string out = "# The complete configuration of a run: defaults, file and --set together.\n";
  std::string section;
  std::string subsection;
  for (const KeySpec& key : keys()) {
    if (key.get == nullptr) continue;
    if (key.path.rfind(kDimensionPrefix, 0) == 0) continue;  // written in one go below
    const size_t dot = key.path.find('.');
    if (dot == std::string::npos) {
      out += fmt::format("{}: {}\n", key.path, print_value(key, key.get(config, key.index)));
      continue;
    }
    const std::string parent = key.path.substr(0, dot);
    if (parent == "remote_memory" && !config.remote_memory) continue;
    if (!config.hbm.banked() &&
        std::find(std::begin(kDramKeys), std::end(kDramKeys), key.path) != std::end(kDramKeys))
      continue;
    if (key.path == "topology.notation" && config.graph != nullptr) {
      section = parent;
      if (config.levels.empty()) {
        out += "topology:\n" + print_graph(config.graph->spec());
      } else {
        print_tree(config, out);
      }
      print_logical(config, out);
      continue;
    }
    if (parent != section && section == "collectives") print_rules(config.collectives.rules, out);
    if (parent != section) out += parent + ":\n";
    section = parent;
    const size_t last = key.path.rfind('.');
    const std::string within = key.path.substr(0, last);
    if (last != dot && within != subsection) out += fmt::format("  {}:\n", within.substr(dot + 1));
    subsection = within;
    out += fmt::format("{}{}: {}\n", last == dot ? "  " : "    ", key.path.substr(last + 1),
                       print_value(key, key.get(config, key.index)));
    if (key.path != "topology.notation") continue;
    print_dimensions(config, config.fabric_dimensions().size(), out);
    print_fidelity_rules(config.fidelity_rules, out);
    print_logical(config, out);
  }
  return out;
}

}  // namespace weft
