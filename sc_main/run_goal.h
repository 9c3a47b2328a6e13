// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#ifndef WEFT_SC_MAIN_RUN_GOAL_H
#define WEFT_SC_MAIN_RUN_GOAL_H

#include "configs/config.h"
#include "sc_main/expect/run_checks.h"

namespace weft::cli {

struct GoalRunOptions {
  bool json = false;
  bool watches_machine = false;  ///< waveforms, timeline or critical path are asked for
};

/// `weft run` of a GOAL program with `loggp`: no machine is built. Writes the result files of a run.
ExitCode run_goal(const Config& config, const GoalRunOptions& options, RunChecks& checks);

}  // namespace weft::cli

#endif
