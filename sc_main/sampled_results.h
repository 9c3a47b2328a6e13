// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// What results say of sampled collectives (packet.sampling): how many were not simulated, and by how much the
// times that they were given are off.

#ifndef WEFT_SC_MAIN_SAMPLED_RESULTS_H
#define WEFT_SC_MAIN_SAMPLED_RESULTS_H

#include <string>

#include "configs/types.h"
#include "sc_main/json_text.h"
#include "workload/job/sampled_figures.h"

namespace weft::cli {

/// The key `sampling` of an object; nothing where all collectives are simulated. `time`: of the job.
void add_sampling(JsonText& json, const SampledFigures& sampled, Picoseconds time);

/// In one line; "" where all collectives are simulated.
std::string sampling_text(const SampledFigures& sampled, Picoseconds time);

}  // namespace weft::cli

#endif
