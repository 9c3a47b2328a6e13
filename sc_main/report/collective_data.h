// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// The collectives of a run for the page: percentiles by operation, phases, and the longest ones.

#ifndef WEFT_SC_MAIN_REPORT_COLLECTIVE_DATA_H
#define WEFT_SC_MAIN_REPORT_COLLECTIVE_DATA_H

#include <vector>

#include "sc_main/report/page_data.h"

namespace weft::report {

/// The smallest value that at least `percent` % of the values do not exceed (nearest rank). `sorted` is not
/// empty.
double percentile(const std::vector<double>& sorted, double percent);

/// Of collectives.csv: an object for each operation and size, with percentiles of the time of those that
/// finished.
nlohmann::ordered_json operation_percentiles(const CsvTable& collectives);
/// Of phases.csv: queue and network time summed over the collectives of an operation, phase by phase.
nlohmann::ordered_json phase_sums(const CsvTable& phases);
/// The longest collectives, column by column, with their phases; those that did not finish come first.
nlohmann::ordered_json longest_collectives(const CsvTable& collectives, const CsvTable* phases,
                                           size_t most_rows);

}  // namespace weft::report

#endif
