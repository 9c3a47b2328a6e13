// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// What `weft calibrate` and `weft compare` have in common: how they read measured times, and how they give
// results.

#ifndef WEFT_SC_MAIN_MEASURED_OPTIONS_H
#define WEFT_SC_MAIN_MEASURED_OPTIONS_H

#include <string>
#include <vector>

#include "sc_main/calibrate/accuracy_report.h"
#include "sc_main/calibrate/measurement.h"
#include "sc_main/text_options.h"

namespace weft::cli {

struct MeasuredOptions {
  std::string operation, column, svg;
  bool json = false, incomplete = false;
};

/// The options must outlive the parsing.
void add_measured_options(CLI::App& command, TextOptions& add, MeasuredOptions& options);

/// The tables of a file; warns of what they left out. Throws UserError(usage).
std::vector<calibrate::Measurement> read_measured(const std::string& path, const MeasuredOptions& options);

/// Prints the text, or JSON with the text on the standard error; writes the drawing.
void give_report(const calibrate::AccuracyReport& report, const std::string& text,
                 const MeasuredOptions& options);

}  // namespace weft::cli

#endif
