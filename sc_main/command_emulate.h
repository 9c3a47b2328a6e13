// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#ifndef WEFT_SC_MAIN_COMMAND_EMULATE_H
#define WEFT_SC_MAIN_COMMAND_EMULATE_H

#include "sc_main/command.h"

namespace weft::cli {

/// `weft emulate`: real programs against simulated ranks.
void add_emulate_command(CLI::App& app, Action& action);

}  // namespace weft::cli

#endif
