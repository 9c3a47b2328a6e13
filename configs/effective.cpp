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
#include "configs/npu_list.h"
#include "configs/tree.h"
#include "configs/units.h"

namespace weft {

namespace {

/// `levels:` of a tree.
std::string print_levels(const Tree& tree) {
  std::string out;
  for (uint32_t l = 1; l < tree.levels(); ++l)
    out += fmt::format("{}{{{}}}", out.empty() ? "" : ", ", print_entry(tree.level(l), kLevelPrefix));
  return "[" + out + "]";
}

/// `dimensions:` with every key of every entry.
void print_dimensions(const std::vector<DimensionConfig>& dimensions, std::string& out) {
  out += "  dimensions:\n";
  for (const DimensionConfig& dimension : dimensions) {
    std::string entry = print_entry(dimension, kDimensionPrefix);
    if (dimension.tree != nullptr && dimension.tree->levels() > 1)
      entry += ", levels: " + print_levels(*dimension.tree);
    if (Shape(dimension).has_crossbar())
      entry += fmt::format(", collective_unit: {{{}}}", print_entry(dimension, kUnitPrefix));
    out += "    - {" + entry + "}\n";
  }
}

void print_tree(const Config& config, std::string& out) {
  out += fmt::format("topology:\n  notation: {}\n  routing: {}\n", config.notation,
                     config.graph->spec().routing);
  print_dimensions(config.levels, out);
}

void print_logical(const Config& config, std::string& out) {
  if (!config.logical.empty()) out += "  logical: " + config.logical + "\n";
  if (!config.mapping.empty()) out += "  mapping: " + print_npus(config.mapping) + "\n";
}

/// A list of rules, each with the keys of its section.
template <typename Rule>
void print_rules(const char* list, const std::vector<Rule>& rules, const char* section, std::string& out) {
  if (rules.empty()) return;
  out += fmt::format("  {}:\n", list);
  for (const Rule& rule : rules) out += "    - {" + print_entry(rule, section) + "}\n";
}

void print_environment(const Config& config, std::string& out) {
  const EnvironmentConfig& environment = *config.environment;
  if (!environment.real.empty()) out += fmt::format("  real: {}\n", print_npus(environment.real));
  print_rules("classes", environment.classes, kEmulatedClassPrefix, out);
  print_rules("communicators", environment.communicators, kCommunicatorRulePrefix, out);
  print_rules("peers", environment.peers, kPeerRulePrefix, out);
}

void print_jobs(const std::vector<JobConfig>& jobs, std::string& out) {
  if (jobs.empty()) return;
  out += "jobs:\n";
  for (const JobConfig& job : jobs) out += "  - {" + print_entry(job, kJobPrefix) + "}\n";
}

void print_implementations(const std::vector<ModuleChoice>& choices, std::string& out) {
  if (choices.empty()) return;
  out += "implementations:\n";
  for (const ModuleChoice& choice : choices)
    out += "  - {" + print_entry(choice, kImplementationPrefix) + "}\n";
}

void print_expectations(const std::vector<ExpectConfig>& entries, std::string& out) {
  if (entries.empty()) return;
  out += "expect:\n";
  for (const ExpectConfig& entry : entries) out += "  - {" + print_entry(entry, kExpectPrefix) + "}\n";
}

/// A key that only says something when a communication library plans collectives.
bool is_library_key(const KeySpec& key) {
  static const char* const names[] = {
      "library",       "library_version", "gpu",           "gpus_per_node", "node_links",
      "links_per_gpu", "link_bandwidth",  "nics_per_node", "nic_bandwidth", "host",
      "network",       "collnet",         "overrides"};
  const std::string section = "collectives.";
  if (key.path.rfind(section + "graph.", 0) == 0 || key.path.rfind(section + "parameters.", 0) == 0)
    return true;
  return std::any_of(std::begin(names), std::end(names),
                     [&](const char* name) { return key.path == section + name; });
}

bool in(const KeySpec& key, const char* section) {
  return key.path.rfind(section, 0) == 0;
}

/// Keys of text workloads that say nothing: there is none, or the file's type decides.
bool idle_text_key(const KeySpec& key, const TextWorkloadConfig& text) {
  static constexpr const char* const kNames[] = {"text",         "passes",     "compute_scale",
                                                 "comm_scale",   "clock",      "update",
                                                 "state_cycles", "priorities", "model_parallel_dimensions"};
  if (!in(key, "workload.")) return false;
  const std::string name = key.path.substr(std::string("workload.").size());
  if (name == "model_parallel_dimensions" && text.model_dimensions.empty()) return true;
  return text.file.empty() && std::find(std::begin(kNames), std::end(kNames), name) != std::end(kNames);
}

}  // namespace

std::string effective_yaml(const Config& config) {
  std::string out = "# The complete configuration of a run: defaults, file and --set together.\n";
  std::string section;
  std::string subsection;
  for (const KeySpec& key : keys()) {
    if (!key.is_of<Config>() || !key.printed()) continue;  // entries of lists are written in one go below
    const size_t dot = key.path.find('.');
    if (dot == std::string::npos) {
      out += fmt::format("{}: {}\n", key.path, print_value(key, key.get(config)));
      continue;
    }
    const std::string parent = key.path.substr(0, dot);
    if (parent == "remote_memory" && !config.remote_memory) continue;
    if (is_library_key(key) && !config.collectives.library.on()) continue;
    if (parent == "loggp" && !config.loggp) continue;
    if (parent == "environment" && !config.environment) continue;
    if (in(key, "memory.pool.") && !config.memory_pool) continue;
    if (in(key, "memory.host.") && !config.host_memory) continue;
    if (in(key, "memory.nvme.") && !config.nvme) continue;
    if (std::holds_alternative<std::monostate>(key.get(config))) continue;
    if (idle_text_key(key, config.workload.text)) continue;
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
    if (parent != section && section == "collectives")
      print_rules("rules", config.collectives.rules, kRulePrefix, out);
    if (parent != section && section == "environment") print_environment(config, out);
    if (parent != section && section == "workload") {
      if (!config.workload.npus.empty()) out += fmt::format("  npus: {}\n", print_npus(config.workload.npus));
      print_jobs(config.jobs, out);
    }
    if (parent != section) out += parent + ":\n";
    section = parent;
    const size_t last = key.path.rfind('.');
    const std::string within = key.path.substr(0, last);
    if (last != dot && within != subsection) out += fmt::format("  {}:\n", within.substr(dot + 1));
    subsection = within;
    out += fmt::format("{}{}: {}\n", last == dot ? "  " : "    ", key.path.substr(last + 1),
                       print_value(key, key.get(config)));
    if (key.path != "topology.notation") continue;
    print_dimensions(config.fabric_dimensions(), out);
    print_rules("fidelity_rules", config.fidelity_rules, kFidelityRulePrefix, out);
    print_logical(config, out);
  }
  print_implementations(config.implementations, out);
  print_expectations(config.expect, out);
  return out;
}

}  // namespace weft
