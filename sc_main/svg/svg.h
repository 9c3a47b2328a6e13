// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// What the drawings of this program have in common. They follow the reader's light or dark colours.

#ifndef WEFT_SC_MAIN_SVG_SVG_H
#define WEFT_SC_MAIN_SVG_SVG_H

#include <cstddef>
#include <string>

namespace weft::svg {

/// Colours of series: the classes s0.. (strokes) and f0.. (fills), then again from the first.
constexpr size_t kColours = 8;

/// `<svg ..>` with the style, the page and the title. Classes: title, soft (text), small (text), grid, axis,
/// line, open, s0 .. s7, f0 .. f7.
std::string begin(const std::string& title, double width, double height, double title_x);

/// Text as XML.
std::string escaped(const std::string& text);

}  // namespace weft::svg

#endif
