// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#ifndef WEFT_SC_MAIN_COMMAND_TRACE_H
#define WEFT_SC_MAIN_COMMAND_TRACE_H

#include "sc_main/command.h"

namespace weft::cli {

/// `weft trace info FILE...`: what is in traces.
void add_trace_command(CLI::App& app, Action& action);

}  // namespace weft::cli

#endif
