// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Run control: the only place that calls sc_start.

#ifndef WEFT_SC_MAIN_SIMULATION_H
#define WEFT_SC_MAIN_SIMULATION_H

#include <functional>
#include <systemc>

#include "sc_main/progress.h"
#include "sc_models/machine.h"

namespace weft::cli {

/// Of machines and jobs: they stay until the process ends. Taking thousands of modules out of SystemC's
/// registries is slow.
struct NoTeardown {
  template <typename T>
  void operator()(const T*) const {}
};

/// Sets the kernel's time resolution to 1 ps and sends its reports to the standard error (information and
/// warnings) or throws them (errors and fatal errors). From now on exit() is an error of a module. Once,
/// before any module exists.
void set_up_kernel();

/// The simulated time; when the next thing happens, kNever if nothing does.
Picoseconds kernel_time();
Picoseconds next_event();

/// sc_start. An error of a process comes out as what it is: UserError keeps its code and gets the simulated
/// time before its text, the kernel's reports and other exceptions are UserError(internal), and errors of
/// writing waveforms and of memory pass as they are, and so does Interrupted. Returns early when a signal
/// comes.
void advance(const sc_core::sc_time& by, sc_core::sc_starvation_policy policy = sc_core::SC_RUN_TO_TIME);

/// Runs the machine until nothing is left to do, with a progress line when that lasts. True if all is
/// `finished`, false if it is stuck, or if a signal came (interrupted(); it is accepted then). `work` says
/// how far the jobs are, for that line. Throws what advance() throws.
bool simulate(Machine& machine, const std::function<bool()>& finished, const std::function<Work()>& work);

}  // namespace weft::cli

#endif
