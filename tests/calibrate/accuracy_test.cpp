// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// The simplex search, percentiles, baselines, crossovers and the drawing.

#include "sc_main/calibrate/accuracy.h"

#include <gtest/gtest.h>

#include <cmath>

#include "sc_main/calibrate/curve_plot.h"
#include "sc_main/calibrate/nelder_mead.h"
#include "sc_main/calibrate/prediction.h"

namespace weft::calibrate {
namespace {

TEST(NelderMead, FindsTheMinimumOfRosenbrocksValley) {
  const auto valley = [](const Point& p) {
    return 100 * std::pow(p[1] - p[0] * p[0], 2) + std::pow(1 - p[0], 2);
  };
  const Minimum found = minimise(valley, {-1.2, 1}, {0.5, 0.5});
  EXPECT_NEAR(found.at[0], 1, 1e-4);
  EXPECT_NEAR(found.at[1], 1, 1e-4);
  EXPECT_LT(found.evaluations, 1000u);
}

TEST(NelderMead, KeepsToAllowedPoints) {
  // The lowest allowed point is at the border.
  const auto value = [](const Point& p) { return p[0] < 2 ? INFINITY : p[0] * p[0] + p[1] * p[1]; };
  const Minimum found = minimise(value, {5, 3}, {1, 1});
  EXPECT_NEAR(found.at[0], 2, 1e-3);
  EXPECT_NEAR(found.at[1], 0, 1e-2);
}

TEST(NelderMead, ThreeDimensionsAndALimitOfWork) {
  const auto bowl = [](const Point& p) {
    return std::abs(p[0] - 1) + 3 * std::pow(p[1] + 2, 2) + std::pow(p[2] - 30, 2);
  };
  const Minimum found = minimise(bowl, {0, 0, 0}, {1, 1, 1});
  EXPECT_NEAR(found.at[0], 1, 1e-4);
  EXPECT_NEAR(found.at[1], -2, 1e-4);
  EXPECT_NEAR(found.at[2], 30, 1e-4);
  NelderMeadOptions few;
  few.most_evaluations = 20;
  EXPECT_LE(minimise(bowl, {0, 0, 0}, {1, 1, 1}, few).evaluations, 25u);
  EXPECT_EQ(minimise([](const Point&) { return 7.0; }, {}, {}).value, 7);
}

TEST(Accuracy, PercentilesAreInterpolated) {
  EXPECT_DOUBLE_EQ(percentile({4, 1, 3, 2}, 0.5), 2.5);
  EXPECT_DOUBLE_EQ(percentile({1, 2, 3, 4, 5}, 0.95), 4.8);
  EXPECT_DOUBLE_EQ(percentile({7}, 0.95), 7);
  EXPECT_DOUBLE_EQ(percentile({}, 0.95), 0);
}

TEST(Accuracy, ErrorsInPerCentWithTheirSign) {
  const Errors errors = errors_of({{1, 100, 110}, {2, 100, 80}, {3, 200, 200}});
  EXPECT_EQ(errors.rows, 3u);
  EXPECT_NEAR(errors.p50, 10, 1e-9);
  EXPECT_NEAR(errors.max, 20, 1e-9);
  EXPECT_NEAR(errors.bias, -10.0 / 3, 1e-9);
  const auto classes =
      errors_by_class({{64 << 10, 1, 2}, {(64 << 10) + 1, 1, 3}, {16 << 20, 1, 3}, {17 << 20, 1, 1}});
  EXPECT_EQ(classes[0].rows, 1u);
  EXPECT_EQ(classes[1].rows, 2u);
  EXPECT_EQ(classes[2].rows, 1u);
  EXPECT_NEAR(classes[1].bias, 200, 1e-9);
}

TEST(Accuracy, TheMisfitIsThatOfTheManual) {
  // ln(sim / real) = 0.05 sqrt(3): sqrt(1 + 3) - 1.
  EXPECT_NEAR(misfit({{1, 1, std::exp(0.05 * std::sqrt(3.0))}}), 1, 1e-12);
  EXPECT_NEAR(misfit({{1, 1, std::exp(-0.05 * std::sqrt(3.0))}, {1, 5, 5}}), 0.5, 1e-12);
}

TEST(Accuracy, BaselinesRecoverWhatTheyCan) {
  std::vector<Compared> line, power;
  for (uint64_t bytes = 1024; bytes <= uint64_t{1} << 32; bytes *= 4) {
    line.push_back({bytes, 12 + static_cast<double>(bytes) / 50000, 0});
    power.push_back({bytes, 3 * std::pow(static_cast<double>(bytes), 0.7), 0});
  }
  const Line found = fit_line(line);
  EXPECT_NEAR(found.t0_us, 12, 0.01);
  EXPECT_NEAR(found.bytes_per_us, 50000, 10);
  for (const uint64_t bytes : {uint64_t{512}, uint64_t{2048}, uint64_t{1} << 33})
    EXPECT_NEAR(interpolate(power, bytes) / (3 * std::pow(static_cast<double>(bytes), 0.7)), 1, 1e-9);
}

/// Times of a machine that changes from one line to another.
Curve bent(uint64_t at, double slow) {
  Curve curve;
  for (uint64_t bytes = 1024; bytes <= uint64_t{1} << 26; bytes *= 2) {
    const bool second = bytes >= at;
    const double us =
        second ? 30 + static_cast<double>(bytes) / 100000 : 10 + static_cast<double>(bytes) / slow;
    Prediction row;
    row.times = {bytes, us, us};
    row.algorithm = second ? "nvls" : "ring";
    row.protocol = second ? "Simple" : "LL";
    row.channels = 16;
    row.fitted = curve.rows.size() % 2 == 0;
    curve.rows.push_back(row);
  }
  return curve;
}

TEST(Crossovers, AChangeAndItsJump) {
  const auto found = crossovers_of({bent(2 << 20, 20000)});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].change, "ring LL -> nvls Simple");
  EXPECT_EQ(found[0].predicted_bytes, uint64_t{2} << 20);
  ASSERT_TRUE(found[0].measured_bytes);
  EXPECT_TRUE(found[0].within_one_size());
}

