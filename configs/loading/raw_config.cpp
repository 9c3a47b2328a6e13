// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "configs/loading/raw_config.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "configs/algorithms.h"
#include "configs/document.h"
#include "configs/keys.h"
#include "configs/units.h"

namespace weft::loading {
namespace {

std::string child_path(const std::string& prefix, const std::string& key) {
  return prefix.empty() ? key : prefix + "." + key;
}

class Reader {
 public:
  Reader(RawConfig& raw, Errors& errors) : raw_(raw), errors_(errors) {}

  /// `table` is the map's path in the table, `shown` the one for messages, `dimension` the entry's number or
  /// -1.
  void read_map(const DocumentNode& map, const std::string& table, const std::string& shown, int dimension) {
    std::map<std::string, std::string> first;
    for (const DocumentEntry& entry : map.entries) {
      const std::string path = child_path(table, entry.key);
      const std::string name = child_path(shown, entry.key);
      const auto inserted = first.emplace(entry.key, entry.origin);
      if (!inserted.second) {
        errors_.add(entry.origin, name,
                    fmt::format("written twice, first at {}; remove one of them", inserted.first->second));
        continue;
      }
      read_entry(entry, path, name, table, dimension);
    }
  }

 private:
  void read_entry(const DocumentEntry& entry, const std::string& path, const std::string& name,
                  const std::string& parent, int dimension) {
    const DocumentNode& node = entry.value;
    if (entry.key.find_first_of(".[]") !=
        std::string::npos)  // would name a row of the table without its mapping
      return errors_.add(
          entry.origin, name,
          fmt::format("unknown key '{}'; a dotted path is for --set: in a file, nest the mappings",
                      entry.key));
    if (path == kDimensionsPath) return read_dimensions(entry, name);
    if (path == kLevelsPath) return read_levels(entry, name, dimension);
    if (path == kGraphPath) return static_cast<void>(raw_.graph = &entry);
    if (path == "topology.routes") return static_cast<void>(raw_.routes = &entry);
    if (path == "topology.mapping") return static_cast<void>(raw_.mapping = &entry);
    if (path == kRulesPath) return read_rules(entry, path, name, raw_.rules);
    if (path == kJobsPath) {
      raw_.jobs_origin = entry.origin;
      return read_rules(entry, path, name, raw_.jobs);
    }
    if (path == kImplementationsPath) return read_rules(entry, path, name, raw_.implementations);
    if (path == kEmulatedClassesPath) return read_rules(entry, path, name, raw_.emulated_classes);
    if (path == kCommunicatorRulesPath) return read_rules(entry, path, name, raw_.communicator_rules);
    if (path == kPeerRulesPath) return read_rules(entry, path, name, raw_.peer_rules);
    if (path == kExpectPath) return read_rules(entry, path, name, raw_.expect);
    if (path == kFidelityRulesPath) return read_rules(entry, path, name, raw_.fidelity_rules);
    if (const SectionSpec* section = find_section(path)) {
      raw_.seen.insert(section);
      if (node.kind == DocumentNode::Kind::map) return read_map(node, path, name, dimension);
      if (node.kind != DocumentNode::Kind::null)
        errors_.add(entry.origin, name,
                    fmt::format("is {}; allowed: a mapping of {}", describe_node(node), children(path)));
      return;
    }
    if (const KeySpec* key = find_key(path)) return read_value_of(*key, entry, name, dimension);
    for (const UnavailableKey& missing : unavailable_keys())
      if (missing.path == path)
        return errors_.add(entry.origin, name,
                           fmt::format("not available in this version; {}", missing.remedy));
    // A misspelt key is not reported as missing, too.
    const std::string near = nearest_name(entry.key, child_names(parent));
    if (const KeySpec* meant = near.empty() ? nullptr : find_key(child_path(parent, near)))
      mark_broken(*meant, entry, dimension);
    errors_.add(entry.origin, name, unknown(entry.key, parent));
  }

