// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#ifndef WEFT_SC_MAIN_COMMAND_CALIBRATE_H
#define WEFT_SC_MAIN_COMMAND_CALIBRATE_H

#include "sc_main/command.h"

namespace weft::cli {

/// `weft calibrate LOG... --machine M`: the parameters of a communication library from measured times.
void add_calibrate_command(CLI::App& app, Action& action);

}  // namespace weft::cli

#endif
