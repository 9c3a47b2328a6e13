// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// `weft report` as a user calls it: what it says, and what it leaves.

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "tests/cli/weft_process.h"
#include "tests/support/paths.h"
#include "tests/vcd/vcd_parser.h"

namespace weft::test {
namespace {

namespace fs = std::filesystem;

class ReportCommand : public testing::Test {
 protected:
  std::string path(const std::string& name) const { return folder_.path() + "/" + name; }
  /// A folder of results of eight ranks.
  std::string results(const std::string& name) {
    const std::string traces = path("trace");
    if (!fs::exists(traces)) {
      const Ran made = weft({"generate",       "llm", "--tp",     "2",   "--dp",  "2",   "--pp",    "2",
                             "--layers",       "2",   "--hidden", "256", "--seq", "128", "--batch", "4",
                             "--microbatches", "2",   "--out",    traces});
      EXPECT_EQ(made.status, 0) << made.err;
    }
    const Ran ran = weft({"run", weft::test::source_dir() + "/configs/examples/quickstart.yaml", "--trace",
                          traces + "/llm", "--groups", traces + "/llm.groups.json", "--out", path(name)});
    EXPECT_EQ(ran.status, 0) << ran.err;
    return path(name);
  }
  /// This program has the page.
  static bool with_page() { return WEFT_HAS_REPORT_PAGE; }

  vcd::test::TemporaryFolder folder_;
};

TEST_F(ReportCommand, WithoutResultsNamesTheRemedy) {
  const Ran none = weft({"report"});
  EXPECT_EQ(none.status, 2);
  EXPECT_TRUE(none.says({"no results are named", "weft run CONFIG --out out"})) << none.err;
  const Ran many =
      weft({"report", "a", "a", "a", "a", "a", "a", "a", "a", "a", "a", "a", "a", "a", "a", "a", "a", "a"});
  EXPECT_EQ(many.status, 2);
  EXPECT_TRUE(many.says({"17 folders", "at most 16"})) << many.err;
  if (!with_page()) return;
  const Ran missing = weft({"report", path("nothing")});
  EXPECT_EQ(missing.status, 2);
  EXPECT_TRUE(missing.says({path("nothing"), "no such folder", "weft run --out DIR"})) << missing.err;
  const Ran other = weft({"report", folder_.path()});
  EXPECT_EQ(other.status, 2);
  EXPECT_TRUE(other.says({"no summary.json"})) << other.err;
}

TEST_F(ReportCommand, WritesOnePageOrSaysHowToGetIt) {
  const std::string out = results("out");
  const Ran ran = weft({"report", out, "-o", path("r.html")});
  if (!with_page()) {
    EXPECT_EQ(ran.status, 1);
    EXPECT_TRUE(ran.says({"without the page", "Node.js", "scripts/setup.sh"})) << ran.err;
    EXPECT_FALSE(fs::exists(path("r.html")));
    return;
  }
  ASSERT_EQ(ran.status, 0) << ran.err;
  EXPECT_NE(ran.out.find("1 run,"), std::string::npos) << ran.out;
  const std::string page = read(path("r.html"));
  EXPECT_NE(page.find("\"weft_report\":1"), std::string::npos);
  EXPECT_EQ(page.find("@WEFT_REPORT"), std::string::npos);
  // The same results give the same page.
  ASSERT_EQ(weft({"report", out, "-o", path("again.html")}).status, 0);
  EXPECT_EQ(read(path("again.html")), page);
}

TEST_F(ReportCommand, TellsOfARunThatDidNotFinish) {
  if (!with_page()) GTEST_SKIP() << "this program has no page";
  const std::string out = results("out");
  std::string summary = read(out + "/summary.json");
  const std::string finished = "\"finished\": true";
  ASSERT_NE(summary.find(finished), std::string::npos);
  summary.replace(summary.find(finished), finished.size(), "\"finished\": false");
  write(out + "/summary.json", summary);
  fs::remove(out + "/layers.csv");
  const Ran ran = weft({"report", out, "-o", path("r.html")});
  EXPECT_EQ(ran.status, 0);
  EXPECT_TRUE(ran.says({"did not finish"})) << ran.err;
}

TEST_F(ReportCommand, SaysWhatIsCutOff) {
  if (!with_page()) GTEST_SKIP() << "this program has no page";
  const std::string out = results("out");
  const std::string links = read(out + "/links.csv");
  write(out + "/links.csv", links.substr(0, links.size() / 2));
  const Ran ran = weft({"report", out, "-o", path("r.html")});
  EXPECT_EQ(ran.status, 2);
  EXPECT_TRUE(ran.says({"links.csv", "line", "again"})) << ran.err;
  EXPECT_FALSE(fs::exists(path("r.html")));
}

TEST_F(ReportCommand, SaysWhereThePageCannotBeWritten) {
  if (!with_page()) GTEST_SKIP() << "this program has no page";
  const Ran ran = weft({"report", results("out"), "-o", path("no/such/r.html")});
  EXPECT_EQ(ran.status, 2);
  EXPECT_TRUE(ran.says({"no/such/r.html", "cannot be written"})) << ran.err;
}

}  // namespace
}  // namespace weft::test
