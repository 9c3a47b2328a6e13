// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// What of a machine is not this library's own: where a result is wrong, it may be theirs.

#ifndef WEFT_SC_MODELS_FOREIGN_BLOCKS_H
#define WEFT_SC_MODELS_FOREIGN_BLOCKS_H

#include <string>
#include <vector>

#include "configs/config.h"

namespace weft {

/// The models and policies of plugins, RTL among them, that the configuration names: the pattern of the
/// modules, or the key, and then "(rtl:my_memory of /home/me/my_memory.so)".
std::vector<std::string> foreign_blocks(const Config& config);

/// What is said of broken invariants: to report them with `with` ("the command"), or which foreign blocks
/// there are.
std::string advice_on_broken_invariants(const Config& config, const std::string& with);

}  // namespace weft

#endif
