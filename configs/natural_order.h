// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#ifndef WEFT_CONFIGS_NATURAL_ORDER_H
#define WEFT_CONFIGS_NATURAL_ORDER_H

#include <string>

namespace weft {

/// Orders names as people do: runs of digits compare as numbers, so that layer2 comes before layer10.
bool natural_less(const std::string& a, const std::string& b);

}  // namespace weft

#endif
