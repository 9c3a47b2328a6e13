// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// The waveforms of a run.

#ifndef WEFT_SC_MAIN_RUN_WAVES_H
#define WEFT_SC_MAIN_RUN_WAVES_H

#include <memory>
#include <string>
#include <vector>

#include "configs/config.h"
#include "sc_main/output_folder.h"
#include "vcd/waves.h"

namespace weft::cli {

/// Waves on the kernel's clock that listen to `probes`; off when nothing is selected.
std::unique_ptr<vcd::Waves> make_waves(const Config& config, const OutputFolder& folder, bool every_flit,
                                       vcd::ProbeHub& probes);

/// Throws UserError(usage) for a pattern that selects nothing: probably a mistake in writing, which is
/// reported before the run.
void check_selection(const vcd::Waves& waves, const vcd::ProbeHub& probes);

/// The file is complete; `end`: of the jobs. When they are finished, what is on its way (credits) is waited
/// for. Adds a line to `warnings` when the file has reached its budget.
/// Throws the error of a write that failed.
void close_waves(vcd::Waves& waves, Picoseconds end, bool finished, std::vector<std::string>& warnings);

}  // namespace weft::cli

#endif
