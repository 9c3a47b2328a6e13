// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#ifndef WEFT_SC_MAIN_COMMAND_COLLECTIVE_H
#define WEFT_SC_MAIN_COMMAND_COLLECTIVE_H

#include "sc_main/command.h"

namespace weft::cli {

/// `weft collective`: time and bandwidth of one collective over sizes, as nccl-tests measures a real machine.
void add_collective_command(CLI::App& app, Action& action);

}  // namespace weft::cli

#endif
