// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#ifndef WEFT_SC_MODELS_MACHINE_CHECK_H
#define WEFT_SC_MODELS_MACHINE_CHECK_H

#include <string>
#include <vector>

#include "configs/config.h"

namespace weft {

/// Throws UserError for a machine that cannot be built, whatever runs on it: rules of fidelity that it cannot
/// follow, packet networks that cannot be. Builds none of it.
void check_machine(const Config& config);

/// What can be built and is not as it should be. Throws what check_machine() does of packet networks.
std::vector<std::string> machine_warnings(const Config& config);

}  // namespace weft

#endif
