// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_main/run_goal.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "configs/effective.h"
#include "sc_main/console.h"
#include "sc_main/decimal.h"
#include "sc_main/output_folder.h"
#include "sc_main/results.h"
#include "sc_main/workload.h"
#include "workload/goal/loggops.h"

namespace weft::cli {
namespace {

RunResult result_of(const goal::Program& program, const goal::LogGopsResult& run) {
  RunResult result;
  result.time = run.time;
  result.nodes = program.operations();
  result.messages = run.messages;
  result.events = run.events;
  result.simulated_ranks = static_cast<uint32_t>(program.ranks.size());
  for (uint32_t r = 0; r < run.ranks.size(); ++r) {
    const goal::RankTimes& times = run.ranks[r];
    RankRow row;
    row.rank = r;
    row.time.compute = times.compute;
    row.time.communication = times.communication;
    row.time.idle = run.time - times.compute - times.communication;
    row.finished = times.end;
    row.communicating = times.communicating;
    result.ranks.push_back(row);
    // A processor's calcs follow each other.
    result.lower_bound = std::max(result.lower_bound, times.busiest_calc);
  }
  result.upper_bound = kNever;
  return result;
}

}  // namespace

ExitCode run_goal(const Config& config, const GoalRunOptions& options, RunChecks& checks) {
  if (options.watches_machine)
    throw UserError(
        ExitCode::usage,
        fmt::format("{}: `loggp` times the messages of the GOAL program, so no machine is built that "
                    "waveforms, a timeline or a critical path could be of; leave these out, or `loggp`",
                    config.file));
  check_run(config);
  check_loggp(*config.loggp);
  std::vector<std::string> warnings;
  const goal::Program program = open_goal(config, warnings);
  const OutputFolder folder(config.output.dir, {"summary.json", "ranks.csv", "collectives.csv", "phases.csv",
                                                "layers.csv", "iterations.csv", "footprint.csv", "links.csv",
                                                "flows.csv", "effective.yaml", "checks.csv", "junit.xml"});
  folder.write("effective.yaml", effective_yaml(config));
  for (const std::string& warning : warnings) warn(warning);
  const goal::LogGopsResult run = goal::run_loggops(program, *config.loggp);
  const bool finished = run.stall.empty();
  const RunResult result = result_of(program, run);
  const RunRecord record{config, result, finished, warnings, wall_seconds(), peak_rss_MiB()};
  write_results(folder, record);
  const CheckedResults checked{"", result, finished, [&] { return summary_json(record); }};
  const bool expected = checks.compare(folder, checked, {checked});
  const std::string table =
      summary_text(record) +
      fmt::format(
          "results  {}: summary.json effective.yaml ranks.csv collectives.csv phases.csv layers.csv "
          "links.csv{}\n",
          folder.path(), checks.files());
  print_results(table, options.json, checked.summary);
  checks.tell(options.json);
  if (!finished) {
    note(fmt::format("weft: error: the program cannot go on at {}:{}", readable_time(run.time), run.stall));
    return ExitCode::stall;
  }
  return expected ? ExitCode::done : ExitCode::unmet;
}

}  // namespace weft::cli
