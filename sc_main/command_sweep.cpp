// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_main/command_sweep.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>

#include "configs/keys.h"
#include "configs/stop.h"
#include "configs/units.h"
#include "sc_main/console.h"
#include "sc_main/interruption.h"
#include "sc_main/output_folder.h"
#include "sc_main/progress.h"
#include "sc_main/sweep/points.h"
#include "sc_main/sweep/report.h"
#include "sc_main/sweep/session.h"
#include "sc_main/sweep/slurm.h"
#include "sc_main/sweep/words.h"
#include "sc_main/sweep/workers.h"
#include "sc_main/text_options.h"

namespace weft::cli {
namespace {

namespace fs = std::filesystem;
using sweep::CheckedPoints;
using sweep::Formulas;
using sweep::Grid;
using sweep::PointResult;
using sweep::Session;
using sweep::SweepOptions;
using sweep::SweptCommand;
using sweep::Workers;

constexpr size_t kMostJobs = 1024;
constexpr size_t kMostTasks = 1000;  ///< Slurm's default limit of an array
constexpr size_t kDefaultTasks = 64;

[[noreturn]] void fail(const std::string& message) {
  throw UserError(ExitCode::usage, message);
}

/// The commands that can be swept: those that take a configuration and keys, and give JSON.
std::vector<SweptCommand> swept_commands(const CLI::App& app) {
  std::vector<SweptCommand> commands;
  for (const CLI::App* c : app.get_subcommands([](const CLI::App*) { return true; })) {
    const auto has = [c](const char* option) { return c->get_option_no_throw(option) != nullptr; };
    if (has("--json") && has("--set") && (has("--config") || has("CONFIG")))
      commands.push_back({c->get_name(), has("--jobs")});
  }
  return commands;
}

SweptCommand find_command(const std::vector<SweptCommand>& commands, const std::string& name) {
  std::vector<std::string> names;
  for (const SweptCommand& c : commands) {
    if (c.name == name) return c;
    names.push_back(c.name);
  }
  const std::string near = nearest_name(name, names);
  fail(fmt::format("--command '{}': there is no such command that can be swept{}; one of {}", name,
                   near.empty() ? "" : fmt::format(" (did you mean {}?)", near), fmt::join(names, ", ")));
}

/// What a whole sweep is made of.
class Sweep {
 public:
  Sweep(const SweepOptions& options, SweptCommand command)
      : options_(options),
        command_(std::move(command)),
        grid_(axes(options)),
        formulas_(sweep::parse_formulas(options)) {
    check_options();
    read_numbers();
    checked_ = sweep::check_points(options_, command_, grid_, formulas_.foreign_names(grid_));
  }

  ExitCode run() {
    if (options_.dry_run && !options_.slurm) return list();
    Session::Options how;
    how.restart = options_.restart;
    how.retry_failed = options_.retry_failed;
    if (!options_.task.empty()) {
      how.kind = Session::Kind::task;
      how.task = task_;
    }
    session_ = std::make_unique<Session>(options_.out, checked_.identity, grid_.points(), how);
    if (options_.slurm) return by_slurm();
    if (options_.collect) return collect();
    std::vector<size_t> missing;
    for (size_t p = 0; p < grid_.points(); ++p)
      if (!session_->results()[p] && sweep::task_of(p, tasks_) == task_) missing.push_back(p);
    const size_t kept = session_->done();
    if (kept != 0 && options_.task.empty())
      note(fmt::format("weft: {} of {} points have run already; {}", kept, grid_.points(),
                       missing.empty() ? "nothing is left to run" : "going on with the others"));
    run_here(missing);
    if (interrupted()) return leave_early();
    if (!options_.task.empty()) {
      print(fmt::format("task {}: {} points have run\n", options_.task, missing.size()));
      return ExitCode::done;
    }
    return report();
  }

 private:
  static std::vector<sweep::Axis> axes(const SweepOptions& options) {
    if (options.vary.empty())
      fail("--vary is missing: name keys and their values, as in --vary npu.compute_slots=1,2");
    std::vector<sweep::Axis> all;
    for (const std::string& text : options.vary) all.push_back(sweep::parse_vary(text));
    return all;
  }

