// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_main/calibrate/accuracy.h"

#include <algorithm>
#include <cmath>

#include "sc_main/calibrate/nelder_mead.h"

namespace weft::calibrate {
namespace {

constexpr double kErrorScale = 0.05;  ///< of ln(sim / real), where the misfit becomes linear

}  // namespace

double percentile(std::vector<double> values, double share) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const double at = share * static_cast<double>(values.size() - 1);
  const auto below = static_cast<size_t>(at);
  const size_t above = std::min(below + 1, values.size() - 1);
  return values[below] + (at - static_cast<double>(below)) * (values[above] - values[below]);
}

Errors errors_of(const std::vector<Compared>& rows) {
  Errors errors;
  errors.rows = rows.size();
  if (rows.empty()) return errors;
  std::vector<double> sizes;
  for (const Compared& row : rows) {
    sizes.push_back(100 * std::abs(row.error()));
    errors.bias += 100 * row.error() / static_cast<double>(rows.size());
  }
  errors.p50 = percentile(sizes, 0.5);
  errors.p95 = percentile(sizes, 0.95);
  errors.max = percentile(sizes, 1);
  return errors;
}

size_t size_class(uint64_t bytes) {
  return bytes <= uint64_t{64} << 10 ? 0 : bytes <= uint64_t{16} << 20 ? 1 : 2;
}

const char* size_class_name(size_t number) {
  constexpr const char* names[kSizeClasses] = {"64KiB", "16MiB", "above"};
  return names[number];
}

std::array<Errors, kSizeClasses> errors_by_class(const std::vector<Compared>& rows) {
  std::array<std::vector<Compared>, kSizeClasses> classes;
  for (const Compared& row : rows) classes[size_class(row.bytes)].push_back(row);
  std::array<Errors, kSizeClasses> errors;
  for (size_t i = 0; i < kSizeClasses; ++i) errors[i] = errors_of(classes[i]);
  return errors;
}

double misfit(const std::vector<Compared>& rows) {
  double sum = 0;
  for (const Compared& row : rows) {
    const double off = std::log(row.sim_us / row.real_us) / kErrorScale;
    sum += std::sqrt(1 + off * off) - 1;
  }
  return rows.empty() ? 0 : sum / static_cast<double>(rows.size());
}

Line fit_line(const std::vector<Compared>& fitted) {
  const auto line_of = [](const Point& p) { return Line{p[0], std::exp(p[1])}; };
  const auto value = [&](const Point& p) {
    if (p[0] < 0) return static_cast<double>(INFINITY);
    const Line line = line_of(p);
    std::vector<Compared> rows = fitted;
    for (Compared& row : rows) row.sim_us = std::max(1e-9, line.at(row.bytes));
    return misfit(rows);
  };
  if (fitted.empty()) return {};
  const Compared& last = fitted.back();
  const double least =
      std::min_element(fitted.begin(), fitted.end(), [](const Compared& a, const Compared& b) {
        return a.real_us < b.real_us;
      })->real_us;
  const double rate = std::log(static_cast<double>(last.bytes) / last.real_us);
  Minimum best{{}, INFINITY, 0};
  for (const double share : {0.0, 0.5, 1.0, 2.0, 8.0}) {
    const Minimum found = minimise(value, {share * least, rate}, {0.2 * least, 0.3});
    if (found.value < best.value) best = found;
  }
  return line_of(best.at);
}

double interpolate(const std::vector<Compared>& fitted, uint64_t bytes) {
  if (fitted.size() == 1) return fitted[0].real_us;
  size_t above = 1;
  while (above + 1 < fitted.size() && fitted[above].bytes < bytes) ++above;
  const Compared& a = fitted[above - 1];
  const Compared& b = fitted[above];
  const auto log = [](uint64_t value) { return std::log(static_cast<double>(std::max<uint64_t>(1, value))); };
  const double share = (log(bytes) - log(a.bytes)) / (log(b.bytes) - log(a.bytes));
  return std::exp(std::log(a.real_us) + share * (std::log(b.real_us) - std::log(a.real_us)));
}

}  // namespace weft::calibrate
