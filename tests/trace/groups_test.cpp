// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "workload/trace/groups.h"

#include "tests/trace/trace_files.h"

namespace weft::trace::test {
namespace {

TEST(Groups, ReadsAndKeepsTheOrderOfMembers) {
  TempFolder folder;
  const std::string path = folder / "g.json";
  spit(path, R"({"9": [0, 2, 4, 6], "tp": [3, 1]})");
  const Groups groups = Groups::load(path, 8);
  ASSERT_TRUE(groups.find("9").has_value());
  EXPECT_EQ(groups.ranks(*groups.find("9")), (std::vector<uint32_t>{0, 2, 4, 6}));
  const GroupId tp = groups.find("tp").value();
  EXPECT_EQ(groups.ranks(tp), (std::vector<uint32_t>{3, 1}));
  EXPECT_TRUE(groups.contains(tp, 3));
  EXPECT_TRUE(groups.contains(tp, 1));
  EXPECT_FALSE(groups.contains(tp, 2));
  EXPECT_FALSE(groups.find("10").has_value());
  EXPECT_EQ(groups.of_rank(3), std::vector<GroupId>{tp});
  EXPECT_TRUE(groups.of_rank(5).empty());
}

TEST(Groups, AllRanksUnlessTheFileSaysOtherwise) {
  const Groups none(4);
  EXPECT_EQ(none.find(""), std::optional<GroupId>(kWorld));
  EXPECT_EQ(none.find("0"), std::optional<GroupId>(kWorld));
  EXPECT_EQ(none.ranks(kWorld), (std::vector<uint32_t>{0, 1, 2, 3}));
  TempFolder folder;
  const std::string path = folder / "g.json";
  spit(path, R"({"0": [1, 2]})");
  const Groups groups = Groups::load(path, 4);
  EXPECT_EQ(groups.find(""), std::optional<GroupId>(kWorld));
  EXPECT_EQ(groups.ranks(groups.find("0").value()), (std::vector<uint32_t>{1, 2}));
}

TEST(Groups, ErrorsNameTheGroupAndTheValue) {
  TempFolder folder;
  const std::string path = folder / "g.json";
  const auto expect = [&](const std::string& content, std::initializer_list<std::string> parts) {
    spit(path, content);
    expect_error([&] { Groups::load(path, 4); }, {path});
    expect_error([&] { Groups::load(path, 4); }, parts);
  };
  expect("{\n  \"a\": [0, 1\n}", {"bad JSON", "line 3", "column 1"});
  expect("[[0, 1]]", {"array", "object"});
  expect(R"({"a": 5})", {"\"a\"", "number", "list of ranks"});
  expect(R"({"a": [0, 4]})", {"\"a\"", "4 is no rank", "4 NPUs"});
  expect(R"({"a": [0, -1]})", {"\"a\"", "-1 is no rank"});
  expect(R"({"a": [0, 1.5]})", {"1.5 is no rank"});
  expect(R"({"a": ["0"]})", {"\"0\" is no rank"});
  expect(R"({"a": [2, 0, 2]})", {"\"a\"", "rank 2 twice"});
  expect(R"({"a": []})", {"\"a\"", "no ranks"});
  expect(R"({"a": [0], "b": [1], "a": [2]})", {"\"a\"", "defined twice"});
  expect("", {"cannot be read"});
  expect_error([&] { Groups::load(folder / "none.json", 4); },
               {"none.json", "cannot be read", "workload.groups"});
}

}  // namespace
}  // namespace weft::trace::test
