// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Names of traces and of other files, as people see them.

#ifndef WEFT_CONFIGS_PRINTABLE_H
#define WEFT_CONFIGS_PRINTABLE_H

#include <string>
#include <string_view>

namespace weft {

/// The text with a `?` in place of each control character (of ASCII, and those of Unicode from U+0080 on in
/// UTF-8), so that it stays in its line and does not steer a terminal. The characters of `kept` stay.
std::string printable(std::string_view text, std::string_view kept = {});

}  // namespace weft

#endif
