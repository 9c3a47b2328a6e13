// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// `--timeline` of `weft run` and `weft collective`.

#ifndef WEFT_SC_MAIN_TIMELINE_RUN_TIMELINE_H
#define WEFT_SC_MAIN_TIMELINE_RUN_TIMELINE_H

#include <memory>
#include <string>
#include <vector>

#include "configs/config.h"
#include "sc_main/output_folder.h"
#include "sc_main/text_options.h"
#include "sc_main/timeline/timeline.h"
#include "sc_models/trace_job.h"

namespace weft::cli {

constexpr const char* kTimelineFile = "timeline.pftrace";

struct TimelineOptions {
  bool on = false;
  std::string window, budget;  ///< as written
};
void add_timeline_options(CLI::App& command, TextOptions& add, TimelineOptions& options);
/// Replaces the configuration's keys. Throws UserError(usage).
void set_timeline(const TimelineOptions& options, OutputConfig& output);

/// The timeline of a run, or nothing: a null one costs one test.
class RunTimeline {
 public:
  /// Nothing, unless the configuration asks. It listens to `probes`; null: to no signals. Errors are
  /// TraceFile's.
  RunTimeline(const Config& config, const OutputFolder& folder, vcd::ProbeHub* probes);
  bool on() const { return timeline_ != nullptr; }
  /// The log that modules are to tell, before the machine is built: `causes`, that of the critical path, to
  /// which it listens, too; without one a log of its own, which keeps nothing. Null: nobody asks.
  insight::CausalLog* join(insight::CausalLog* causes);
  /// Names a job of the run; `name` is empty if there is one only.
  void add_job(const std::string& name, TraceJob& job);
  /// The machine is built. `simulated`: ranks of `ranks` that it has.
  void begin(uint64_t simulated, uint64_t ranks);
  /// .. for that job, the only one.
  void begin(TraceJob& job);
  /// The run is over. Adds to `warnings` what is missing in the file.
  void close(Picoseconds end, std::vector<std::string>& warnings);
  /// Nothing has run.
  void abandon();
  /// " timeline.pftrace", or "".
  std::string files() const;
  /// After the results are told: what was not written, if anything, and then not `code`, if that is `done`.
  ExitCode conclude(ExitCode code) const;

 private:
  std::unique_ptr<timeline::Timeline> timeline_;
  std::unique_ptr<insight::CausalLog> own_log_;  ///< null: that of the critical path
};

}  // namespace weft::cli

#endif
