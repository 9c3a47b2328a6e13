// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// The links of a run for the page: who sends to whom by which port, and how busy it was.

#ifndef WEFT_SC_MAIN_REPORT_LINK_DATA_H
#define WEFT_SC_MAIN_REPORT_LINK_DATA_H

#include "sc_main/report/page_data.h"

namespace weft::report {

/// Of links.csv: names in lists, links as columns of numbers, and sums by dimension of all links. More than
/// `most_rows` links: a row for each node and dimension, with its busiest link's figures and `links`, how
/// many it stands for; if these are too many, the busiest of them.
nlohmann::ordered_json link_columns(const CsvTable& table, size_t most_rows);

}  // namespace weft::report

#endif
