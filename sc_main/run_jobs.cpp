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
#include "sc_main/critical_path.h"
#include "sc_main/decimal.h"
#include "sc_main/interruption.h"
#include "sc_main/jobs_summary.h"
#include "sc_main/output_folder.h"
#include "sc_main/record_block.h"
#include "sc_main/results.h"
#include "sc_main/run_waves.h"
#include "sc_main/simulation.h"
#include "sc_main/text_report.h"
#include "sc_main/timeline/run_timeline.h"
#include "sc_main/train_results.h"
#include "sc_models/foreign_blocks.h"
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
  std::unique_ptr<const text::TextJob> text;  ///< null: of traces
  std::unique_ptr<TextReport> text_report;
  std::vector<std::string> told;  ///< warnings that were given before the run
  RunResult result;
  bool finished = false;
};

Config of_job(const Config& config, const JobConfig& job) {
  Config own = config;
  own.workload = job.workload;
  own.jobs.clear();
  own.expect.clear();  // of all jobs together
  // Who runs the job's own effective.yaml does not write over the results of all jobs.
  own.output.dir += "/" + job.name;
  own.output.waves.clear();
  own.output.timeline = false;
  return own;
}

/// The jobs on their machine.
class Run {
 public:
  Run(const Config& config, const RunJobsOptions& options, RunChecks& checks, insight::CausalLog* causes)
      : config_(config), options_(options), checks_(checks), causes_(causes) {}

  void open_folders() {
    folder_ = std::make_unique<OutputFolder>(
        config_.output.dir,
        std::initializer_list<const char*>{"summary.json", "links.csv", "flows.csv", "waves.vcd",
                                           "waves.gtkw", "critical_path.json", "critical_path.csv",
                                           kTimelineFile, "effective.yaml", "checks.csv", "junit.xml"});
    folder_->write("effective.yaml", effective_yaml(config_));
    for (const JobConfig& job : config_.jobs) {
      jobs_.emplace_back();
      SharedJob& own = jobs_.back();
      own.name = job.name;
      own.config = of_job(config_, job);
      own.folder = std::make_unique<OutputFolder>(
          folder_->file(job.name),
          std::initializer_list<const char*>{"summary.json", "ranks.csv", "collectives.csv", "phases.csv",
                                             "layers.csv", "iterations.csv", "footprint.csv",
                                             "effective.yaml", kTextLayersFile});
      own.folder->write("effective.yaml", effective_yaml(own.config));
    }
    waves_ = make_waves(config_, *folder_, options_.waves_flits, probes_);
    timeline_ = std::make_unique<RunTimeline>(config_, *folder_, &probes_);
  }

  void build(std::vector<Workload>& workloads) {
    for (size_t i = 0; i < jobs_.size(); ++i) {
      jobs_[i].told = workloads[i].traces->warnings();
      for (const std::string& warning : jobs_[i].told)
        warn(fmt::format("job `{}`: {}", jobs_[i].name, warning));
    }
    // Not by an exception, which would destroy the modules that are built.
    const StopAction leave_now([this] { leave(leave_before_the_run()); });
    Machine::Options options = TraceJob::machine_options(&probes_);
    for (const Workload& workload : workloads)
      options.footprint = options.footprint || TraceJob::follows_tensors(*workload.job);
    recorder_ = make_recorder(options_.record, config_, folder_->path());
    options.boundaries = recorder_.get();
    options.causes = timeline_->join(causes_);
    machine_.reset(new Machine("job", config_, options));
    for (size_t i = 0; i < jobs_.size(); ++i)
      jobs_[i].job.reset(new TraceJob(*machine_, std::move(workloads[i].job)));
    for (size_t i = 0; i < jobs_.size(); ++i) {
      jobs_[i].text = std::move(workloads[i].text);
      jobs_[i].text_report = std::make_unique<TextReport>(jobs_[i].text.get(), *jobs_[i].job);
    }
    if (recorder_) recorder_->begin();
    for (const std::string& warning : machine_->warnings()) warn(warning);
    for (const SharedJob& own : jobs_) timeline_->add_job(own.name, *own.job);
    timeline_->begin(1, 1);  // jobs that share a machine do not fold
    if (!waves_->on()) return;
    check_selection(*waves_, probes_);
    waves_->begin();
  }

