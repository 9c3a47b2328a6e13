// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// How far predicted times are from measured ones.

#ifndef WEFT_SC_MAIN_CALIBRATE_ACCURACY_H
#define WEFT_SC_MAIN_CALIBRATE_ACCURACY_H

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace weft::calibrate {

/// A size with its measured and its predicted time, us.
struct Compared {
  uint64_t bytes = 0;
  double real_us = 0;
  double sim_us = 0;

  /// (sim - real) / real.
  double error() const { return sim_us / real_us - 1; }
};

/// Of relative errors, in per cent. Percentiles are interpolated between the two nearest ranks.
struct Errors {
  size_t rows = 0;
  double p50 = 0;
  double p95 = 0;
  double max = 0;
  double bias = 0;  ///< mean with its sign: above 0 predicts too long times
};

Errors errors_of(const std::vector<Compared>& rows);

/// Classes of sizes: to 64 KiB, to 16 MiB, above.
constexpr size_t kSizeClasses = 3;
size_t size_class(uint64_t bytes);
const char* size_class_name(size_t number);  ///< "64KiB", "16MiB", "above"
std::array<Errors, kSizeClasses> errors_by_class(const std::vector<Compared>& rows);

/// The value below which `share` of the values lie; 0 without values.
double percentile(std::vector<double> values, double share);

/// What a fit makes small: the mean of sqrt(1 + (ln(sim / real) / 0.05)^2) - 1, quadratic for errors of a few
/// per cent and linear beyond, so that a jump of the curve that the model misses does not draw all sizes
/// away.
double misfit(const std::vector<Compared>& rows);

/// Predictors that know nothing of the machine, from the rows that are fitted.
/// T = t0 + S/B, with t0 and B of the least misfit.
struct Line {
  double t0_us = 0;
  double bytes_per_us = 1;
  double at(uint64_t bytes) const { return t0_us + static_cast<double>(bytes) / bytes_per_us; }
};
Line fit_line(const std::vector<Compared>& fitted);

/// Linear between logarithms of sizes and times, and beyond their ends. `fitted` is sorted by size, with at
/// least one row.
double interpolate(const std::vector<Compared>& fitted, uint64_t bytes);

}  // namespace weft::calibrate

#endif
