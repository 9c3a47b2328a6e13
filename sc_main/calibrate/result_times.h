// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#ifndef WEFT_SC_MAIN_CALIBRATE_RESULT_TIMES_H
#define WEFT_SC_MAIN_CALIBRATE_RESULT_TIMES_H

#include <string>
#include <vector>

#include "sc_main/calibrate/measurement.h"
#include "sc_main/calibrate/prediction.h"

namespace weft::calibrate {

/// Times of a result beside those of a table: a folder of `weft run` or `weft collective` (its
/// collectives.csv), such a file, the output of `weft collective --json` or `--format nccl-tests`, JSON of
/// `weft calibrate`, or any measurement. Results of several equal collectives count with their median. Sizes
/// that only one of the two has are named in `remarks`. Throws UserError(usage) for a result that cannot be
/// read or shares no size.
Curve compare_with(const std::string& result, const Measurement& table, std::vector<std::string>& remarks);

}  // namespace weft::calibrate

#endif