  void simulate_all() {
    for (SharedJob& own : jobs_) own.job->start();
    const auto all_finished = [this] {
      return std::all_of(jobs_.begin(), jobs_.end(),
                         [](const SharedJob& own) { return own.job->finished(); });
    };
    const auto work = [this] {
      Work sum{0, 0, "", -1, trains_share(machine_->totals().trains)};
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
    std::string path;
    try {
      write_all();
      if (causes_ != nullptr) path = tell_critical_path();
    } catch (const Interrupted&) {
      return leave_midway();
    }
    const std::vector<JobSummary> jobs = summaries();
    const MachineRecord record = machine_record(jobs);
    check(record);
    std::string files = "summary.json effective.yaml links.csv";
    if (config_.packet.dcqcn.enabled) files += " flows.csv";
    if (waves_->on()) files += " waves.vcd waves.gtkw";
    files += timeline_->files() + checks_.files();
    if (causes_ != nullptr) files += " critical_path.json critical_path.csv";
    const std::string table =
        jobs_text(record) + path +
        fmt::format("results  {}: {}, and a folder for each job\n", folder_->path(), files);
    print_results(table, options_.json, [&record] { return machine_summary_json(record); });
    checks_.tell(options_.json);
    return timeline_->conclude(conclude());
  }

 private:
  /// Of the machine: to the end of the last job.
  std::string tell_critical_path() const {
    JobPathNames names;
    for (const SharedJob& own : jobs_) names.add(own.name, *own.job, own.result.collectives);
    const PathReport path = make_path_report(*causes_, names, 0);
    write_critical_path(*folder_, *causes_, names, {path});
    return critical_path_text(*causes_, names, path) + "\n";
  }

  void check(const MachineRecord& record) {
    std::vector<CheckedResults> jobs;
    for (const SharedJob& own : jobs_)
      jobs.push_back({own.name, own.result, own.finished, [&] { return summary_json(job_record(own)); }});
    expected_ = checks_.compare(*folder_,
                                {"", shared_, finished_, [&] { return machine_summary_json(record); }}, jobs);
  }

  RunRecord job_record(const SharedJob& own) const {
    return {own.config,     own.result,     own.finished,       own.result.warnings,
            wall_seconds(), peak_rss_MiB(), options_.per_layer, true};
  }

  std::vector<JobSummary> summaries() const {
    std::vector<JobSummary> list;
    for (const SharedJob& own : jobs_)
      list.push_back({own.name, own.folder->path(), own.config, own.result, own.finished});
    return list;
  }

  MachineRecord machine_record(const std::vector<JobSummary>& jobs) const {
    return {config_, shared_, jobs, finished_, shared_.warnings, wall_seconds(), peak_rss_MiB()};
  }

  void write_all() const {
    for (const SharedJob& own : jobs_) {
      write_results(*own.folder, job_record(own));
      own.text_report->write(*own.folder, own.result.time);
    }
    const std::vector<JobSummary> jobs = summaries();
    write_machine_results(*folder_, machine_record(jobs));
  }

  /// Every summary says that the run is not finished.
  void write_summaries() {
    finished_ = false;
    for (SharedJob& own : jobs_) {
      own.finished = false;
      own.folder->write("summary.json", summary_json(job_record(own)));
    }
    const std::vector<JobSummary> jobs = summaries();
    folder_->write("summary.json", machine_summary_json(machine_record(jobs)));
  }

  /// A signal came before anything ran: the results are those of a run of no time.
  ExitCode leave_before_the_run() {
    accept_stop();
    waves_->close(0);
    timeline_->close(0, shared_.warnings);
    write_summaries();
    note(fmt::format("weft: error: {} while the machine was built: nothing has run", interruption_text()));
    return interruption_code();
  }

  /// A signal came while results were written: the summaries say that they are not all there.
  ExitCode leave_midway() {
    accept_stop();
    const std::string text = interruption_text() + " while the results were written: some files are missing";
    shared_.warnings.push_back(text);
    for (SharedJob& own : jobs_) own.result.warnings.push_back(text);
    write_summaries();
    note(fmt::format("weft: error: {} while the results were written: {} has only some of them",
                     interruption_text(), folder_->path()));
    return interruption_code();
  }

  void gather() {
    for (SharedJob& own : jobs_) {
      own.finished = own.job->finished();
      own.result = finished_ ? own.job->take_own_result() : own.job->own_result();
      shared_.time = std::max(shared_.time, own.result.time);
      shared_.nodes += own.result.nodes;
      shared_.messages += own.result.messages;
      shared_.memory_bytes += own.result.memory_bytes;
      shared_.out_of_order_starts += own.result.out_of_order_starts;
      for (const std::string& warning : own.result.warnings)
        if (std::find(own.told.begin(), own.told.end(), warning) == own.told.end())
          warn(fmt::format("job `{}`: {}", own.name, warning));
    }
    std::vector<CollectiveRow> collectives;
    for (const SharedJob& own : jobs_)
      collectives.insert(collectives.end(), own.result.collectives.begin(), own.result.collectives.end());
    end_recording(recorder_.get(), collectives);
    add_machine_results(shared_, *machine_);
    if (!finished_ && interrupted()) drop_unbalanced(shared_);
    add_unmatched_rules();
    for (std::string& line : machine_->slot_warnings(shared_.out_of_order_starts))
      shared_.warnings.push_back(std::move(line));
    if (waves_->on()) close_waves(*waves_, shared_.time, finished_, shared_.warnings);
    timeline_->close(shared_.time, shared_.warnings);
    const std::vector<std::string>& told = machine_->warnings();
    for (const std::string& warning : shared_.warnings)
      if (std::find(told.begin(), told.end(), warning) == told.end()) warn(warning);
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
      note(text + machine_->explain_stall());
      return ExitCode::stall;
    }
    std::string broken;
    for (const std::string& line : shared_.broken_invariants) broken += "\n  " + line;
    for (const SharedJob& own : jobs_)
      for (const std::string& line : own.result.broken_invariants)
        broken += fmt::format("\n  job `{}`: {}", own.name, line);
    if (broken.empty()) return over_capacity();
    note("weft: error: the results break invariants of the model; " +
         advice_on_broken_invariants(config_, "the configuration") + broken);
    return ExitCode::internal;
  }

