// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// The results file of ASTRA-sim 1.0's command lines, which the runs of a sweep fill row by row: --path,
// --run-name, --stat-row and --total-stat-rows.

#ifndef WEFT_SC_MAIN_IMPORT_STAT_ROWS_H
#define WEFT_SC_MAIN_IMPORT_STAT_ROWS_H

#include <cstdint>
#include <string>

#include "sc_models/run_result.h"

namespace weft::cli::import {

constexpr const char* kStatRowsFile = "stat_rows.csv";

struct StatRow {
  std::string path;      ///< folder; empty: no file
  std::string run_name;  ///< empty: "run"
  uint64_t row = 0;
  uint64_t total = 1;  ///< rows of the sweep
};

/// Throws UserError(usage) for a row that is not below the total.
void check_stat_row(const StatRow& row);

/// Where results go without --out: a folder of the run in --path, or "out".
std::string default_out(const StatRow& row);

/// Puts the run's row into the file, in place of an earlier one with its number; rows of other runs stay, in
/// order, but those that the total leaves no place for. Throws UserError(usage) for a file of another form.
void write_stat_row(const StatRow& row, const RunResult& result);

}  // namespace weft::cli::import

#endif
