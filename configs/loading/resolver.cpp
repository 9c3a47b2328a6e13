// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "configs/loading/resolver.h"

#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

#include "configs/loading/expectations.h"
#include "configs/loading/implementations.h"
#include "configs/loading/jobs.h"
#include "configs/loading/plugins.h"
#include "configs/loading/resolution.h"

namespace weft::loading {
namespace {

void resolve_key(Resolution& r, const KeySpec& key) {
  const std::string parent = key.path.substr(0, key.path.rfind('.'));
  const SectionSpec* section = find_section(parent);
  if (section != nullptr && section->optional) {
    if (r.raw.seen.count(section) == 0) return;
    if (parent == "remote_memory" && !r.config.remote_memory) r.config.remote_memory.emplace();
    if (parent == "loggp" && !r.config.loggp) r.config.loggp.emplace();
    if (parent == "environment" && !r.config.environment) r.config.environment.emplace();
    if (parent == "memory.pool" && !r.config.memory_pool) r.config.memory_pool.emplace();
    if (parent == "memory.host" && !r.config.host_memory) r.config.host_memory.emplace();
    if (parent == "memory.nvme" && !r.config.nvme) r.config.nvme.emplace();
  }
  if (const RawValue* raw = r.find(key)) {
    Value value = raw->value;
    if (key.type == ValueType::path) value = absolute_path(std::get<std::string>(value), r.file);
    if (key.type == ValueType::paths)
      for (std::string& path : std::get<std::vector<std::string>>(value)) path = absolute_path(path, r.file);
    key.set(r.config, value);
  } else if (key.required) {
    if (r.raw.broken.count(&key) == 0)
      r.errors.add(
          r.end, key.path,
          fmt::format("missing; add it: {}",
                      key.path == "weft" ? fmt::format("`weft: {}`", kConfigVersion) : allowed_values(key)));
  } else if (!key.optional) {
    key.set(r.config, default_of(key));
  }
}

}  // namespace

Resolution::Resolution(const RawConfig& written, std::string from, Errors& found)
    : raw(written), file(std::move(from)), end(file.empty() ? "configuration" : file), errors(found) {
  config.file = file;
}

const RawValue* Resolution::find(const KeySpec& key) const {
  const auto it = raw.values.find(&key);
  return it == raw.values.end() ? nullptr : &it->second;
}

const RawValue* Resolution::find(const char* path) const {
  return find(*find_key(path));
}

ReportError Resolution::reporter() {
  return [this](const std::string& origin, const std::string& key, const std::string& what) {
    errors.add(origin, key, what);
  };
}

void Resolution::complain(const std::string& path, const std::string& what) {
  const RawValue* const written = find(path.c_str());
  errors.add(written != nullptr ? written->origin : end, path, what);
}

Value default_of(const KeySpec& key) {
  if (key.type == ValueType::algorithms) return std::string();
  if (key.type == ValueType::reduction) return ReductionSetting{};
  if (key.type == ValueType::paths) return std::vector<std::string>{};
  return parse_value(key, key.fallback == "\"\"" ? "" : key.fallback);
}

Config resolve(const RawConfig& raw, const std::string& file, Errors& errors) {
  Resolution r(raw, file, errors);
  resolve_topology(r);
  for (const KeySpec& key : keys())
    if (key.is_of<Config>() && key.type != ValueType::algorithms) resolve_key(r, key);
  if (!r.config.dimensions.empty() && r.raw.graph == nullptr) resolve_dimensions(r);
  if (r.tree) resolve_tree(r);
  if (!r.config.dimensions.empty()) {
    resolve_logical(r);
    for (const KeySpec& key : keys())
      if (key.is_of<Config>() && key.type == ValueType::algorithms) resolve_algorithms(r, key);
    resolve_rules(r);
    resolve_fidelity_rules(r);
    resolve_jobs(raw, r.config, errors);
    resolve_environment(r);
  }
  check_library(r);
  resolve_packet(r);
  resolve_hbm(r);
  resolve_pool(r);
  resolve_tiers(r);
  check_implementations(r.config, raw, r.end, errors);
  resolve_implementations(r.config, raw, errors);
  check_sampling(r);
  resolve_expectations(r.config, raw, errors);
  check_roofline(r);
  errors.check();
  return r.config;
}

}  // namespace weft::loading
