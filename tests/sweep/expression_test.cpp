// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Formulas, objectives and the table that they work on.

#include "sc_main/sweep/expression.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "configs/types.h"
#include "sc_main/sweep/objective.h"
#include "sc_main/sweep/table_of_points.h"

namespace weft::sweep {
namespace {

using Texts = std::vector<std::string>;

const std::map<std::string, std::string> kCells = {{"a", "3"},       {"b", "4"},       {"size", "64 KiB"},
                                                   {"word", "ring"}, {"none", ""},     {"x.y[0].z", "7.5"},
                                                   {"a-b c", "9"},   {"flag", "true"}, {"d[*].e", "2"}};

std::string result(const std::string& text) {
  const Expression expression(text);
  std::vector<Cell> cells;
  for (const std::string& name : expression.names()) cells.push_back(Cell::of(kCells.at(name)));
  return expression.evaluate(cells).text;
}

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

TEST(Expressions, Results) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"1+2*3", "7"},
      {"(1+2)*3", "9"},
      {"2^3^2", "512"},
      {"-2^2", "-4"},
      {"2^-1", "0.5"},
      {"10-4-3", "3"},
      {"24/4/3", "2"},
      {"7%4", "3"},
      {"--2", "2"},
      {"a*b", "12"},
      {" a\t+\nb ", "7"},
      {"x.y[0].z*2", "15"},
      {"d[*].e", "2"},
      {"`a-b c`+1", "10"},
      {"size", "64 KiB"},
      {"size*1", "65536"},
      {"size/64 KiB", "1"},
      {"100 GB/s / 50GB/s", "2"},
      {"2 us + 1 ns", "2001"},
      {"1e3", "1000"},
      {"1.5e-1", "0.15"},
      {".5", "0.5"},
      {"a<b", "1"},
      {"a>=b", "0"},
      {"a=3", "1"},
      {"a==3 && b!=4", "0"},
      {"a==3 || b!=4", "1"},
      {"!flag", "0"},
      {"flag+1", "2"},
      {"1<2==1", "1"},
      {"word=='ring'", "1"},
      {"word != \"direct\"", "1"},
      {"size=='65536'", "1"},
      {"min(3,1,2)", "1"},
      {"max(a,b)", "4"},
      {"if(a<b, 10, 1/0)", "10"},
      {"if(a>b, none, 5)", "5"},
      {"sqrt(16)+log2(8)+log10(100)+ln(exp(1))", "10"},
      {"abs(-1)+floor(1.7)+ceil(1.2)+round(1.5)", "6"},
      // Without a value:
      {"none+1", ""},
      {"none==''", ""},
      {"word*2", ""},
      {"1/0", ""},
      {"sqrt(-1)", ""},
      {"word<1", ""},
      {"if(word, 1, 2)", ""},
  };
  for (const auto& [text, expected] : cases) EXPECT_EQ(result(text), expected) << text;
  EXPECT_EQ(Expression("a + b*a").names(), (Texts{"a", "b"}));
  const Expression over("2*lowest(a+b) - highest( c )");
  EXPECT_EQ(over.names(), (Texts{"a", "b", "c"}));
  ASSERT_EQ(over.aggregates().size(), 2u);
  EXPECT_EQ(over.aggregates()[0].of.text(), "a+b");
  EXPECT_EQ(over.evaluate({}, {Cell::of(5.0), Cell::of(3.0)}).text, "7");
  EXPECT_TRUE(over.evaluate({}).empty());
}

TEST(Expressions, RefusesAndSaysWhere) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"", "missing at the end"},
      {"1+", "character 3: a value is missing"},
      {"1 2", "character 3"},
      {"(1", "`)` is missing"},
      {"1)", "character 2"},
      {"* 2", "character 1"},
      {"3 apples", "'apples' is not a unit"},
      {"1.2.3", "not a number"},
      {"1e999", "not a number"},
      {"'x", "not closed"},
      {"``", "name is empty"},
      {"x[0", "`]` is missing"},
      {"sqrt(1,2)", "takes 1 arguments"},
      {"sqrt()", "not expected"},
      {"sqt(1)", "did you mean `sqrt`"},
      {"if(1,2)", "takes 3"},
      {"lowest(1", "`)` is missing"},
      {"lowest()", "not expected"},
      {"lowest(1+highest(a))", "inside of another"},
      {"a # b", "'# b' is not expected"},
      {std::string(3000, '('), "nested too deep"},
      {std::string(3000, '-') + "1", "nested too deep"},
      {std::string(5000, '1'), "longer than"},
  };
  for (const auto& [text, part] : cases) {
    const std::string said = message([&, t = text] { const Expression e(t); });
    EXPECT_NE(said.find(part), std::string::npos) << text.substr(0, 40) << ": " << said;
  }
  std::string chain = "1";
  for (int i = 0; i < 1900; ++i) chain += "+1";
  EXPECT_EQ(result(chain), "1901") << "long, and not deep";
}

/// Points a=1..4 with results t and c.
class Table : public ::testing::Test {
 protected:
  PointResult point(size_t number, const std::string& t, const std::string& c) const {
    return {number, 0, {{"x.t", t}, {"c", c}, {"wall_s", "0.1"}}, ""};
  }
  Texts standings(const TableOfPoints& table, const std::string& text) const {
    const Objective objective = parse_objective(text);
    Texts out;
    for (const Standing s : rank_points(table, objective).standings)
      out.push_back(standing_text(s, objective));
    return out;
  }

