// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "workload/collectives/rules.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace weft::collectives {
namespace {

TEST(Rules, Wildcards) {
  for (const char* good : {"a.b", "*", "a*", "*b", "a?b", "*.*", "a.b*", "**", "a*b", "?*?"})
    EXPECT_TRUE(matches(good, "a.b")) << good;
  for (const char* bad : {"", "a", "b", "a.", "?", "??", "????", "*c*", "b*", "*a"})
    EXPECT_FALSE(matches(bad, "a.b")) << bad;
  EXPECT_TRUE(matches("*", ""));
  EXPECT_TRUE(matches("", ""));
  EXPECT_FALSE(matches("?", ""));
  EXPECT_TRUE(matches("*layer1*.all_reduce", "mb0.layer0.layer1x.all_reduce"));
  // No exponential search.
  EXPECT_FALSE(matches("*a*a*a*a*a*a*a*a*a*a*a*a*b", std::string(5000, 'a')));
}

Config machine() {
  Config config;
  config.file = "machine.yaml";
  for (int d = 0; d < 2; ++d) {
    DimensionConfig dimension;
    dimension.kind = DimensionKind::switch_;
    dimension.size = 4;
    dimension.bandwidth = {100'000'000'000ull, 1};
    config.dimensions.push_back(dimension);
  }
  return config;
}

CollectiveRule rule(const char* group, const char* name, std::optional<CollectiveOp> op = {}) {
  CollectiveRule r;
  r.group = group;
  r.name = name;
  r.operation = op;
  r.origin = std::string("rule ") + group + "/" + name;
  return r;
}

TEST(Rules, TheFirstThatMatchesHolds) {
  Config config = machine();
  config.collectives.rules = {rule("1", ""), rule("0", "x*", CollectiveOp::all_gather), rule("", "*y"),
                              rule("0", ""), rule("", "never")};
  for (size_t i = 0; i < 5; ++i) config.collectives.rules[i].priority = static_cast<int32_t>(i);
  PlanBuilder plans(config);
  Rules rules(config, plans);
  const Group world;
  const Group one{1, "1", {0, 1}};
  const Group two{2, "2", {0, 2}};
  const auto priority = [&](const Group& group, CollectiveOp op, const char* name) {
    CollectiveRequest request;
    request.op = op;
    request.bytes = 64;
    request.group = &group;
    return rules.apply(request, name, -7);
  };
  EXPECT_EQ(priority(one, CollectiveOp::all_reduce, "xy"), 0);
  EXPECT_EQ(priority(world, CollectiveOp::all_gather, "xy"), 1);
  EXPECT_EQ(priority(world, CollectiveOp::all_reduce, "xy"), 2);
  EXPECT_EQ(priority(two, CollectiveOp::all_gather, "xy"), 2);
  EXPECT_EQ(priority(two, CollectiveOp::all_gather, "x"), -7);
  EXPECT_EQ(priority(world, CollectiveOp::all_reduce, "never"), 3);
  const auto unmatched = rules.unmatched();
  ASSERT_EQ(unmatched.size(), 1u);
  EXPECT_EQ(unmatched[0].rfind("rule /never: the rule (name `never`) is for no collective", 0), 0u)
      << unmatched[0];
}

TEST(Rules, PlansFollowThemAndAreKeptApart) {
  Config config = machine();
  config.collectives.rules = {rule("", "a"), rule("", "b"), rule("", "c"), rule("", "bad")};
  config.collectives.rules[0].algorithms = {"ring", ""};
  config.collectives.rules[1].chunks = 9;
  config.collectives.rules[1].order = CollectiveOrder::baseline;
  config.collectives.rules[2].algorithms = {"one_direct", "one_direct"};
  config.collectives.rules[3].algorithms = {"double_binary_tree", "ring"};
  PlanBuilder plans(config);
  Rules rules(config, plans);
  const Group world;
  const auto plan = [&](const char* name, std::vector<std::string> own = {}) {
    CollectiveRequest request;
    request.op = std::string(name) == "bad" ? CollectiveOp::all_to_all : CollectiveOp::all_reduce;
    request.bytes = 6400;
    request.group = &world;
    rules.apply(request, name, 0, own, "node 7");
    return plans.plan(request);
  };
  const auto general = plan("other");
  EXPECT_STREQ(general->phases()[0].algorithm->name(), "halving_doubling");
  EXPECT_EQ(general->phases().size(), 3u);
  EXPECT_EQ(plan("something"), general);
  const auto a = plan("a");
  EXPECT_STREQ(a->phases()[0].algorithm->name(), "ring");
  EXPECT_STREQ(a->phases()[1].algorithm->name(), "halving_doubling");
  EXPECT_EQ(a->chunks(), 4u);
  const auto b = plan("b");
  EXPECT_EQ(b->chunks(), 9u);
  EXPECT_EQ(b->phases().size(), 2u);
  EXPECT_EQ(b->phases()[0].op, CollectiveOp::all_reduce);
  const auto c = plan("c");
  EXPECT_EQ(c->axes().size(), 1u);
  EXPECT_EQ(c->axes()[0].size, 16u);
  // A node's own algorithm comes first; the rule's other settings stay.
  const auto own = plan("b", {"direct", "direct"});
  EXPECT_EQ(own->chunks(), 9u);
  EXPECT_STREQ(own->phases()[0].algorithm->name(), "direct");
  EXPECT_EQ(plan("b"), b);
  try {
    plan("bad");
    ADD_FAILURE();
  } catch (const UserError& e) {
    EXPECT_EQ(std::string(e.what()).rfind("rule /bad: dimension 0 (Switch(4)): ", 0), 0u) << e.what();
  }
}

TEST(Rules, AlgorithmsOfANode) {
  const auto parse = [](const char* text) { return parse_algorithms(text, 2, "/data/t/", "t.0.et: node 3"); };
  EXPECT_EQ(parse("ring"), (std::vector<std::string>{"ring", "ring"}));
  EXPECT_EQ(parse("ring, default"), (std::vector<std::string>{"ring", ""}));
  EXPECT_EQ(parse("custom:p/mine"),
            (std::vector<std::string>{"custom:/data/t/p/mine", "custom:/data/t/p/mine"}));
  const auto fails = [&](const char* text, const char* part) {
    try {
      parse(text);
      ADD_FAILURE() << text;
    } catch (const UserError& e) {
      EXPECT_EQ(e.code(), ExitCode::trace);
      EXPECT_EQ(std::string(e.what()).rfind("t.0.et: node 3: the attribute `algorithm` is ", 0), 0u)
          << e.what();
      EXPECT_NE(std::string(e.what()).find(part), std::string::npos) << e.what();
    }
  };
  fails("riing", "did you mean `ring`?");
  fails("", "is no algorithm");
  fails("ring,", "`` is no algorithm");
  fails("ring,ring,ring", "3 names for 2 dimensions");
  fails("custom", "is no algorithm");
}

}  // namespace
}  // namespace weft::collectives