  void read_dimensions(const DocumentEntry& entry, const std::string& name) {
    raw_.dimensions_origin = entry.origin;
    const DocumentNode& node = entry.value;
    if (node.kind != DocumentNode::Kind::sequence || node.items.empty()) {
      const std::string is =
          node.kind == DocumentNode::Kind::sequence ? "an empty list" : describe_node(node);
      errors_.add(
          entry.origin, name,
          fmt::format("is {}; allowed: a list of mappings, one a dimension or one for all, for example "
                      "`- {{bandwidth: 100 GB/s, latency: 500 ns}}`",
                      is));
      return;
    }
    for (size_t i = 0; i < node.items.size(); ++i) {
      const DocumentNode& item = node.items[i];
      const std::string item_name = fmt::format("{}[{}]", name, i);
      raw_.dimensions.emplace_back();
      raw_.broken_dimensions.emplace_back();
      raw_.levels.emplace_back();
      raw_.dimension_origins.push_back(item.origin);
      if (item.kind != DocumentNode::Kind::map) {
        errors_.add(item.origin, item_name,
                    fmt::format("is {}; allowed: a mapping of {}", describe_node(item),
                                children(std::string(kDimensionsPath) + "[]")));
        for (const KeySpec& key : keys()) raw_.broken_dimensions.back().insert(&key);
        continue;
      }
      read_map(item, std::string(kDimensionsPath) + "[]", item_name, static_cast<int>(i));
    }
  }

  void read_levels(const DocumentEntry& entry, const std::string& name, int dimension) {
    RawConfig::Levels& levels = raw_.levels[static_cast<size_t>(dimension)];
    const DocumentNode& node = entry.value;
    const std::string section = std::string(kLevelsPath) + "[]";
    levels.origin = entry.origin;
    if (node.kind != DocumentNode::Kind::sequence || node.items.empty())
      return errors_.add(
          entry.origin, name,
          fmt::format("is {}; allowed: a list of mappings of {}, one a level or one for all",
                      node.kind == DocumentNode::Kind::sequence ? "an empty list" : describe_node(node),
                      children(section)));
    for (size_t i = 0; i < node.items.size(); ++i) {
      const DocumentNode& item = node.items[i];
      const std::string item_name = fmt::format("{}[{}]", name, i);
      levels.values.emplace_back();
      levels.origins.push_back(item.origin);
      if (item.kind != DocumentNode::Kind::map)
        errors_.add(item.origin, item_name,
                    fmt::format("is {}; allowed: a mapping of {}", describe_node(item), children(section)));
      else
        read_map(item, section, item_name, dimension);
    }
  }

  void read_rules(const DocumentEntry& entry, const std::string& path, const std::string& name,
                  RawConfig::Rules& rules) {
    const DocumentNode& node = entry.value;
    const std::string section = path + "[]";
    if (node.kind != DocumentNode::Kind::sequence)
      return errors_.add(
          entry.origin, name,
          fmt::format("is {}; allowed: a list of mappings of {}", describe_node(node), children(section)));
    for (size_t i = 0; i < node.items.size(); ++i) {
      const DocumentNode& item = node.items[i];
      const std::string item_name = fmt::format("{}[{}]", name, i);
      rules.values.emplace_back();
      rules.origins.push_back(item.origin);
      if (item.kind != DocumentNode::Kind::map) {
        errors_.add(item.origin, item_name,
                    fmt::format("is {}; allowed: a mapping of {}", describe_node(item), children(section)));
        rules.broken.insert(i);
      } else
        read_map(item, section, item_name, static_cast<int>(i));
    }
  }

  void read_value_of(const KeySpec& key, const DocumentEntry& entry, const std::string& name, int dimension) {
    RawConfig::Rules* const rules = raw_.rules_of(key.path);
    const auto number = static_cast<size_t>(dimension);
    RawValues& into = dimension < 0      ? raw_.values
                      : rules != nullptr ? rules->values[number]
                      : of_level(key)    ? raw_.levels[number].values.back()
                                         : raw_.dimensions[number];
    try {
      into[&key] = {value_of(key, entry.value), entry.origin};
    } catch (const UserError& error) {
      errors_.add(entry.origin, name, error.what());
      into.erase(&key);
      mark_broken(key, entry, dimension);
    }
  }

