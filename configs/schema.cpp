// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "configs/schema.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>

#include "configs/algorithms.h"
#include "configs/keys.h"
#include "configs/notation.h"
#include "configs/units.h"

namespace weft {
namespace {

using Json = nlohmann::ordered_json;

Json quantity(UnitKind kind, bool fraction_allowed) {
  std::string units;
  for (const std::string& name : unit_names(kind)) units += (units.empty() ? "" : "|") + name;
  return {{"type", "string"},
          {"pattern", fmt::format("^{} *({})$", number_pattern(fraction_allowed), units)}};
}

/// `read` turns a bound as it is written into a number.
template <typename Read>
Json number(const char* type, const KeySpec& key, Read&& read) {
  Json out = {{"type", type}};
  if (!key.min.empty()) out["minimum"] = read(key.min);
  if (!key.max.empty()) out["maximum"] = read(key.max);
  return out;
}

Json text(const KeySpec& key) {
  Json out = {{"type", "string"}};
  if (!key.min.empty()) out["minLength"] = std::stoull(key.min);
  return out;
}

Json choice(const KeySpec& key) {
  Json names = Json::array();
  for (const Choice& c : key.choices)
    if (c.available) names.push_back(c.name);
  return {{"enum", names}};
}

/// One, or a list of them.
Json one_or_several(const Json& one) {
  return {{"oneOf", {one, {{"type", "array"}, {"minItems", 1}, {"items", one}}}}};
}

/// A node's name or a range of names.
Json node() {
  return {{"type", "string"}, {"pattern", "^[A-Za-z_][A-Za-z0-9_]*([.][.][A-Za-z_][A-Za-z0-9_]*)?$"}};
}

Json algorithms() {
  Json names = Json::array({kDefaultAlgorithm});
  Json alternatives = Json::array();
  for (const AlgorithmInfo& info : algorithm_table()) {
    if (!info.available) continue;
    if (info.argument == nullptr) {
      names.push_back(info.name);
    } else {
      alternatives.push_back({{"type", "string"}, {"pattern", fmt::format("^{}:.+$", info.name)}});
    }
  }
  alternatives.push_back({{"enum", names}});
  const Json name = {{"oneOf", alternatives}};
  return {
      {"oneOf", {name, {{"type", "array"}, {"minItems", 1}, {"maxItems", kMaxDimensions}, {"items", name}}}}};
}

Json switches(const KeySpec& key) {
  return {{"oneOf",
           {{{"type", "integer"}, {"minimum", 0}, {"maximum", std::stoull(key.max)}},
            {{"type", "array"}, {"items", node()}}}}};
}

Json dimensions(const KeySpec& key) {
  const size_t most = key.path == "packet.pfc_networks" ? 32 : kMaxDimensions;
  return {{"oneOf",
           {{{"const", "all"}},
            {{"type", "array"},
             {"minItems", 1},
             {"maxItems", most},
             {"items", {{"type", "integer"}, {"minimum", 0}, {"maximum", most - 1}}}}}}};
}

Json ranks() {
  return {{"type", "array"},
          {"minItems", 1},
          {"items",
           {{"oneOf",
             {{{"type", "integer"}, {"minimum", 0}},
              {{"type", "string"}, {"pattern", "^[0-9]+[.][.][0-9]+$"}}}}}}};
}

Json reduction() {
  return {{"oneOf",
           {{{"enum", {to_string(ReductionKind::none), to_string(ReductionKind::hbm)}}},
            {{"type", "object"},
             {"properties", {{"bandwidth", quantity(UnitKind::bandwidth, true)}}},
             {"required", Json::array({"bandwidth"})},
             {"additionalProperties", false}}}}};
}

Json type_of(const KeySpec& key) {
  switch (key.type) {
    case ValueType::integer:
      return number("integer", key, [](const std::string& bound) { return std::stoull(bound); });
    case ValueType::number:
      return number("number", key, [](const std::string& bound) { return std::stod(bound); });
    case ValueType::boolean:
      return {{"type", "boolean"}};
    case ValueType::text:
      return text(key);
    case ValueType::path:
      return {{"type", "string"}};
    case ValueType::choice:
      return choice(key);
    case ValueType::implementation:  // a plugin's names are not known here
      return {{"type", "string"}, {"pattern", "^((plugin|rtl):)?[A-Za-z_][A-Za-z0-9_-]*([(].*[)])?$"}};
    case ValueType::paths:
      return {{"oneOf", {{{"type", "string"}}, {{"type", "array"}, {"items", {{"type", "string"}}}}}}};
    case ValueType::size:
      return quantity(UnitKind::size, true);
    case ValueType::time:
      return quantity(UnitKind::time, true);
    case ValueType::bandwidth:
      return quantity(UnitKind::bandwidth, true);
    case ValueType::bandwidth_value:
      return quantity(UnitKind::bandwidth, false);
    case ValueType::compute:
      return quantity(UnitKind::compute, false);
    case ValueType::notation:
      return {{"type", "string"}, {"pattern", notation_pattern(key.path == "topology.notation")}};
    case ValueType::algorithms:
      return algorithms();
    case ValueType::nodes:
      return one_or_several(node());
    case ValueType::switches:
      return switches(key);
    case ValueType::dimensions:
      return dimensions(key);
    case ValueType::ranks:
      return ranks();
    case ValueType::reduction:
      return reduction();
  }
  return Json::object();
}

Json schema_of(const KeySpec& key) {
  Json out = type_of(key);
  if (!key.zero_word.empty()) out = {{"oneOf", {{{"const", key.zero_word}}, out}}};
  out["description"] = key.description;
  if (!key.fallback.empty()) {
    if ((key.type == ValueType::integer && key.fallback != key.zero_word) || key.type == ValueType::switches)
      out["default"] = std::stoull(key.fallback);
    else if (key.type == ValueType::number)
      out["default"] = std::stod(key.fallback);
    else if (key.type == ValueType::boolean)
      out["default"] = key.fallback == "true";
    else
      out["default"] = key.fallback == "\"\"" ? "" : key.fallback;
  }
  return out;
}

/// The object of all keys directly in `prefix` ("" or "npu.").
Json object_of(const std::string& prefix, const std::string& description) {
  Json properties = Json::object();
  Json required = Json::array();
  for (const KeySpec& key : keys()) {
    if (key.path.rfind(prefix, 0) != 0) continue;
    const std::string name = key.path.substr(prefix.size());
    if (name.find('.') != std::string::npos) continue;
    properties[name] = schema_of(key);
    if (key.required) required.push_back(name);
  }
  Json out = {{"type", "object"}};
  if (!description.empty()) out["description"] = description;
  out["properties"] = properties;
  if (!required.empty()) out["required"] = required;
  out["additionalProperties"] = false;
  return out;
}

}  // namespace

std::string json_schema() {
  Json root = {{"$schema", "https://json-schema.org/draft/2020-12/schema"},
               {"title", "Weft configuration"},
               {"description", "A machine, its workload and how to run it."}};
  root.update(object_of("", ""));
  Json required = root["required"];
  for (const SectionSpec& section : sections()) {
    if (section.path.find_first_of(".[") != std::string::npos) continue;  // below
    root["properties"][section.path] = object_of(section.path + ".", section.description);
  }
  for (const char* const path : {"packet.ecn", "packet.dcqcn", "packet.sampling", "collectives.graph",
                                 "collectives.parameters", "memory.pool", "memory.host", "memory.nvme"}) {
    const std::string name = path;
    const size_t dot = name.find('.');
    root["properties"][name.substr(0, dot)]["properties"][name.substr(dot + 1)] =
        object_of(name + ".", find_section(name)->description);
  }
  Json dimension = object_of(kDimensionPrefix, "");
  dimension["properties"]["collective_unit"] = object_of(kUnitPrefix, find_section(kUnitPath)->description);
  dimension["oneOf"] = {{{"required", Json::array({"bandwidth"})}},
                        {{"required", Json::array({"bandwidth_per_npu"})}}};
  const auto list_of = [](const std::string& prefix, const std::string& section) -> Json {
    return {{"type", "array"},
            {"description", find_section(section)->description},
            {"items", object_of(prefix, "")}};
  };
  dimension["properties"]["levels"] = list_of(kLevelPrefix, std::string(kLevelsPath) + "[]");
  dimension["properties"]["levels"]["minItems"] = 1;
  // Nothing may be added to root["properties"] while this reference is used: members move when one is added.
  Json& topology = root["properties"]["topology"];
  topology["properties"]["dimensions"] = {
      {"type", "array"},
      {"description", find_section(std::string(kDimensionsPath) + "[]")->description},
      {"minItems", 1},
      {"maxItems", kMaxDimensions},
      {"items", dimension}};
  // A machine is dimensions by notation, or a graph.
  topology["oneOf"] = {{{"required", Json::array({"notation", "dimensions"})}},
                       {{"required", Json::array({"graph"})}}};
  topology["properties"]["graph"] = object_of(kGraphPrefix, find_section(kGraphPath)->description);
  topology["properties"]["graph"]["properties"]["links"] =
      list_of(kGraphLinkPrefix, std::string(kGraphPath) + ".links[]");
  root["properties"]["collectives"]["properties"]["rules"] = list_of(kRulePrefix, "collectives.rules[]");
  topology["properties"]["fidelity_rules"] = list_of(kFidelityRulePrefix, "topology.fidelity_rules[]");
  topology["properties"]["routes"] = list_of(kRoutePrefix, "topology.routes[]");
  Json& environment = root["properties"]["environment"]["properties"];
  environment["classes"] = list_of(kEmulatedClassPrefix, "environment.classes[]");
  environment["communicators"] = list_of(kCommunicatorRulePrefix, "environment.communicators[]");
  environment["peers"] = list_of(kPeerRulePrefix, "environment.peers[]");
  root["properties"][kJobsPath] = list_of(kJobPrefix, "jobs[]");
  root["properties"][kImplementationsPath] = list_of(kImplementationPrefix, "implementations[]");
  root["properties"][kExpectPath] = list_of(kExpectPrefix, "expect[]");
  required.push_back("topology");
  root["required"] = required;
  return root.dump(2) + "\n";
}

}  // namespace weft
