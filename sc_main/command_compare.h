// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#ifndef WEFT_SC_MAIN_COMMAND_COMPARE_H
#define WEFT_SC_MAIN_COMMAND_COMPARE_H

#include "sc_main/command.h"

namespace weft::cli {

/// `weft compare RESULT MEASURED`: how far a result is from measured times.
void add_compare_command(CLI::App& app, Action& action);

}  // namespace weft::cli

#endif
