// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// A sweep as an array job of Slurm: the script, its submission, and whether it is still there.

#ifndef WEFT_SC_MAIN_SWEEP_SLURM_H
#define WEFT_SC_MAIN_SWEEP_SLURM_H

#include <cstddef>
#include <string>
#include <vector>

#include "sc_main/sweep/session.h"

namespace weft::sweep {

struct SlurmJob {
  std::string options;               ///< of sbatch, as the user wrote them
  std::vector<size_t> tasks;         ///< that have something to do
  size_t of = 1;                     ///< how many tasks share all points
  std::vector<std::string> command;  ///< of a task, without its number
  std::vector<std::string> further;  ///< behind `--`
};

/// Which task runs a point.
inline size_t task_of(size_t point, size_t tasks) {
  return point % tasks;
}

/// The text of the script. Errors: UserError(usage) for options that fit no line.
std::string slurm_script(const SlurmJob& job, const SweepFolder& folder);

/// Submits the script and gives the job's number. Errors: UserError(usage) that says what sbatch said, or
/// that there is none.
std::string submit(const std::string& script);

/// The job is queued or running. Errors: UserError(usage) if nobody can be asked.
bool job_active(const std::string& job);

/// "0-3,7" for numbers in ascending order.
std::string number_list(const std::vector<size_t>& numbers);

}  // namespace weft::sweep

#endif
