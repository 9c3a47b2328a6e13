// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

//
// Against a flit-accurate reference simulator: latency, tails and throughput under load, credit round trips.
//
// Bars: mean latency 3 % up to half of saturation and 5 % up to 80 %, p99 10 %, overload throughput 3 %,
// dumbbell 0.5 %.

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "bench/packet/golden.h"
#include "in_child.h"

namespace weft::packet {
namespace {

using test::advance;

double percent_off(double ours, double golden) {
  return 100 * (ours / golden - 1);
}

TEST(Golden, LatencyTailAndThroughputUnderLoad) {
  const std::string data = test::golden_root();
  if (data.empty()) GTEST_SKIP() << "no golden data";
  int points = 0;
  const nlohmann::json golden_file = bench::load_json(data + "/golden/network_gate.json");
  for (const auto& curve : golden_file["curves"]) {
    const std::string name = bench::curve_name(curve);
    TrafficConfig c = bench::golden_curve(curve, 5);
    c.measure_cycles = c.topology.nis.size() > 8 ? 20000 : 80000;
    for (const auto& p : curve["points"]) c.loads.push_back(p["load"]);
    const TrafficResult r = run_traffic(c, advance);
    ASSERT_EQ(r.points.size(), curve["points"].size());
    for (size_t i = 0; i < r.points.size(); ++i) {
      const auto& p = curve["points"][i];
      const double bar = p["fraction_of_saturation"].get<double>() <= 0.5 ? 3 : 5;
      EXPECT_LE(std::fabs(percent_off(r.points[i].avg_latency, p["avg_latency"])), bar)
          << name << " at " << p["load"] << ": " << r.points[i].avg_latency << ", golden "
          << p["avg_latency"];
      EXPECT_LE(std::fabs(percent_off(r.points[i].p99, p["p99"])), 10)
          << name << " at " << p["load"] << ": p99 " << r.points[i].p99 << ", golden " << p["p99"];
      EXPECT_LE(std::fabs(percent_off(r.points[i].accepted, p["load"])), 2) << name << " at " << p["load"];
      ++points;
    }
    EXPECT_LE(std::fabs(percent_off(r.saturation, curve["overload_accepted"])), 3)
        << name << ": overload " << r.saturation << ", golden " << curve["overload_accepted"];
  }
  EXPECT_EQ(points, 20);
}

// The goldens of this file are single-seed (1-3 % noise at mid load): the bars are the gate's plus that.
TEST(Golden, FlitInterleavedCurves) {
  const std::string data = test::golden_root();
  if (data.empty()) GTEST_SKIP() << "no golden data";
  const std::set<std::string> chosen = {"torus4x4x4 uniform N=8 V=4 B=16 flit-interleaved",
                                        "switch8 uniform N=8 V=4 B=16 flit-interleaved",
                                        "ring8 uniform N=8 V=8 B=16 flit-interleaved",
                                        "mesh8x8 uniform N=8 V=8 B=16 flit-interleaved",
                                        "fattree_k4n3 uniform N=8 V=2 B=16 flit-interleaved",
                                        "fattree_k4n3 uniform N=1 V=4 B=16 flit-interleaved",
                                        "ring8 neighbor N=8 V=4 B=16 flit-interleaved",
                                        "torus4x4x4 uniform N=8 V=4 B=16 flit-interleaved tail-credit",
                                        "ring8 uniform N=1 V=2 B=8 flit-interleaved"};
  size_t found = 0;
  const nlohmann::json golden_file = bench::load_json(data + "/golden/network_load_latency.json");
  for (const auto& curve : golden_file["curves"]) {
    const std::string name = bench::curve_name(curve);
    if (chosen.count(name) == 0) continue;
    ++found;
    TrafficConfig c = bench::golden_curve(curve, 3);
    c.measure_cycles = c.topology.nis.size() > 8 ? 8000 : 40000;
    const double saturation = curve["overload_accepted"];
    std::vector<double> golden;
    for (const auto& p : curve["points"]) {
      if (p[0].get<double>() > 0.8 * saturation) continue;
      c.loads.push_back(p[0]);
      golden.push_back(p[1]);
    }
    const TrafficResult r = run_traffic(c, advance);
    for (size_t i = 0; i < golden.size(); ++i) {
      const double bar = c.loads[i] <= 0.5 * saturation ? 4 : 7;
      EXPECT_LE(std::fabs(percent_off(r.points[i].avg_latency, golden[i])), bar)
          << name << " at " << c.loads[i] << ": " << r.points[i].avg_latency << ", golden " << golden[i];
    }
    EXPECT_LE(std::fabs(percent_off(r.saturation, saturation)), 3) << name << ": overload " << r.saturation;
  }
  EXPECT_EQ(found, chosen.size());
}

TEST(Golden, CreditRoundTrips) {
  const std::string data = test::golden_root();
  if (data.empty()) GTEST_SKIP() << "no golden data";
  int rows = 0;
  const nlohmann::json golden_file = bench::load_json(data + "/golden/credit_round_trip.json");
  for (const auto& row : golden_file["rows"]) {
    const TrafficResult r = run_traffic(bench::golden_dumbbell(row), advance);
    EXPECT_LE(std::fabs(percent_off(r.points[0].accepted, row["acc"])), 0.5)
        << row << ": " << r.points[0].accepted;
    ++rows;
  }
  EXPECT_EQ(rows, 36);
}

// The closed form, apart from any golden: one VC of B flits passes N flits in N RTT / B + 1 cycles while B is
// below the loop, V of them add up.
TEST(ClosedForm, CreditLimitedThroughput) {
  for (const auto& [latency, vcs, buffer] :
       {std::tuple{1, 1, 4}, {10, 1, 4}, {10, 1, 8}, {10, 2, 8}, {20, 3, 8}}) {
    const double rtt = 4 + 2 * latency;
    const double expected = std::min(0.99, vcs * 8 / (8 * rtt / buffer + 1));
    const TrafficResult r =
        run_traffic(bench::golden_dumbbell({{"L", latency}, {"V", vcs}, {"B", buffer}}), advance);
    EXPECT_NEAR(r.points[0].accepted / expected, 1, 0.03) << latency << " " << vcs << " " << buffer;
  }
}

}  // namespace
}  // namespace weft::packet
