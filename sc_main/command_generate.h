// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#ifndef WEFT_SC_MAIN_COMMAND_GENERATE_H
#define WEFT_SC_MAIN_COMMAND_GENERATE_H

#include "sc_main/command.h"

namespace weft::cli {

/// `weft generate llm`: traces of a training step.
void add_generate_command(CLI::App& app, Action& action);

}  // namespace weft::cli

#endif
