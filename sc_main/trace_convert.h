// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// `weft trace convert`: other formats to Chakra.

#ifndef WEFT_SC_MAIN_TRACE_CONVERT_H
#define WEFT_SC_MAIN_TRACE_CONVERT_H

#include "sc_main/command.h"

namespace CLI {
class App;
}

namespace weft::cli {

/// Below `trace`.
void add_convert_command(CLI::App& trace, Action& action);

}  // namespace weft::cli

#endif
