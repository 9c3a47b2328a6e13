// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_main/command_run.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <systemc>
#include <vector>

#include "configs/effective.h"
#include "sc_main/console.h"
#include "sc_main/critical_path.h"
#include "sc_main/decimal.h"
#include "sc_main/expect/run_checks.h"
#include "sc_main/interruption.h"
#include "sc_main/memory_check.h"
#include "sc_main/output_folder.h"
#include "sc_main/parts/parts_run.h"
#include "sc_main/parts/split_in_parts.h"
#include "sc_main/record_block.h"
#include "sc_main/results.h"
#include "sc_main/run_goal.h"
#include "sc_main/run_jobs.h"
#include "sc_main/run_waves.h"
#include "sc_main/simulation.h"
#include "sc_main/split_run.h"
#include "sc_main/text_options.h"
#include "sc_main/text_report.h"
#include "sc_main/time_window.h"
#include "sc_main/timeline/run_timeline.h"
#include "sc_main/train_results.h"
#include "sc_main/workload.h"
#include "sc_models/foreign_blocks.h"
#include "sc_models/trace_job.h"
#include "vcd/waves.h"

namespace weft::cli {
namespace {

struct RunOptions {
  WorkloadOptions workload;
  std::string out, waves, waves_window, waves_budget;
  bool has_out = false, has_waves = false;
  bool json = false;
  bool per_layer = false;
  bool waves_flits = false;
  PartsOptions parts;
  bool check = false;
  RecordOptions record;
  CriticalPathOptions path;
  TimelineOptions timeline;
  std::function<void(const RunResult&)> told;  ///< after the results; may be empty
};

Config load(const RunOptions& options) {
  Config config = load_workload(options.workload);
  if (options.has_out) config.output.dir = options.out;
  if (options.has_waves) config.output.waves = options.waves;
  OutputConfig& output = config.output;
  for (const auto& [given, option] : {std::pair(!options.waves_window.empty(), "--waves-window"),
                                      std::pair(!options.waves_budget.empty(), "--waves-budget"),
                                      std::pair(options.waves_flits, "--waves-flits")})
    if (given && output.waves.empty())
      throw UserError(ExitCode::usage,
                      fmt::format("{} is of --waves (output.waves), which is missing; add it", option));
  if (!options.waves_window.empty())
    parse_window("--waves-window", options.waves_window, output.waves_from, output.waves_to);
  if (!options.waves_budget.empty())
    output.waves_budget = parse_budget("--waves-budget", "output.waves_budget", options.waves_budget);
  set_timeline(options.timeline, output);
  if (config.workload.trace.empty() && config.workload.goal.empty() && config.workload.text.file.empty() &&
      config.jobs.empty())
    throw UserError(
        ExitCode::usage,
        fmt::format("{}: key `workload.trace` is not set, so there is nothing to run; set it to the prefix "
                    "of the traces (rank r reads PREFIX.r.et), in the file, with `--set "
                    "workload.trace=PREFIX` or with `--trace PREFIX`. `weft generate llm` makes traces; a "
                    "text workload of "
                    "ASTRA-sim 1.0 runs with `--text FILE`",
                    config.file));
  return config;
}

std::string folding_text(const graph::Folding& folding) {
  size_t folded = 0;
  for (const auto& c : folding.classes()) folded += c.ranks.size();
  const size_t simulated = folding.classes().size();
  return fmt::format(
      "weft: folded: {} of {} ranks are identical to another; {} simulated for them (--no-fold simulates "
      "each)",
      grouped(folded), grouped(folded + folding.whole().size()),
      simulated == 1 ? "1 rank is" : grouped(simulated) + " ranks are");
}

/// Why a job is not run in parts; empty: it can be. `automatic`: Weft chooses how many there are.
std::string alone(const graph::CheckedJob& job, bool automatic) {
  if (!job.folding().classes().empty())
    return "the job is folded: few ranks are simulated for all (--no-fold simulates each)";
  if (automatic && SplitScout::pays(job))
    return "one process tells most ranks from others until they differ (run.split), which saves more";
  return {};
}

/// What runs a job in parts; null: nobody has asked for that.
std::unique_ptr<PartsRun> make_parts(const Config& config, const RunOptions& options,
                                     const Workload& workload, const std::string& why_alone) {
  if (!options.parts.asked()) return nullptr;
  if (!options.record.block.empty() || options.path.on)
    throw UserError(
        ExitCode::usage,
        "--parts, --part-of: --record and --critical-path are of one process; leave one of them out");
  return std::make_unique<PartsRun>(config, options.parts, rank_loads(*workload.job), why_alone,
                                    options.workload.no_fold ? "no ranks are folded" : "ranks are folded");
}

/// In the process of another part than the first.
void run_other_part(PartsRun& parts, SplitInParts& split, const Config& config, Workload& workload) {
  set_up_kernel();
  Machine::Options of_machine = TraceJob::machine_options(*workload.job);
  of_machine.part = parts.border();
  const std::unique_ptr<Machine, NoTeardown> machine(new Machine("job", config, of_machine));
  const std::unique_ptr<TraceJob, NoTeardown> job(new TraceJob(*machine, std::move(workload.job), true));
  split.prepare(*job);
  job->start();
  const bool finished = parts.simulate(
      *machine, [&] { return job->finished(); },
      [&] {
        return Work{job->done_count(), job->total_count(), "", -1, trains_share(machine->totals().trains)};
      });
  parts.result(*job, finished);
  if (!finished) parts.stall_report(*job);
}

/// After a signal that came before anything ran: writes the results of a run that took no time.
ExitCode leave_before_the_run(const OutputFolder& folder, const Config& config, const RunOptions& options,
                              vcd::Waves& waves, RunTimeline& timeline) {
  accept_stop();
  waves.close(0);
  timeline.abandon();
  const RunResult nothing;
  write_results(folder, {config, nothing, false, {}, wall_seconds(), peak_rss_MiB(), options.per_layer});
  note(fmt::format("weft: error: {} while the machine was built: nothing has run", interruption_text()));
  return interruption_code();
}

/// A signal came while results were written: summary.json says that they are not all there.
ExitCode leave_midway(const OutputFolder& folder, RunRecord record) {
  accept_stop();
  record.finished = false;
  record.warnings.push_back(interruption_text() + " while the results were written: some files are missing");
  folder.write("summary.json", summary_json(record));
  note(fmt::format("weft: error: {} while the results were written: {} has only some of them",
                   interruption_text(), folder.path()));
  return interruption_code();
}

/// What is told after the results, and the exit code.
ExitCode conclude(const Config& config, const std::string& stall, const RunResult& result, bool finished,
                  bool expected) {
  if (!finished && interrupted()) {
    note(fmt::format("weft: error: {} at {}: these are the results up to there", interruption_text(),
                     readable_time(result.time)));
    return interruption_code();
  }
  if (!finished) {
    note("weft: error: " + stall);
    return ExitCode::stall;
  }
  if (!result.broken_invariants.empty()) {
    std::string lines = "weft: error: the results break invariants of the model; " +
                        advice_on_broken_invariants(config, "the configuration");
    for (const std::string& line : result.broken_invariants) lines += "\n  " + line;
    note(lines);
    return ExitCode::internal;
  }
  if (!result.over_capacity.empty()) {
    note(fmt::format("weft: error: {}: key `hbm.over_capacity` is `error`: {}", config.file,
                     result.over_capacity));
    return ExitCode::usage;
  }
  return expected ? ExitCode::done : ExitCode::unmet;
}

/// Writes its files. Returns the table.
std::string tell_critical_path(const OutputFolder& folder, const insight::CausalLog& causes, TraceJob& job,
                               const RunResult& result) {
  JobPathNames names;
  names.add("", job, result.collectives);
  const PathReport report = make_path_report(causes, names, 0);
  write_critical_path(folder, causes, names, {report});
  return critical_path_text(causes, names, report) + "\n";
}

ExitCode run(const RunOptions& options) {
  const Config config = load(options);
  RunChecks checks(config, options.check);
  // Before the results of an earlier run are removed.
  const std::unique_ptr<insight::CausalLog> causes = make_causal_log(options.path);
  const MemoryRoom room(options.workload.force);
  if (options.parts.asked() && (!config.jobs.empty() || config.loggp))
    throw UserError(ExitCode::usage,
                    fmt::format("{}: --parts: {}; leave the option out", config.file,
                                config.loggp ? "`loggp` runs a GOAL program in one process"
                                             : "`jobs` share a machine, which is simulated in one process"));
  if (!config.jobs.empty())
    return run_jobs(config, room, {options.json, options.per_layer, options.waves_flits, options.record},
                    checks, causes.get());
  if (!config.workload.goal.empty() && config.loggp)
    return run_goal(config,
                    {options.json, !config.output.waves.empty() || config.output.timeline || options.path.on},
                    checks);
  WorkloadOptions of_workload = options.workload;
  of_workload.recorded = !options.record.block.empty();
  Workload workload = open_workload(config, of_workload, room);
  const trace::JobTrace& traces = *workload.traces;
  const std::string why_alone = alone(*workload.job, options.parts.parts == "auto");
  const std::unique_ptr<PartsRun> parts = make_parts(config, options, workload, why_alone);
  const bool in_parts = parts != nullptr && why_alone.empty();
  if (!parts || parts->first())
    for (const std::string& warning : traces.warnings()) warn(warning);
  SplitInParts split_in_parts(parts.get(), workload.job, workload.text != nullptr);
  if (parts) parts->split([&] { run_other_part(*parts, split_in_parts, config, workload); });
  const bool several = parts != nullptr && parts->several();  // not if all runs again in one process
  SplitRun split(workload.job, several || !options.record.block.empty() || causes != nullptr ||
                                   config.output.timeline || !config.output.waves.empty() ||
                                   workload.text != nullptr);
  const OutputFolder folder(
      config.output.dir,
      {"summary.json", "ranks.csv", "collectives.csv", "phases.csv", "layers.csv", "iterations.csv",
       "footprint.csv", "links.csv", "flows.csv", "waves.vcd", "waves.gtkw", "critical_path.json",
       "critical_path.csv", kTimelineFile, kTextLayersFile, "effective.yaml", "checks.csv", "junit.xml"});
  folder.write("effective.yaml", effective_yaml(config));
  set_up_kernel();
  std::vector<std::string> warnings;
  vcd::ProbeHub probes;
  const std::unique_ptr<vcd::Waves> waves = make_waves(config, folder, options.waves_flits, probes);
  RunTimeline timeline(config, folder, &probes);
  const std::unique_ptr<cosim::BlockRecorder> recorder = make_recorder(options.record, config, folder.path());
  std::unique_ptr<Machine, NoTeardown> machine;
  std::unique_ptr<TraceJob, NoTeardown> job;
  {
    // Not by an exception, which would destroy the modules that are built.
    const StopAction leave_now(
        [&] { leave(leave_before_the_run(folder, config, options, *waves, timeline)); });
    Machine::Options of_machine = TraceJob::machine_options(*workload.job, &probes);
    of_machine.boundaries = recorder.get();
    of_machine.causes = timeline.join(causes.get());
    if (parts) of_machine.part = parts->border();
    machine.reset(new Machine("job", config, of_machine));
    job.reset(new TraceJob(*machine, std::move(workload.job), in_parts));
  }
  if (!job->folding().classes().empty()) note(folding_text(job->folding()));
  for (const std::string& warning : machine->warnings()) warn(warning);
  if (recorder) recorder->begin();
  if (waves->on()) {
    check_selection(*waves, probes);
    waves->begin();
  }
  const TextReport text(workload.text.get(), *job);
  timeline.add_job("", *job);
  timeline.begin(*job);
  split.prepare(*job);
  split_in_parts.prepare(*job);
  job->start();
  const auto done = [&] { return job->finished(); };
  const auto work = [&] {
    return Work{job->done_count(), job->total_count(), "", -1, trains_share(machine->totals().trains)};
  };
  const bool finished = parts ? parts->simulate(*machine, done, work) : simulate(*machine, done, work);
  RunResult result = parts ? parts->result(*job, finished) : job->take_result();
  if (!finished && interrupted()) drop_unbalanced(result);
  const std::string stall = finished ? std::string()
                            : parts  ? parts->stall_report(*job)
                                     : job->stall_report();
  end_recording(recorder.get(), result.collectives);
  const size_t told = warnings.size();
  for (const std::string& warning : result.warnings) warnings.push_back(warning);
  if (waves->on()) close_waves(*waves, result.time, finished, warnings);
  timeline.close(result.time, warnings);
  for (size_t i = told; i < warnings.size(); ++i) {
    const auto told_early = [&](const std::vector<std::string>& early) {
      return std::find(early.begin(), early.end(), warnings[i]) != early.end();
    };
    if (!told_early(traces.warnings()) && !told_early(machine->warnings())) warn(warnings[i]);
  }

  const RunRecord record{config,
                         result,
                         finished,
                         warnings,
                         wall_seconds(),
                         peak_rss_MiB(),
                         options.per_layer,
                         false,
                         parts ? &parts->report() : nullptr};
  std::string path;
  try {
    write_results(folder, record);
    text.write(folder, result.time);
    if (causes != nullptr) path = tell_critical_path(folder, *causes, *job, result);
  } catch (const Interrupted&) {
    return leave_midway(folder, record);
  }
  const CheckedResults checked{"", result, finished, [&] { return summary_json(record); }};
  const bool expected = checks.compare(folder, checked, {checked});
  std::string files = "summary.json effective.yaml ranks.csv collectives.csv phases.csv layers.csv links.csv";
  if (!result.iterations.empty()) files += " iterations.csv";
  if (!result.footprint.empty()) files += " footprint.csv";
  if (config.packet.dcqcn.enabled) files += " flows.csv";
  if (waves->on()) files += " waves.vcd waves.gtkw";
  files += text.files() + timeline.files() + checks.files();
  if (causes != nullptr) files += " critical_path.json critical_path.csv";
  const std::string table =
      summary_text(record) + path + fmt::format("results  {}: {}\n", folder.path(), files);
  print_results(table, options.json, checked.summary);
  checks.tell(options.json);
  if (options.told) options.told(result);
  return timeline.conclude(conclude(config, stall, result, finished, expected));
}

}  // namespace

ExitCode run_file(const std::string& config, const std::string& out,
                  const std::function<void(const RunResult&)>& told) {
  RunOptions options;
  options.workload.config = config;
  options.out = out;
  options.has_out = true;
  options.told = told;
  return run(options);
}

void add_run_command(CLI::App& app, Action& action) {
  auto options = std::make_shared<RunOptions>();
  CLI::App* command = app.add_subcommand("run", "Run the workload of a configuration and write its results");
  add_workload_options(*command, options->workload);
  auto* out = command->add_option("--out", options->out, "Folder of the results (output.dir; default: out)")
                  ->type_name("DIR");
  command->add_flag("--json", options->json,
                    "summary.json on the standard output, the table on the standard error");
  command->add_flag("--per-layer", options->per_layer,
                    "Every layer in the table; without it the longest ones (layers.csv has all)");
  command->add_flag(
      "--check", options->check,
      "Compare the results with `expect` of the configuration: a table, checks.csv and junit.xml; "
      "exit code 5 if one is not met");
  auto* waves =
      command->add_option("--waves", options->waves, "Record these signals in waves.vcd (output.waves)")
          ->type_name("GLOB");
  TextOptions add(*command);
  add("--waves-window", options->waves_window, "FROM:TO",
      "Record this part of simulated time only: \"1 us:20 us\" (output.waves_from, output.waves_to)");
  add("--waves-budget", options->waves_budget, "SIZE",
      "Size that waves.vcd never exceeds (output.waves_budget; default: 2 GiB)");
  command->add_flag("--waves-flits", options->waves_flits,
                    "At packet fidelity: flits and credits in waves.vcd flit by flit, not burst by burst");
  add_parts_options(add, options->parts);
  add_timeline_options(*command, add, options->timeline);
  add_critical_path_options(*command, add, options->path);
  add_record_options(add, options->record);
  command->footer(
      "Examples:\n"
      "  weft run machine.yaml --out out\n"
      "  weft run machine.yaml --trace traces/llm --groups traces/llm.groups.json --out out\n"
      "  weft run machine.yaml --goal allreduce.goal --out out\n"
      "  weft run machine.yaml --set collectives.chunks=16 --set "
      "'topology.dimensions[*].fidelity=analytical'\n"
      "  weft run machine.yaml --waves 'npu[0-3].*' --out out && gtkwave out/waves.gtkw\n"
      "  weft run machine.yaml --timeline --out out   # open out/timeline.pftrace in ui.perfetto.dev\n"
      "  weft run machine.yaml --critical-path --out out\n"
      "  weft run machine.yaml --json | jq .time_ns\n"
      "  weft run machine.yaml --check\n"
      "  weft run machine.yaml --job a.yaml --job b.yaml");
  command->callback([options, out, waves, &action] {
    options->has_out = out->count() != 0;
    options->has_waves = waves->count() != 0;
    action = [options] { return run(*options); };
  });
}

}  // namespace weft::cli
