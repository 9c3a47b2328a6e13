// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// The table of all keys of a configuration. The loader's checks, the JSON Schema, the reference page and the
// effective configuration are all made from it. A new key is a field in config.h and one row in its section's
// table in configs/keys.

#ifndef WEFT_CONFIGS_KEYS_H
#define WEFT_CONFIGS_KEYS_H

#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>
#include <typeinfo>
#include <variant>
#include <vector>

#include "configs/config.h"

namespace weft {

enum class ValueType : uint8_t {
  integer,          ///< uint64_t
  number,           ///< double
  boolean,          ///< bool
  text,             ///< std::string
  path,             ///< std::string; relative to the file's folder
  choice,           ///< std::string, one of `choices`
  size,             ///< uint64_t, bytes
  time,             ///< uint64_t, ps
  bandwidth,        ///< Rate
  bandwidth_value,  ///< double, B/s
  compute,          ///< double, FLOP/s
  notation,         ///< std::string, canonical
  algorithms,       ///< std::vector<std::string>: one name, or one a dimension
  reduction,        ///< ReductionSetting
  nodes,            ///< graph_reader.h: a node of the graph, a range or a list of them
  switches,         ///< graph_reader.h: a count, or a list of names
  dimensions,       ///< std::vector<std::string>: numbers (of virtual networks, too); empty: all
  ranks,            ///< std::vector<std::string>: a list of numbers and ranges (npu_list.h)
  implementation,   ///< std::string: one of `choices`, with parameters in parentheses (implementation.h)
  paths             ///< std::vector<std::string>: one path or a list of them, as `path`
};

struct ReductionSetting {
  ReductionKind kind = ReductionKind::none;
  Rate bandwidth;

  bool operator==(const ReductionSetting& o) const { return kind == o.kind && bandwidth == o.bandwidth; }
};

using Value = std::variant<std::monostate, uint64_t, double, bool, std::string, Rate,
                           std::vector<std::string>, ReductionSetting>;

struct Choice {
  std::string name;
  bool available;  ///< false: known, but an error that says "not available in this version"
  std::string description;
};

/// Where a key's value is kept: a field of an object of config.h. configs/keys/key_table.h makes it.
struct KeyField {
  const std::type_info* object = nullptr;  ///< the object's type; null: the loader itself resolves the key
  void (*set)(void* object, std::size_t index, const Value& value) = nullptr;
  Value (*get)(const void* object, std::size_t index) = nullptr;  ///< null: the field is not printed
};

/// One key.
struct KeySpec {
  std::string path;  ///< "npu.peak"; keys of a dimension's entry are "topology.dimensions[].latency"
  ValueType type = ValueType::text;
  std::string fallback;  ///< the default, as it would be written; empty with `required` or `optional`
  bool required = false;
  bool optional = false;  ///< has no default: absent is a state of its own
  std::string min, max;   ///< inclusive, as they would be written; empty: none
  std::string
      zero_word;  ///< the word that stands for the resolved value 0 ("none", "unlimited"); empty: none
  std::vector<Choice> choices;
  std::string description;
  std::size_t index = 0;  ///< of the element, where the field is an array
  KeyField field;

  /// The value is kept in an `Object`: in Config, or in an entry of a list (DimensionConfig, CollectiveRule
  /// ..).
  template <typename Object>
  bool is_of() const {
    return field.object != nullptr && *field.object == typeid(Object);
  }
  template <typename Object>
  void set(Object& object, const Value& value) const {
    check<Object>(field.set != nullptr);
    field.set(&object, index, value);
  }
  bool printed() const { return field.get != nullptr; }
  /// std::monostate: the object has no value for the key.
  template <typename Object>
  Value get(const Object& object) const {
    check<Object>(printed());
    return field.get(&object, index);
  }