  void check_options() const {
    if (options_.out.empty()) fail("--out is missing: name the file of the results, as in --out results.csv");
    if (options_.collect && (options_.slurm || options_.restart || options_.retry_failed))
      fail("--collect gathers what has run; leave --slurm, --restart and --retry-failed out");
    if (!options_.slurm && !(options_.slurm_options.empty() && options_.slurm_tasks.empty()))
      fail("--slurm-options and --slurm-tasks belong to --slurm; add it, or leave them out");
  }

  /// Points at a time.
  size_t find_jobs() const {
    if (!options_.jobs.empty()) return parse_whole("--jobs", options_.jobs, 1, kMostJobs);
    if (options_.task.empty()) return sweep::usable_processors();
    // Slurm says what a task may use; by itself it may not keep a process from using more.
    const char* const processors = std::getenv("SLURM_CPUS_PER_TASK");
    return processors == nullptr ? 1 : parse_whole("SLURM_CPUS_PER_TASK", processors, 1, kMostJobs);
  }

  void read_numbers() {
    jobs_ = find_jobs();
    slurm_tasks_ = options_.slurm_tasks.empty()
                       ? std::min(grid_.points(), kDefaultTasks)
                       : parse_whole("--slurm-tasks", options_.slurm_tasks, 1, kMostTasks);
    if (options_.task.empty()) return;
    const size_t slash = options_.task.find('/');
    tasks_ = parse_whole("--task", slash == std::string::npos ? "" : options_.task.substr(slash + 1), 1,
                         kMostTasks);
    task_ = parse_whole("--task", options_.task.substr(0, slash), 0, tasks_ - 1);
  }

  /// `--dry-run`.
  ExitCode list() const {
    for (size_t p = 0; p < grid_.points(); ++p)
      print(fmt::format("point {}: {}\n", p + 1, grid_.describe(p)));
    std::vector<std::string> words = sweep::point_arguments(options_, command_, grid_, 0, folder_of(0));
    for (std::string& word : words) word = sweep::shell_word(word);
    print(fmt::format("{} points, all valid; point 1 is: weft {}\n", grid_.points(), fmt::join(words, " ")));
    return ExitCode::done;
  }

  std::string folder_of(size_t point) const {
    const bool wanted = options_.keep || sweep::writes_folder(command_.name);
    return wanted ? sweep::SweepFolder(options_.out).point(point) : "";
  }

  void run_here(const std::vector<size_t>& missing) {
    Progress progress([](std::string_view text) { std::fwrite(text.data(), 1, text.size(), stderr); },
                      isatty(2) != 0, "points");
    const double begin = wall_seconds();
    size_t next = 0;
    size_t ended = 0;
    size_t failed = 0;
    Workers workers(jobs_);
    while (ended < missing.size() && !stop_requested()) {
      while (next < missing.size() && !workers.full() && !stop_requested()) {
        const size_t p = missing[next++];
        const std::string folder = folder_of(p);
        std::error_code ignored;  // a folder of a point that was not finished
        if (!folder.empty()) fs::remove_all(folder, ignored);
        workers.start(p, sweep::point_arguments(options_, command_, grid_, p, folder));
      }
      const std::optional<Workers::Ended> point = workers.wait();
      if (point && !stop_requested()) {
        ++ended;
        failed += point->exit_code == 0 ? 0 : 1;
        keep(*point);
      }
      progress.update_text(wall_seconds() - begin, [&] {
        const double share = static_cast<double>(ended) / static_cast<double>(missing.size());
        return std::make_pair(fmt::format("{} of {} points, {} failed",
                                          grid_.points() - missing.size() + ended, grid_.points(), failed),
                              share);
      });
    }
    progress.end();
    workers.kill_all();
    std::error_code ignored;
    if (!options_.keep) fs::remove(session_->folder().points(), ignored);  // if it is empty
  }

