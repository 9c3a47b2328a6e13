// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// The second stage of loading: defaults, relations between keys, derived values.

#ifndef WEFT_CONFIGS_LOADING_RESOLVER_H
#define WEFT_CONFIGS_LOADING_RESOLVER_H

#include <string>

#include "configs/config.h"
#include "configs/loading/raw_config.h"

namespace weft::loading {

/// `file`: the configuration's, or empty. Errors, those of the first stage among them: UserError(usage).
Config resolve(const RawConfig& raw, const std::string& file, Errors& errors);

}  // namespace weft::loading

#endif
