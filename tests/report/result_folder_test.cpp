// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Reading a folder of results: CSV as RFC 4180 has it, summary.json, and what is wrong with either.

#include "sc_main/report/result_folder.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <string>

#include "configs/types.h"
#include "tests/vcd/vcd_parser.h"

namespace weft::report {
namespace {

void write(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

/// The message of the UserError(usage) that `call` throws; "" if it throws none.
std::string error_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const UserError& e) {
    EXPECT_EQ(e.code(), ExitCode::usage) << e.what();
    return e.what();
  }
  return "";
}

bool says(const std::string& message, const std::vector<std::string>& parts) {
  for (const std::string& part : parts) {
    if (message.find(part) == std::string::npos) {
      ADD_FAILURE() << "\"" << part << "\" is not in: " << message;
      return false;
    }
  }
  return true;
}

std::string csv_error(const std::string& text) {
  return error_of([&] { CsvTable("a.csv", text); });
}

TEST(CsvTable, ReadsQuotesAndLineBreaks) {
  const CsvTable t("a.csv", "name,\"to, from\",n\r\nplain,\"a,\"\"b\"\"\r\nc\",1\n,\"\",-2.5\n");
  EXPECT_EQ(t.columns(), (std::vector<std::string>{"name", "to, from", "n"}));
  ASSERT_EQ(t.rows(), 2u);
  EXPECT_EQ(t.text(0, t.column("name")), "plain");
  EXPECT_EQ(t.text(0, 1), "a,\"b\"\r\nc");
  EXPECT_EQ(t.line(1), 4u);
  EXPECT_EQ(t.text(1, 0), "");
  EXPECT_EQ(t.text(1, 1), "");
  EXPECT_EQ(t.number(1, 2), -2.5);
  EXPECT_EQ(t.whole(0, 2), 1u);
  EXPECT_FALSE(t.number_if_any(1, 0).has_value());
  EXPECT_FALSE(t.find("N").has_value());
}

TEST(CsvTable, ManyRowsKeepTheirPlaces) {
  std::string text = "a,b\n";
  for (int i = 0; i < 1000; ++i) text += std::to_string(i) + ",\"x\"\"" + std::to_string(i) + "\"\n";
  const CsvTable t("a.csv", text);
  ASSERT_EQ(t.rows(), 1000u);
  for (size_t i = 0; i < 1000; ++i) {
    EXPECT_EQ(t.whole(i, 0), i);
    EXPECT_EQ(t.text(i, 1), "x\"" + std::to_string(i));
    EXPECT_EQ(t.line(i), i + 2);
  }
}

TEST(CsvTable, OnlyAHeaderHasNoRows) {
  EXPECT_EQ(CsvTable("a.csv", "a,b\n").rows(), 0u);
}

TEST(CsvTable, SaysWhereItIsCutOff) {
  says(csv_error(""), {"a.csv", "empty", "run again"});
  says(csv_error("a,b\n1,2\n3,4"), {"a.csv: line 3", "cut off", "last line"});
  says(csv_error("a,b"), {"a.csv: line 1", "cut off"});
  says(csv_error("a,b\n1,\"x\ny"), {"a.csv: line 2", "cut off", "quote"});
  says(csv_error("a,b\n1,2\n3\n"), {"a.csv: line 3", "1 field", "2"});
  says(csv_error("a,b\n1,2,3\n"), {"a.csv: line 2", "3 fields"});
  says(csv_error("a,a\n"), {"line 1", "`a`", "twice"});
}

TEST(CsvTable, SaysWhatIsNoNumber) {
  const CsvTable t("a.csv", "a,b\n1x,-1\n,99999999999999999999\n1e400,nan\n");
  says(error_of([&] { t.number(0, 0); }), {"a.csv: line 2", "column `a`", "\"1x\""});
  says(error_of([&] { t.number(1, 0); }), {"line 3", "\"\""});
  says(error_of([&] { t.number(2, 0); }), {"line 4"});
  says(error_of([&] { t.number(2, 1); }), {"line 4", "nan"});
  says(error_of([&] { t.whole(0, 1); }), {"line 2", "whole number"});
  says(error_of([&] { t.whole(1, 1); }), {"line 3", "whole number"});
  says(error_of([&] { t.column("c"); }), {"a.csv", "`c`", "version"});
}

class Folder : public testing::Test {
 protected:
  void summary(const std::string& text) { write(path("summary.json"), text); }
  std::string path(const std::string& name) const { return temporary_.path() + "/" + name; }
  std::string folder_error() const {
    return error_of([&] { ResultFolder of(temporary_.path()); });
  }

  const std::string kGood =
      R"({"weft_summary": 1, "weft": "0.1.0", "finished": true, "time_ns": 12.5, "upper_bound_ns": null,
          "collectives": {"all_reduce": {"count": 1}, "barrier": {"count": 1}}, "links": {"count": 2}})";
  vcd::test::TemporaryFolder temporary_;
};

