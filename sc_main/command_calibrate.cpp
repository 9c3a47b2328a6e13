// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_main/command_calibrate.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "configs/effective.h"
#include "sc_main/calibrate/accuracy_report.h"
#include "sc_main/calibrate/fit.h"
#include "sc_main/calibrate/log_version.h"
#include "sc_main/calibrate/measurement.h"
#include "sc_main/calibrate/nic_limit.h"
#include "sc_main/console.h"
#include "sc_main/machines/catalogue.h"
#include "sc_main/measured_options.h"
#include "sc_main/output_folder.h"
#include "sc_main/text_options.h"
#include "workload/library/communication_library.h"

namespace weft::cli {
namespace {

using calibrate::AccuracyReport;
using calibrate::Curve;
using calibrate::FitChoice;
using calibrate::FitRow;
using calibrate::Measurement;
using library::CommunicationLibrary;
using library::LibraryAlgorithm;
using library::LibraryMachine;
using library::LibraryPlan;

struct CalibrateOptions {
  std::vector<std::string> logs;
  std::string machine, fit, out;
  std::vector<std::string> sets;
  MeasuredOptions measured;
};

[[noreturn]] void fail(const std::string& message) {
  throw UserError(ExitCode::usage, message);
}

/// GPUs of the largest host. NVLink joins the hosts of a larger node, whose number says nothing then.
constexpr uint32_t kMostInHost = 16;

/// The communicator of a table. Throws if the machine cannot have it.
std::vector<uint32_t> communicator_of(const Measurement& table, const LibraryMachine& machine) {
  const uint32_t hosts = machine.gpus_per_node > kMostInHost ? 0 : table.nodes;
  const uint32_t ranks = table.ranks > 0 ? table.ranks : machine.ranks();
  if (ranks == machine.ranks() && (hosts == 0 || hosts == machine.nodes)) return {};
  const auto wrong = [&](const std::string& what) {
    fail(fmt::format(
        "{}: the log has {} ranks{}, and the machine {} nodes of {} GPUs: {}; name the machine of the log "
        "(`weft machine list`), or change its topology (`--set topology.notation=..`)",
        table.file, ranks, table.nodes > 0 ? fmt::format(" on {} hosts", table.nodes) : "", machine.nodes,
        machine.gpus_per_node, what));
  };
  if (hosts > machine.nodes) wrong("it has too few nodes");
  // Ranks of a log without hosts fill one node after the other.
  const uint32_t used = hosts > 0 ? hosts : (ranks + machine.gpus_per_node - 1) / machine.gpus_per_node;
  if (ranks % used != 0) wrong("the ranks do not divide by the hosts");
  if (used > machine.nodes || ranks / used > machine.gpus_per_node) wrong("it has too few GPUs");
  return std::vector<uint32_t>(used, ranks / used);
}

/// Algorithms whose chunk depends on the size in steps.
bool steps_chunks(const LibraryPlan& plan) {
  return plan.algorithm == LibraryAlgorithm::nvls || plan.algorithm == LibraryAlgorithm::nvls_tree ||
         plan.algorithm == LibraryAlgorithm::collnet_direct;
}

/// The rows of all tables with their plans.
struct Planned {
  std::vector<Curve> curves;
  std::vector<FitRow> rows;  ///< those of all curves, one after the other
};

Planned plan_all(const std::vector<Measurement>& tables, const CommunicationLibrary& library, bool fits) {
  Planned planned;
  for (const Measurement& table : tables) {
    const std::optional<library::LibraryOp> op = library::library_op(*table.operation);
    if (!op) fail(fmt::format("{}: the library has no {}", table.file, to_string(*table.operation)));
    library::LibraryCall call;
    call.op = *op;
    call.ranks_of_nodes = communicator_of(table, library.machine());
    Curve curve;
    curve.operation = *table.operation;
    curve.file = table.file;
    for (const calibrate::MeasuredRow& row : table.rows) {
      call.bytes = row.bytes;
      const LibraryPlan plan = library.plan(call);
      calibrate::Prediction prediction;
      prediction.times = {row.bytes, row.us, row.us};
      prediction.algorithm = to_string(plan.algorithm);
      prediction.protocol = to_string(plan.protocol);
      prediction.channels = plan.channels;
      prediction.chunk_bytes = steps_chunks(plan) ? plan.chunk_bytes : 0;
      prediction.fitted = fits && row.number % 2 == 1;
      curve.rows.push_back(std::move(prediction));
      planned.rows.push_back({row.bytes, row.us, plan});
    }
    planned.curves.push_back(std::move(curve));
  }
  return planned;
}

LibraryParameters fit_rows(const Planned& planned, const LibraryParameters& start, const FitChoice& choice) {
  std::vector<FitRow> fitted;
  size_t i = 0;
  for (const Curve& curve : planned.curves)
    for (const calibrate::Prediction& row : curve.rows) {
      if (row.fitted) fitted.push_back(planned.rows[i]);
      ++i;
    }
  if (choice.count() > 0 && fitted.size() < choice.count())
    fail(fmt::format(
        "{} sizes can be fitted (every second one), and {} parameters need as many at least; measure more "
        "sizes, or fit fewer parameters with --fit (`--fit none` only compares)",
        fitted.size(), choice.count()));
  return calibrate::fit(fitted, start, choice);
}

std::string fitted_yaml(const Config& machine, const AccuracyReport& report,
                        const CalibrateOptions& options) {
  Config config = machine;
  LibraryConfig& library = config.collectives.library;
  library.launch = static_cast<Picoseconds>(std::llround(report.parameters->launch_us * 1e6));
  library.latency_scale = report.parameters->latency_scale;
  library.bandwidth_scale = report.parameters->bandwidth_scale;
  std::string logs;
  for (const std::string& log : options.logs) logs += (logs.empty() ? "" : ", ") + log;
  return fmt::format(
             "# {} with the parameters of `weft calibrate`, fitted to {}.\n# On the {} sizes that were not "
             "fitted: P50 {:.1f} %, P95 {:.1f} %, at most {:.1f} %.\n",
             options.machine, logs, report.test.rows, report.test.p50, report.test.p95, report.test.max) +
         effective_yaml(config);
}

ExitCode run_calibrate(const CalibrateOptions& options) {
  const FitChoice choice = calibrate::parse_fit(options.fit.empty() ? "t0,latency,bandwidth" : options.fit);
  Config config = machines::load_machine(options.machine, options.sets);
  LibraryConfig& wanted = config.collectives.library;
  if (!wanted.on())
    fail(
        fmt::format("--machine {}: it has no communication library, whose parameters could be fitted; set "
                    "`collectives.library`, or compare a result with `weft compare`",
                    options.machine));
  std::vector<Measurement> tables;
  for (const std::string& log : options.logs)
    for (Measurement& table : read_measured(log, options.measured)) tables.push_back(std::move(table));
  calibrate::LogVersion of_logs;
  if (wanted.version.empty()) of_logs = calibrate::version_of(tables, wanted.kind);
  if (!of_logs.version.empty()) wanted.version = of_logs.version;
  const CommunicationLibrary library(LibraryMachine::of(config));
  Planned planned = plan_all(tables, library, choice.count() > 0);
  LibraryParameters parameters = fit_rows(planned, library.parameters(wanted), choice);
  // What is written to a file is what is reported: a launch of whole picoseconds.
  parameters.launch_us = std::round(parameters.launch_us * 1e6) / 1e6;
  size_t i = 0;
  for (Curve& curve : planned.curves)
    for (calibrate::Prediction& row : curve.rows)
      row.times.sim_us = planned.rows[i++].plan.time_us(parameters);
  AccuracyReport report;
  report.machine = options.machine;
  report.parameters = parameters;
  report.curves = std::move(planned.curves);
  report.assess();
  std::string text = calibrate::report_text(report);
  text += fmt::format("\n# library: {} {}{}\n", to_string(wanted.kind), library.version(),
                      of_logs.version.empty() ? ""
                      : of_logs.note.empty()  ? ", as the log says"
                                              : ", the nearest to the log's");
  std::vector<std::string> doubts = calibrate::implausible(parameters, choice);
  if (std::string doubt = calibrate::faster_than_nics(planned.rows, library.machine()); !doubt.empty())
    doubts.push_back(std::move(doubt));
  for (const std::string& doubt : doubts) text += fmt::format("\n# {}\n", doubt);
  if (choice.count() > 0)
    text +=
        fmt::format("\n# gate (P50 within 5 %, P95 within 10 % or interpolation's, plausible scales): {}\n",
                    report.passes() && doubts.empty() ? "passed" : "missed");
  if (!options.out.empty()) {
    ResultFile file(options.out);
    file.append(fitted_yaml(config, report, options));
    file.close();
  }
  give_report(report, text, options.measured);
  for (const std::string& doubt : doubts) warn(doubt);
  if (!of_logs.note.empty()) warn(of_logs.note);
  return ExitCode::done;
}

}  // namespace

void add_calibrate_command(CLI::App& app, Action& action) {
  auto options = std::make_shared<CalibrateOptions>();
  CalibrateOptions& o = *options;
  CLI::App* command = app.add_subcommand(
      "calibrate", "Fit the parameters of NCCL or RCCL on a machine to measured times, and test them");
  command->add_option("LOG", o.logs, "Logs of nccl-tests or rccl-tests, or tables in JSON")
      ->required()
      ->type_name("LOG");
  TextOptions add(*command);
  add("--machine", o.machine, "NAME|FILE",
      "The machine of the logs: a name of `weft machine list`, or a file");
  command->get_option("--machine")->required();
  add_set_option(*command, o.sets, "Set a key of the machine; repeatable");
  add("--fit", o.fit, "LIST", "t0, latency and bandwidth (default: all of them), or none");
  add("--out", o.out, "FILE", "Write the machine with the fitted parameters");
  add_measured_options(*command, add, o.measured);
  command->footer(
      "Every second size is fitted, the others test the fit. docs/calibration.md explains the figures.\n\n"
      "Examples:\n"
      "  weft calibrate all_reduce.log --machine dgx_h100\n"
      "  weft calibrate all_reduce.log --machine dgx_h100_2node --out fitted.yaml --svg fit.svg\n"
      "  weft collective --machine fitted.yaml --sizes 1KiB:1GiB:x2");
  command->callback([options, &action] { action = [options] { return run_calibrate(*options); }; });
}

}  // namespace weft::cli