 private:
  template <typename Object>
  void check(bool possible) const {
    if (!possible || !is_of<Object>()) throw std::logic_error("the key " + path + " is kept elsewhere");
  }
};

/// A mapping of keys. `optional`: absent means "not there", not "all defaults".
struct SectionSpec {
  std::string path;
  bool optional = false;
  std::string description;
};

/// A key that the format knows and this version does not.
struct UnavailableKey {
  std::string path;
  std::string remedy;
};

constexpr uint64_t kConfigVersion = 1;  ///< of the format: the value of `weft:`
inline constexpr const char* kDimensionsPath = "topology.dimensions";
inline constexpr const char* kDimensionPrefix = "topology.dimensions[].";
inline constexpr const char* kUnitPath = "topology.dimensions[].collective_unit";
inline constexpr const char* kUnitPrefix = "topology.dimensions[].collective_unit.";
inline constexpr const char* kLevelsPath = "topology.dimensions[].levels";
inline constexpr const char* kLevelPrefix = "topology.dimensions[].levels[].";
inline constexpr const char* kGraphPath = "topology.graph";
inline constexpr const char* kGraphPrefix = "topology.graph.";
inline constexpr const char* kGraphLinkPrefix = "topology.graph.links[].";
inline constexpr const char* kRoutePrefix = "topology.routes[].";
inline constexpr const char* kPointToPoint = "point_to_point";  ///< topology.fidelity_rules[].operation
inline constexpr const char* kFidelityRulesPath = "topology.fidelity_rules";
inline constexpr const char* kFidelityRulePrefix = "topology.fidelity_rules[].";
inline constexpr const char* kJobsPath = "jobs";
inline constexpr const char* kJobPrefix = "jobs[].";
inline constexpr const char* kImplementationsPath = "implementations";
inline constexpr const char* kImplementationPrefix = "implementations[].";
inline constexpr const char* kExpectPath = "expect";
inline constexpr const char* kExpectPrefix = "expect[].";
inline constexpr const char* kEmulatedClassesPath = "environment.classes";
inline constexpr const char* kEmulatedClassPrefix = "environment.classes[].";
inline constexpr const char* kCommunicatorRulesPath = "environment.communicators";
inline constexpr const char* kCommunicatorRulePrefix = "environment.communicators[].";
inline constexpr const char* kPeerRulesPath = "environment.peers";
inline constexpr const char* kPeerRulePrefix = "environment.peers[].";
inline constexpr const char* kRulesPath = "collectives.rules";
inline constexpr const char* kRulePrefix = "collectives.rules[].";

const std::vector<KeySpec>& keys();
const std::vector<SectionSpec>& sections();
const std::vector<UnavailableKey>& unavailable_keys();
const KeySpec* find_key(std::string_view path);
const SectionSpec* find_section(std::string_view path);

/// The value of a scalar of a key, checked against type, range and choices. Not for algorithms, reduction and
/// what graph_reader.h reads.
/// Errors: UserError(usage) with the value and what is allowed (the caller knows where it stands).
Value parse_value(const KeySpec& key, const std::string& text);

/// The value as YAML, such that parse_value (or the loader, for algorithms and reduction) reads the same
/// value.
std::string print_value(const KeySpec& key, const Value& value);

/// `latency: 1 us, count: 2`: the keys directly in a section (its path ends in a dot) that an object has
/// values of.
template <typename Object>
std::string print_entry(const Object& object, std::string_view section);

/// What is allowed, in words: "a bandwidth with a unit, from 1 MB/s to 1000 PB/s, for example `100 GB/s`".
std::string allowed_values(const KeySpec& key);

/// Names of available algorithms, for messages and the schema.
std::vector<std::string> available_algorithms();

/// The candidate nearest to `word` by edit distance, or "" when none is near.
std::string nearest_name(std::string_view word, const std::vector<std::string>& candidates);

template <typename Object>
std::string print_entry(const Object& object, std::string_view section) {
  std::string out;
  for (const KeySpec& key : keys()) {
    const std::string_view path = key.path;
    if (!key.is_of<Object>() || !key.printed() || path.substr(0, section.size()) != section) continue;
    const std::string_view name = path.substr(section.size());
    const Value value = key.get(object);
    if (name.find('.') != name.npos || std::holds_alternative<std::monostate>(value)) continue;
    out.append(out.empty() ? "" : ", ").append(name).append(": ").append(print_value(key, value));
  }
  return out;
}

}  // namespace weft

#endif
