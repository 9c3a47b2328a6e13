// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_main/run_jobs.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "configs/effective.h"
#include "sc_main/console.h"
#include "sc_main/decimal.h"
#include "sc_main/interruption.h"
#include "sc_main/jobs_summary.h"
#include "sc_main/output_folder.h"
#include "sc_main/results.h"
#include "sc_main/run_waves.h"
#include "sc_main/simulation.h"
#include "sc_models/trace_job.h"
#include "vcd/waves.h"

namespace weft::cli {
namespace {

/// One of the jobs, from its start to its results.
struct SharedJob {
  std::string name;
  Config config;  ///< the machine's, with this job's `workload`
  std::unique_ptr<OutputFolder> folder;
  std::unique_ptr<TraceJob, NoTeardown> job;
  RunResult result;
  bool finished = false;
};

Config of_job(const Config& config, const JobConfig& job) {
  Config own = config;
  own.workload = job.workload;
  own.jobs.clear();
  return own;
}

/// The jobs on their machine.
class Run {
 public:
  Run(const Config& config, const RunJobsOptions& options) : config_(config), options_(options) {}

  void open_folders() {
    folder_ = std::make_unique<OutputFolder>(
        config_.output.dir, std::initializer_list<const char*>{"summary.json", "links.csv", "flows.csv",
                                                               "waves.vcd", "waves.gtkw", "effective.yaml"});
    folder_->write("effective.yaml", effective_yaml(config_));
    for (const JobConfig& job : config_.jobs) {
      jobs_.emplace_back();
      SharedJob& own = jobs_.back();
      own.name = job.name;
      own.config = of_job(config_, job);
      own.folder = std::make_unique<OutputFolder>(
          folder_->file(job.name),
          std::initializer_list<const char*>{"summary.json", "ranks.csv", "collectives.csv", "phases.csv",
                                             "layers.csv", "effective.yaml"});
      own.folder->write("effective.yaml", effective_yaml(own.config));
    }
    waves_ = make_waves(config_, *folder_, options_.waves_flits);
  }

  void build(std::vector<Workload>& workloads) {
    // Not by an exception, which would destroy the modules that are built.
    const StopAction leave_now([] {
      accept_stop();
      note(fmt::format("weft: error: {} while the machine was built: nothing has run", interruption_text()));
      leave(interruption_code());
    });
    machine_.reset(new Machine("job", config_, TraceJob::machine_options(waves_.get())));
    for (size_t i = 0; i < jobs_.size(); ++i)
      jobs_[i].job.reset(new TraceJob(*machine_, std::move(workloads[i].job)));
    for (const std::string& warning : machine_->warnings()) warn(warning);
    if (!waves_->on()) return;
    check_selection(*waves_);
    waves_->begin();
  }

  void simulate_all() {
    for (SharedJob& own : jobs_) own.job->start();
    const auto all_finished = [this] {
      return std::all_of(jobs_.begin(), jobs_.end(),
                         [](const SharedJob& own) { return own.job->finished(); });
    };
    const auto work = [this] {
      Work sum{0, 0, "", -1};
      for (const SharedJob& own : jobs_) {
        sum.done += own.job->done_count();
        sum.total += own.job->total_count();
      }
      return sum;
    };
    finished_ = simulate(*machine_, all_finished, work);
    gather();
  }

  ExitCode report() {
    std::vector<JobSummary> summaries;
    for (SharedJob& own : jobs_) {
      std::vector<std::string> warnings = own.result.warnings;
      RunRecord record{own.config,     own.result,     own.finished,       warnings,
                       wall_seconds(), peak_rss_MiB(), options_.per_layer, true};
      write_job_results(*own.folder, record);
      summaries.push_back({own.name, own.folder->path(), own.config, own.result, own.finished});
    }
    const MachineRecord record{config_,          shared_,        summaries,     finished_,
                               shared_.warnings, wall_seconds(), peak_rss_MiB()};
    write_machine_results(*folder_, record);
    std::string files = "summary.json effective.yaml links.csv";
    if (config_.packet.dcqcn.enabled) files += " flows.csv";
    if (waves_->on()) files += " waves.vcd waves.gtkw";
    const std::string table = jobs_text(record) + fmt::format("results  {}: {}, and a folder for each job\n",
                                                              folder_->path(), files);
    if (options_.json) {
      print(machine_summary_json(record));
      note(table);
    } else {
      print(table);
    }
    return conclude();
  }

