// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_main/command_validate.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "configs/blueprint/carrier.h"
#include "configs/describe.h"
#include "sc_main/console.h"
#include "sc_main/decimal.h"
#include "sc_main/expect/checks.h"
#include "sc_main/machine_trial.h"
#include "sc_main/memory_check.h"
#include "sc_main/workload.h"
#include "workload/collectives/program_check.h"

namespace weft::cli {
namespace {

/// Without a trace: a machine may be folded, or built whole. A Ring at `message` fidelity folds only where
/// the job's messages end at neighbours, which nobody knows yet.
std::string machine_memory_text(const Config& config, const WorkloadOptions& options,
                                const MemoryRoom& room) {
  const MemoryEstimate whole = machine_memory(config, config.npus(), 0, false);
  const bool rings = std::any_of(
      config.dimensions.begin(), config.dimensions.end(),
      [](const DimensionConfig& d) { return d.size > 1 && carrier_of(d) == Carrier::neighbours; });
  if (options.no_fold || rings || !graph::folding_refusal(config).empty()) {
    room.check(config, whole);
    return memory_text(whole);
  }
  const MemoryEstimate folded = machine_memory(config, 1, 1, false);
  room.check(config, folded);
  return fmt::format("{}; folded about {}", memory_text(whole), memory_size(folded.bytes()));
}

ExitCode validate(const WorkloadOptions& options) {
  const Config config = load_workload(options);
  const Checks checks(config);  // their patterns can be read
  const MemoryRoom room(options.force);
  std::vector<std::string> warnings;
  std::string text;
  std::string memory;
  if (!config.jobs.empty()) {
    const Workloads workloads = open_workloads(config, room, &warnings);
    for (size_t i = 0; i < workloads.jobs.size(); ++i) {
      const Workload& job = workloads.jobs[i];
      const std::string& name = config.jobs[i].name;
      for (const std::string& warning : job.job->warnings()) warn(fmt::format("job `{}`: {}", name, warning));
      text += fmt::format("; job {}: {} ranks, {} nodes, {} groups", name, job.job->ranks().ranks(),
                          grouped(job.traces->node_count()), job.traces->groups().size());
    }
    memory = memory_text(workloads.memory);
  } else if (!config.workload.goal.empty() && config.loggp) {
    const goal::Program program = open_goal(config, warnings);
    check_run(config, &warnings);
    check_loggp(*config.loggp);
    text = fmt::format("; GOAL program of {} ranks, {} operations", program.ranks.size(),
                       grouped(program.operations()));
    memory = "no machine is built: `loggp` times the messages";
  } else if (config.workload.trace.empty() && config.workload.goal.empty() &&
             config.workload.text.file.empty()) {
    memory = machine_memory_text(config, options, room);
    check_run(config, &warnings);
    collectives::check_programs(config);
    text = "; no trace (workload.trace is not set)";
  } else {
    const Workload workload = open_workload(config, options, room, &warnings);
    for (const std::string& warning : workload.job->warnings()) warn(warning);
    const WorkloadConfig& own = config.workload;
    const std::string files = !own.text.file.empty() ? "the ranks of " + own.text.file
                              : !own.goal.empty()    ? "traces of " + own.goal
                                                     : "traces " + own.trace;
    text = fmt::format("; {} agree, {} nodes, {} groups", files, grouped(workload.traces->node_count()),
                       workload.traces->groups().size());
    memory = memory_text(workload.memory);
  }
  try_models(config);
  for (const std::string& warning : warnings) warn(warning);
  const std::string available = room.text();
  print(fmt::format("{}: valid; {}, {} NPUs{}\n",
                    !options.machine.empty() ? options.machine
                    : options.config.empty() ? options.jobs.front()
                                             : options.config,
                    machine_name(config), grouped(config.npus()), text));
  print(fmt::format("memory: {}{}{}\n", memory, available.empty() ? "" : "; ", available));
  return ExitCode::done;
}

}  // namespace

void add_validate_command(CLI::App& app, Action& action) {
  auto options = std::make_shared<WorkloadOptions>();
  CLI::App* command = app.add_subcommand(
      "validate", "Check a configuration, its traces if it names any, and the memory that a run needs");
  add_workload_options(*command, *options);
  command->footer(
      "Examples:\n"
      "  weft validate machine.yaml\n"
      "  weft validate machine.yaml --trace traces/llm --groups traces/llm.groups.json --strict");
  command->callback([options, &action] { action = [options] { return validate(*options); }; });
}

}  // namespace weft::cli