TEST(Crossovers, AChangeFarFromTheJumpIsNotWithinOneSize) {
  Curve curve = bent(2 << 20, 20000);
  const Curve other = bent(32 << 10, 20000);
  for (size_t i = 0; i < curve.rows.size(); ++i) {
    curve.rows[i].algorithm = other.rows[i].algorithm;
    curve.rows[i].protocol = other.rows[i].protocol;
  }
  const auto found = crossovers_of({curve});
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].predicted_bytes, uint64_t{32} << 10);
  EXPECT_FALSE(found[0].within_one_size());
  EXPECT_EQ(found[1].change, "") << "the jump that nothing explains";
  EXPECT_FALSE(found[1].within_one_size());
}

TEST(Crossovers, ASmoothCurveHasNone) {
  Curve curve = bent(~uint64_t{0}, 20000);
  EXPECT_TRUE(crossovers_of({curve}).empty());
  curve.rows[5].times.real_us *= 0.9;  // faster than the half size
  EXPECT_EQ(crossovers_of({curve}).size(), 1u);
}

TEST(CurvePlot, IsADrawingForLightAndDark) {
  const Curve curve = bent(2 << 20, 20000);
  const std::string svg = plot_svg("a <b> & \"c\"", {curve}, crossovers_of({curve}));
  EXPECT_EQ(svg.find("<svg "), 0u);
  EXPECT_NE(svg.find("prefers-color-scheme:dark"), svg.npos);
  EXPECT_NE(svg.find("a &lt;b&gt; &amp; &quot;c&quot;"), svg.npos);
  EXPECT_NE(svg.find("nvls Simple</text>"), svg.npos);
  EXPECT_EQ(svg.find("nan"), svg.npos);
  EXPECT_EQ(svg.find("inf"), svg.npos);
  size_t dots = 0;
  for (size_t at = svg.find("measured "); at != svg.npos; at = svg.find("measured ", at + 1)) ++dots;
  EXPECT_EQ(dots, curve.rows.size());
  Curve point;  // one size has no extent
  point.rows.push_back(curve.rows[0]);
  EXPECT_EQ(plot_svg("", {point}, {}).find("nan"), std::string::npos);
}

}  // namespace
}  // namespace weft::calibrate
