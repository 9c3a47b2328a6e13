// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// What --vary says: lists, ranges, keys that vary together, the cross product.

#include "sc_main/sweep/axis.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "configs/types.h"
#include "sc_main/sweep/quantity.h"
#include "sc_main/sweep/range.h"
#include "sc_main/sweep/words.h"

namespace weft::sweep {
namespace {

using Texts = std::vector<std::string>;

Texts values(const std::string& list) {
  return parse_vary("a=" + list).values[0];
}

/// The message of what is thrown; "" if nothing is.
template <typename Function>
std::string message(const Function& function) {
  try {
    function();
  } catch (const UserError& e) {
    EXPECT_EQ(e.code(), ExitCode::usage);
    return e.what();
  }
  return "";
}

TEST(Axis, Lists) {
  EXPECT_EQ(values("1,2,3"), (Texts{"1", "2", "3"}));
  EXPECT_EQ(values(" 100 GB/s , 200 GB/s "), (Texts{"100 GB/s", "200 GB/s"}));
  EXPECT_EQ(values("\"100 GB/s\",'200 GB/s'"), (Texts{"100 GB/s", "200 GB/s"}));
  EXPECT_EQ(values("'a, b',c"), (Texts{"a, b", "c"}));
  EXPECT_EQ(values("'it''s','',\"say \"\"x\"\"\""), (Texts{"it's", "", "say \"x\""}));
  // Brackets of any kind hold their commas; quotes inside of them stay.
  EXPECT_EQ(values("[ring, direct],FatTree(k=4,n=2),{bandwidth: 1 GB/s, 'x,y': 2}"),
            (Texts{"[ring, direct]", "FatTree(k=4,n=2)", "{bandwidth: 1 GB/s, 'x,y': 2}"}));
  EXPECT_EQ(values("'a''b','c' 'd'"), (Texts{"a'b", "'c' 'd'"}));
  EXPECT_EQ(parse_vary("a.b[0].c=x=1,y").values[0], (Texts{"x=1", "y"})) << "the first = ends the key";
}

TEST(Axis, Ranges) {
  EXPECT_EQ(values("range(1, 4, 1)"), (Texts{"1", "2", "3", "4"}));
  EXPECT_EQ(values("range(1,10,4)"), (Texts{"1", "5", "9"})) << "the last only if a step hits it";
  EXPECT_EQ(values("range(0.1, 0.5, 0.1)"), (Texts{"0.1", "0.2", "0.3", "0.4", "0.5"}));
  EXPECT_EQ(values("range(0, 1, 0.25)"), (Texts{"0", "0.25", "0.5", "0.75", "1"}));
  EXPECT_EQ(values("range(1e3, 2.5e3, 500)"), (Texts{"1000", "1500", "2000", "2500"}));
  EXPECT_EQ(values("range(5, 1, -2)"), (Texts{"5", "3", "1"}));
  EXPECT_EQ(values("range(64 KiB, 192 KiB, 64 KiB)"), (Texts{"64 KiB", "128 KiB", "192 KiB"}));
  EXPECT_EQ(values("range(512 KiB, 2 MiB, 512KiB)"), (Texts{"512 KiB", "1024 KiB", "1536 KiB", "2048 KiB"}));
  EXPECT_EQ(values("range(100 GB/s, 0.3 TB/s, 100 GB/s)"), (Texts{"100 GB/s", "200 GB/s", "300 GB/s"}));
  EXPECT_EQ(values("range(800 Gb/s, 200 GB/s, 400 Gb/s)"), (Texts{"800 Gb/s", "1200 Gb/s", "1600 Gb/s"}));
  EXPECT_EQ(values("range(1, 64, x4)"), (Texts{"1", "4", "16", "64"}));
  EXPECT_EQ(values("range(100 ns, 1 us, *2)"), (Texts{"100 ns", "200 ns", "400 ns", "800 ns"}));
  EXPECT_EQ(values("range(1, 4, x1.5)"), (Texts{"1", "1.5", "2.25", "3.375"}));
  EXPECT_EQ(values("range(8, 1, x0.5)"), (Texts{"8", "4", "2", "1"}));
  EXPECT_EQ(values("range(3, 3, 1)"), (Texts{"3"}));
  EXPECT_EQ(values("0,range(2,4,2),100"), (Texts{"0", "2", "4", "100"})) << "among other values";
  EXPECT_EQ(values("log(1, 1000, 4)"), (Texts{"1", "10", "100", "1000"}));
  EXPECT_EQ(values("log(1.00 GB/s, 2.00 GB/s, 3)"), (Texts{"1 GB/s", "1.41 GB/s", "2 GB/s"}));
  EXPECT_EQ(values("log(64 KiB, 4 KiB, 3)"), (Texts{"64 KiB", "16 KiB", "4 KiB"}));
  EXPECT_EQ(values("ranger,logic(1)"), (Texts{"ranger", "logic(1)"})) << "no functions";
  EXPECT_EQ(values("range(922337203685477.580, 922337203685477.580, 900000000000000)").size(), 1u)
      << "near the end of 64 bits";
}

TEST(Axis, KeysThatVaryTogether) {
  const Axis axis = parse_vary("a.b=1,2; c.d='x;y',z ;--size=range(1 B, 2 B, 1 B)");
  EXPECT_EQ(axis.names, (Texts{"a.b", "c.d", "--size"}));
  EXPECT_EQ(axis.values[1], (Texts{"x;y", "z"}));
  EXPECT_EQ(axis.values[2], (Texts{"1 B", "2 B"}));
  EXPECT_EQ(axis.size(), 2u);
}

TEST(Axis, RefusesAndSaysWhy) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"", "not of the form"},
      {"a", "not of the form"},
      {"=1", "not of the form"},
      {" =1", "key is missing"},
      {"-b=1", "short option"},
      {"a=", "value 1 is empty"},
      {"a=1,,2", "value 2 is empty"},
      {"a=1,2,", "value 3 is empty"},
      {"a=1,2,1", "'1' twice"},
      {"a='1,2", "not closed"},
      {"a=[1,2", "`]` is missing"},
      {"a=1)", "closes nothing"},
      {"a=[1)]", "closes nothing"},
      {"a=1,2;b=1", "2 and `b` has 1"},
      {"a=1;", "semicolons"},
      {"a=range(1,2)", "2 arguments"},
      {"a=range()", "1 arguments"},
      {"a=range(5,1,1)", "is empty"},
      {"a=range(1,5,-1)", "is empty"},
      {"a=range(1,5,0)", "step is 0"},
      {"a=range(x,5,1)", "does not begin with a number"},
      {"a=range(1,5 GB/s,1)", "a unit, or none"},
      {"a=range(1 ns,5 GB/s,1 ns)", "different kinds"},
      {"a=range(1 kB,5 KiB,1 kB)", "not a multiple"},
      {"a=range(1 foo,5 ns,1 ns)", "not a unit"},
      {"a=range(0,1e30,1)", "too many digits"},
      {"a=range(0,1000000,1)", "more than 100000"},
      {"a=range(1,8,x1)", "factor"},
      {"a=range(1,8,x0)", "factor"},
      {"a=range(1,8,x)", "does not begin with a number"},
      {"a=range(0,8,x2)", "above 0"},
      {"a=range(8,1,x2)", "is empty"},
      {"a=range(1,8,x1.000000001)", "decimals"},
      {"a=range(1234567890123456789,2,1)", "too many digits"},
      {"a=range(1 b/s,100000 PB/s,1 PB/s)", "too many digits"},
      {"a=log(1,8,1)", "2 or more"},
      {"a=log(1,8,2.5)", "2 or more"},
      {"a=log(0,8,3)", "above 0"},
      {"a=log(1,2,5)", "two of its values"},
      {"a=log(1,2,1000000)", "more than 100000"},
  };
  for (const auto& [text, part] : cases) {
    const std::string said = message([&, t = text] { parse_vary(t); });
    EXPECT_NE(said.find(part), std::string::npos) << text << ": " << said;
  }
}

