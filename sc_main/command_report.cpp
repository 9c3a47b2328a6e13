// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_main/command_report.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <vector>

#include "sc_main/console.h"
#include "sc_main/decimal.h"
#include "sc_main/output_folder.h"
#include "sc_main/report/page.h"
#include "sc_main/report/page_data.h"
#include "sc_main/results.h"
#include "sc_main/text_options.h"

namespace weft::cli {
namespace {

static_assert(report::kReadSummaryVersion == kSummaryVersion, "the report reads what this program writes");

/// A page holds all of them; more than this are a table (`weft sweep`), not a page.
constexpr size_t kMostFolders = 16;

struct ReportOptions {
  std::vector<std::string> folders;
  std::string out = "report.html";
};

ExitCode make_report(const ReportOptions& options) {
  if (options.folders.empty())
    throw UserError(
        ExitCode::usage,
        "no results are named; run something with `weft run CONFIG --out out`, then `weft report out`");
  if (options.folders.size() > kMostFolders)
    throw UserError(ExitCode::usage,
                    fmt::format("{} folders are named, but a page compares at most {}; name fewer, "
                                "or compare key figures with `weft sweep`",
                                options.folders.size(), kMostFolders));
  report::need_page();
  const nlohmann::ordered_json data = report::page_data(options.folders, program_version());
  const std::string page = report::page_with(report::script_json(data));
  ResultFile file(options.out);
  file.append(page);
  file.close();
  for (const auto& run : data["runs"])
    if (!run["summary"]["finished"].get<bool>())
      warn(fmt::format("{}: the run did not finish; the page shows what there is up to {} ns",
                       run["path"].get<std::string>(), run["summary"]["time_ns"].dump()));
  print(fmt::format("report   {}: {} run{}, {}; open it in a browser\n", options.out, data["runs"].size(),
                    data["runs"].size() == 1 ? "" : "s", readable_size(page.size())));
  return ExitCode::done;
}

}  // namespace

void add_report_command(CLI::App& app, Action& action) {
  auto options = std::make_shared<ReportOptions>();
  CLI::App* command = app.add_subcommand("report", "Results as a page to look at, hand on or print");
  command
      ->add_option("DIR", options->folders, "Folders that `weft run` has written; the page compares several")
      ->type_name("DIR ...");
  TextOptions add(*command);
  add("-o,--out", options->out, "FILE", "The page, one file that needs no network (default: report.html)");
  command->footer(
      "Examples:\n"
      "  weft run machine.yaml --out out && weft report out\n"
      "  weft report before after -o comparison.html");
  command->callback([options, &action] { action = [options] { return make_report(*options); }; });
}

}  // namespace weft::cli
