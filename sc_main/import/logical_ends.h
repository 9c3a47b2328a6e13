// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// What a message pays at its ends, on machines with a logical topology: Weft has no keys of a dimension for
// it there.

#ifndef WEFT_SC_MAIN_IMPORT_LOGICAL_ENDS_H
#define WEFT_SC_MAIN_IMPORT_LOGICAL_ENDS_H

#include "sc_main/import/imported.h"

namespace weft::cli::import {

/// With a logical topology: the latency of interfaces becomes a part of the links' (exact between
/// neighbours), and the first dimension has the endpoint delay of the others. The report says so. Without
/// one: nothing.
void move_ends_to_links(Imported& imported);

}  // namespace weft::cli::import

#endif
