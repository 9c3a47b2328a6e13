// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#ifndef WEFT_SC_MAIN_COMMAND_VALIDATE_H
#define WEFT_SC_MAIN_COMMAND_VALIDATE_H

#include "sc_main/command.h"

namespace weft::cli {

/// `weft validate CONFIG`: everything that can be checked without running.
void add_validate_command(CLI::App& app, Action& action);

}  // namespace weft::cli

#endif
