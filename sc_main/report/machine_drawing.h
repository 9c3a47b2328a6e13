// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// The machine of a result as a drawing, its links coloured by how busy they were.

#ifndef WEFT_SC_MAIN_REPORT_MACHINE_DRAWING_H
#define WEFT_SC_MAIN_REPORT_MACHINE_DRAWING_H

#include <string>

#include "sc_main/report/result_folder.h"

namespace weft::report {

/// Modules and links are those of links.csv: an edge joins two modules in one dimension. It has the colour of
/// the busier of its directions, and as its label how busy both were. Beyond this many modules one edge a
/// dimension is drawn, with the mean and the busiest, and the title says so.
constexpr size_t kDrawnModules = 160;

/// Graphviz DOT. Errors: UserError(usage), of ResultFolder; one for results without links.
std::string draw_utilisation(const ResultFolder& results);

}  // namespace weft::report

#endif
