// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_main/calibrate/result_times.h"

#include <gtest/gtest.h>

#include <fstream>

#include "tests/calibrate/messages.h"
#include "tests/vcd/vcd_parser.h"

namespace weft::calibrate {
namespace {

class ResultTimes : public testing::Test {
 protected:
  std::string write(const std::string& name, const std::string& text) {
    std::ofstream(folder_.file(name)) << text;
    return folder_.file(name);
  }
  static Measurement measured(CollectiveOp op, uint32_t ranks) {
    Measurement table;
    table.file = "real.log";
    table.operation = op;
    table.ranks = ranks;
    table.rows = {{1024, 10, 1}, {2048, 20, 2}, {4096, 30, 3}};
    return table;
  }

  vcd::test::TemporaryFolder folder_;
  std::vector<std::string> remarks_;
};

TEST_F(ResultTimes, ReadsTheTableOfAFolder) {
  write("collectives.csv",
        "op,bytes,ranks,time_ns,algo\nall_reduce,1024,8,9000,ring\nall_reduce,1024,8,11000,ring\n"
        "all_reduce,2048,4,1,ring\nall_reduce,2048,8,,ring\nall_gather,4096,8,5,ring\n");
  const std::string folder = folder_.file("");
  const Curve curve = compare_with(folder, measured(CollectiveOp::all_reduce, 8), remarks_);
  ASSERT_EQ(curve.rows.size(), 1u) << "other operations, other ranks and unfinished rows do not count";
  EXPECT_DOUBLE_EQ(curve.rows[0].times.sim_us, 10) << "the median";
  EXPECT_EQ(curve.rows[0].algorithm, "ring");
  ASSERT_EQ(remarks_.size(), 1u);
  EXPECT_TRUE(says(remarks_[0], {"2 measured sizes", "2 KiB", "4 KiB"}));
}

TEST_F(ResultTimes, SizesOfAnAllGatherAreThoseOfAllRanks) {
  const std::string json = write(
      "result.json", R"({"results": [{"bytes": 128, "time_ns": 12000}, {"bytes": 256, "time_ns": 24000}]})");
  const Curve curve = compare_with(json, measured(CollectiveOp::all_gather, 8), remarks_);
  ASSERT_EQ(curve.rows.size(), 2u);
  EXPECT_EQ(curve.rows[1].times.bytes, 2048u);
  EXPECT_NEAR(curve.rows[1].times.error(), 0.2, 1e-12);
  EXPECT_TRUE(says(error_of([&] { compare_with(json, measured(CollectiveOp::all_gather, 0), remarks_); }),
                   {"ranks", "nccl-tests"}));
}

TEST_F(ResultTimes, ReadsACalibration) {
  const std::string json = write("fit.json", R"({"machine": "m", "plan": [{"bytes": 1024, "algorithm": "nvls",
      "protocol": "Simple", "channels": 16, "sim_us": 10.5, "real_us": 9}]})");
  const Curve curve = compare_with(json, measured(CollectiveOp::all_gather, 0), remarks_);
  ASSERT_EQ(curve.rows.size(), 1u);
  EXPECT_DOUBLE_EQ(curve.rows[0].times.sim_us, 10.5);
  EXPECT_EQ(curve.rows[0].protocol, "Simple");
  EXPECT_EQ(curve.rows[0].channels, 16u);
}

TEST_F(ResultTimes, SaysWhatIsWrong) {
  const Measurement table = measured(CollectiveOp::all_reduce, 8);
  const auto message = [&](const std::string& result) {
    return error_of([&] { compare_with(result, table, remarks_); });
  };
  EXPECT_TRUE(says(message(folder_.file("")), {"collectives.csv"}));
  EXPECT_TRUE(says(message(write("a.json", "{\"results\": [")), {"cut"}));
  EXPECT_TRUE(says(message(write("b.json", "{\"results\": [{\"bytes\": 1}]}")), {"time_ns"}));
  EXPECT_TRUE(says(message(write("c.json", "{\"results\": [{\"bytes\": 1, \"time_ns\": 3}]}")),
                   {"no all_reduce of a size that real.log has"}));
  EXPECT_TRUE(says(message(write("g.json", R"({"operation": "all_gather", "ranks": 8, "results": []})")),
                   {"g.json", "\"all_gather\"", "of all_reduce"}));
  EXPECT_TRUE(says(message(write("r.json", R"({"operation": "all_reduce", "ranks": 4, "results": []})")),
                   {"r.json", "4 ranks", "have 8"}));
  EXPECT_TRUE(
      says(message(write("m.json", R"({"operation": "all_gather", "ranks": 8, "rows": [[1024, 9]]})")),
           {"m.json", "no all_reduce of a size that real.log has"}));
  EXPECT_TRUE(says(message(write("d.csv", "op,bytes\nall_reduce,1024\n")), {"time_ns"}));
  EXPECT_TRUE(says(message(write("e.txt", "hello")), {"no table of nccl-tests"}));
}

}  // namespace
}  // namespace weft::calibrate
