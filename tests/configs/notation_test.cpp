// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "configs/notation.h"

#include <gtest/gtest.h>

#include <regex>

namespace weft {
namespace {

TEST(Notation, LongAndShortForms) {
  const std::vector<NotationDimension> want = {{DimensionKind::ring, 4},
                                               {DimensionKind::fully_connected, 8},
                                               {DimensionKind::switch_, 4},
                                               {DimensionKind::mesh, 3}};
  EXPECT_EQ(parse_notation("Ring(4)_FullyConnected(8)_Switch(4)_Mesh(3)"), want);
  EXPECT_EQ(parse_notation("R(4)_FC(8)_SW(4)_M(3)"), want);
  EXPECT_EQ(parse_notation("ring(4)_fullyconnected(08)_switch(4)_mesh(3)"), want);
  EXPECT_EQ(print_notation(want), "Ring(4)_FullyConnected(8)_Switch(4)_Mesh(3)");
  EXPECT_EQ(parse_notation("Ring(16777216)").front().size, kMaxNpus);
  EXPECT_EQ(parse_notation("Ring(1)").front().size, 1u);
}

TEST(Notation, ErrorsPointAtTheColumn) {
  const struct {
    const char* text;
    const char* what;
  } cases[] = {
      {"", "column 1: the notation is empty"},
      {"Foo(4)", "column 1: unknown kind 'Foo'"},
      {"Ring(4)_Foo(4)", "column 9: unknown kind 'Foo'"},
      {"Ring", "column 5: '(' and a size must follow 'Ring'"},
      {"Ring4", "column 5: '('"},
      {"Ring()", "column 6: a size"},
      {"Ring(x)", "column 6: a size"},
      {"Ring(-4)", "column 6: a size"},
      {"Ring(4.5)", "column 7: ')' must follow"},
      {"Ring(4", "column 7: ')' must follow"},
      {"Ring(0)", "column 6: the size is 0"},
      {"Ring(4)_", "column 9: a dimension's kind is missing"},
      {"_Ring(4)", "column 1: a dimension's kind is missing"},
      {"Ring(4)__Ring(4)", "column 9: a dimension's kind is missing"},
      {"Ring(4)Ring(4)", "column 8: '_' must follow"},
      {"Ring(4) _Ring(4)", "column 8: '_' must follow"},
      {"Ring(16777217)", "column 6: the size is larger"},
      {"Ring(99999999999999999999999999)", "column 6: the size is larger"},
      {"Ring(4096)_Ring(4096)_Ring(2)", "column 28: up to here the machine has 33554432 NPUs"},
      {"R(1)_R(1)_R(1)_R(1)_R(1)_R(1)_R(1)_R(1)_R(1)_R(1)_R(1)_R(1)_R(1)_R(1)_R(1)_R(1)_R(1)",
       "column 81: more than 16 dimensions"},
  };
  for (const auto& c : cases) {
    try {
      parse_notation(c.text);
      ADD_FAILURE() << "accepted: " << c.text;
    } catch (const UserError& error) {
      const std::string message = error.what();
      EXPECT_NE(message.find(c.what), std::string::npos) << message;
      EXPECT_NE(message.find("allowed: Ring(n)"), std::string::npos) << message;
      EXPECT_EQ(error.code(), ExitCode::usage);
    }
  }
}

TEST(Notation, ThePatternAcceptsWhatTheParserDoes) {
  const std::regex pattern(notation_pattern());
  for (const char* text :
       {"Ring(4)_FullyConnected(8)_Switch(4)", "R(4)_FC(8)_SW(4)_M(3)", "Ring(16777216)"}) {
    EXPECT_TRUE(std::regex_match(text, pattern)) << text;
    EXPECT_NO_THROW(parse_notation(text));
  }
  for (const char* text : {"Switch(8)_Clos(hosts=4,leaves=4,spines=2)", "FatTree(k=4,n=2)_R(4)_FT(2, 2)"}) {
    EXPECT_TRUE(std::regex_match(text, pattern)) << text;
    EXPECT_FALSE(std::regex_match(text, std::regex(notation_pattern(false)))) << text;
    EXPECT_NO_THROW(parse_notation(text));
  }
  for (const char* text : {"", "Foo(4)", "Ring", "Ring(4)_", "Ring(-1)", "Ring(4)Ring(4)"})
    EXPECT_FALSE(std::regex_match(text, pattern)) << text;
}

}  // namespace
}  // namespace weft