  static bool of_level(const KeySpec& key) { return key.path.rfind(kLevelPrefix, 0) == 0; }

  void mark_broken(const KeySpec& key, const DocumentEntry& entry, int dimension) {
    if (RawConfig::Rules* const rules = raw_.rules_of(key.path)) {
      rules->broken.insert(static_cast<size_t>(dimension));
      return;
    }
    if (dimension < 0)
      raw_.broken[&key] = entry.origin;
    else
      raw_.broken_dimensions[static_cast<size_t>(dimension)].insert(&key);
  }

  static Value value_of(const KeySpec& key, const DocumentNode& node) {
    if (key.type == ValueType::algorithms) return algorithms_of(key, node);
    if (key.type == ValueType::dimensions) return dimensions_of(key, node);
    if (key.type == ValueType::ranks) return ranks_of(key, node);
    if (key.type == ValueType::reduction) return reduction_of(key, node);
    if (key.type == ValueType::paths) return paths_of(key, node);
    return parse_value(key, scalar_of(key, node));
  }

  static const std::string& scalar_of(const KeySpec& key, const DocumentNode& node) {
    if (node.kind == DocumentNode::Kind::null)
      fail(fmt::format("has no value; allowed: {}; or delete the key", allowed_values(key)));
    if (node.kind != DocumentNode::Kind::scalar)
      fail(fmt::format("is {}; allowed: {}", describe_node(node), allowed_values(key)));
    return node.scalar;
  }

  static std::string algorithm_of(const KeySpec& key, const DocumentNode& node) {
    const std::string& name = scalar_of(key, node);
    if (name == kDefaultAlgorithm) return "";
    const AlgorithmInfo* info = find_algorithm(name);
    if (info != nullptr && info->available) return name;
    if (info != nullptr)
      fail(fmt::format("the algorithm '{}' is not available in this version; allowed: {}", name,
                       allowed_values(key)));
    for (const AlgorithmInfo& row : algorithm_table()) {
      if (row.argument == nullptr || name.substr(0, name.find(':')) != row.name) continue;
      fail(fmt::format("{} does not say which programs; write `{}:{}`", describe_node(node), row.name,
                       row.argument));
    }
    const std::string near = nearest_name(name, available_algorithms());
    fail(fmt::format("{} is no algorithm{}; allowed: {}", describe_node(node),
                     near.empty() ? "" : fmt::format(" (did you mean `{}`?)", near), allowed_values(key)));
  }

  static Value algorithms_of(const KeySpec& key, const DocumentNode& node) {
    std::vector<std::string> names;
    if (node.kind == DocumentNode::Kind::sequence) {
      if (node.items.empty()) fail(fmt::format("is an empty list; allowed: {}", allowed_values(key)));
      // A list of one name is that of a machine with one dimension. It never means all dimensions.
      for (const DocumentNode& item : node.items) names.push_back(algorithm_of(key, item));
      return names;
    }
    return algorithm_of(key, node);  // a std::string: one for all dimensions
  }

  static Value dimensions_of(const KeySpec& key, const DocumentNode& node) {
    std::vector<std::string> numbers;
    if (node.kind == DocumentNode::Kind::scalar && node.scalar == "all") return numbers;
    if (node.kind != DocumentNode::Kind::sequence || node.items.empty())
      fail(fmt::format("is {}; allowed: {}",
                       node.kind == DocumentNode::Kind::sequence ? "an empty list" : describe_node(node),
                       allowed_values(key)));
    for (const DocumentNode& item : node.items) {
      const bool number = item.kind == DocumentNode::Kind::scalar && !item.scalar.empty() &&
                          item.scalar.size() <= 4 &&
                          item.scalar.find_first_not_of("0123456789") == std::string::npos;
      if (!number) fail(fmt::format("holds {}; allowed: {}", describe_node(item), allowed_values(key)));
      numbers.push_back(std::to_string(std::stoul(item.scalar)));
    }
    return numbers;
  }

