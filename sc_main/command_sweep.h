// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#ifndef WEFT_SC_MAIN_COMMAND_SWEEP_H
#define WEFT_SC_MAIN_COMMAND_SWEEP_H

#include <string>
#include <vector>

#include "sc_main/command.h"

namespace weft::cli {

/// `weft sweep`: another command at many points of a configuration. `further`: the arguments behind `--`,
/// which are that command's; it must outlive the parsing.
void add_sweep_command(CLI::App& app, const std::vector<std::string>& further, Action& action);

}  // namespace weft::cli

#endif
