// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "configs/printable.h"

namespace weft {

std::string printable(std::string_view text, std::string_view kept) {
  std::string out;
  out.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    const auto next = i + 1 < text.size() ? static_cast<unsigned char>(text[i + 1]) : 0u;
    if (c == 0xc2 && next >= 0x80 && next < 0xa0) {  // U+0080 to U+009F
      out += '?';
      ++i;
    } else {
      const bool control = c < 0x20 || c == 0x7f;
      out += control && kept.find(text[i]) == kept.npos ? '?' : text[i];
    }
  }
  return out;
}

}  // namespace weft
