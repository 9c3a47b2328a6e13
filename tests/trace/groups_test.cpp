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
  expect("", {"empty"});
  expect_error([&] { Groups::load(folder / "none.json", 4); },
               {"none.json", "no such groups file", "workload.groups"});
}

TEST(Groups, ErrorsNameTheLine) {
  TempFolder folder;
  const std::string path = folder / "g.json";
  spit(path, "{\n  \"a\": [0, 1],\n  \"b\": [1,\n    7]\n}\n");
  expect_error([&] { Groups::load(path, 4); }, {path + ":4: group \"b\": 7 is no rank"});
  spit(path, "{\n  \"a\": [0, 1],\n\n  \"a\": [1]}\n");
  expect_error([&] { Groups::load(path, 4); }, {path + ":4: group \"a\" is defined twice"});
  // Names of a file do not break the line or fill the screen.
  spit(path, "{\"" + std::string(5000, 'x') + "\\n\": 1}");
  expect_error([&] { Groups::load(path, 4); }, {"xxx...", "list of ranks"});
}

TEST(Groups, DeepJsonIsRefusedWhereItGoesTooDeep) {
  TempFolder folder;
  const std::string path = folder / "g.json";
  spit(path, std::string(1000000, '['));
  expect_error([&] { Groups::load(path, 4); }, {"holds a JSON array", "object"});
  spit(path, "{\"a\": " + std::string(1000000, '['));
  expect_error([&] { Groups::load(path, 4); }, {"group \"a\": a JSON array is no rank"});
  std::string objects;
  for (int i = 0; i < 100000; ++i) objects += "{\"a\":";
  spit(path, objects);
  expect_error([&] { Groups::load(path, 4); }, {"group \"a\": its value is a JSON object"});
}

TEST(Groups, AnErrorShowsAPieceOfWhatIsWrong) {
  TempFolder folder;
  const std::string path = folder / "g.json";
  for (const std::string& text :
       {"{\"a\": [\"" + std::string(1 << 20, 'y') + "\"]}", "{\"" + std::string(1 << 20, 'y'),
        "{\"a\": [" + std::string(1 << 20, '9') + "]}"}) {
    spit(path, text);
    try {
      Groups::load(path, 4);
      ADD_FAILURE() << "read";
    } catch (const UserError& e) {
      EXPECT_LT(std::string(e.what()).size(), 1000u);
    }
  }
}

// Two members a group: what a quadratic reader does in 15 s for 100,000 groups, it does not end for a
// million.
TEST(Groups, AMillionGroups) {
  TempFolder folder;
  const std::string path = folder / "g.json";
  constexpr uint32_t kGroups = 1000000;
  std::string text = "{";
  for (uint32_t g = 0; g < kGroups; ++g)
    text += (g == 0 ? "\"" : ",\"") + std::to_string(g + 1) + "\":[" + std::to_string(g % 64) + "," +
            std::to_string(64 + g % 64) + "]";
  spit(path, text + "}");
  const Groups groups = Groups::load(path, 128);
  EXPECT_EQ(groups.size(), kGroups + 1);
  EXPECT_EQ(groups.ranks(*groups.find("1000000")), (std::vector<uint32_t>{63, 127}));
  EXPECT_EQ(groups.of_rank(3).size(), kGroups / 64);
}

}  // namespace
}  // namespace weft::trace::test
