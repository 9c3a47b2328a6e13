// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#ifndef WEFT_SC_MAIN_COMMAND_DIFF_H
#define WEFT_SC_MAIN_COMMAND_DIFF_H

#include "sc_main/command.h"

namespace weft::cli {

/// `weft diff A B`: two results side by side, first what differs most.
void add_diff_command(CLI::App& app, Action& action);

}  // namespace weft::cli

#endif
