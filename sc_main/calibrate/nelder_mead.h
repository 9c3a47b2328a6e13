// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#ifndef WEFT_SC_MAIN_CALIBRATE_NELDER_MEAD_H
#define WEFT_SC_MAIN_CALIBRATE_NELDER_MEAD_H

#include <cstdint>
#include <functional>
#include <vector>

namespace weft::calibrate {

using Point = std::vector<double>;

struct Minimum {
  Point at;
  double value = 0;
  uint32_t evaluations = 0;
};

struct NelderMeadOptions {
  double tolerance = 1e-10;          ///< of the values of the simplex, relative to their size (and to 1)
  double size = 1e-7;                ///< of its edges, relative to the steps
  uint32_t most_evaluations = 4000;  ///< then the best so far is returned
};

/// The lowest value that the simplex search of Nelder and Mead (The Computer Journal 7, 1965; coefficients 1,
/// 2, 1/2, 1/2) finds from `start` with a first simplex of edges `steps` (each above 0). It needs no
/// derivatives and goes over small jumps. Points that are not allowed have the value infinity; `start` must
/// be allowed.
Minimum minimise(const std::function<double(const Point&)>& value, const Point& start, const Point& steps,
                 const NelderMeadOptions& options = {});

}  // namespace weft::calibrate

#endif
