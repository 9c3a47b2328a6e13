// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Ranks, layers and footprints of a run for the page: column by column.

#ifndef WEFT_SC_MAIN_REPORT_RANK_DATA_H
#define WEFT_SC_MAIN_REPORT_RANK_DATA_H

#include "sc_main/report/page_data.h"

namespace weft::report {

/// Of ranks.csv. Consecutive ranks share a row where there are too many.
nlohmann::ordered_json rank_columns(const CsvTable& table, size_t most_rows);
/// Of layers.csv: the rows in which most time went first, at most `most_rows`; `rest` sums up the others.
nlohmann::ordered_json layer_columns(const CsvTable& table, size_t most_rows);
/// Of footprint.csv: the largest peaks first, at most `most_rows`.
nlohmann::ordered_json footprint_columns(const CsvTable& table, size_t most_rows);

}  // namespace weft::report

#endif