TEST(Axis, TheGridIsTheCrossProduct) {
  const Grid grid({parse_vary("a=1,2"), parse_vary("b=x,y,z;c=u,v,w")});
  EXPECT_EQ(grid.points(), 6u);
  EXPECT_EQ(grid.names(), (Texts{"a", "b", "c"}));
  EXPECT_EQ(grid.values(0), (Texts{"1", "x", "u"}));
  EXPECT_EQ(grid.values(1), (Texts{"1", "y", "v"})) << "the last list changes fastest";
  EXPECT_EQ(grid.values(5), (Texts{"2", "z", "w"}));
  EXPECT_EQ(grid.describe(3), "a=2, b=x, c=u");
}

TEST(Axis, KeysOverlap) {
  EXPECT_TRUE(keys_overlap("a.b", "a.b"));
  EXPECT_TRUE(keys_overlap("a", "a.b"));
  EXPECT_TRUE(keys_overlap("a.d[0].x", "a.d[*].x"));
  EXPECT_TRUE(keys_overlap("a.d", "a.d[1].x"));
  EXPECT_FALSE(keys_overlap("a.d[0].x", "a.d[1].x"));
  EXPECT_FALSE(keys_overlap("a.d[*].x", "a.d[1].y"));
  EXPECT_FALSE(keys_overlap("a.b", "a.bc"));
  EXPECT_TRUE(keys_overlap("--size", "--size"));
  EXPECT_FALSE(keys_overlap("--size", "size"));
  EXPECT_EQ(table_path("topology.dimensions[0].levels[*].latency"), "topology.dimensions[].levels[].latency");

  const auto grid = [](const std::vector<std::string>& texts) {
    return message([&] {
      std::vector<Axis> axes;
      for (const std::string& text : texts) axes.push_back(parse_vary(text));
      const Grid made(std::move(axes));
    });
  };
  EXPECT_NE(grid({"a=1,2", "a=3"}).find("`a` is varied twice"), std::string::npos);
  EXPECT_NE(grid({"a=1,2;a=3,4"}).find("varied twice"), std::string::npos);
  EXPECT_NE(grid({"a.d[0]=1", "a.d[*]=3"}).find("set the same"), std::string::npos);
  EXPECT_NE(grid({"a=range(1,1000,1)", "b=range(1,1000,1)"}).find("more than 100000 points"),
            std::string::npos);
  EXPECT_EQ(grid({"a=range(1,1000,1)", "b=range(1,100,1)"}), "");
}