  ExitCode over_capacity() const {
    ExitCode code = ExitCode::done;
    for (const SharedJob& own : jobs_) {
      if (own.result.over_capacity.empty()) continue;
      note(fmt::format("weft: error: {}: key `hbm.over_capacity` is `error`: job `{}`: {}", config_.file,
                       own.name, own.result.over_capacity));
      code = ExitCode::usage;
    }
    return code == ExitCode::done && !expected_ ? ExitCode::unmet : code;
  }

  const Config& config_;
  const RunJobsOptions options_;
  RunChecks& checks_;
  insight::CausalLog* const causes_;
  std::unique_ptr<OutputFolder> folder_;
  vcd::ProbeHub probes_;
  std::unique_ptr<vcd::Waves> waves_;
  std::unique_ptr<RunTimeline> timeline_;
  std::unique_ptr<cosim::BlockRecorder> recorder_;
  std::unique_ptr<Machine, NoTeardown> machine_;
  std::vector<SharedJob> jobs_;
  RunResult shared_;
  bool finished_ = false;
  bool expected_ = true;
};

}  // namespace

ExitCode run_jobs(const Config& config, const MemoryRoom& room, const RunJobsOptions& options,
                  RunChecks& checks, insight::CausalLog* causes) {
  Workloads workloads = open_workloads(config, room);
  set_up_kernel();
  Run run(config, options, checks, causes);
  run.open_folders();
  run.build(workloads.jobs);
  run.simulate_all();
  return run.report();
}

}  // namespace weft::cli
