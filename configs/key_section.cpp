// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "configs/key_section.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace weft {
namespace {

[[noreturn]] void fail(const std::string& message) {
  throw UserError(ExitCode::usage, message);
}

}  // namespace

KeySection::KeySection(const DocumentNode& map, std::string prefix, std::string shown,
                       const ReportError& report)
    : prefix_(std::move(prefix)), shown_(std::move(shown)), report_(report), origin_(map.origin) {
  if (map.kind != DocumentNode::Kind::map) {
    error(map.origin, shown_, fmt::format("is {}; allowed: a mapping of {}", describe_node(map), children()));
    return;
  }
  for (const DocumentEntry& entry : map.entries) read_entry(entry);
  add_defaults();
}

void KeySection::error(const std::string& origin, const std::string& key, const std::string& what) {
  good_ = false;
  report_(origin, key, what);
}

const DocumentEntry* KeySection::entry(const char* name) const {
  const auto it = nodes_.find(name);
  return it == nodes_.end() ? nullptr : it->second;
}

void KeySection::read_entry(const DocumentEntry& entry) {
  const std::string name = shown_ + "." + entry.key;
  if (!seen_.emplace(entry.key, &entry).second) {
    error(entry.origin, name,
          fmt::format("written twice, first at {}; remove one of them", seen_[entry.key]->origin));
    return;
  }
  const KeySpec* key =
      entry.key.find_first_of(".[]") == std::string::npos ? find_key(prefix_ + entry.key) : nullptr;
  const bool list = find_section(prefix_ + entry.key + "[]") != nullptr;
  if (key == nullptr && !list) {
    const std::string near = nearest_name(entry.key, names());
    error(entry.origin, name,
          fmt::format("unknown key '{}'{}; allowed here: {}", entry.key,
                      near.empty() ? "" : fmt::format(" (did you mean `{}`?)", near), children()));
    misspelt_.push_back(near);
    return;
  }
  if (list || key->type == ValueType::nodes || key->type == ValueType::switches) {
    nodes_.emplace(entry.key, &entry);
    return;
  }
  try {
    if (entry.value.kind != DocumentNode::Kind::scalar)
      fail(fmt::format("is {}; allowed: {}", describe_node(entry.value), allowed_values(*key)));
    values_[entry.key] = parse_value(*key, entry.value.scalar);
  } catch (const UserError& e) {
    error(entry.origin, name, e.what());
  }
}

void KeySection::add_defaults() {
  for (const KeySpec& key : keys()) {
    const std::string name = own_name(key);
    if (name.empty() || seen_.count(name) != 0) continue;
    if (key.required) {
      if (std::find(misspelt_.begin(), misspelt_.end(), name) == misspelt_.end())
        error(origin_, shown_ + "." + name, fmt::format("missing; add it: {}", allowed_values(key)));
    } else if (!key.optional && key.type != ValueType::switches) {
      values_[name] = parse_value(key, key.fallback);
    }
  }
}

std::string KeySection::own_name(const KeySpec& key) const {
  if (key.path.compare(0, prefix_.size(), prefix_) != 0) return "";
  const std::string name = key.path.substr(prefix_.size());
  return name.find_first_of(".[") == std::string::npos ? name : "";
}

std::vector<std::string> KeySection::names() const {
  std::vector<std::string> out;
  for (const KeySpec& key : keys()) {
    if (key.path.compare(0, prefix_.size(), prefix_) != 0) continue;
    const std::string rest = key.path.substr(prefix_.size());
    const std::string name = rest.substr(0, rest.find_first_of(".["));
    if (std::find(out.begin(), out.end(), name) == out.end()) out.push_back(name);
  }
  return out;
}

std::string KeySection::children() const {
  return fmt::format("{}", fmt::join(names(), ", "));
}

}  // namespace weft
