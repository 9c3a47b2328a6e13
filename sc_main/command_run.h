// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#ifndef WEFT_SC_MAIN_COMMAND_RUN_H
#define WEFT_SC_MAIN_COMMAND_RUN_H

#include "sc_main/command.h"

namespace weft::cli {

/// `weft run CONFIG`: traces on a machine, to results in a folder.
void add_run_command(CLI::App& app, Action& action);

}  // namespace weft::cli

#endif
