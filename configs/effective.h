// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#ifndef WEFT_CONFIGS_EFFECTIVE_H
#define WEFT_CONFIGS_EFFECTIVE_H

#include <string>

#include "configs/config.h"

namespace weft {

/// The complete configuration as YAML, every key of the table with its exact value. The loader reads it back
/// to an identical Config (Config::file aside), wherever the text is stored.
std::string effective_yaml(const Config& config);

}  // namespace weft

#endif
