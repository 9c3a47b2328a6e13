// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_main/command_diff.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "configs/expectation.h"
#include "sc_main/console.h"
#include "sc_main/decimal.h"
#include "sc_main/json_text.h"
#include "sc_main/report/comparison.h"
#include "sc_main/table.h"
#include "sc_main/text_options.h"

namespace weft::cli {
namespace {

using report::ComparedRows;
using report::Comparison;
using report::Difference;
using report::ResultFolder;

struct DiffOptions {
  std::string a, b;
  std::string threshold = "0 %";
  std::string rows = "5";
  bool json = false;
  bool check = false;
};

std::string shown(const Difference& d, double value) {
  if (d.time) {
    const auto ps = static_cast<Picoseconds>(std::llround(std::fabs(value) * 1000));
    return (value < 0 ? "-" : "") + readable_time(ps);
  }
  return fmt::format("{:.10g}", value);
}

std::string change_text(const Difference& d) {
  return d.change() ? fmt::format("{:+.2f} %", *d.change() * 100) : "new";
}

std::string by_text(const Difference& d) {
  return (d.by() > 0 ? "+" : "") + shown(d, d.by());
}

std::string run_line(const char* label, const ResultFolder& folder) {
  const auto nodes = folder.number("/nodes").value_or(0);
  return fmt::format("{}  {}: {}, {} NPUs, {} nodes{}\n", label, folder.path(),
                     folder.text("/notation").empty() ? "graph" : folder.text("/notation"),
                     grouped(static_cast<uint64_t>(folder.number("/npus").value_or(0))),
                     grouped(static_cast<uint64_t>(nodes)), folder.finished() ? "" : " (NOT FINISHED)");
}

std::string names_line(const char* label, const std::vector<std::string>& names, const std::string& kind,
                       size_t most) {
  if (names.empty()) return "";
  std::string text =
      fmt::format("only in {}: {} {}{}:", label, grouped(names.size()), kind, names.size() == 1 ? "" : "s");
  for (size_t i = 0; i < std::min(most, names.size()); ++i) text += (i == 0 ? " " : ", ") + names[i];
  return text + (names.size() > most ? ", ..\n" : "\n");
}

std::string rows_text(const ComparedRows& rows, size_t most) {
  std::string text;
  if (!rows.differences.empty()) {
    Table table({rows.kind, "A", "B", "difference", "change"});
    const size_t shown_rows = std::min(most, rows.differences.size());
    for (size_t i = 0; i < shown_rows; ++i) {
      const Difference& d = rows.differences[i];
      table.row({d.figure.empty() ? d.row : d.row + ": " + d.figure, shown(d, d.a), shown(d, d.b), by_text(d),
                 change_text(d)});
    }
    text = "\n" + table.str();
    const uint64_t more = rows.differences.size() - shown_rows;
    text += fmt::format("{}{} equal{}\n",
                        more == 0 ? "" : fmt::format("{} more figures differ (--rows), ", grouped(more)),
                        grouped(rows.equal),
                        rows.below == 0 ? "" : fmt::format(", {} below the threshold", grouped(rows.below)));
  }
  const std::string only =
      names_line("A", rows.only_a, rows.kind, most) + names_line("B", rows.only_b, rows.kind, most);
  return only.empty() || !text.empty() ? text + only : "\n" + only;
}

std::string text_of(const Comparison& c, const ResultFolder& a, const ResultFolder& b, size_t most) {
  std::string text = run_line("A", a) + run_line("B", b);
  text += fmt::format(
      "time  {} -> {}{}\n", shown(c.time, c.time.a), shown(c.time, c.time.b),
      c.time.by() == 0 ? ": the same" : fmt::format(": {} ({})", by_text(c.time), change_text(c.time)));
  if (c.equal()) return text + "\nthe results and their configurations are equal\n";
  if (!c.configuration.empty()) {
    Table table({"configuration", "A", "B"});
    const auto cut = [](const std::string& value) {
      return value.empty() ? std::string("-") : value.size() > 40 ? value.substr(0, 38) + ".." : value;
    };
    for (const report::ChangedKey& key : c.configuration) table.row({key.key, cut(key.a), cut(key.b)});
    text += "\n" + table.str();
  }
  for (const ComparedRows& rows : c.rows) text += rows_text(rows, most);
  return text;
}

void add_names(JsonText& json, const char* key, const std::vector<std::string>& names) {
  json.key(key).begin_array();
  for (const std::string& name : names) json.text(name);
  json.end_array();
}

std::string json_of(const Comparison& c, const ResultFolder& a, const ResultFolder& b) {
  JsonText json;
  json.begin_object();
  json.key("a").text(a.path());
  json.key("b").text(b.path());
  json.key("equal").boolean(c.equal());
  json.key("time_ns").begin_array();
  json.number(c.time.a);
  json.number(c.time.b);
  json.end_array();
  json.key("configuration").begin_array();
  for (const report::ChangedKey& key : c.configuration) {
    json.begin_object();
    json.key("key").text(key.key);
    json.key("a").text(key.a);
    json.key("b").text(key.b);
    json.end_object();
  }
  json.end_array();
  json.key("kinds").begin_array();
  for (const ComparedRows& rows : c.rows) {
    json.begin_object();
    json.key("kind").text(rows.kind);
    json.key("equal").number(rows.equal);
    json.key("below_threshold").number(rows.below);
    json.key("differences").begin_array();
    for (const Difference& d : rows.differences) {
      json.begin_object();
      json.key("row").text(d.row);
      json.key("figure").text(d.time && !d.figure.empty() ? d.figure + "_ns" : d.figure);
      json.key("a").number(d.a);
      json.key("b").number(d.b);
      json.key("change");
      if (d.change())
        json.number(*d.change());
      else
        json.null();
      json.end_object();
    }
    json.end_array();
    add_names(json, "only_a", rows.only_a);
    add_names(json, "only_b", rows.only_b);
    json.end_object();
  }
  json.end_array();
  json.end_object();
  return json.str();
}

double threshold_of(const std::string& text) {
  try {
    const double part = parse_share(text);
    if (part < 1) return part;
  } catch (const UserError&) {
  }
  throw UserError(
      ExitCode::usage,
      fmt::format(
          "--threshold '{}': allowed: a part of a figure from 0 % to below 100 %, for example `0.5 %`",
          text));
}

/// Something is beyond the threshold, or only one of them has it.
bool differs(const Comparison& c, double threshold) {
  const double most = std::max(std::fabs(c.time.a), std::fabs(c.time.b));
  if (c.time.by() != 0 && std::fabs(c.time.by()) >= threshold * most) return true;
  return std::any_of(c.rows.begin(), c.rows.end(), [](const ComparedRows& rows) {
    return !rows.differences.empty() || !rows.only_a.empty() || !rows.only_b.empty();
  });
}

ExitCode diff(const DiffOptions& options) {
  const double threshold = threshold_of(options.threshold);
  const auto most = static_cast<size_t>(parse_whole("--rows", options.rows, 1, 1'000'000));
  const ResultFolder a(options.a);
  const ResultFolder b(options.b);
  if (a.of_several_jobs() != b.of_several_jobs()) {
    const ResultFolder& jobs = a.of_several_jobs() ? a : b;
    throw UserError(ExitCode::usage,
                    fmt::format("{}: it is of several jobs, and the other is of one; name the folder "
                                "of one of its jobs, for example {}/{}",
                                jobs.path(), jobs.path(), jobs.jobs().empty() ? "JOB" : jobs.jobs().front()));
  }
  const Comparison comparison = report::compare(a, b, threshold);
  print(options.json ? json_of(comparison, a, b) : text_of(comparison, a, b, most));
  return options.check && differs(comparison, threshold) ? ExitCode::unmet : ExitCode::done;
}

}  // namespace

void add_diff_command(CLI::App& app, Action& action) {
  auto options = std::make_shared<DiffOptions>();
  CLI::App* command = app.add_subcommand("diff", "Two results side by side, first what differs most");
  command->add_option("A", options->a, "Folder of the results of `weft run`")->required()->type_name("DIR");
  command->add_option("B", options->b, "Another one")->required()->type_name("DIR");
  TextOptions add(*command);
  add("--threshold", options->threshold, "PART",
      "Figures that differ by less count as the same (default: 0 %)");
  add("--rows", options->rows, "N", "Rows of each table (default: 5)");
  command->add_flag("--json", options->json, "Everything as JSON");
  command->add_flag("--check", options->check, "Exit code 5 if any figure differs by the threshold or more");
  command->footer(
      "Examples:\n"
      "  weft diff out_before out_after\n"
      "  weft diff out_before out_after --threshold '0.5 %' --check\n"
      "  weft diff out_before out_after --json | jq '.kinds[0].differences[0]'");
  command->callback([options, &action] { action = [options] { return diff(*options); }; });
}

}  // namespace weft::cli
