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

Json type_of(const KeySpec& key) {
  switch (key.type) {
    case ValueType::integer: {
      Json out = {{"type", "integer"}};
      if (!key.min.empty()) out["minimum"] = std::stoull(key.min);
      if (!key.max.empty()) out["maximum"] = std::stoull(key.max);
      return out;
    }
    case ValueType::number: {
      Json out = {{"type", "number"}};
      if (!key.min.empty()) out["minimum"] = std::stod(key.min);
      if (!key.max.empty()) out["maximum"] = std::stod(key.max);
      return out;
    }
    case ValueType::boolean:
      return {{"type", "boolean"}};
    case ValueType::text: {
      Json out = {{"type", "string"}};
      if (!key.min.empty()) out["minLength"] = std::stoull(key.min);
      return out;
    }
    case ValueType::path:
      return {{"type", "string"}};
    case ValueType::choice: {
      Json names = Json::array();
      for (const Choice& c : key.choices)
        if (c.available) names.push_back(c.name);
      return {{"enum", names}};
    }
    case ValueType::implementation:  // a plugin's names are not known here
      return {{"type", "string"}, {"pattern", "^[A-Za-z_][A-Za-z0-9_-]*([(].*[)])?$"}};
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
    case ValueType::algorithms: {
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
      return {{"oneOf",
               {name, {{"type", "array"}, {"minItems", 1}, {"maxItems", kMaxDimensions}, {"items", name}}}}};
    }
    case ValueType::nodes: {
      const Json name = {{"type", "string"},
                         {"pattern", "^[A-Za-z_][A-Za-z0-9_]*([.][.][A-Za-z_][A-Za-z0-9_]*)?$"}};
      return {{"oneOf", {name, {{"type", "array"}, {"minItems", 1}, {"items", name}}}}};
    }
    case ValueType::switches:
      return {{"oneOf",
               {{{"type", "integer"}, {"minimum", 0}, {"maximum", std::stoull(key.max)}},
                {{"type", "array"},
                 {"items",
                  {{"type", "string"},
                   {"pattern", "^[A-Za-z_][A-Za-z0-9_]*([.][.][A-Za-z_][A-Za-z0-9_]*)?$"}}}}}}};
    case ValueType::dimensions: {
      const size_t most = key.path == "packet.pfc_networks" ? 32 : kMaxDimensions;
      return {{"oneOf",
               {{{"const", "all"}},
                {{"type", "array"},
                 {"minItems", 1},
                 {"maxItems", most},
                 {"items", {{"type", "integer"}, {"minimum", 0}, {"maximum", most - 1}}}}}}};
    }
    case ValueType::ranks:
      return {{"type", "array"},
              {"minItems", 1},
              {"items",
               {{"oneOf",
                 {{{"type", "integer"}, {"minimum", 0}},
                  {{"type", "string"}, {"pattern", "^[0-9]+[.][.][0-9]+$"}}}}}}};
    case ValueType::reduction:
      return {{"oneOf",
               {{{"enum", {to_string(ReductionKind::none), to_string(ReductionKind::hbm)}}},
                {{"type", "object"},
                 {"properties", {{"bandwidth", quantity(UnitKind::bandwidth, true)}}},
                 {"required", Json::array({"bandwidth"})},
                 {"additionalProperties", false}}}}};
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

std::string heading_of(const std::string& path) {
  return path.empty() ? "Top level" : "`" + path + "`";
}

std::string shown_default(const KeySpec& key) {
  if (key.required) return "required";
  if (key.fallback.empty()) return "-";
  return "`" + key.fallback + "`";
}

/// A table's cell: no bar and no line break may be left in it.
std::string cell(std::string text) {
  for (size_t at = 0; (at = text.find('|', at)) != std::string::npos; at += 2) text.insert(at, "\\");
  return text;
}

std::string short_unit_list(UnitKind kind) {
  std::string out;
  for (const std::string& name : unit_names(kind)) out += (out.empty() ? "`" : ", `") + name + "`";
  return out;
}

/// allowed_values without the list of units, which the page explains once.
std::string brief_allowed(const KeySpec& key) {
  std::string text = allowed_values(key);
  const size_t open = text.find(" with a unit (");
  if (open != std::string::npos) {
    const size_t close = text.find(')', open);
    text.erase(open, close - open + 1);
  }
  return text;
}

void add_table(std::string& out, const std::string& prefix) {
  out += "| key | default | allowed | meaning |\n|---|---|---|---|\n";
  for (const KeySpec& key : keys()) {
    if (key.path.rfind(prefix, 0) != 0) continue;
    const std::string name = key.path.substr(prefix.size());
    if (name.find('.') != std::string::npos) continue;
    std::string meaning = key.description;
    std::string choices;
    for (const Choice& c : key.choices)
      if (c.available && !c.description.empty())
        choices += (choices.empty() ? " `" : "; `") + c.name + "`: " + c.description;
    if (!choices.empty()) meaning += choices + ".";
    out += fmt::format("| `{}` | {} | {} | {} |\n", name, shown_default(key), cell(brief_allowed(key)),
                       cell(meaning));
  }
  out += "\n";
}

}  // namespace

std::string json_schema() {
  Json root = {{"$schema", "https://json-schema.org/draft/2020-12/schema"},
               {"title", "Weft configuration"},
               {"description", "A machine, its workload and how to run it."}};
  root.update(object_of("", ""));
  Json required = root["required"];
  for (const SectionSpec& section : sections()) {
    if (section.path.find('.') != std::string::npos) continue;  // below
    root["properties"][section.path] = object_of(section.path + ".", section.description);
  }
  for (const char* const path : {"packet.ecn", "packet.dcqcn"}) {
    const std::string name = path;
    const size_t dot = name.find('.');
    root["properties"][name.substr(0, dot)]["properties"][name.substr(dot + 1)] =
        object_of(name + ".", find_section(name)->description);
  }
  Json dimension = object_of(kDimensionPrefix, "");
  dimension["properties"]["collective_unit"] =
      object_of(kUnitPrefix, find_section(kUnitPath)->description);
  dimension["oneOf"] = {{{"required", Json::array({"bandwidth"})}},
                        {{"required", Json::array({"bandwidth_per_npu"})}}};
  const auto list_of = [](const std::string& prefix, const std::string& section) -> Json {
    return {{"type", "array"},
            {"description", find_section(section)->description},
            {"items", object_of(prefix, "")}};
  };
  dimension["properties"]["levels"] = list_of(kLevelPrefix, std::string(kLevelsPath) + "[]");
  dimension["properties"]["levels"]["minItems"] = 1;
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
  required.push_back("topology");
  root["required"] = required;
  return root.dump(2) + "\n";
}

std::string reference_markdown() {
  std::string out =
      "# Configuration reference\n\n"
      "<!-- Made from the tables in configs/keys; a test compares. To renew: WEFT_UPDATE_DOCS=1 ctest -R "
      "configs -->\n\n"
      "One YAML file describes a machine, its workload and the run. Unknown keys, missing units and values "
      "out\n"
      "of range are errors that name file, line, key, value and what is allowed. `--set a.b=c` on the "
      "command\n"
      "line replaces a key. A minimal file:\n\n"
      "```yaml\nweft: 1\ntopology:\n  notation: Ring(8)\n  dimensions:\n    - {bandwidth: 100 GB/s, latency: "
      "500 ns}\n"
      "```\n\n"
      "A machine that no notation describes is a graph (more in configs/examples):\n\n"
      "```yaml\nweft: 1\ntopology:\n  graph:\n    npus: 4\n    switches: [leaf0..leaf1]\n    links:\n"
      "      - {from: npu0..npu1, to: leaf0, bandwidth: 50 GB/s, latency: 300 ns}\n"
      "      - {from: npu2..npu3, to: leaf1, bandwidth: 50 GB/s, latency: 300 ns}\n"
      "      - {from: leaf0, to: leaf1, bandwidth: 50 GB/s, latency: 1 us, count: 2}\n"
      "  routing: ecmp\n  logical: Ring(2)_Ring(2)      # what collectives plan on\n"
      "  mapping: [0, 2, 1, 3]         # the NPU of rank 0, 1, ..\n```\n\n"
      "`--set topology.dimensions[1].latency=\"1 us\"` sets the key for dimension 1 only, `dimensions[*]` "
      "for\n"
      "every entry. Setting one of `bandwidth` and `bandwidth_per_npu` replaces the other. Every run writes\n"
      "`effective.yaml` beside its results: every key with the value that was used.\n\n"
      "## Values\n\n"
      "A value is a decimal number (also a fraction, `200/7 GiB/s`) and a unit. It is held exactly; one "
      "that\n"
      "does not come out as whole picoseconds or bytes is an error. A bandwidth with more digits than that\n"
      "allows is rounded to the nearest.\n\n| kind | units |\n|---|---|\n";
  out += "| bandwidth | " + short_unit_list(UnitKind::bandwidth) +
         " (`B` bytes, `b` bits; `k`, `M`, `G` .. are powers of "
         "1000, `Ki`, `Mi`, `Gi` .. of 1024) |\n";
  out += "| size | " + short_unit_list(UnitKind::size) + " |\n";
  out += "| time | " + short_unit_list(UnitKind::time) + " |\n";
  out += "| compute | " + short_unit_list(UnitKind::compute) + " |\n\n";
  out += "## " + heading_of("") + "\n\n";
  add_table(out, "");
  for (const SectionSpec& section : sections()) {
    out += "## " + heading_of(section.path) + "\n\n" + section.description + "\n\n";
    add_table(out, section.path + ".");
  }
  out += "## Algorithms\n\n| name | what it does |\n|---|---|\n";
  out += fmt::format(
      "| `{}` | the dimension's own: Ring `ring`, FullyConnected `direct`, Switch `halving_doubling` "
      "(all-to-all: `direct`) |\n",
      kDefaultAlgorithm);
  for (const AlgorithmInfo& info : algorithm_table()) {
    if (!info.available) continue;
    std::vector<std::string> lacks;
    for (int op = 0; op < kCollectiveOps; ++op)
      if (!lacking(info, static_cast<CollectiveOp>(op)).empty())
        lacks.emplace_back(fmt::format("`{}`", to_string(static_cast<CollectiveOp>(op))));
    out += fmt::format("| `{}{}` | {}{}{} |\n", info.name,
                       info.argument == nullptr ? std::string{} : fmt::format(":{}", info.argument),
                       info.description, info.whole ? "; for whole operations only" : "",
                       lacks.empty() ? "" : fmt::format(". It has no {}", fmt::join(lacks, ", ")));
  }
  return out;
}

}  // namespace weft
