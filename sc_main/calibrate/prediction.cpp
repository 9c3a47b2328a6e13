// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_main/calibrate/prediction.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "configs/units.h"

namespace weft::calibrate {
namespace {

/// Drops of a slope: of a jump that belongs to a change, and of one that is listed by itself. Times that
/// repeat within 1 % make drops of 0.03.
constexpr double kSmallDrop = 0.03;
constexpr double kLargeDrop = 0.2;
/// A chunk's step has a smaller effect than another algorithm.
constexpr double kChunkDrop = 0.01;

double log2_of(double value) {
  return std::log2(std::max(value, 1e-9));
}

/// The jump of the curve at each size, as a difference of slopes; 0 at the ends.
std::vector<double> jumps(const Curve& curve, double Compared::*time) {
  const size_t n = curve.rows.size();
  std::vector<double> slope(n, 0);  // from the size before
  for (size_t i = 1; i < n; ++i) {
    const Compared& a = curve.rows[i - 1].times;
    const Compared& b = curve.rows[i].times;
    slope[i] =
        log2_of(b.*time / a.*time) / log2_of(static_cast<double>(b.bytes) / static_cast<double>(a.bytes));
  }
  std::vector<double> jump(n, 0);
  for (size_t i = 1; i + 1 < n; ++i) {
    jump[i] = slope[i] - slope[i + 1];
    // Less steep than on both sides. Slopes of t0 + S/B bend by themselves, by up to 0.022.
    const double dip = (slope[i - 1] + slope[i + 1]) / 2 - slope[i];
    if (i > 1 && dip > kSmallDrop) jump[i] = std::max(jump[i], dip);
  }
  // A time below that of a smaller size: what came before was slow, whatever the slopes are.
  for (size_t i = 1; i < n; ++i)
    if (curve.rows[i].times.*time < 0.97 * curve.rows[i - 1].times.*time)
      jump[i] = std::max(jump[i], -slope[i] + kLargeDrop);
  return jump;
}

std::string plan_name(const Prediction& row) {
  return row.protocol.empty() ? row.algorithm : row.algorithm + " " + row.protocol;
}

/// What is new at row `i`; "": nothing.
std::string change_at(const Curve& curve, size_t i) {
  const Prediction& before = curve.rows[i - 1];
  const Prediction& now = curve.rows[i];
  if (plan_name(before) != plan_name(now)) return plan_name(before) + " -> " + plan_name(now);
  if (now.chunk_bytes >= 2 * before.chunk_bytes && before.chunk_bytes > 0)
    return fmt::format("{} chunk {} -> {}", now.algorithm, print_size(before.chunk_bytes),
                       print_size(now.chunk_bytes));
  return "";
}

/// The row with a jump that is `i` or, if that has none, the one beside it with the larger jump; nothing if
/// both are too small.
std::optional<size_t> jump_near(const std::vector<double>& jump, size_t i, double least) {
  if (jump[i] >= least) return i;
  std::optional<size_t> found;
  for (const size_t k : {i - 1, i + 1})
    if (k < jump.size() && jump[k] >= least && (!found || jump[k] > jump[*found])) found = k;
  return found;
}

void add_crossovers(const Curve& curve, std::vector<Crossover>& found) {
  const std::vector<double> real = jumps(curve, &Compared::real_us);
  const std::vector<double> sim = jumps(curve, &Compared::sim_us);
  const bool planned = std::any_of(curve.rows.begin(), curve.rows.end(),
                                   [](const Prediction& row) { return !row.algorithm.empty(); });
  std::vector<bool> explained(curve.rows.size(), false);
  std::vector<Crossover> own;
  for (size_t i = 1; i < curve.rows.size(); ++i) {
    const std::string change = planned ? change_at(curve, i) : sim[i] >= kLargeDrop ? "jump" : "";
    if (change.empty()) continue;
    Crossover crossover;
    crossover.operation = curve.operation;
    crossover.change = change;
    crossover.predicted_bytes = curve.rows[i].times.bytes;
    const bool chunk = change.find(" chunk ") != change.npos;
    // The row before is the last of what was: its time is as near to the change as the row's.
    if (const auto jump = jump_near(real, i, chunk ? kChunkDrop : kSmallDrop)) {
      crossover.measured_bytes = curve.rows[*jump].times.bytes;
      for (size_t k = *jump > 0 ? *jump - 1 : 0; k <= *jump + 1 && k < explained.size(); ++k)
        explained[k] = true;
    }
    own.push_back(std::move(crossover));
  }
  for (size_t i = 0; i < real.size(); ++i) {
    // One jump bends the curve at two sizes.
    const bool highest =
        (i == 0 || real[i] > real[i - 1]) && (i + 1 == real.size() || real[i] >= real[i + 1]);
    if (explained[i] || !highest || real[i] < kLargeDrop) continue;
    Crossover crossover;
    crossover.operation = curve.operation;
    crossover.measured_bytes = curve.rows[i].times.bytes;
    own.push_back(std::move(crossover));
  }
  std::stable_sort(own.begin(), own.end(), [](const Crossover& a, const Crossover& b) {
    return a.predicted_bytes.value_or(a.measured_bytes.value_or(0)) <
           b.predicted_bytes.value_or(b.measured_bytes.value_or(0));
  });
  found.insert(found.end(), own.begin(), own.end());
}

}  // namespace

std::vector<Compared> rows_of(const Curve& curve, bool fitted) {
  std::vector<Compared> rows;
  for (const Prediction& row : curve.rows)
    if (row.fitted == fitted) rows.push_back(row.times);
  return rows;
}

std::vector<Compared> rows_of(const std::vector<Curve>& curves, bool fitted) {
  std::vector<Compared> rows;
  for (const Curve& curve : curves)
    for (const Compared& row : rows_of(curve, fitted)) rows.push_back(row);
  return rows;
}

Baselines baselines_of(const std::vector<Curve>& curves) {
  std::vector<Compared> line, interpolation;
  for (const Curve& curve : curves) {
    std::vector<Compared> fitted = rows_of(curve, true);
    std::vector<Compared> tested = rows_of(curve, false);
    if (fitted.empty()) {
      tested.clear();
      for (size_t i = 0; i < curve.rows.size(); ++i)
        (i % 2 == 0 ? fitted : tested).push_back(curve.rows[i].times);
    }
    if (fitted.size() < 2) continue;
    const Line t = fit_line(fitted);
    for (Compared row : tested) {
      row.sim_us = t.at(row.bytes);
      line.push_back(row);
      row.sim_us = interpolate(fitted, row.bytes);
      interpolation.push_back(row);
    }
  }
  return {errors_of(line), errors_of(interpolation)};
}

std::vector<Crossover> crossovers_of(const std::vector<Curve>& curves) {
  std::vector<Crossover> found;
  for (const Curve& curve : curves) add_crossovers(curve, found);
  return found;
}

}  // namespace weft::calibrate
