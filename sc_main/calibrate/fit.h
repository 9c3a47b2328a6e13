// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#ifndef WEFT_SC_MAIN_CALIBRATE_FIT_H
#define WEFT_SC_MAIN_CALIBRATE_FIT_H

#include <functional>
#include <string>
#include <vector>

#include "sc_main/calibrate/accuracy.h"
#include "workload/library/communication_library.h"

namespace weft::calibrate {

using library::LibraryPlan;

/// Which parameters a calibration changes.
struct FitChoice {
  bool launch = true;
  bool latency = true;
  bool bandwidth = true;

  size_t count() const { return size_t{launch} + size_t{latency} + size_t{bandwidth}; }
};

/// "t0,latency,bandwidth", any of them, or "none". Throws UserError(usage) that names --fit.
FitChoice parse_fit(const std::string& text);

/// A planned call and how long it really takes.
struct FitRow {
  uint64_t bytes = 0;
  double real_us = 0;
  LibraryPlan plan;
};

/// The parameters that make the misfit of the rows least: a simplex search from five starts, and the best of
/// them counts. What is not chosen stays as in `start`. A launch is never below 0.
LibraryParameters fit(const std::vector<FitRow>& rows, const LibraryParameters& start,
                      const FitChoice& choice);

/// Fitted values that no machine of known links has, each as a sentence: then the graph or the plan is wrong,
/// and not the constants.
std::vector<std::string> implausible(const LibraryParameters& parameters, const FitChoice& choice);

}  // namespace weft::calibrate

#endif
