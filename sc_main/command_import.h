// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#ifndef WEFT_SC_MAIN_COMMAND_IMPORT_H
#define WEFT_SC_MAIN_COMMAND_IMPORT_H

#include "sc_main/command.h"

namespace weft::cli {

/// `weft import`: a machine of ASTRA-sim's input files, and a report of what became of every key.
void add_import_command(CLI::App& app, Action& action);

/// `weft astra`: ASTRA-sim's command lines on its files.
void add_astra_command(CLI::App& app, Action& action);

}  // namespace weft::cli

#endif
