// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// The end of a sweep: the results file, and what is said.

#ifndef WEFT_SC_MAIN_SWEEP_REPORT_H
#define WEFT_SC_MAIN_SWEEP_REPORT_H

#include <optional>
#include <string>
#include <vector>

#include "configs/types.h"
#include "sc_main/sweep/axis.h"
#include "sc_main/sweep/objective.h"
#include "sc_main/sweep/sweep_options.h"
#include "sc_main/sweep/table_of_points.h"

namespace weft::sweep {

/// The expressions of a sweep.
struct Formulas {
  std::vector<DerivedColumn> derived;
  std::optional<Objective> objective;

  /// Names that they ask for and that are neither varied nor derived.
  std::vector<std::string> foreign_names(const Grid& grid) const;
};

/// Errors: UserError(usage).
Formulas parse_formulas(const SweepOptions& options);

/// A warning for each name that the first results do not have: it is better known now than at the end.
std::vector<std::string> missing_names(const Formulas& formulas, const Grid& grid, const ConfigValues& config,
                                       const PointResult& first);

/// Writes the results file and says how it went. The exit code is 1 if points have failed. Errors:
/// UserError(usage) for names that no column has; the results file is written then without the column.
ExitCode report(const SweepOptions& options, const Grid& grid, const std::vector<PointResult>& results,
                const ConfigValues& config, const Formulas& formulas);

}  // namespace weft::sweep

#endif
