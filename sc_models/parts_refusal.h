// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#ifndef WEFT_SC_MODELS_PARTS_REFUSAL_H
#define WEFT_SC_MODELS_PARTS_REFUSAL_H

#include <string>

#include "configs/config.h"

namespace weft {

/// What keeps this machine from being simulated in parts, with its key and what to do; empty: nothing does.
std::string parts_refusal(const Config& config);

}  // namespace weft

#endif