  Grid grid_{{parse_vary("a=1,2,3,4")}};
  std::vector<PointResult> results_ = {point(0, "30", "1"),
                                       point(1, "20", "2"),
                                       point(2, "20", "3"),
                                       {3, 4, {{"x.t", "5"}, {"later", "a,b\"c"}}, "stalled, \"why\""}};
  ConfigValues config_ = {{"npu.peak", {"1 TFLOPS", "2 TFLOPS", "1 TFLOPS", "1 TFLOPS"}}};
};

TEST_F(Table, Csv) {
  const TableOfPoints table(grid_, results_, config_,
                            {parse_column("twice=2*t"), parse_column("sum=twice+a")});
  EXPECT_EQ(table.csv(false),
            "point,a,exit_code,x.t,c,later,twice,sum,error\n"
            "1,1,0,30,1,,60,61,\n"
            "2,2,0,20,2,,40,42,\n"
            "3,3,0,20,3,,40,43,\n"
            "4,4,4,5,,\"a,b\"\"c\",10,14,\"stalled, \"\"why\"\"\"\n");
  const std::string all = table.csv(true);
  EXPECT_EQ(all.substr(0, all.find('\n')), "point,a,exit_code,x.t,c,later,twice,sum,error,wall_s");
}

TEST_F(Table, NamesAreFoundByTheirEnd) {
  const TableOfPoints table(grid_, results_, config_, {});
  EXPECT_EQ(table.value(Expression("t"), 0, "").text, "30");
  EXPECT_EQ(table.value(Expression("npu.peak / 1e12"), 1, "").text, "2") << "a key of the configuration";
  EXPECT_EQ(resolve_column("t", {"x.t", "y.t", "t"}, "w"), "t");
  EXPECT_EQ(resolve_column("t", {"xt"}, "w"), "");
  EXPECT_NE(message([] {
              resolve_column("t", {"x.t", "y.t"}, "w");
            }).find("w: `t` may be any of `x.t`, `y.t`"),
            std::string::npos);
  EXPECT_NE(message([&] {
              static_cast<void>(table.value(Expression("latr"), 0, "--objective"));
            }).find("--objective: there is no column and no key `latr` (did you mean `later`?)"),
            std::string::npos);
  EXPECT_NE(unknown_column("tiem_ns", {"results[0].time_ns"}).find("did you mean `results[0].time_ns`"),
            std::string::npos);
  EXPECT_NE(message([&] {
              const TableOfPoints t(grid_, results_, config_, {parse_column("c=1")});
            }).find("there is a column of that name"),
            std::string::npos);
}

TEST_F(Table, AResultAndAKeyOfOneName) {
  results_[0].values.emplace_back("a", "shown");
  const TableOfPoints table(grid_, results_, config_, {});
  const std::string csv = table.csv(false);
  EXPECT_EQ(csv.substr(0, csv.find('\n')), "point,a,exit_code,x.t,c,result.a,later,error");
}

TEST_F(Table, Objectives) {
  const TableOfPoints table(grid_, results_, config_, {});
  EXPECT_EQ(standings(table, "min x.t"), (Texts{"feasible", "best", "best", ""}))
      << "ties; failed points never";
  EXPECT_EQ(standings(table, "max t"), (Texts{"best", "feasible", "feasible", ""}));
  EXPECT_EQ(standings(table, "minimize t s.t. c<=1"), (Texts{"best", "infeasible", "infeasible", ""}));
  EXPECT_EQ(standings(table, "min t subject to c<3, npu.peak >= 1.5 TFLOPS"),
            (Texts{"infeasible", "best", "infeasible", ""}));
  EXPECT_EQ(standings(table, "min t s.t.c>100"), (Texts{"infeasible", "infeasible", "infeasible", ""}));
  EXPECT_EQ(standings(table, "min t, min c"), (Texts{"front", "front", "feasible", ""}));
  EXPECT_EQ(standings(table, "min t, max c where c < 3"), (Texts{"feasible", "front", "infeasible", ""}));
  EXPECT_EQ(standings(table, "max t s.t. t <= 1.2*lowest(t), c < highest(c)"),
            (Texts{"infeasible", "best", "infeasible", ""}))
      << "of points that have not failed";
  EXPECT_EQ(standings(table, "min highest(c) - c"), (Texts{"feasible", "feasible", "best", ""}));
  EXPECT_EQ(standings(table, "min max(t, 25)"), (Texts{"feasible", "best", "best", ""}));
  EXPECT_NE(message([&] { standings(table, "min missing s.t. c>100"); }).find("`missing`"), std::string::npos)
      << "also if no point needs it";
}

TEST_F(Table, ObjectivesThatAreNone) {
  const std::vector<std::pair<std::string, std::string>> cases = {{"", "min or max"},
                                                                  {"time_ns", "min or max"},
                                                                  {"min", "what is to be least"},
                                                                  {"maximum t", "min or max"},
                                                                  {"min t s.t.", "missing"},
                                                                  {"min t s.t. c <", "missing"},
                                                                  {"min t, cost", "min or max"},
                                                                  {"min (t", "`)` is missing"}};
  for (const auto& [text, part] : cases) {
    const std::string said = message([&, t = text] { parse_objective(t); });
    EXPECT_NE(said.find(part), std::string::npos) << text << ": " << said;
    EXPECT_EQ(said.compare(0, 11, "--objective"), 0) << said;
  }
  for (const char* text : {"cost", "=1", " =1", "cost=", "cost=1+"})
    EXPECT_EQ(message([&] { parse_column(text); }).compare(0, 8, "--column"), 0) << text;
}

}  // namespace
}  // namespace weft::sweep
