// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#ifndef WEFT_SC_MAIN_COMMAND_REPLAY_H
#define WEFT_SC_MAIN_COMMAND_REPLAY_H

#include "sc_main/command.h"

namespace weft::cli {

/// `weft replay`
void add_replay_command(CLI::App& app, Action& action);

}  // namespace weft::cli

#endif
