// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Checks `implementation:` of switches: at least one switch must use the model. Reads `implementations`.

#ifndef WEFT_CONFIGS_LOADING_IMPLEMENTATIONS_H
#define WEFT_CONFIGS_LOADING_IMPLEMENTATIONS_H

#include <string>

#include "configs/config.h"
#include "configs/loading/errors.h"
#include "configs/loading/raw_config.h"

namespace weft::loading {

/// Adds an error for a model that no switch uses. One entry for all dimensions applies to those that have
/// switches at `message` fidelity; the others get the default. `end`: where a graph's keys are reported.
void check_implementations(Config& config, const RawConfig& raw, const std::string& end, Errors& errors);

/// Sets `config.implementations`.
void resolve_implementations(Config& config, const RawConfig& raw, Errors& errors);

}  // namespace weft::loading

#endif
