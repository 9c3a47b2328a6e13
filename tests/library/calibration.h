// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// A small calibration for tests: the three parameters fitted to every second row of a measured table, and the
// errors on the others.

#ifndef WEFT_TESTS_LIBRARY_CALIBRATION_H
#define WEFT_TESTS_LIBRARY_CALIBRATION_H

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <vector>

#include "workload/library/communication_library.h"

namespace weft::test {

struct MeasuredRow {
  uint64_t bytes = 0;
  double us = 0;
};

/// Time of a plan; a test may leave a part out.
using PlanTime = std::function<double(const library::LibraryPlan&, const LibraryParameters&)>;
inline double whole_time(const library::LibraryPlan& plan, const LibraryParameters& parameters) {
  return plan.time_us(parameters);
}

struct Calibration {
  LibraryParameters parameters;
  std::vector<double> errors;  ///< per cent of the rows that were not fitted, with sign, by size
  double p50 = 0, p95 = 0, max = 0;
  double interpolation_p95 = 0;  ///< of a log-log interpolation between the fitted rows
  double line_p95 = 0;           ///< of T = t0 + S / B
};

/// Linear between the two nearest.
inline double percentile(std::vector<double> values, double share) {
  for (double& v : values) v = std::abs(v);
  std::sort(values.begin(), values.end());
  const double at = static_cast<double>(values.size() - 1) * share;
  const auto low = static_cast<size_t>(at);
  const size_t high = std::min(low + 1, values.size() - 1);
  return values[low] + (values[high] - values[low]) * (at - static_cast<double>(low));
}

using Point = std::array<double, 3>;

/// Nelder-Mead from one start.
inline std::pair<Point, double> descend(const std::function<double(const Point&)>& cost, const Point& start) {
  constexpr int kDims = 3;
  std::array<std::pair<double, Point>, kDims + 1> corner;
  for (int i = 0; i <= kDims; ++i) {
    Point p = start;
    if (i > 0) p[static_cast<size_t>(i - 1)] += i == kDims ? 0.1 : 0.3;
    corner[static_cast<size_t>(i)] = {cost(p), p};
  }
  for (int round = 0; round < 400; ++round) {
    std::sort(corner.begin(), corner.end());
    auto& worst = corner[kDims];
    if (worst.first - corner[0].first < 1e-10) break;
    Point centre{};
    for (size_t c = 0; c < kDims; ++c)
      for (size_t d = 0; d < kDims; ++d) centre[d] += corner[c].second[d] / kDims;
    const auto moved = [&](double by) {
      Point p{};
      for (size_t d = 0; d < kDims; ++d) p[d] = centre[d] + by * (centre[d] - worst.second[d]);
      return std::pair<double, Point>{cost(p), p};
    };
    const auto reflected = moved(1);
    if (reflected.first < corner[0].first) {
      const auto expanded = moved(2);
      worst = expanded.first < reflected.first ? expanded : reflected;
    } else if (reflected.first < corner[kDims - 1].first) {
      worst = reflected;
    } else {
      const auto contracted = moved(reflected.first < worst.first ? 0.5 : -0.5);
      if (contracted.first < std::min(reflected.first, worst.first)) {
        worst = contracted;
      } else {
        for (size_t c = 1; c <= kDims; ++c) {
          for (size_t d = 0; d < kDims; ++d)
            corner[c].second[d] = (corner[c].second[d] + corner[0].second[d]) / 2;
          corner[c].first = cost(corner[c].second);
        }
      }
    }
  }
  std::sort(corner.begin(), corner.end());
  return {corner[0].second, corner[0].first};
}

inline double soft_error(double modelled, double real) {
  const double x = std::log(modelled / real) / 0.05;
  return std::sqrt(1 + x * x) - 1;
}

inline double interpolated(const std::vector<MeasuredRow>& rows, uint64_t bytes) {
  size_t right = 1;
  while (right + 1 < rows.size() && rows[right].bytes < bytes) ++right;
  const MeasuredRow& a = rows[right - 1];
  const MeasuredRow& b = rows[right];
  const double x = std::log(static_cast<double>(bytes) / static_cast<double>(a.bytes)) /
                   std::log(static_cast<double>(b.bytes) / static_cast<double>(a.bytes));
  return std::exp(std::log(a.us) + x * (std::log(b.us) - std::log(a.us)));
}

/// Fits launch and both scales to rows 0, 2, 4, ..
inline Calibration calibrate(const library::CommunicationLibrary& library, library::LibraryOp op,
                             const std::vector<MeasuredRow>& rows, const PlanTime& time = whole_time) {
  std::vector<std::pair<MeasuredRow, library::LibraryPlan>> fitted, tested;
  std::vector<MeasuredRow> known;
  for (size_t i = 0; i < rows.size(); ++i) {
    (i % 2 == 0 ? fitted : tested).emplace_back(rows[i], library.plan({op, rows[i].bytes, {}}));
    if (i % 2 == 0) known.push_back(rows[i]);
  }
  const auto parameters_of = [](const Point& p) {
    return LibraryParameters{std::exp(p[0]), std::exp(p[1]), std::exp(p[2])};
  };
  const auto cost = [&](const Point& p) {
    double sum = 0;
    for (const auto& [row, plan] : fitted) sum += soft_error(time(plan, parameters_of(p)), row.us);
    // Neither launch nor latencies may run away where the rows do not tell them apart.
    return sum / static_cast<double>(fitted.size()) + 0.002 * p[1] * p[1];
  };
  const double first = rows.front().us;
  Calibration result;
  double least = -1;
  for (const double share : {0.05, 0.3, 0.6, 0.9})
    for (const double bandwidth : {1.0, 0.03}) {
      const auto [at, value] = descend(cost, {std::log(first * share), 0, std::log(bandwidth)});
      if (least >= 0 && value >= least) continue;
      least = value;
      result.parameters = parameters_of(at);
    }
  const auto line = [&](const Point& p) {
    double sum = 0;
    for (const MeasuredRow& row : known)
      sum += soft_error(std::exp(p[0]) + static_cast<double>(row.bytes) * std::exp(p[1]), row.us);
    return sum;
  };
  const Point straight =
      descend(line, {std::log(first), std::log(rows.back().us / static_cast<double>(rows.back().bytes)), 0})
          .first;
  std::vector<double> between, along;
  for (const auto& [row, plan] : tested) {
    result.errors.push_back(100 * (time(plan, result.parameters) / row.us - 1));
    between.push_back(100 * (interpolated(known, row.bytes) / row.us - 1));
    along.push_back(
        100 *
        ((std::exp(straight[0]) + static_cast<double>(row.bytes) * std::exp(straight[1])) / row.us - 1));
  }
  result.p50 = percentile(result.errors, 0.5);
  result.p95 = percentile(result.errors, 0.95);
  result.max = percentile(result.errors, 1);
  result.interpolation_p95 = percentile(between, 0.95);
  result.line_p95 = percentile(along, 0.95);
  return result;
}

}  // namespace weft::test

#endif