TEST(Words, ShellAndBlanks) {
  EXPECT_EQ(trimmed(" \t a b\n"), "a b");
  EXPECT_EQ(shell_word("a/b-c_d=1,2"), "a/b-c_d=1,2");
  EXPECT_EQ(shell_word("100 GB/s"), "'100 GB/s'");
  EXPECT_EQ(shell_word("it's"), "'it'\\''s'");
  EXPECT_EQ(shell_word(""), "''");
  EXPECT_EQ(shell_word("$(x)"), "'$(x)'");
  EXPECT_EQ(shell_word("~a"), "'~a'");
}

TEST(Quantity, NumbersAndUnits) {
  EXPECT_EQ(quantity("64 KiB"), 65536);
  EXPECT_EQ(quantity("64KiB"), 65536);
  EXPECT_EQ(quantity("2 us"), 2000) << "times in ns";
  EXPECT_EQ(quantity("500 ps"), 0.5);
  EXPECT_EQ(quantity("100 GB/s"), 1e11);
  EXPECT_EQ(quantity("8 b/s"), 1);
  EXPECT_EQ(quantity("3 TFLOPS"), 3e12);
  EXPECT_EQ(quantity("-1.5"), -1.5);
  EXPECT_EQ(quantity("1e3"), 1000);
  EXPECT_EQ(quantity("true"), 1);
  EXPECT_EQ(quantity("false"), 0);
  for (const char* text :
       {"", " ", "ring", "nan", "inf", "0x10", "1 apple", "1 2", "--1", "1e999", "Ring(4)"})
    EXPECT_FALSE(quantity(text)) << text;
  EXPECT_EQ(unit_at("GB/s * 2"), "GB/s");
  EXPECT_EQ(unit_at("GB"), "GB");
  EXPECT_EQ(unit_at("nsx"), "");
  EXPECT_EQ(number_text(80), "80");
  EXPECT_EQ(number_text(0.1), "0.1");
  EXPECT_EQ(number_text(-0.0), "0");
}

}  // namespace
}  // namespace weft::sweep
