// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_main/calibrate/measured_json.h"

#include <gtest/gtest.h>

#include <fstream>

#include "tests/calibrate/messages.h"
#include "tests/support/paths.h"
#include "tests/vcd/vcd_parser.h"

namespace weft::calibrate {
namespace {

std::vector<Measurement> read(const std::string& text, const ReadOptions& options = {}) {
  return parse_measured_json(text, "table.json", options);
}

TEST(MeasuredJson, ReadsBothForms) {
  const Measurement one = read(R"({"source": "x", "ranks": 16, "nodes": 2, "operation": "all_gather",
    "columns": ["bytes", "algbw", "time_us"], "rows": [[1024, 1, 12.5], [2048, 2, 13]]})")[0];
  EXPECT_EQ(one.operation, CollectiveOp::all_gather);
  EXPECT_EQ(one.ranks, 16u);
  EXPECT_EQ(one.nodes, 2u);
  ASSERT_EQ(one.rows.size(), 2u);
  EXPECT_DOUBLE_EQ(one.rows[0].us, 12.5);
  const auto two =
      read(R"({"ranks": 2, "all_reduce_us": [[1024, 435.2]], "all_gather_us": [[1024, 282.6]]})");
  ASSERT_EQ(two.size(), 2u);
  EXPECT_EQ(two[0].operation, CollectiveOp::all_reduce);
  EXPECT_EQ(two[1].operation, CollectiveOp::all_gather);
  EXPECT_DOUBLE_EQ(two[1].rows[0].us, 282.6);
  ReadOptions options;
  options.operation = CollectiveOp::all_gather;
  EXPECT_EQ(read(R"({"all_reduce_us": [[1, 2]], "all_gather_us": [[1, 3]]})", options).size(), 1u);
}

TEST(MeasuredJson, AnotherOperationThanTheFilesIsTold) {
  ReadOptions options;
  options.operation = CollectiveOp::all_gather;
  const std::string rows = R"("ranks": 2, "rows": [[1024, 12.5]]})";
  const Measurement other = read(R"({"operation": "all_reduce", )" + rows, options)[0];
  EXPECT_EQ(other.operation, CollectiveOp::all_gather);
  ASSERT_EQ(other.remarks.size(), 1u);
  EXPECT_TRUE(says(other.remarks[0], {"\"all_reduce\"", "read as all_gather", "--operation"}));
  EXPECT_TRUE(read(R"({"operation": "all_gather", )" + rows, options)[0].remarks.empty());
  EXPECT_TRUE(read("{" + rows, options)[0].remarks.empty());
}

TEST(MeasuredJson, SaysWhatIsWrong) {
  const auto message = [](const std::string& text) { return error_of([&] { read(text); }); };
  EXPECT_TRUE(says(message("{"), {"table.json", "no JSON, or is cut"}));
  EXPECT_TRUE(says(message("{}"), {"neither `rows` nor a table", "docs/calibration.md"}));
  EXPECT_TRUE(says(message(R"({"all_reduce_us": []})"), {"no rows in `all_reduce_us`"}));
  EXPECT_TRUE(says(message(R"({"all_reduce_us": [[1024]]})"), {"row 1", "[bytes, microseconds]"}));
  EXPECT_TRUE(says(message(R"({"all_reduce_us": [[1024, "a"]]})"), {"row 1"}));
  EXPECT_TRUE(says(message(R"({"all_reduce_us": [[1024, 1], [2048, -1]]})"), {"row 2", "not above 0"}));
  EXPECT_TRUE(says(message(R"({"all_reduce_us": [[-1, 1]]})"), {"row 1"}));
  EXPECT_TRUE(says(message(R"({"rows": [[1, 1]]})"), {"`operation`"}));
  EXPECT_TRUE(says(message(R"({"operation": "sum", "rows": [[1, 1]]})"), {"\"sum\""}));
  EXPECT_TRUE(says(message(R"({"operation": "reduce", "columns": ["a"], "rows": [[1, 1]]})"), {"`bytes`"}));
  EXPECT_TRUE(says(message(R"({"ranks": "8", "all_reduce_us": [[1, 1]]})"), {"`ranks`"}));
}

TEST(MeasuredJson, ReadsEveryTableOfTheDataFolder) {
  WEFT_NEEDS_DATA();
  size_t rows = 0;
  for (const auto& entry : std::filesystem::directory_iterator(test::data_dir() + "/measured"))
    for (const Measurement& table : read_measurements(entry.path().string(), {})) rows += table.rows.size();
  EXPECT_GT(rows, 100u);
}

TEST(Clean, SortsMergesAndDropsOutliers) {
  Measurement table;
  table.rows = {{4096, 11, 1}, {1024, 90, 2}, {2048, 10, 3}, {8192, 40, 4}, {16384, 12, 5}, {32768, 13, 6}};
  clean(table);
  // The first row and 40 us are more than three times their neighbours.
  ASSERT_EQ(table.rows.size(), 4u);
  EXPECT_EQ(table.rows[0].bytes, 2048u);
  EXPECT_EQ(table.rows[2].bytes, 16384u);
  ASSERT_EQ(table.remarks.size(), 2u);
  EXPECT_TRUE(says(table.remarks[0], {"1024 bytes", "90.00 us"}));

  Measurement large;  // four times the size takes four times as long: no outlier at the end
  large.rows = {{1 << 20, 100, 1}, {4 << 20, 390, 2}, {16 << 20, 1560, 3}};
  clean(large);
  EXPECT_EQ(large.rows.size(), 3u);

  Measurement repeated;
  repeated.rows = {{1024, 10, 1}, {1024, 30, 2}, {1024, 11, 3}, {2048, 12, 4}};
  clean(repeated);
  ASSERT_EQ(repeated.rows.size(), 2u);
  EXPECT_DOUBLE_EQ(repeated.rows[0].us, 11);
  EXPECT_EQ(repeated.rows[1].number, 2u);
}

TEST(Clean, NothingLeftIsAnError) {
  const vcd::test::TemporaryFolder folder;
  const std::string path = folder.file("wrong.log");
  std::ofstream(path) << "all_reduce_perf\n# size count type redop root time algbw busbw #wrong\n 1024 256 "
                         "float sum -1 10 0.1 0.1 3\n";
  EXPECT_TRUE(says(error_of([&] { read_measurements(path, {}); }), {path, "no row is left"}));
  EXPECT_TRUE(says(error_of([&] { read_measurements(folder.file("none"), {}); }), {"none", "nccl-tests"}));
}

}  // namespace
}  // namespace weft::calibrate