 private:
  void gather() {
    for (SharedJob& own : jobs_) {
      own.finished = own.job->finished();
      own.result = own.job->own_result();
      shared_.time = std::max(shared_.time, own.result.time);
      shared_.nodes += own.result.nodes;
      shared_.messages += own.result.messages;
      shared_.memory_bytes += own.result.memory_bytes;
      shared_.out_of_order_starts += own.result.out_of_order_starts;
      for (const std::string& warning : own.result.warnings)
        warn(fmt::format("job `{}`: {}", own.name, warning));
    }
    const size_t told = machine_->warnings().size();
    add_machine_results(shared_, *machine_);
    add_unmatched_rules();
    for (std::string& line : machine_->slot_warnings(shared_.out_of_order_starts))
      shared_.warnings.push_back(std::move(line));
    if (waves_->on()) close_waves(*waves_, shared_.time, shared_.warnings);
    for (size_t i = 0; i < shared_.warnings.size(); ++i) {
      const auto& early = machine_->warnings();
      if (told == 0 || std::find(early.begin(), early.end(), shared_.warnings[i]) == early.end())
        warn(shared_.warnings[i]);
    }
  }

  /// A rule never applies if it applies in none of the jobs.
  void add_unmatched_rules() {
    for (const std::string& line : jobs_.front().job->unmatched_rules()) {
      const bool everywhere = std::all_of(jobs_.begin(), jobs_.end(), [&](const SharedJob& own) {
        const std::vector<std::string> lines = own.job->unmatched_rules();
        return std::find(lines.begin(), lines.end(), line) != lines.end();
      });
      if (everywhere) shared_.warnings.push_back(line);
    }
    for (std::string& line : machine_->fidelity().unmatched()) shared_.warnings.push_back(std::move(line));
  }

  ExitCode conclude() const {
    if (!finished_ && interrupted()) {
      note(fmt::format("weft: error: {} at {}: these are the results up to there", interruption_text(),
                       readable_time(shared_.time)));
      return interruption_code();
    }
    if (!finished_) {
      std::string text = "weft: error: ";
      for (const SharedJob& own : jobs_)
        if (!own.finished) text += fmt::format("job `{}` {}", own.name, own.job->stalled_ranks());
      for (const std::string& line : machine_->describe_unit_waits(kUnitLines)) text += "  " + line + "\n";
      note(text + machine_->explain_stall());
      return ExitCode::stall;
    }
    std::string broken;
    for (const std::string& line : shared_.broken_invariants) broken += "\n  " + line;
    for (const SharedJob& own : jobs_)
      for (const std::string& line : own.result.broken_invariants)
        broken += fmt::format("\n  job `{}`: {}", own.name, line);
    if (broken.empty()) return ExitCode::done;
    note("weft: error: the results break invariants of the model; please report this with the configuration" +
         broken);
    return ExitCode::internal;
  }

  static constexpr size_t kUnitLines = 8;

  const Config& config_;
  const RunJobsOptions options_;
  std::unique_ptr<OutputFolder> folder_;
  std::unique_ptr<vcd::Waves> waves_;
  std::unique_ptr<Machine, NoTeardown> machine_;
  std::vector<SharedJob> jobs_;
  RunResult shared_;
  bool finished_ = false;
};

}  // namespace

ExitCode run_jobs(const Config& config, const MemoryRoom& room, const RunJobsOptions& options) {
  Workloads workloads = open_workloads(config, room);
  for (size_t i = 0; i < workloads.jobs.size(); ++i)
    for (const std::string& warning : workloads.jobs[i].traces->warnings())
      warn(fmt::format("job `{}`: {}", config.jobs[i].name, warning));
  set_up_kernel();
  Run run(config, options);
  run.open_folders();
  run.build(workloads.jobs);
  run.simulate_all();
  return run.report();
}

}  // namespace weft::cli
