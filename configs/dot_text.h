// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#ifndef WEFT_CONFIGS_DOT_TEXT_H
#define WEFT_CONFIGS_DOT_TEXT_H

#include <string>
#include <string_view>

namespace weft {

/// For within the double quotes of a string in Graphviz's language.
inline std::string dot_text(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out;
}

}  // namespace weft

#endif
