// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#ifndef WEFT_SC_MAIN_COMMAND_DESCRIBE_H
#define WEFT_SC_MAIN_COMMAND_DESCRIBE_H

#include "sc_main/command.h"

namespace weft::cli {

/// `weft describe CONFIG`: the machine in words or as Graphviz DOT.
void add_describe_command(CLI::App& app, Action& action);

}  // namespace weft::cli

#endif
