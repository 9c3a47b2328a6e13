// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// The critical path of a run for the page.

#ifndef WEFT_SC_MAIN_REPORT_PATH_DATA_H
#define WEFT_SC_MAIN_REPORT_PATH_DATA_H

#include "sc_main/report/page_data.h"

namespace weft::report {

/// critical_path.json with at most `most_rows` entries of each list, which are the longest; `left_out` says
/// how many entries a list had, by its place ("/paths/0/links"). Throws UserError for a file that is cut off.
nlohmann::ordered_json path_summary(const std::string& file, size_t most_rows);

/// Of critical_path.csv, in order of time: the longest `most_rows` pieces, column by column.
nlohmann::ordered_json path_pieces(const CsvTable& table, size_t most_rows);

}  // namespace weft::report

#endif