  void keep(const Workers::Ended& ended) {
    PointResult result;
    result.point = ended.number;
    result.exit_code = ended.exit_code;
    try {
      if (!ended.out.empty() || ended.exit_code == 0) result.values = sweep::flatten_json(ended.out);
    } catch (const UserError& e) {
      // The output of a command that failed may be no document.
      if (ended.exit_code == 0) {
        result.exit_code = static_cast<int>(e.code());
        result.error = e.what();
      }
    }
    if (ended.by_signal)
      result.error =
          fmt::format("ended by signal {}{}", ended.exit_code - 128,
                      ended.exit_code == 128 + 9 ? "; perhaps memory was short: use fewer --jobs" : "");
    else if (ended.exit_code != 0)
      result.error = sweep::error_text(ended.err);
    if (!options_.keep && sweep::writes_folder(command_.name)) {
      std::error_code ignored;
      fs::remove_all(folder_of(ended.number), ignored);
    }
    if (!told_ && result.done()) {
      told_ = true;
      for (const std::string& line : sweep::missing_names(formulas_, grid_, checked_.config, result))
        warn(line);
    }
    session_->add(std::move(result));
  }

  ExitCode leave_early() {
    accept_stop();
    note(fmt::format("weft: error: {}: {} of {} points have run and are kept in {}; the same command goes on",
                     interruption_text(), session_->done(), grid_.points(), session_->folder().path()));
    return interruption_code();
  }

  ExitCode report() const {
    std::vector<PointResult> results;
    for (const auto& result : session_->results()) results.push_back(*result);
    return sweep::report(options_, grid_, results, checked_.config, formulas_);
  }

  ExitCode collect() const {
    const size_t missing = grid_.points() - session_->done();
    if (missing == 0) return report();
    note(fmt::format(
        "weft: error: {} of {} points have not run; wait for the job, submit them again with --slurm, or "
        "run the command without --collect to run them here",
        missing, grid_.points()));
    return ExitCode::internal;
  }

  ExitCode by_slurm() {
    const sweep::SweepFolder& folder = session_->folder();
    std::string job;
    if (std::FILE* const file = std::fopen(folder.job_id().c_str(), "rb")) {
      char text[64] = "";
      job = std::fgets(text, sizeof text, file) == nullptr ? "" : std::string(sweep::trimmed(text));
      std::fclose(file);
    }
    if (!options_.dry_run && sweep::job_active(job)) {
      print(fmt::format(
          "job {} is queued or running: {} of {} points have run; the same command later gathers them\n", job,
          session_->done(), grid_.points()));
      return ExitCode::done;
    }
    if (session_->done() == grid_.points()) return report();
    const std::string script = write_script(folder);
    if (options_.dry_run) {
      print(fmt::format("{}: submit it with: sbatch {}\n", script, sweep::shell_word(script)));
      return ExitCode::done;
    }
    job = sweep::submit(script);
    ResultFile file(folder.job_id());
    file.append(job + "\n");
    file.close();
    print(fmt::format("job {}: {} points; when it has ended, the same command gathers the results\n", job,
                      grid_.points() - session_->done()));
    return ExitCode::done;
  }

  std::string write_script(const sweep::SweepFolder& folder) const {
    sweep::SlurmJob job;
    job.options = options_.slurm_options;
    job.of = slurm_tasks_;
    for (size_t p = 0; p < grid_.points(); ++p)
      if (!session_->results()[p]) job.tasks.push_back(sweep::task_of(p, job.of));
    std::sort(job.tasks.begin(), job.tasks.end());
    job.tasks.erase(std::unique(job.tasks.begin(), job.tasks.end()), job.tasks.end());
    job.command = {"sweep", options_.config, "--command", options_.command, "--out", options_.out};
    const auto add = [&](const char* option, const std::string& value) {
      job.command.emplace_back(option);
      job.command.push_back(value);
    };
    for (const std::string& set : options_.sets) add("--set", set);
    for (const std::string& vary : options_.vary) add("--vary", vary);
    if (!options_.jobs.empty()) add("--jobs", options_.jobs);
    if (options_.keep) job.command.emplace_back("--keep");
    if (options_.retry_failed) job.command.emplace_back("--retry-failed");
    job.further = options_.further;
    ResultFile file(folder.script());
    file.append(sweep::slurm_script(job, folder));
    file.close();
    return folder.script();
  }

