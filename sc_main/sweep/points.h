// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// The points of a sweep before they run: their command lines, whether they can run at all, what they depend
// on.

#ifndef WEFT_SC_MAIN_SWEEP_POINTS_H
#define WEFT_SC_MAIN_SWEEP_POINTS_H

#include <string>
#include <vector>

#include "sc_main/sweep/axis.h"
#include "sc_main/sweep/identity.h"
#include "sc_main/sweep/sweep_options.h"
#include "sc_main/sweep/table_of_points.h"

namespace weft::sweep {

/// The command writes a folder of results whether it is asked to or not.
bool writes_folder(const std::string& command);

/// The arguments of the program for a point. `folder`: where the point's own results go; empty: nowhere.
std::vector<std::string> point_arguments(const SweepOptions& options, const SweptCommand& command,
                                         const Grid& grid, size_t point, const std::string& folder);

struct CheckedPoints {
  Identity identity;
  ConfigValues config;  ///< of those of the names that are keys
};

/// Reads the configuration of every point and checks its command line. `names`: of expressions. Errors:
/// UserError with the points that cannot run, and why.
CheckedPoints check_points(const SweepOptions& options, const SweptCommand& command, const Grid& grid,
                           const std::vector<std::string>& names);

}  // namespace weft::sweep

#endif
