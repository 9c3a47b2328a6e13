// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// `--job FILE`: a machine and the jobs that share it, from several files.

#ifndef WEFT_SC_MAIN_JOB_FILES_H
#define WEFT_SC_MAIN_JOB_FILES_H

#include "configs/config.h"
#include "sc_main/workload.h"

namespace weft::cli {

/// The machine with `options.jobs` as Config::jobs, each named as its file. With `options.config` the machine
/// is that file's, and a job's file may hold `workload` alone. Without it every job's file describes
/// the same machine. Throws UserError that names file, line and key: machines that differ, NPUs of two jobs,
/// a job without traces.
Config load_jobs(const WorkloadOptions& options);

}  // namespace weft::cli

#endif
