// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#ifndef WEFT_SC_MAIN_CALIBRATE_MEASURED_JSON_H
#define WEFT_SC_MAIN_CALIBRATE_MEASURED_JSON_H

#include <string>
#include <vector>

#include "sc_main/calibrate/measurement.h"

namespace weft::calibrate {

/// A table of measured times in JSON, of one of two forms (docs/calibration.md):
///   {"ranks": 8, "nodes": 1, "operation": "all_reduce", "columns": ["bytes", "time_us"], "rows": [[..], ..]}
///   {"ranks": 8, "all_reduce_us": [[bytes, microseconds], ..], "all_gather_us": ..}
/// Other members are notes. `path` is for messages. Throws UserError(usage).
std::vector<Measurement> parse_measured_json(const std::string& text, const std::string& path,
                                             const ReadOptions& options);

}  // namespace weft::calibrate

#endif
