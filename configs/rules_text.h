// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Rules of the configuration in words, as messages and `weft describe` show them.

#ifndef WEFT_CONFIGS_RULES_TEXT_H
#define WEFT_CONFIGS_RULES_TEXT_H

#include <string>

#include "configs/config.h"

namespace weft {

/// The conditions of a rule: "name `*.gradients`, operation `all_reduce`"; empty: it has none.
std::string conditions_text(const CollectiveRule& rule);
std::string conditions_text(const FidelityRule& rule);
/// The settings of a rule: "algorithms default, ring; 16 chunks", "packet fidelity in dimension(s) 0, 2".
std::string settings_text(const CollectiveRule& rule);
std::string settings_text(const FidelityRule& rule);

}  // namespace weft

#endif
