// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#ifndef WEFT_SC_MAIN_CALIBRATE_CURVE_PLOT_H
#define WEFT_SC_MAIN_CALIBRATE_CURVE_PLOT_H

#include <string>
#include <vector>

#include "sc_main/calibrate/prediction.h"

namespace weft::calibrate {

/// The curves as a drawing (SVG): above, measured times as dots (filled: fitted, open: not) and predicted
/// ones as a line, both axes logarithmic, with the predicted changes of algorithm as dashed lines; below, the
/// error of each size in per cent. It follows the reader's light or dark colours. `title` is any text.
std::string plot_svg(const std::string& title, const std::vector<Curve>& curves,
                     const std::vector<Crossover>& crossovers);

}  // namespace weft::calibrate

#endif
