// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// What `weft calibrate` and `weft compare` say: for people and as JSON.

#ifndef WEFT_SC_MAIN_CALIBRATE_ACCURACY_REPORT_H
#define WEFT_SC_MAIN_CALIBRATE_ACCURACY_REPORT_H

#include <optional>
#include <string>
#include <vector>

#include "configs/library_config.h"
#include "sc_main/calibrate/prediction.h"

namespace weft::calibrate {

struct AccuracyReport {
  std::string machine;                          ///< the machine, or the result that is compared
  std::optional<LibraryParameters> parameters;  ///< nothing: nobody fitted any
  std::vector<Curve> curves;
  std::vector<Crossover> crossovers;
  Errors test;  ///< of the rows that were not fitted
  std::array<Errors, kSizeClasses> classes;
  Errors fitted;
  Baselines baselines;

  /// Fills the figures from the curves.
  void assess();
  /// P95 within 10 % or, where interpolation is worse than that, no worse than it; P50 within 5 %.
  bool passes() const;
};

/// Keys: machine, parameters, test, baselines, plan, crossovers (docs/calibration.md).
std::string report_json(const AccuracyReport& report);
/// A table of the sizes, and one of the errors.
std::string report_text(const AccuracyReport& report);

}  // namespace weft::calibrate

#endif
