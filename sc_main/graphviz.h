// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Graphviz, the program, which makes drawings of DOT.

#ifndef WEFT_SC_MAIN_GRAPHVIZ_H
#define WEFT_SC_MAIN_GRAPHVIZ_H

#include <string>

namespace weft::cli {

/// The SVG of a DOT text, by the program `dot`. Errors: UserError(usage) when it is not installed,
/// UserError(internal) with its message when it fails.
std::string svg_of(const std::string& dot);

}  // namespace weft::cli

#endif
