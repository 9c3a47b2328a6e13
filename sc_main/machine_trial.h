// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Models that a configuration names say only when they are made whether they take their parameters. This
// makes them, for `weft validate`.

#ifndef WEFT_SC_MAIN_MACHINE_TRIAL_H
#define WEFT_SC_MAIN_MACHINE_TRIAL_H

#include "configs/config.h"

namespace weft::cli {

/// Builds the machine, if some of its modules are of a model that the configuration names, and drops it. Once
/// in a process, and nothing is simulated. Errors: those of a run, UserError.
void try_models(const Config& config);

}  // namespace weft::cli

#endif