TEST_F(Folder, GivesSummaryAndTables) {
  summary(kGood);
  write(path("links.csv"), "name,to\na,b\nb,a\n");
  const ResultFolder of(temporary_.path() + "/");
  EXPECT_TRUE(of.finished());
  EXPECT_FALSE(of.of_several_jobs());
  EXPECT_EQ(of.name(), std::filesystem::path(temporary_.path()).filename().string());
  EXPECT_EQ(of.number("/time_ns"), 12.5);
  EXPECT_FALSE(of.number("/upper_bound_ns").has_value());
  EXPECT_FALSE(of.number("/no/such/key").has_value());
  EXPECT_EQ(of.text("/weft"), "0.1.0");
  EXPECT_EQ(of.summary().begin().key(), "weft_summary");
  EXPECT_EQ(of.need_table("links.csv").rows(), 2u);
  EXPECT_FALSE(of.table("ranks.csv").has_value());
  EXPECT_EQ(of.effective_yaml(), "");
  says(error_of([&] { of.need_table("ranks.csv"); }), {"ranks.csv", "weft run --out DIR"});
  says(error_of([&] { (void)of.number("/weft"); }), {"summary.json", "`weft`"});
  says(error_of([&] { (void)of.text("/time_ns"); }), {"summary.json", "`time_ns`"});
}

TEST_F(Folder, FindsWholeRowsMissing) {
  summary(kGood);
  write(path("links.csv"), "name,to\na,b\n");
  write(path("collectives.csv"), "op\na\nb\nc\n");
  const ResultFolder of(temporary_.path());
  says(error_of([&] { of.need_table("links.csv"); }), {"links.csv", "1 rows", "2", "cut off"});
  says(error_of([&] { (void)of.table("collectives.csv"); }), {"collectives.csv", "3 rows", "2"});
}

TEST_F(Folder, OfARunThatDidNotFinish) {
  summary(R"({"weft_summary": 1, "finished": false, "time_ns": 1, "links": {"count": 2}})");
  write(path("links.csv"), "name,to\na,b\n");
  const ResultFolder of(temporary_.path());
  EXPECT_FALSE(of.finished());
  EXPECT_EQ(of.need_table("links.csv").rows(), 1u);
  says(error_of([&] { ResultFolder(temporary_.path(), ResultFolder::Unfinished::refused); }),
       {"summary.json", "finished", "to its end"});
}

TEST_F(Folder, OfSeveralJobs) {
  summary(R"({"weft_summary": 1, "finished": true, "time_ns": 1, "jobs": [{"name": "a"}, {"name": "b"}]})");
  EXPECT_EQ(ResultFolder(temporary_.path()).jobs(), (std::vector<std::string>{"a", "b"}));
  for (const char* jobs : {"{}", "[1]", R"([{"name": "../x"}])", R"([{"name": ".."}])", R"([{"name": 1}])"}) {
    summary(std::string(R"({"weft_summary": 1, "finished": true, "time_ns": 1, "jobs": )") + jobs + "}");
    const ResultFolder of(temporary_.path());
    EXPECT_NE(error_of([&] { of.jobs(); }), "") << jobs;
  }
}

TEST_F(Folder, SaysWhatIsNoFolderOfResults) {
  says(error_of([&] { ResultFolder(path("none")); }), {path("none"), "no such folder", "weft run --out DIR"});
  says(error_of([&] { ResultFolder(""); }), {"empty"});
  write(path("file"), "x");
  says(error_of([&] { ResultFolder(path("file")); }), {"is a file"});
  says(folder_error(), {"no summary.json", "weft run --out DIR"});
  write(path("collectives.csv"), "op\n");
  says(folder_error(), {"weft collective"});
  write(path("effective.yaml"), "weft: 1\n");
  says(folder_error(), {"killed", "run again"});
  std::filesystem::create_directory(path("summary.json"));
  says(folder_error(), {"summary.json", "is a folder"});
}

TEST_F(Folder, SaysWhatIsWrongWithTheSummary) {
  summary(kGood.substr(0, kGood.size() / 2));
  says(folder_error(), {"summary.json", "is cut off", "line 2"});
  summary("");
  says(folder_error(), {"summary.json", "cut off"});
  summary("<html>");
  says(folder_error(), {"summary.json", "not the JSON", "line 1"});
  summary("[1]");
  says(folder_error(), {"weft_summary"});
  summary(R"({"weft_summary": 2, "weft": "9.0", "finished": true, "time_ns": 1})");
  says(folder_error(), {"version 2", "Weft 9.0", "reads version 1", "run again"});
  summary(R"({"weft_summary": )" + std::string(100000, '[') + std::string(100000, ']') + "}");
  says(folder_error(), {"version", "no number"});
  summary(R"({"weft_summary": 1, "time_ns": 1})");
  says(folder_error(), {"`finished`"});
  summary(R"({"weft_summary": 1, "finished": true, "time_ns": "1"})");
  says(folder_error(), {"`time_ns`"});
}

}  // namespace
}  // namespace weft::report
