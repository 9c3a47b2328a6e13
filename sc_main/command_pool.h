// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// `weft pool`: an access of all NPUs to the memory pool, beside its closed form.

#ifndef WEFT_SC_MAIN_COMMAND_POOL_H
#define WEFT_SC_MAIN_COMMAND_POOL_H

#include "sc_main/command.h"

namespace weft::cli {

void add_pool_command(CLI::App& app, Action& action);

}  // namespace weft::cli

#endif
