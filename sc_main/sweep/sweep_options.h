// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#ifndef WEFT_SC_MAIN_SWEEP_SWEEP_OPTIONS_H
#define WEFT_SC_MAIN_SWEEP_SWEEP_OPTIONS_H

#include <string>
#include <vector>

namespace weft::sweep {

/// A command that a point can be.
struct SweptCommand {
  std::string name;
  bool jobs = false;  ///< it has --jobs
};

/// Options as they were written; an empty one was not given.
struct SweepOptions {
  std::string config, command = "run", out;
  std::vector<std::string> sets, vary, columns, further;
  std::string objective, jobs;
  bool keep = false, timings = false, restart = false, retry_failed = false, dry_run = false, collect = false;
  bool slurm = false;
  std::string slurm_options, slurm_tasks;
  std::string task;  ///< "K/N": task K of N of an array job
};

}  // namespace weft::sweep

#endif
