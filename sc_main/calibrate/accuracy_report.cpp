// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_main/calibrate/accuracy_report.h"

#include <fmt/format.h>

#include <cmath>

#include "configs/units.h"
#include "sc_main/json_text.h"
#include "sc_main/table.h"

namespace weft::calibrate {
namespace {

using cli::JsonText;
using cli::Table;

constexpr double kMostP95 = 10, kMostP50 = 5;  ///< per cent

void add_errors(JsonText& json, const Errors& errors) {
  json.key("rows").number(uint64_t{errors.rows});
  json.key("p50").number(errors.p50);
  json.key("p95").number(errors.p95);
  json.key("max").number(errors.max);
}

void add_baseline(JsonText& json, const char* key, const Errors& errors) {
  json.key(key).begin_object();
  json.key("p95");
  errors.rows > 0 ? json.number(errors.p95) : json.null();
  json.end_object();
}

void add_bytes(JsonText& json, const char* key, const std::optional<uint64_t>& bytes) {
  json.key(key);
  bytes ? json.number(*bytes) : json.null();
}

void add_plan(JsonText& json, const AccuracyReport& report) {
  json.key("plan").begin_array();
  for (const Curve& curve : report.curves)
    for (const Prediction& row : curve.rows) {
      json.begin_object();
      if (report.curves.size() > 1) json.key("operation").text(to_string(curve.operation));
      json.key("bytes").number(row.times.bytes);
      json.key("algorithm");
      row.algorithm.empty() ? json.null() : json.text(row.algorithm);
      json.key("protocol");
      row.protocol.empty() ? json.null() : json.text(row.protocol);
      json.key("channels");
      row.algorithm.empty() ? json.null() : json.number(uint64_t{row.channels});
      json.key("sim_us").number(row.times.sim_us);
      json.key("real_us").number(row.times.real_us);
      json.end_object();
    }
  json.end_array();
}

std::vector<std::string> error_row(const std::string& name, const Errors& errors) {
  if (errors.rows == 0) return {name, "0", "-", "-", "-", "-"};
  const auto percent = [](double value) { return fmt::format("{:.1f} %", value); };
  return {name,
          std::to_string(errors.rows),
          percent(errors.p50),
          percent(errors.p95),
          percent(errors.max),
          fmt::format("{:+.1f} %", errors.bias)};
}

/// With the digits of nccl-tests.
std::string time_text(double us) {
  return us >= 10000 ? fmt::format("{:.0f}", us)
         : us >= 100 ? fmt::format("{:.1f}", us)
                     : fmt::format("{:.2f}", us);
}

std::string sizes_text(const Curve& curve) {
  const bool planned = !curve.rows.empty() && !curve.rows.front().algorithm.empty();
  std::vector<std::string> head = {"# size"};
  if (planned) head.insert(head.end(), {"algo", "proto", "channels"});
  head.insert(head.end(), {"predicted (us)", "measured (us)", "error", ""});
  Table table(head);
  for (const Prediction& row : curve.rows) {
    std::vector<std::string> cells = {print_size(row.times.bytes)};
    if (planned) cells.insert(cells.end(), {row.algorithm, row.protocol, std::to_string(row.channels)});
    cells.insert(cells.end(),
                 {time_text(row.times.sim_us), time_text(row.times.real_us),
                  fmt::format("{:+.1f} %", 100 * row.times.error()), row.fitted ? "fit" : "test"});
    table.row(std::move(cells));
  }
  return table.str();
}

std::string crossovers_text(const AccuracyReport& report) {
  if (report.crossovers.empty()) return "";
  const auto size = [](const std::optional<uint64_t>& bytes) { return bytes ? print_size(*bytes) : "-"; };
  Table table({"# crossover", "predicted", "measured", "within one size"});
  for (const Crossover& crossover : report.crossovers) {
    std::string name = crossover.change.empty() ? "(a jump without a change of the plan)" : crossover.change;
    if (report.curves.size() > 1) name = fmt::format("{}: {}", to_string(crossover.operation), name);
    table.row({name, size(crossover.predicted_bytes), size(crossover.measured_bytes),
               crossover.within_one_size() ? "yes" : "no"});
  }
  return "\n" + table.str();
}

}  // namespace

void AccuracyReport::assess() {
  crossovers = crossovers_of(curves);
  const std::vector<Compared> tested = rows_of(curves, false);
  test = errors_of(tested);
  classes = errors_by_class(tested);
  fitted = errors_of(rows_of(curves, true));
  baselines = baselines_of(curves);
}

bool AccuracyReport::passes() const {
  return test.rows > 0 && test.p50 <= kMostP50 && test.p95 <= std::max(kMostP95, baselines.interpolation.p95);
}

std::string report_json(const AccuracyReport& report) {
  JsonText json;
  json.begin_object();
  json.key("machine").text(report.machine);
  json.key("parameters");
  if (report.parameters) {
    json.begin_object();
    json.key("launch_us").number(report.parameters->launch_us);
    json.key("latency_scale").number(report.parameters->latency_scale);
    json.key("bandwidth_scale").number(report.parameters->bandwidth_scale);
    json.end_object();
  } else {
    json.null();
  }
  json.key("test").begin_object();
  add_errors(json, report.test);
  json.key("classes").begin_object();
  for (size_t i = 0; i < kSizeClasses; ++i) {
    json.key(size_class_name(i)).begin_object();
    add_errors(json, report.classes[i]);
    json.key("bias").number(report.classes[i].bias);
    json.end_object();
  }
  json.end_object();
  json.end_object();
  json.key("baselines").begin_object();
  add_baseline(json, "line", report.baselines.line);
  add_baseline(json, "interpolation", report.baselines.interpolation);
  json.end_object();
  add_plan(json, report);
  json.key("crossovers").begin_array();
  for (const Crossover& crossover : report.crossovers) {
    json.begin_object();
    if (report.curves.size() > 1) json.key("operation").text(to_string(crossover.operation));
    json.key("change").text(crossover.change);
    add_bytes(json, "predicted_bytes", crossover.predicted_bytes);
    add_bytes(json, "measured_bytes", crossover.measured_bytes);
    json.key("within_one_size").boolean(crossover.within_one_size());
    json.end_object();
  }
  json.end_array();
  json.end_object();
  return json.str();
}

std::string report_text(const AccuracyReport& report) {
  std::string text;
  for (const Curve& curve : report.curves) {
    text +=
        fmt::format("# {} on {}, measured in {}\n", to_string(curve.operation), report.machine, curve.file);
    text += sizes_text(curve) + "\n";
  }
  if (report.parameters)
    text += fmt::format("# launch {:.3f} us, latency scale {:.4f}, bandwidth scale {:.4f}\n\n",
                        report.parameters->launch_us, report.parameters->latency_scale,
                        report.parameters->bandwidth_scale);
  Table table({"# relative errors", "rows", "P50", "P95", "max", "bias"});
  table.row(error_row("sizes that were not fitted", report.test));
  table.row(error_row("  to 64 KiB", report.classes[0]));
  table.row(error_row("  to 16 MiB", report.classes[1]));
  table.row(error_row("  above", report.classes[2]));
  if (report.fitted.rows > 0) table.row(error_row("sizes that were fitted", report.fitted));
  if (report.baselines.line.rows > 0) {
    table.row(error_row("T = t0 + S/B instead", report.baselines.line));
    table.row(error_row("interpolation instead", report.baselines.interpolation));
  }
  return text + table.str() + crossovers_text(report);
}

}  // namespace weft::calibrate
