// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#ifndef WEFT_SC_MODELS_MACHINE_CHECK_H
#define WEFT_SC_MODELS_MACHINE_CHECK_H

#include <string>
#include <vector>

#include "configs/config.h"
#include "sc_models/module_choices.h"

namespace weft {

/// Throws UserError for a machine that cannot be built, whatever runs on it: rules of fidelity that it cannot
/// follow, packet networks that cannot be, models that are not there. Builds none of it.
/// `warnings` gets what can be built and is not as it should be; null spares the search for it.
void check_machine(const Config& config, std::vector<std::string>* warnings = nullptr);

/// The key of the model of a dimension's switches, for messages.
std::string switch_model_key(uint32_t dimension);

}  // namespace weft

#endif
