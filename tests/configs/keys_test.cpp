// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// The rows of configs/keys: every key has its own field, and the field keeps every value of the key.

#include "configs/keys.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "configs/graph.h"
#include "configs/keys/key_table.h"
#include "configs/tree.h"

namespace weft {
namespace {

/// Some values that the key allows, as they would be written.
std::vector<std::string> some_values(const KeySpec& key) {
  std::vector<std::string> values;
  const auto add = [&](const std::string& value) {
    if (!value.empty() && value != "\"\"") values.push_back(value);
  };
  add(key.fallback);
  add(key.min);
  add(key.max);
  add(key.zero_word);
  for (const Choice& choice : key.choices) add(choice.name);
  if (key.type == ValueType::boolean) values.insert(values.end(), {"true", "false"});
  if (key.type == ValueType::text || key.type == ValueType::path) values.emplace_back("some text");
  if (key.type == ValueType::time) values.emplace_back("17 ns");
  if (key.type == ValueType::notation) values.emplace_back("Ring(6)");
  if (key.type == ValueType::implementation)
    values.emplace_back(key.choices.empty() ? "a_model" : key.choices[0].name);
  if (values.empty()) values.emplace_back("a list");  // see value_of()
  return values;
}

Value value_of(const KeySpec& key, const std::string& text) {
  switch (key.type) {
    case ValueType::algorithms:
    case ValueType::paths:
    case ValueType::switches:
      return std::vector<std::string>{text, "other"};
    case ValueType::dimensions:
      return std::vector<std::string>{"0", "3"};
    case ValueType::reduction:
      return ReductionSetting{ReductionKind::fixed_bandwidth, Rate{17, 3}};
    default:
      return parse_value(key, text);
  }
}

template <typename Object>
std::map<std::string, std::string> printed(const Object& object) {
  std::map<std::string, std::string> all;
  for (const KeySpec& key : keys()) {
    if (!key.is_of<Object>() || !key.printed()) continue;
    const Value value = key.get(object);
    if (!std::holds_alternative<std::monostate>(value)) all[key.path] = print_value(key, value);
  }
  return all;
}

/// Sets every key of the object to some values: it is read back, and no other key changes.
template <typename Object>
void check_fields(const Object& fresh) {
  int count = 0;
  for (const KeySpec& key : keys()) {
    if (!key.is_of<Object>() || !key.printed() || key.path == "weft") continue;
    if (key.type == ValueType::ranks) continue;  // the loader sets it, which knows the NPUs
    if (key.path == "implementations[].binding")
      continue;  // another word for `implementation`, which prints it
    ++count;
    bool changed = false;
    for (const std::string& text : some_values(key)) {
      const Value value = value_of(key, text);
      Object object = fresh;
      auto expected = printed(object);
      key.set(object, value);
      changed = changed || printed(object) != expected;
      const Value kept = key.get(object);
      if (std::holds_alternative<std::monostate>(kept))
        expected.erase(key.path);  // the value of a new object
      else
        expected[key.path] = print_value(key, value);
      EXPECT_EQ(printed(object), expected) << key.path << ": " << text;
    }
    // A choice of one, a required `all` ..: nothing else to keep.
    EXPECT_TRUE(changed || key.choices.size() == 1) << key.path;
  }
  EXPECT_GT(count, 0);
}

TEST(Keys, EachKeyOfTheConfigurationHasAFieldOfItsOwn) {
  Config config;
  config.remote_memory.emplace();
  config.memory_pool.emplace();
  config.host_memory.emplace();
  config.nvme.emplace();
  config.loggp.emplace();
  config.environment.emplace();
  check_fields(config);
}

TEST(Keys, EachKeyOfAListsEntryHasAFieldOfItsOwn) {
  check_fields(DimensionConfig{});
  check_fields(TreeLevel{});
  check_fields(GraphSpec{});
  check_fields(GraphLink{});
  check_fields(CollectiveRule{});
  check_fields(FidelityRule{});
  check_fields(JobConfig{});
  check_fields(ModuleChoice{});
}

TEST(Keys, ARuleNamesAnOperationOrPointToPoint) {
  const KeySpec& key = *find_key("topology.fidelity_rules[].operation");
  FidelityRule rule;
  EXPECT_TRUE(std::holds_alternative<std::monostate>(key.get(rule)));
  key.set(rule, std::string(kPointToPoint));
  EXPECT_TRUE(rule.point_to_point);
  EXPECT_EQ(rule.operation, std::nullopt);
  FidelityRule other;
  key.set(other, std::string("broadcast"));
  EXPECT_FALSE(other.point_to_point);
  EXPECT_EQ(other.operation, CollectiveOp::broadcast);
}

TEST(Keys, AKeyOfOneObjectIsNotSetInAnother) {
  DimensionConfig dimension;
  Config config;
  EXPECT_THROW(find_key("npu.roofline")->set(dimension, true), std::logic_error);
  EXPECT_THROW(find_key("topology.dimensions[].latency")->get(config), std::logic_error);
  EXPECT_THROW(find_key("topology.mapping")->get(config), std::logic_error);
}

TEST(Keys, TwoRowsCannotDeclareOneKey) {
  constexpr KeyRow kRows[] = {
      {"a", Type::boolean, "true", kAny, no_field, "One."},
      {"a", Type::integer, "1", from(0, 7).or_word("none"), no_field, "Two."},
  };
  KeyTable table;
  const KeySpec& key = table.add("", kRows[1]);
  EXPECT_EQ(key.path, "a");
  EXPECT_EQ(key.min, "0");
  EXPECT_EQ(key.max, "7");
  EXPECT_EQ(key.zero_word, "none");
  EXPECT_THROW(table.add("", kRows[0]), std::logic_error);
  EXPECT_EQ(table.add("section", kRows[0]).path, "section.a");
}

}  // namespace
}  // namespace weft
