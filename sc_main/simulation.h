// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Run control: the only place that calls sc_start.

#ifndef WEFT_SC_MAIN_SIMULATION_H
#define WEFT_SC_MAIN_SIMULATION_H

#include <string>
#include <systemc>

#include "sc_models/job.h"

namespace weft::cli {

/// Sets the kernel's time resolution to 1 ps and sends its reports to the standard error (information and
/// warnings) or throws them (errors and fatal errors). Once, before any module exists.
void set_up_kernel();

/// sc_start. An error of a process comes out as what it is: UserError keeps its code and gets the simulated
/// time before its text, the kernel's reports and other exceptions are UserError(internal), and errors of
/// writing waveforms and of memory pass as they are.
void advance(const sc_core::sc_time& by, sc_core::sc_starvation_policy policy = sc_core::SC_RUN_TO_TIME);

/// Runs until nothing is left to do, with a progress line when that lasts. True if the job is finished, false
/// if it is stuck. `unit` is what the job counts, for that line. Throws what advance() throws.
bool simulate(Job& job, const std::string& unit);

}  // namespace weft::cli

#endif
