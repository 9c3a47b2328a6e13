// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_main/measured_options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "sc_main/calibrate/curve_plot.h"
#include "sc_main/console.h"
#include "sc_main/output_folder.h"

namespace weft::cli {

void add_measured_options(CLI::App& command, TextOptions& add, MeasuredOptions& options) {
  add("--operation", options.operation, "OP",
      "What was measured, where the file does not say it; it replaces what the file says");
  add("--column", options.column, "WHICH", "Times in_place (default) or out_of_place");
  command.add_flag("--incomplete", options.incomplete,
                   "Take a log that was cut: its rows that are there are used");
  add("--svg", options.svg, "FILE", "Draw measured and predicted times");
  command.add_flag("--json", options.json,
                   "Results as JSON on the standard output, the tables on the standard error");
}

std::vector<calibrate::Measurement> read_measured(const std::string& path, const MeasuredOptions& options) {
  calibrate::ReadOptions reading;
  if (!options.operation.empty()) reading.operation = parse_operation("--operation", options.operation);
  if (reading.operation == CollectiveOp::barrier)
    throw UserError(ExitCode::usage, "--operation barrier: a barrier has no sizes; give another operation");
  if (options.column == "out_of_place")
    reading.column = calibrate::Column::out_of_place;
  else if (!options.column.empty() && options.column != "in_place")
    throw UserError(ExitCode::usage,
                    fmt::format("--column {}: give in_place or out_of_place", options.column));
  reading.incomplete = options.incomplete;
  std::vector<calibrate::Measurement> tables = calibrate::read_measurements(path, reading);
  for (const calibrate::Measurement& table : tables)
    for (const std::string& remark : table.remarks) warn(fmt::format("{}: {}", path, remark));
  return tables;
}

void give_report(const calibrate::AccuracyReport& report, const std::string& text,
                 const MeasuredOptions& options) {
  if (!options.svg.empty()) {
    const std::string title =
        fmt::format("{}: P50 {:.1f} %, P95 {:.1f} %", report.machine, report.test.p50, report.test.p95);
    ResultFile file(options.svg);
    file.append(calibrate::plot_svg(title, report.curves, report.crossovers));
    file.close();
  }
  if (options.json) {
    note(text);
    print(calibrate::report_json(report));
  } else {
    print(text);
  }
}

}  // namespace weft::cli
