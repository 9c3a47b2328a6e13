// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// The results of several jobs on one machine: what is the machine's, and the jobs side by side.

#ifndef WEFT_SC_MAIN_JOBS_SUMMARY_H
#define WEFT_SC_MAIN_JOBS_SUMMARY_H

#include <string>
#include <vector>

#include "configs/config.h"
#include "sc_main/output_folder.h"
#include "sc_models/run_result.h"

namespace weft::cli {

/// One of the jobs.
struct JobSummary {
  std::string name;
  std::string folder;    ///< of its results
  const Config& config;  ///< the machine's, with the job's `workload`
  const RunResult& result;
  bool finished = true;
};

struct MachineRecord {
  const Config& config;
  const RunResult& result;  ///< of the machine; time and counts: of all jobs
  const std::vector<JobSummary>& jobs;
  bool finished = true;
  std::vector<std::string> warnings;
  double wall_s = 0;
  double peak_rss_MiB = 0;
};

/// summary.json of the machine.
std::string machine_summary_json(const MachineRecord& record);
/// links.csv, flows.csv (with DCQCN) and, last, summary.json.
void write_machine_results(const OutputFolder& folder, const MachineRecord& record);
/// For people.
std::string jobs_text(const MachineRecord& record);

}  // namespace weft::cli

#endif
