// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// The jobs of a configuration: `workload` on its NPUs, or `jobs` on theirs.

#ifndef WEFT_CONFIGS_LOADING_JOBS_H
#define WEFT_CONFIGS_LOADING_JOBS_H

#include "configs/config.h"
#include "configs/loading/errors.h"
#include "configs/loading/raw_config.h"

namespace weft::loading {

/// Sets `config.workload.npus` and `config.jobs`, when the machine's dimensions are known. What is wrong is
/// added to `errors`.
void resolve_jobs(const RawConfig& raw, Config& config, Errors& errors);

}  // namespace weft::loading

#endif
