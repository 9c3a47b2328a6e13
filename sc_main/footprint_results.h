// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// What the results say of the bytes that tensors took in the HBMs (`run.footprint`).

#ifndef WEFT_SC_MAIN_FOOTPRINT_RESULTS_H
#define WEFT_SC_MAIN_FOOTPRINT_RESULTS_H

#include <string>

#include "configs/file_set.h"
#include "sc_main/json_text.h"
#include "sc_main/output_folder.h"
#include "sc_models/run_result.h"

namespace weft::cli {

/// footprint.csv, one row a rank; nothing when no rank was followed.
void write_footprint(const OutputFolder& folder, const RunResult& result, FileSet* together);
/// The key `footprint` of a summary: of the rank that took most.
void add_footprint(JsonText& json, const RunResult& result);
/// The line `tensors` for people; empty when no rank was followed.
std::string footprint_text(const RunResult& result);

}  // namespace weft::cli

#endif
