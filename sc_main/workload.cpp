// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_main/workload.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include "configs/loader.h"
#include "configs/units.h"
#include "sc_main/job_files.h"
#include "sc_main/machines/catalogue.h"
#include "sc_main/text_options.h"
#include "sc_models/machine_check.h"
#include "vcd/glob.h"
#include "workload/collectives/program_check.h"
#include "workload/convert/from_goal.h"

namespace weft::cli {
namespace {

RankMap ranks_of(const Config& config, const WorkloadConfig& of) {
  return of.npus.empty() ? RankMap(config.npus()) : RankMap(of.npus, config.npus());
}

/// Traces of a GOAL program, which lie in the workload's own folder. NPUs without a rank get a trace without
/// nodes.
trace::JobTrace open_goal_traces(const Config& config, const WorkloadConfig& of, Workload& workload) {
  trace::MadeOf made_of{of.goal, {}};
  goal::Program program = open_goal(config, made_of.warnings);
  program.ranks.resize(ranks_of(config, config.workload).ranks());
  workload.scratch = std::make_unique<const ScratchFolder>();
  const std::string prefix = workload.scratch->path() + "/goal";
  convert::from_goal(program, LogGpConfig(), prefix);
  return trace::open_job(prefix, static_cast<uint32_t>(program.ranks.size()), of.groups, of.strict,
                         trace::kFeederCacheBytes, std::move(made_of));
}

std::string absolute(const std::string& path) {
  return path.empty() ? path : std::filesystem::absolute(path).lexically_normal().string();
}

/// Of waveforms.
void check_window(const Config& config) {
  const OutputConfig& output = config.output;
  if (output.waves_to == 0 || output.waves_from <= output.waves_to) return;
  throw UserError(ExitCode::usage,
                  fmt::format("{}: the waveform would begin at {} and end at {} before that; mend "
                              "--waves-window, or `output.waves_from` and `output.waves_to`",
                              config.file, print_time(output.waves_from), print_time(output.waves_to)));
}

/// What text workloads and GOAL programs have not in common with traces.
void check_workload_keys(const Config& config, const WorkloadOptions& options) {
  const WorkloadConfig& workload = config.workload;
  if (workload.text.file.empty() && options.passes != 0)
    throw UserError(ExitCode::usage, "--passes is for text workloads; add --text FILE or `workload.text`");
  const char* key = !workload.text.file.empty() ? "workload.text"
                    : !workload.goal.empty()    ? "workload.goal"
                                                : "";
  if (*key == 0) return;
  const auto both = [&](const char* other) {
    throw UserError(ExitCode::usage, fmt::format("{}: `{}` and `{}` are both set; leave one of them out",
                                                 config.file, key, other));
  };
  if (!workload.text.file.empty() && !workload.goal.empty()) both("workload.goal");
  if (!workload.trace.empty()) both("workload.trace");
  if (!workload.groups.empty()) both("workload.groups");
  if (!config.jobs.empty()) both("jobs");
}

/// The traces of a job and what they ask of the machine. `fold`: of a job on all NPUs.
template <typename Fold>
Workload read_workload(const Config& config, const WorkloadConfig& of, Fold&& fold) {
  const RankMap ranks = ranks_of(config, of);
  Workload workload;
  if (!of.text.file.empty()) {
    workload.text = std::make_unique<const text::TextJob>(text::make_text_job(config, of));
    workload.traces = std::make_unique<const trace::JobTrace>(trace::open_job(workload.text->traces));
  } else {
    workload.traces = std::make_unique<const trace::JobTrace>(
        of.goal.empty() ? trace::open_job(of.trace, ranks.ranks(), of.groups, of.strict)
                        : open_goal_traces(config, of, workload));
  }
  workload.job = std::make_unique<graph::CheckedJob>(
      config, *workload.traces,
      ranks.whole() ? fold(*workload.traces)
                    : graph::Folding(*workload.traces, "the job is on a part of the machine's NPUs"),
      ranks);
  return workload;
}

}  // namespace

void check_run(const Config& config, std::vector<std::string>* warnings) {
  check_window(config);
  if (!config.output.waves.empty()) vcd::Glob selection(config.output.waves);  // throws what is no pattern
  check_machine(config, warnings);
}

ScratchFolder::ScratchFolder() {
  std::error_code error;
  const std::filesystem::path folder = std::filesystem::temp_directory_path(error);
  path_ = (error ? std::filesystem::path("/tmp") : folder) / "weft.XXXXXX";
  if (mkdtemp(&path_[0]) == nullptr)
    throw UserError(ExitCode::internal,
                    fmt::format("{}: a folder for traces cannot be made: {}; set TMPDIR to a "
                                "folder that can be written",
                                path_, std::strerror(errno)));
}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

goal::Program open_goal(const Config& config, std::vector<std::string>& warnings) {
  goal::Program program = goal::read_program(config.workload.goal);
  goal::check_program(program, &warnings);
  const uint32_t npus = ranks_of(config, config.workload).ranks();
  if (program.ranks.size() > npus)
    throw UserError(ExitCode::usage,
                    fmt::format("{}: the program has {} ranks, and there are {} NPUs for it; "
                                "give the machine more (`topology`)",
                                config.workload.goal, program.ranks.size(), npus));
  return program;
}

void add_force_option(CLI::App& command, bool& force) {
  command.add_flag("--force", force, "Go on if the memory that is needed, by estimate, is not there");
}

void add_workload_options(CLI::App& command, WorkloadOptions& options) {
  add_config_option(command, options.config, "The configuration, a YAML file", false);
  command
      .add_option("--job", options.jobs,
                  "A job that shares the machine with others: a YAML file with `workload` (traces, NPUs), "
                  "and the machine "
                  "where CONFIG is left out; repeatable")
      ->type_name("FILE")
      ->allow_extra_args(false);
  add_machine_option(command, options.machine);
  command.parse_complete_callback([&options] {
    if (options.config.empty() && options.machine.empty() && options.jobs.empty())
      throw CLI::RequiredError("CONFIG");
  });
  add_set_option(command, options.sets,
                 "Set a key of the configuration: --set npu.peak=\"3 TFLOPS\"; repeatable");
  command
      .add_option("--trace", options.trace,
                  "Prefix of the traces (workload.trace), from the working directory")
      ->type_name("PREFIX");
  command
      .add_option("--goal", options.goal,
                  "A GOAL program, text or binary, in place of traces (workload.goal)")
      ->type_name("FILE");
  command
      .add_option("--text", options.text,
                  "Text workload of ASTRA-sim 1.0, in place of traces (workload.text)")
      ->type_name("FILE");
  command.add_option("--passes", options.passes, "Passes of the training loop of --text (workload.passes)")
      ->type_name("N")
      ->check(CLI::Range(1u, 1000000u));
  CLI::Option* const groups =
      command.add_option("--groups", options.groups, "Communicator groups (workload.groups), JSON")
          ->type_name("FILE");
  groups->each([&options](const std::string&) { options.has_groups = true; });
  command.add_flag("--strict", options.strict,
                   "Dangling dependencies in a trace are errors (workload.strict)");
  command.add_flag("--no-fold", options.no_fold,
                   "Simulate every rank, also those that are identical to another");
  add_force_option(command, options.force);
}

Config load_workload(const WorkloadOptions& options) {
  if (!options.jobs.empty()) {
    if (!options.machine.empty())
      throw UserError(
          ExitCode::usage,
          fmt::format("--machine {0}: jobs take their machine from a file; write it with `weft machine "
                      "show {0}`",
                      options.machine));
    return load_jobs(options);
  }
  Config config = machines::load_config_or_machine(options.config, options.machine, options.sets);
  const bool other = !options.text.empty() || !options.goal.empty();
  if (!config.jobs.empty() && (!options.trace.empty() || options.has_groups || other))
    throw UserError(ExitCode::usage,
                    fmt::format("{}: `jobs` name the traces; leave --trace, --text, --goal and --groups out",
                                config.file));
  std::string named;
  uint32_t workloads = 0;
  for (const auto& [option, value] : {std::pair{"--trace", &options.trace},
                                      std::pair{"--text", &options.text}, std::pair{"--goal", &options.goal}})
    if (!value->empty()) named += fmt::format("{}{}", workloads++ == 0 ? "" : " and ", option);
  if (workloads > 1) throw UserError(ExitCode::usage, named + " are both there; give one of them");
  if (!options.trace.empty() || other) {
    config.workload.trace = absolute(options.trace);
    config.workload.text.file = absolute(options.text);
    config.workload.goal = absolute(options.goal);
  }
  if (options.passes != 0) config.workload.text.passes = options.passes;
  if (options.has_groups) config.workload.groups = absolute(options.groups);
  check_workload_keys(config, options);
  if (options.strict) config.workload.strict = true;
  return config;
}

/// Why every rank of the job is simulated; empty: they fold as far as they may.
static std::string whole_because(const Config& config, const WorkloadOptions& options) {
  // A machine that never folds has a reason of its own.
  if (options.recorded && graph::folding_refusal(config).empty()) return "what passes a block is recorded";
  if (options.no_fold) return "folding is off";
  return config.output.waves.empty() ? "" : "waveforms are recorded";
}

Workload open_workload(const Config& config, const WorkloadOptions& options, const MemoryRoom& room,
                       std::vector<std::string>* warnings) {
  // The least that any folding of the job needs: checked before anything of that size is read or built.
  const bool folds = !options.no_fold && !options.recorded;
  room.check(config, least_memory(config, folds && ranks_of(config, config.workload).whole()));
  check_run(config, warnings);
  Workload workload = read_workload(config, config.workload, [&](const trace::JobTrace& traces) {
    return graph::fold_job(config, traces, whole_because(config, options));
  });
  // After the plans, whose messages say more: this checks the programs that no collective of the job uses.
  collectives::check_programs(config);
  collectives::check_programs(config, *workload.traces);
  workload.memory = job_memory(config, *workload.job);
  room.check(config, workload.memory);
  return workload;
}

Workloads open_workloads(const Config& config, const MemoryRoom& room, std::vector<std::string>* warnings) {
  room.check(config, least_memory(config, false));
  check_run(config, warnings);
  Workloads workloads;
  std::vector<const graph::CheckedJob*> jobs;
  for (const JobConfig& job : config.jobs) {
    try {
      workloads.jobs.push_back(read_workload(config, job.workload, [](const trace::JobTrace& traces) {
        return graph::Folding(traces, "several jobs share the machine");
      }));
    } catch (const UserError& e) {
      throw UserError(e.code(), fmt::format("job `{}`: {}", job.name, e.what()));
    }
    collectives::check_programs(config, *workloads.jobs.back().traces);
    jobs.push_back(workloads.jobs.back().job.get());
  }
  collectives::check_programs(config);
  workloads.memory = jobs_memory(config, jobs);
  room.check(config, workloads.memory);
  return workloads;
}

}  // namespace weft::cli
