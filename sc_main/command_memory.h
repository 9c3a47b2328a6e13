// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#ifndef WEFT_SC_MAIN_COMMAND_MEMORY_H
#define WEFT_SC_MAIN_COMMAND_MEMORY_H

#include "sc_main/command.h"

namespace weft::cli {

/// `weft memory`
void add_memory_command(CLI::App& app, Action& action);

}  // namespace weft::cli

#endif
