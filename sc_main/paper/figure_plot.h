// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#ifndef WEFT_SC_MAIN_PAPER_FIGURE_PLOT_H
#define WEFT_SC_MAIN_PAPER_FIGURE_PLOT_H

#include <string>
#include <vector>

#include "sc_main/paper/definition.h"
#include "sc_main/paper/outcome.h"

namespace weft::paper {

/// A figure's plot as a drawing (SVG) of its points' values; points without the columns are left out. No
/// value of a paper is drawn. Throws UserError(usage) for a plot without points.
std::string plot_svg(const Figure& figure, const Plot& plot, const std::vector<Point>& points);

}  // namespace weft::paper

#endif
