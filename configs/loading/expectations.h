// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// The entries of `expect`.

#ifndef WEFT_CONFIGS_LOADING_EXPECTATIONS_H
#define WEFT_CONFIGS_LOADING_EXPECTATIONS_H

#include "configs/config.h"
#include "configs/loading/errors.h"
#include "configs/loading/raw_config.h"

namespace weft::loading {

/// Sets `config.expect`. What is wrong is added to `errors`.
void resolve_expectations(Config& config, const RawConfig& raw, Errors& errors);

}  // namespace weft::loading

#endif
