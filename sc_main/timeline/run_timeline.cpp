// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_main/timeline/run_timeline.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "sc_main/console.h"
#include "sc_main/decimal.h"
#include "sc_main/time_window.h"

namespace weft::cli {

void add_timeline_options(CLI::App& command, TextOptions& add, TimelineOptions& options) {
  command.add_flag("--timeline", options.on,
                   "Write timeline.pftrace: what every NPU, NMU, link and memory does when, for "
                   "ui.perfetto.dev (output.timeline)");
  add("--timeline-window", options.window, "FROM:TO",
      "Only what touches this part of simulated time: \"1 us:20 us\" (output.timeline_from, "
      "output.timeline_to)");
  add("--timeline-budget", options.budget, "SIZE",
      "Size that timeline.pftrace never exceeds, by less detail (output.timeline_budget; default: 64 MiB)");
}

void set_timeline(const TimelineOptions& options, OutputConfig& output) {
  output.timeline = output.timeline || options.on;
  for (const auto& [text, option] :
       {std::pair(&options.window, "--timeline-window"), std::pair(&options.budget, "--timeline-budget")}) {
    if (!text->empty() && !output.timeline)
      throw UserError(ExitCode::usage, fmt::format("{} is of --timeline, which is missing; add it", option));
  }
  if (!options.window.empty())
    parse_window("--timeline-window", options.window, output.timeline_from, output.timeline_to);
  if (output.timeline_to != 0 && output.timeline_to < output.timeline_from)
    throw UserError(ExitCode::usage,
                    fmt::format("the timeline would end at {}, before it begins at {}; change "
                                "--timeline-window (output.timeline_from, output.timeline_to)",
                                readable_time(output.timeline_to), readable_time(output.timeline_from)));
  if (!options.budget.empty())
    output.timeline_budget = parse_budget("--timeline-budget", "output.timeline_budget", options.budget);
}

RunTimeline::RunTimeline(const Config& config, const OutputFolder& folder, vcd::ProbeHub* probes) {
  const OutputConfig& output = config.output;
  if (!output.timeline) return;
  timeline::Options options;
  options.path = folder.file(kTimelineFile);
  options.from = output.timeline_from;
  if (output.timeline_to != 0) options.to = output.timeline_to;
  options.budget = output.timeline_budget;
  timeline_ = std::make_unique<timeline::Timeline>(options);
  if (probes != nullptr) timeline_->listen(*probes);
  if (options.from != 0 || output.timeline_to != 0)
    timeline_->remark(fmt::format("only what touches {} to {}", readable_time(options.from),
                                  output.timeline_to != 0 ? readable_time(options.to) : "the end"));
}

insight::CausalLog* RunTimeline::join(insight::CausalLog* causes) {
  if (!on()) return causes;
  if (causes == nullptr) {
    own_log_ = std::make_unique<insight::CausalLog>(0);
    causes = own_log_.get();
  }
  causes->listen(timeline_.get());
  timeline_->read_links(*causes);
  return causes;
}

void RunTimeline::add_job(const std::string& name, TraceJob& job) {
  if (!on()) return;
  timeline::Job told;
  told.name = name;
  told.first_stream = job.first_stream();
  for (uint32_t rank = 0; rank < job.ranks().ranks(); ++rank) told.npus.push_back(job.ranks().npu(rank));
  timeline_->add_job(told);
}

void RunTimeline::begin(uint64_t simulated, uint64_t ranks) {
  if (!on()) return;
  if (simulated < ranks)
    timeline_->remark(
        fmt::format("{} of {} ranks are simulated and shown. The others do the same as one of these "
                    "(--no-fold simulates each)",
                    grouped(simulated), grouped(ranks)));
  timeline_->begin();
}

void RunTimeline::begin(TraceJob& job) {
  if (!on()) return;
  uint64_t simulated = 0;
  for (uint32_t r = 0; r < job.ranks().ranks(); ++r) simulated += job.folding().built(r) ? 1 : 0;
  begin(simulated, job.ranks().ranks());
}

void RunTimeline::abandon() {
  if (on()) timeline_->close(0);
}

void RunTimeline::close(Picoseconds end, std::vector<std::string>& warnings) {
  if (!on()) return;
  timeline_->close(end);
  for (const std::string& warning : timeline_->warnings()) warnings.push_back(warning);
}

std::string RunTimeline::files() const {
  return on() && timeline_->failure().empty() ? fmt::format(" {}", kTimelineFile) : "";
}

ExitCode RunTimeline::conclude(ExitCode code) const {
  if (!on() || timeline_->failure().empty()) return code;
  note("weft: error: " + timeline_->failure() +
       "; what was written opens, and the other results are complete");
  if (code != ExitCode::done) return code;
  return timeline_->failed_of_disk() ? ExitCode::internal : ExitCode::usage;
}

}  // namespace weft::cli
