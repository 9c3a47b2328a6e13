// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#ifndef WEFT_SC_MAIN_COMMAND_SCHEMA_H
#define WEFT_SC_MAIN_COMMAND_SCHEMA_H

#include "sc_main/command.h"

namespace weft::cli {

/// `weft schema`: the JSON Schema of configurations, or their reference.
void add_schema_command(CLI::App& app, Action& action);

}  // namespace weft::cli

#endif
