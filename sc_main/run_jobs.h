// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// `weft run` of several jobs that share one machine.

#ifndef WEFT_SC_MAIN_RUN_JOBS_H
#define WEFT_SC_MAIN_RUN_JOBS_H

#include "configs/config.h"
#include "insight/causal_log.h"
#include "sc_main/expect/run_checks.h"
#include "sc_main/record_options.h"
#include "sc_main/workload.h"

namespace weft::cli {

struct RunJobsOptions {
  bool json = false;         ///< summary.json on the standard output, the table on the standard error
  bool per_layer = false;    ///< every layer in the tables
  bool waves_flits = false;  ///< waveforms flit by flit
  RecordOptions record;      ///< of a block's boundary
};

/// Runs `config.jobs` together. The machine's results (links, traffic, waveforms, the jobs in one summary)
/// are in `config.output.dir`, each job's in a folder of its name in there. `causes`: where they are recorded
/// for the critical path; null: nowhere.
ExitCode run_jobs(const Config& config, const MemoryRoom& room, const RunJobsOptions& options,
                  RunChecks& checks, insight::CausalLog* causes);

}  // namespace weft::cli

#endif