  const SweepOptions& options_;
  const SweptCommand command_;
  const Grid grid_;
  const Formulas formulas_;
  CheckedPoints checked_;
  std::unique_ptr<Session> session_;
  size_t jobs_ = 1;
  size_t slurm_tasks_ = 1;  ///< to submit
  size_t task_ = 0;         ///< this one ..
  size_t tasks_ = 1;        ///< .. of so many
  bool told_ = false;       ///< what the formulas miss
};

void add_options(CLI::App& command, SweepOptions& o) {
  TextOptions add(command);
  add_config_option(command, o.config, "The configuration, a YAML file", true);
  command
      .add_option(
          "--vary", o.vary,
          "A key and its values, or an option of the command with its values; repeatable, the points are all "
          "combinations")
      ->type_name("KEY=VALUES")
      ->allow_extra_args(false);
  add("--command", o.command, "NAME",
      "The command of each point (default: run): any that takes CONFIG, --set and --json");
  add_set_option(command, o.sets, "Set a key of the configuration for all points; repeatable");
  add("--out", o.out, "FILE", "The results, CSV; what has run is kept beside it in FILE.sweep");
  add("--jobs", o.jobs, "N", "Points at a time (default: the processors that this process may use)");
  command
      .add_option("--column", o.columns,
                  "A further column from keys, results and earlier ones: --column "
                  "'cost=0.5*npu.compute_slots+2'; repeatable")
      ->type_name("NAME=EXPRESSION")
      ->allow_extra_args(false);
  add("--objective", o.objective, "TEXT",
      "Which points are the best: \"min time_ns s.t. cost <= 100\"; with several goals, \"min time_ns, min "
      "cost\", the "
      "Pareto front");
  command.add_flag("--keep", o.keep, "Keep the result files of each point, in FILE.sweep/points/NUMBER");
  command.add_flag("--timings", o.timings,
                   "Also the columns that differ from run to run (wall_s), at the end");
  command.add_flag("--dry-run", o.dry_run,
                   "Check and list the points, or write Slurm's script, and run nothing");
  command.add_flag("--restart", o.restart, "Forget what has run, and begin anew");
  command.add_flag("--retry-failed", o.retry_failed, "Run the points again that have failed");
  command.add_flag("--slurm", o.slurm, "Submit the points as an array job of Slurm");
  add("--slurm-options", o.slurm_options, "OPTIONS", "Of sbatch: \"--partition=long --time=2:00:00\"");
  add("--slurm-tasks", o.slurm_tasks, "N",
      "Tasks of the array job, which share the points (default: up to 64)");
  command.add_flag("--collect", o.collect, "Gather what Slurm's tasks have run; run nothing");
  command.add_option("--task", o.task)->group("");
}

}  // namespace

void add_sweep_command(CLI::App& app, const std::vector<std::string>& further, Action& action) {
  auto options = std::make_shared<SweepOptions>();
  CLI::App* command =
      app.add_subcommand("sweep", "Another command at many points of a design, several at a time");
  add_options(*command, *options);
  command->footer(
      "Options of the command of the points stand behind --.\n\n"
      "Values: a list between commas; range(FIRST, LAST, STEP), range(FIRST, LAST, xFACTOR) and log(FIRST, "
      "LAST, "
      "COUNT),\n"
      "with units where the key has them. 'A=1,2; B=3,4' varies two keys together.\n\n"
      "A sweep that was ended goes on where it was when the same command is run again. Exit code 1: points "
      "have "
      "failed.\n\n"
      "Examples:\n"
      "  weft sweep machine.yaml --command collective --vary collectives.chunks=1,4,16 \\\n"
      "    --vary '--size=range(1 MiB, 64 MiB, x4)' --objective \"max busbw_GBps\" --out chunks.csv\n"
      "  weft sweep machine.yaml --vary 'npu.compute_slots=1,2; npu.cpu_slots=2,4' --out slots.csv -- "
      "--trace t/llm\n"
      "  weft sweep machine.yaml --vary hbm.bandwidth='range(1 TB/s, 4 TB/s, 1 TB/s)' --out hbm.csv --slurm "
      "\\\n"
      "    --slurm-options \"--partition=long\"");
  command->callback([options, &app, &further, &action] {
    options->further = further;
    action = [options, commands = swept_commands(app)] {
      return Sweep(*options, find_command(commands, options->command)).run();
    };
  });
}

}  // namespace weft::cli
