// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "vcd/glob.h"

#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "gtest/gtest.h"

namespace weft::vcd {
namespace {

bool selects(const std::string& patterns, const std::string& name) {
  return Glob(patterns).matches(name);
}

TEST(Glob, ALiteralNameMatchesItselfOnly) {
  EXPECT_TRUE(selects("npu0.state", "npu0.state"));
  EXPECT_FALSE(selects("npu0.state", "npu0.states"));
  EXPECT_FALSE(selects("npu0.state", "npu0.stat"));
  EXPECT_FALSE(selects("npu0.state", "npu0xstate"));
  EXPECT_FALSE(selects("state", "npu0.state"));
}

TEST(Glob, AScopeSelectsEverythingBelowIt) {
  EXPECT_TRUE(selects("npu0", "npu0.nmu.port1.bytes"));
  EXPECT_TRUE(selects("npu0.nmu", "npu0.nmu.port1.bytes"));
  EXPECT_TRUE(selects("npu?", "npu7.state"));
  EXPECT_FALSE(selects("npu1", "npu10.state"));
  EXPECT_FALSE(selects("npu0.nm", "npu0.nmu.busy"));
}

TEST(Glob, StarsCrossDotsAndQuestionMarksDoNot) {
  EXPECT_TRUE(selects("*", "a"));
  EXPECT_TRUE(selects("*", "a.b.c"));
  EXPECT_TRUE(selects("**", "a.b.c"));
  EXPECT_TRUE(selects("npu*.bytes", "npu0.nmu.port1.bytes"));
  EXPECT_TRUE(selects("*.port1.*", "npu0.nmu.port1.bytes"));
  EXPECT_FALSE(selects("*.port1.*", "npu0.nmu.port10.bytes"));
  EXPECT_TRUE(selects("a?c", "abc"));
  EXPECT_FALSE(selects("a?c", "a.c"));
  EXPECT_FALSE(selects("a?c", "ac"));
  EXPECT_TRUE(selects("*a*b", "xaxbxb"));
  EXPECT_FALSE(selects("*a*b", "xaxbxc"));
}

TEST(Glob, BracketsAndBraces) {
  EXPECT_TRUE(selects("npu[0-3].state", "npu2.state"));
  EXPECT_FALSE(selects("npu[0-3].state", "npu4.state"));
  EXPECT_TRUE(selects("npu[!0-3].state", "npu4.state"));
  EXPECT_FALSE(selects("npu[!0-3].state", "npu1.state"));
  EXPECT_FALSE(selects("a[!x]b", "a.b"));
  EXPECT_TRUE(selects("*.{busy,bytes}", "n.bytes"));
  EXPECT_FALSE(selects("*.{busy,bytes}", "n.rate"));
  EXPECT_TRUE(selects("x{,_hi}", "x"));
  EXPECT_TRUE(selects("x{,_hi}", "x_hi"));
  EXPECT_TRUE(selects("a{b{1,2},c}d", "ab2d"));
  EXPECT_FALSE(selects("a{b{1,2},c}d", "abd"));
}

TEST(Glob, SeveralPatternsAndTheUnmatchedOnes) {
  Glob glob("npu0.state, npu1.*,nosuch.*");
  EXPECT_TRUE(glob.matches("npu0.state"));
  EXPECT_TRUE(glob.matches("npu1.nmu.bytes"));
  EXPECT_FALSE(glob.matches("npu2.state"));
  EXPECT_EQ(glob.unmatched(), std::vector<std::string>{"nosuch.*"});
}

TEST(Glob, APatternBehindOneThatMatchesCountsAsUsed) {
  Glob glob("*,npu0.state");
  EXPECT_TRUE(glob.matches("npu0.state"));
  EXPECT_TRUE(glob.unmatched().empty());
}

TEST(Glob, AnEmptySelectionSelectsNothing) {
  EXPECT_TRUE(Glob("").empty());
  EXPECT_FALSE(Glob("").matches("a"));
  EXPECT_FALSE(Glob().matches(""));
}

TEST(Glob, MalformedPatternsAreErrors) {
  for (const char* bad : {",", "a,", ",a", "a,,b", " ", "{a", "a}", "a{b,{c}", "[a", "a[!", "a[]"}) {
    EXPECT_THROW(Glob{bad}, GlobError) << bad;
  }
  EXPECT_THROW(Glob{std::string(1000, '{')}, GlobError);
  std::string explosion;
  for (int i = 0; i < 30; ++i) explosion += "{a,b}";
  EXPECT_THROW(Glob{explosion}, GlobError);
}

TEST(Glob, ManyStarsDoNotBlowUp) {
  std::string pattern;
  for (int i = 0; i < 200; ++i) pattern += "*a";
  EXPECT_FALSE(selects(pattern + "b", std::string(5000, 'a')));
}

/// The definition in one line an element: what is left of the pattern against what is left of the name.
bool matches_by_definition(std::string_view pattern, std::string_view name) {
  if (pattern.empty()) return name.empty() || name.front() == '.';
  if (pattern.front() == '*') {
    for (size_t n = 0; n <= name.size(); ++n)
      if (matches_by_definition(pattern.substr(1), name.substr(n))) return true;
    return false;
  }
  if (name.empty()) return false;
  if (pattern.substr(0, 4) == "[ab]") {
    return (name.front() == 'a' || name.front() == 'b') &&
           matches_by_definition(pattern.substr(4), name.substr(1));
  }
  if (pattern.front() == '?' ? name.front() == '.' : name.front() != pattern.front()) return false;
  return matches_by_definition(pattern.substr(1), name.substr(1));
}

TEST(Glob, DrawnPatternsMatchAsDefined) {
  std::mt19937 random(1);
  const std::vector<std::string> elements = {"a", "b", "c", ".", "*", "*", "?", "[ab]"};
  const std::string letters = "aabbc.";
  int hits = 0;
  for (int n = 0; n < 100000; ++n) {
    std::string pattern;
    for (size_t i = 1 + random() % 6; i > 0; --i) pattern += elements[random() % elements.size()];
    std::string name;
    for (size_t i = random() % 9; i > 0; --i) name += letters[random() % letters.size()];
    const bool expected = matches_by_definition(pattern, name);
    hits += expected ? 1 : 0;
    ASSERT_EQ(selects(pattern, name), expected) << pattern << " of " << name;
  }
  EXPECT_GT(hits, 10000);
  EXPECT_LT(hits, 90000);
}

}  // namespace
}  // namespace weft::vcd
