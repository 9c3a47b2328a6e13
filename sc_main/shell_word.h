// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#ifndef WEFT_SC_MAIN_SHELL_WORD_H
#define WEFT_SC_MAIN_SHELL_WORD_H

#include <string>

namespace weft::cli {

/// One word of a shell's command: in single quotes where a shell would read it otherwise.
inline std::string shell_word(const std::string& text) {
  if (!text.empty() && text.find_first_of(" \t\n'\"\\$&;<>()|*?[]#~`!{}") == text.npos) return text;
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

}  // namespace weft::cli

#endif
