// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// What is made from the table of keys: the JSON Schema, the reference page; and the machine in words and
// drawings.

#include <gtest/gtest.h>
#include <yaml-cpp/yaml.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <sstream>

#include "configs/describe.h"
#include "configs/effective.h"
#include "configs/keys.h"
#include "configs/loader.h"
#include "configs/schema.h"
#include "tests/support/paths.h"

namespace weft {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

std::string read_file(const fs::path& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

/// YAML as the JSON value a schema validator would see.
json to_json(const YAML::Node& node) {
  if (node.IsMap()) {
    json out = json::object();
    for (const auto& entry : node) out[entry.first.Scalar()] = to_json(entry.second);
    return out;
  }
  if (node.IsSequence()) {
    json out = json::array();
    for (const auto& item : node) out.push_back(to_json(item));
    return out;
  }
  if (node.IsNull()) return nullptr;
  const std::string text = node.Scalar();
  if (node.Tag() == "!") return text;  // quoted
  if (text == "true" || text == "false") return text == "true";
  if (std::regex_match(text, std::regex("[-+]?[0-9]+")))
    return json::parse(text[0] == '+' ? text.substr(1) : text);
  if (std::regex_match(text, std::regex("[-+]?[0-9]+\\.[0-9]+"))) return std::stod(text);
  return text;
}

/// The keywords that the schema uses; any other is a failure, so that none is ignored silently.
bool valid(const json& schema, const json& value) {
  static const std::set<std::string> notes = {"$schema", "title", "description", "default"};
  for (const auto& [keyword, rule] : schema.items()) {
    if (notes.count(keyword) != 0) continue;
    if (keyword == "type") {
      const std::string type = rule;
      const bool ok = (type == "object" && value.is_object()) || (type == "array" && value.is_array()) ||
                      (type == "string" && value.is_string()) || (type == "boolean" && value.is_boolean()) ||
                      (type == "integer" && value.is_number_integer()) ||
                      (type == "number" && value.is_number());
      if (!ok) return false;
    } else if (keyword == "properties") {
      if (!value.is_object()) continue;
      for (const auto& [name, sub] : rule.items())
        if (value.contains(name) && !valid(sub, value[name])) return false;
    } else if (keyword == "additionalProperties") {
      EXPECT_EQ(rule, false);
      if (!value.is_object()) continue;
      for (const auto& [name, unused] : value.items())
        if (!schema["properties"].contains(name)) return false;
    } else if (keyword == "required") {
      if (!value.is_object()) continue;
      for (const auto& name : rule)
        if (!value.contains(name.get<std::string>())) return false;
    } else if (keyword == "items") {
      if (!value.is_array()) continue;
      for (const auto& item : value)
        if (!valid(rule, item)) return false;
    } else if (keyword == "minItems") {
      if (value.is_array() && value.size() < rule.get<size_t>()) return false;
    } else if (keyword == "maxItems") {
      if (value.is_array() && value.size() > rule.get<size_t>()) return false;
    } else if (keyword == "minLength") {
      if (value.is_string() && value.get<std::string>().size() < rule.get<size_t>()) return false;
    } else if (keyword == "minimum") {
      if (value.is_number() && value < rule) return false;
    } else if (keyword == "maximum") {
      if (value.is_number() && value > rule) return false;
    } else if (keyword == "enum") {
      if (std::find(rule.begin(), rule.end(), value) == rule.end()) return false;
    } else if (keyword == "const") {
      if (value != rule) return false;
    } else if (keyword == "pattern") {
      if (value.is_string() &&
          !std::regex_search(value.get<std::string>(), std::regex(rule.get<std::string>())))
        return false;
    } else if (keyword == "oneOf") {
      int matches = 0;
      for (const auto& sub : rule) matches += valid(sub, value) ? 1 : 0;
      if (matches != 1) return false;
    } else {
      ADD_FAILURE() << "unknown keyword " << keyword;
    }
  }
  return true;
}

TEST(Schema, KnowsEveryKeyWithDescription) {
  const json schema = json::parse(json_schema());
  EXPECT_EQ(schema["$schema"], "https://json-schema.org/draft/2020-12/schema");
  for (const KeySpec& key : keys()) {
    EXPECT_FALSE(key.description.empty()) << key.path;
    EXPECT_TRUE(key.required || key.optional || !key.fallback.empty()) << key.path;
    json at = schema;
    std::istringstream parts(key.path);
    for (std::string part; std::getline(parts, part, '.');) {
      const bool list = part.size() > 2 && part.substr(part.size() - 2) == "[]";
      if (list) part.resize(part.size() - 2);
      EXPECT_EQ(at["additionalProperties"], false) << key.path;
      ASSERT_TRUE(at["properties"].contains(part)) << key.path;
      at = json(at["properties"][part]);
      if (list) at = json(at["items"]);
    }
    EXPECT_EQ(at["description"], key.description);
    // A default obeys its own schema (and so, as the loader uses it, the table's range).
    if (at.contains("default")) {
      EXPECT_TRUE(valid(at, at["default"])) << key.path;
    }
  }
}

TEST(Schema, AcceptsWhatTheLoaderAccepts) {
  const json schema = json::parse(json_schema());
  for (const auto& entry : fs::directory_iterator(weft::test::source_dir() + "/configs/examples")) {
    const std::string text = read_file(entry.path());
    EXPECT_TRUE(valid(schema, to_json(YAML::Load(text)))) << entry.path();
    const std::string effective = effective_yaml(parse_config(text, "x.yaml"));
    EXPECT_TRUE(valid(schema, to_json(YAML::Load(effective)))) << effective;
  }
}

TEST(Schema, RefusesWhatTheLoaderRefuses) {
  const json schema = json::parse(json_schema());
  const std::string good = "weft: 1\ntopology: {notation: Ring(4), dimensions: [{bandwidth: 1 GB/s}]}\n";
  ASSERT_TRUE(valid(schema, to_json(YAML::Load(good))));
  for (const char* bad : {
           "weft: 2\ntopology: {notation: Ring(4), dimensions: [{bandwidth: 1 GB/s}]}\n",
           "topology: {notation: Ring(4), dimensions: [{bandwidth: 1 GB/s}]}\n",
           "weft: 1\n",
           "weft: 1\ntopology: {notation: Ring(4)}\n",
           "weft: 1\ntopology: {notation: Rong(4), dimensions: [{bandwidth: 1 GB/s}]}\n",
           "weft: 1\ntopology: {notation: Ring(4), dimensions: [{bandwidth: 1}]}\n",
           "weft: 1\ntopology: {notation: Ring(4), dimensions: [{bandwidth: -1 GB/s}]}\n",
           "weft: 1\ntopology: {notation: Ring(4), dimensions: [{bandwidth: 1 ns}]}\n",
           "weft: 1\ntopology: {notation: Ring(4), dimensions: [{latency: 1 ns}]}\n",
           "weft: 1\ntopology: {notation: Ring(4), dimensions: []}\n",
           "weft: 1\ntopology: {notation: Ring(4), dimensions: [{bandwidth: 1 GB/s, bandwidth_per_npu: 1 "
           "GB/s}]}\n",
           "weft: 1\ntopology: {notation: Ring(4), dimensions: [{bandwidth: 1 GB/s, fidelity: exact}]}\n",
       })
    EXPECT_FALSE(valid(schema, to_json(YAML::Load(bad)))) << bad;
  for (const char* more :
       {"npu: {peek: 1 TFLOPS}", "nmu: {injection_queue: 0}", "nmu: {injection_queue: many}",
        "collectives: {chunks: 1.5}", "collectives: {all_reduce: rng}", "collectives: {all_reduce: []}",
        "collectives: {reduction: {speed: 1 GB/s}}", "npu: {roofline: 1}", "hbm: {efficiency: 1.5}",
        "output: {dir: \"\"}", "extra: 1"}) {
    EXPECT_FALSE(valid(schema, to_json(YAML::Load(good + more)))) << more;
    EXPECT_THROW(parse_config(good + more, ""), UserError) << more;
  }
}

TEST(Reference, TheCommittedPageIsWhatTheCodeSays) {
  const fs::path page = weft::test::source_dir() + "/docs/configuration_reference.md";
  const std::string made = reference_markdown();
  if (std::getenv("WEFT_UPDATE_DOCS") != nullptr) {
    fs::create_directories(page.parent_path());
    std::ofstream(page) << made;
  }
  EXPECT_EQ(read_file(page), made) << "renew it: WEFT_UPDATE_DOCS=1 ctest --preset release -R configs";
  for (const KeySpec& key : keys())
    EXPECT_NE(made.find("| `" + key.path.substr(key.path.rfind('.') + 1) + "` |"), std::string::npos)
        << key.path;
}

Config machine(const std::string& notation, const std::string& entry = "bandwidth: 100 GB/s, latency: 1 us",
               const std::vector<std::string>& overrides = {}) {
  return parse_config("weft: 1\ntopology: {notation: " + notation + ", dimensions: [{" + entry + "}]}\n", "",
                      overrides);
}

TEST(Describe, CountsLinksAndBisection) {
  const struct {
    const char* notation;
    const char* queues;
    uint64_t links;
    double bisection;  // GB/s a direction
  } cases[] = {
      {"Ring(8)", "1", 16, 100},   {"Ring(8)", "2", 16, 200}, {"Mesh(8)", "1", 14, 100},
      {"FC(8)", "1", 56, 1600},    {"FC(5)", "1", 20, 600},   {"Switch(8)", "1", 16, 400},
      {"Switch(5)", "1", 10, 200}, {"Ring(1)", "1", 0, 0},
  };
  for (const auto& c : cases) {
    const Config config = machine(c.notation, "bandwidth: 100 GB/s",
                                  {std::string("collectives.queues_per_dimension=") + c.queues});
    EXPECT_EQ(dimension_links(config, 0), c.links) << c.notation;
    EXPECT_DOUBLE_EQ(dimension_bisection(config, 0), c.bisection * 1e9) << c.notation;
  }
  const Config torus = machine("R(4)_R(4)_R(4)", "bandwidth: 100 GB/s, links_per_npu: 2");
  EXPECT_EQ(dimension_links(torus, 2), 128u);
  EXPECT_DOUBLE_EQ(dimension_bisection(torus, 2), 16 * 200e9);
}

TEST(Describe, TextSaysWhatMatters) {
  const std::string text = describe_text(machine("Ring(4)_FC(8)_SW(4)"));
  for (const char* part : {"Ring(4)_FullyConnected(8)_Switch(4): 128 NPUs in 3 dimensions",
                           "dimension 1: FullyConnected(8)", "700 GB/s an NPU", "2 us from NPU to NPU",
                           "97.66 KiB a link", "256, 32 switches", "bisection 3.2 TB/s"})
    EXPECT_NE(text.find(part), std::string::npos) << part << " in\n" << text;
}

size_t occurrences(const std::string& text, const std::string& what) {
  size_t count = 0;
  for (size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += what.size()) ++count;
  return count;
}

TEST(Describe, RulesInWords) {
  EXPECT_EQ(describe_text(machine("Ring(4)")).find("rules"), std::string::npos);
  const std::string ruled = describe_text(parse_config(
      "weft: 1\ntopology:\n  notation: Ring(4)_FC(8)\n  dimensions: [{bandwidth: 1 GB/s}, {bandwidth: 1 "
      "GB/s}]\n"
      "  fidelity_rules:\n"
      "    - {name: 'emb*', operation: point_to_point, fidelity: message}\n"
      "    - {group: '1', iteration: 3, from: 2 ms, to: 2.5 ms, dimensions: [1], fidelity: packet}\n"
      "    - {fidelity: packet}\n"
      "collectives:\n  rules:\n"
      "    - {name: '*.gradients', chunks: 16, algorithms: [default, ring], priority: 3}\n"
      "    - {group: '0', operation: all_reduce, order: themis, chunks: 1}\n",
      ""));
  EXPECT_NE(
      ruled.find("rules for collectives: the first that fits holds\n"
                 "  [0] name `*.gradients`: algorithms default, ring; 16 chunks; priority 3\n"
                 "  [1] group `0`, operation `all_reduce`: themis order; 1 chunk\n"
                 "  what fits none: the general settings\n"
                 "fidelity rules: the first that fits holds\n"
                 "  [0] name `emb*`, operation `point_to_point`: message fidelity in all dimensions\n"
                 "  [1] group `1`, iteration `3`, from `2 ms`, to `2.5 ms`: packet fidelity in dimension 1\n"
                 "  [2] everything: packet fidelity in all dimensions\n"
                 "  what fits none: its dimensions' own fidelity\n"),
      std::string::npos)
      << ruled;
}

TEST(Describe, DotDrawsSmallMachinesInFull) {
  EXPECT_EQ(occurrences(describe_dot(machine("Ring(8)")), " -- "), 8u);
  EXPECT_EQ(occurrences(describe_dot(machine("Ring(2)")), " -- "), 1u);
  EXPECT_EQ(occurrences(describe_dot(machine("Mesh(8)")), " -- "), 7u);
  EXPECT_EQ(occurrences(describe_dot(machine("FC(8)")), " -- "), 28u);
  EXPECT_EQ(occurrences(describe_dot(machine("Switch(8)_Switch(4)")), " -- "), 64u);
  EXPECT_EQ(occurrences(describe_dot(machine("Switch(8)_Switch(4)")), "shape=diamond"), 12u);
  EXPECT_EQ(occurrences(describe_dot(machine("R(4)_R(4)_R(4)")), " -- "), 192u);
  const std::string large = describe_dot(machine("R(16)_R(16)_R(16)"));
  EXPECT_EQ(occurrences(large, " -- "), 3u);
  EXPECT_NE(large.find("summarised"), std::string::npos);
}

TEST(Describe, DotIsValidGraphviz) {
  if (std::system("dot -V >/dev/null 2>&1") != 0) GTEST_SKIP() << "Graphviz is not installed";
  const fs::path file = fs::temp_directory_path() / "weft_documents_test.dot";
  for (const char* notation :
       {"Ring(8)", "Switch(8)_Switch(4)", "Mesh(3)_FC(4)", "R(1)", "R(16)_SW(16)_FC(4)"}) {
    std::ofstream(file) << describe_dot(machine(notation));
    EXPECT_EQ(std::system(("dot -Tcanon '" + file.string() + "' >/dev/null").c_str()), 0) << notation;
  }
  fs::remove(file);
}

}  // namespace
}  // namespace weft