  static Value ranks_of(const KeySpec& key, const DocumentNode& node) {
    std::vector<std::string> items;
    if (node.kind != DocumentNode::Kind::sequence || node.items.empty())
      fail(fmt::format("is {}; allowed: {}",
                       node.kind == DocumentNode::Kind::sequence ? "an empty list" : describe_node(node),
                       allowed_values(key)));
    for (const DocumentNode& item : node.items) items.push_back(scalar_of(key, item));
    return items;
  }

  static Value paths_of(const KeySpec& key, const DocumentNode& node) {
    std::vector<std::string> paths;
    if (node.kind != DocumentNode::Kind::sequence) {
      paths.push_back(std::get<std::string>(parse_value(key, scalar_of(key, node))));
    } else {
      for (const DocumentNode& item : node.items)
        paths.push_back(std::get<std::string>(parse_value(key, scalar_of(key, item))));
    }
    if (std::find(paths.begin(), paths.end(), std::string()) != paths.end())
      fail(fmt::format("holds an empty path; allowed: {}", allowed_values(key)));
    return paths;
  }

  static Value reduction_of(const KeySpec& key, const DocumentNode& node) {
    if (node.kind == DocumentNode::Kind::map) {
      const DocumentNode* bandwidth = node.find("bandwidth");
      if (node.entries.size() != 1 || bandwidth == nullptr || bandwidth->kind != DocumentNode::Kind::scalar)
        fail(fmt::format("is a mapping that does not hold just `bandwidth`; allowed: {}",
                         allowed_values(key)));
      return ReductionSetting{ReductionKind::fixed_bandwidth,
                              std::get<Rate>(parse_value(key, bandwidth->scalar))};
    }
    const std::string& name = scalar_of(key, node);
    if (name == to_string(ReductionKind::none)) return ReductionSetting{ReductionKind::none, {}};
    if (name == to_string(ReductionKind::hbm)) return ReductionSetting{ReductionKind::hbm, {}};
    fail(fmt::format("{} is unknown; allowed: {}", describe_node(node), allowed_values(key)));
  }

  /// Names of the keys directly inside a map of the table, for messages.
  static std::vector<std::string> child_names(const std::string& table) {
    std::vector<std::string> names;
    const std::string prefix = table.empty() ? "" : table + ".";
    const auto take = [&](const std::string& path) {
      if (path.size() <= prefix.size() || path.compare(0, prefix.size(), prefix) != 0) return;
      std::string rest = path.substr(prefix.size());
      rest = rest.substr(0, rest.find_first_of(".["));
      if (!rest.empty() && std::find(names.begin(), names.end(), rest) == names.end()) names.push_back(rest);
    };
    for (const KeySpec& key : keys()) take(key.path);
    return names;
  }

  static std::string children(const std::string& table) {
    return fmt::format("{}", fmt::join(child_names(table), ", "));
  }

  static std::string unknown(const std::string& word, const std::string& parent) {
    const std::string near = nearest_name(word, child_names(parent));
    std::string hint;
    if (!near.empty()) {
      hint = fmt::format(" (did you mean `{}`?)", near);
    } else {
      // The right word in the wrong place?
      std::vector<std::string> places;
      for (const KeySpec& key : keys())
        if (key.path.size() > word.size() && key.path.substr(key.path.size() - word.size() - 1) == "." + word)
          places.push_back("`" + key.path + "`");
      if (!places.empty() && places.size() <= 5)
        hint = fmt::format(" (did you mean {}?)", fmt::join(places, ", "));
    }
    return fmt::format("unknown key '{}'{}; allowed here: {}", word, hint, children(parent));
  }

  RawConfig& raw_;
  Errors& errors_;
};

}  // namespace

RawConfig read_raw(const DocumentNode& root, Errors& errors) {
  RawConfig raw;
  Reader(raw, errors).read_map(root, "", "", -1);
  return raw;
}

}  // namespace weft::loading
