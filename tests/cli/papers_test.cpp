// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// configs/papers: the systems of the 2.0 paper's Tables II and IV against the paper's own figures
// (microseconds).

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/cli/weft_process.h"
#include "tests/support/paths.h"

namespace weft::test {
namespace {

double microseconds(const std::string& system, const std::vector<std::string>& more = {}) {
  std::vector<std::string> arguments{
      "collective", "--config", (weft::test::source_dir() + "/configs/papers/") + system,
      "--size",     "1 GiB",    "--json"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  const auto result = weft(arguments);
  EXPECT_EQ(result.status, 0) << result.err;
  return nlohmann::json::parse(result.out)["results"][0]["time_ns"].get<double>() / 1000;
}

TEST(Papers, TableIV) {
  EXPECT_NEAR(microseconds("table4_2_8_8_4.yaml"), 4392.85, 4392.85 * 0.002);
  EXPECT_NEAR(microseconds("table4_4_8_8_4.yaml"), 2212.60, 2212.60 * 0.002);
  EXPECT_NEAR(microseconds("table4_8_8_8_4.yaml"), 1753.48, 1753.48 * 0.002);
  EXPECT_NEAR(microseconds("table4_16_8_8_4.yaml"), 1879.17, 1879.17 * 0.002);
}

TEST(Papers, TableIVDoesNotDependOnTheSizeOfTheLastDimension) {
  // The bottleneck is an inner dimension: another last dimension changes little.
  const double four = microseconds("table4_2_8_8_4.yaml");
  for (const char* last : {"8", "16", "32"}) {
    const double time =
        microseconds("table4_2_8_8_4.yaml",
                     {"--topology", std::string("Ring(2)_FullyConnected(8)_Ring(8)_Switch(") + last + ")"});
    EXPECT_NEAR(time, four, four * 0.002) << last;
  }
}

TEST(Papers, TableII) {
  EXPECT_NEAR(microseconds("table2_w_1d_350.yaml"), 5706, 5706 * 0.002);
  EXPECT_NEAR(microseconds("table2_w_1d_500.yaml"), 3995, 3995 * 0.002);
  EXPECT_NEAR(microseconds("table2_w_1d_600.yaml"), 3330, 3330 * 0.002);
  EXPECT_NEAR(microseconds("table2_w_2d.yaml"), 7752, 7752 * 0.002);
  EXPECT_NEAR(microseconds("table2_conv_3d.yaml"), 9377, 9377 * 0.002);
  EXPECT_NEAR(microseconds("table2_conv_4d.yaml"), 4438, 4438 * 0.002);
}

TEST(Papers, TableIIWithThemis) {
  const std::vector<std::string> themis{"--order", "themis"};
  EXPECT_NEAR(microseconds("table2_w_2d.yaml", themis), 4064, 4064 * 0.002);
  EXPECT_NEAR(microseconds("table2_conv_3d.yaml", themis), 5875, 5875 * 0.002);
  EXPECT_NEAR(microseconds("table2_conv_4d.yaml", themis), 3717, 3717 * 0.002);
  // With smallest_first the conventional system comes within 4 % of the wafer of equal bandwidth.
  const double conventional =
      microseconds("table2_conv_4d.yaml", {"--order", "themis", "--dimension-scheduling", "smallest_first"});
  EXPECT_LE(conventional, 3460);
  EXPECT_LE(conventional, microseconds("table2_w_1d_600.yaml") * 1.04);
}

TEST(Papers, TableIIWithFlexibleThemisIsNeverWorseThanWithThemis) {
  for (const char* system : {"table2_w_1d_350.yaml", "table2_w_1d_500.yaml", "table2_w_1d_600.yaml",
                             "table2_w_2d.yaml", "table2_conv_3d.yaml", "table2_conv_4d.yaml"}) {
    for (const char* scheduling : {"fifo", "rg", "smallest_first", "less_remaining_phase_first"}) {
      const double themis = microseconds(system, {"--order", "themis", "--dimension-scheduling", scheduling});
      EXPECT_LE(microseconds(system, {"--order", "themis_flex", "--dimension-scheduling", scheduling}),
                themis * 1.0001)
          << system << " " << scheduling;
    }
  }
  // And better where dimensions differ.
  EXPECT_NEAR(microseconds("table2_w_2d.yaml", {"--order", "themis_flex"}), 4005.7, 4);
  EXPECT_NEAR(microseconds("table2_conv_3d.yaml", {"--order", "themis_flex"}), 5804.5, 6);
  EXPECT_NEAR(microseconds("table2_conv_4d.yaml", {"--order", "themis_flex"}), 3602.4, 4);
}

TEST(Papers, TableIIOrdersTheSystemsAsThePaperDoes) {
  // Without Themis: more bandwidth per NPU in one dimension wins, and the hierarchies waste what they have.
  const double w1d_600 = microseconds("table2_w_1d_600.yaml");
  const double w1d_500 = microseconds("table2_w_1d_500.yaml");
  const double w1d_350 = microseconds("table2_w_1d_350.yaml");
  const double conv_4d = microseconds("table2_conv_4d.yaml");
  const double w_2d = microseconds("table2_w_2d.yaml");
  const double conv_3d = microseconds("table2_conv_3d.yaml");
  EXPECT_LT(w1d_600, w1d_500);
  EXPECT_LT(w1d_500, conv_4d);
  EXPECT_LT(conv_4d, w1d_350);
  EXPECT_LT(w1d_350, w_2d);
  EXPECT_LT(w_2d, conv_3d);
}

/// ASTRA-sim 2.0's comparison of its network models, and ours: packets add what headers, routers and the
/// rounding of a flit's time come to, no more, because a ring all-reduce has no contention.
TEST(Papers, PacketsOnTheTorusAreCloseToTheAnalyticalModel) {
  const auto run = [](const char* fidelity) {
    const auto result =
        weft({"collective", "--config", weft::test::source_dir() + "/configs/papers/torus_4x4x4_packet.yaml",
              "--size", "1 MiB", "--fidelity", fidelity, "--json"});
    EXPECT_EQ(result.status, 0) << result.err;
    return nlohmann::json::parse(result.out)["results"][0];
  };
  const auto packets = run("packet");
  const auto analytical = run("analytical");
  const double time = packets["time_ns"].get<double>();
  const double ideal = analytical["time_ns"].get<double>();
  EXPECT_EQ(packets["messages"], analytical["messages"]);
  // Six phases of three rounds a chunk; each message passes two routers: less than 2 ns at a clock of 160 ps.
  // A round's latency alone is 500 ns.
  EXPECT_GT(time, ideal);
  EXPECT_LT(time, ideal * 1.005);
  EXPECT_GT(packets["events"].get<double>(), 1e6);  // it was packet by packet
}

}  // namespace
}  // namespace weft::test
