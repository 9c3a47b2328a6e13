// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_main/command_compare.h"

#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <vector>

#include "sc_main/calibrate/accuracy_report.h"
#include "sc_main/calibrate/result_times.h"
#include "sc_main/console.h"
#include "sc_main/measured_options.h"
#include "sc_main/text_options.h"

namespace weft::cli {
namespace {

struct CompareOptions {
  std::string result, log;
  MeasuredOptions measured;
};

ExitCode compare(const CompareOptions& options) {
  calibrate::AccuracyReport report;
  report.machine = options.result;
  std::vector<std::string> remarks;
  for (const calibrate::Measurement& table : read_measured(options.log, options.measured))
    report.curves.push_back(calibrate::compare_with(options.result, table, remarks));
  for (const std::string& remark : remarks) warn(remark);
  report.assess();
  give_report(report, calibrate::report_text(report), options.measured);
  return ExitCode::done;
}

}  // namespace

void add_compare_command(CLI::App& app, Action& action) {
  auto options = std::make_shared<CompareOptions>();
  CompareOptions& o = *options;
  CLI::App* command = app.add_subcommand("compare", "Compare the times of a result with measured ones");
  command
      ->add_option(
          "RESULT", o.result,
          "A folder of results, its collectives.csv, or the output of `weft collective` (--json or --format "
          "nccl-tests)")
      ->required()
      ->type_name("RESULT");
  command->add_option("MEASURED", o.log, "A log of nccl-tests or rccl-tests, or a table in JSON")
      ->required()
      ->type_name("MEASURED");
  TextOptions add(*command);
  add_measured_options(*command, add, o.measured);
  command->footer(
      "docs/calibration.md explains the figures.\n\n"
      "Examples:\n"
      "  weft collective --machine dgx_h100 --sizes 1KiB:16GiB:x2 --json > result.json\n"
      "  weft compare result.json all_reduce.log\n"
      "  weft compare out all_reduce.log --svg compare.svg");
  command->callback([options, &action] { action = [options] { return compare(*options); }; });
}

}  // namespace weft::cli
