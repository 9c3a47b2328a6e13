// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Values of a run that its JSON does not have: those of a CSV file that its command wrote.

#ifndef WEFT_SC_MAIN_PAPER_TABLE_H
#define WEFT_SC_MAIN_PAPER_TABLE_H

#include <map>
#include <string>

#include "sc_main/paper/definition.h"

namespace weft::paper {

/// "table.VALUE.COLUMN" for every row whose columns have the values of `where`; VALUE is the row's in the
/// column `by`. Throws UserError(usage) for a file that cannot be read, columns that it does not have, and
/// two rows of the same name.
std::map<std::string, std::string> table_values(const Table& table);

}  // namespace weft::paper

#endif
