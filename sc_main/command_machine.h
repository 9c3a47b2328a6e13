// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// `weft machine list` and `weft machine show`: the machines that Weft knows by name.

#ifndef WEFT_SC_MAIN_COMMAND_MACHINE_H
#define WEFT_SC_MAIN_COMMAND_MACHINE_H

#include "sc_main/command.h"

namespace weft::cli {

void add_machine_command(CLI::App& app, Action& action);

}  // namespace weft::cli

#endif
