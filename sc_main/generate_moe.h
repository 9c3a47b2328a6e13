// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#ifndef WEFT_SC_MAIN_GENERATE_MOE_H
#define WEFT_SC_MAIN_GENERATE_MOE_H

#include "sc_main/command.h"

namespace CLI {
class App;
}

namespace weft::cli {

/// `weft generate moe`.
void add_generate_moe(CLI::App& generate, Action& action);

}  // namespace weft::cli

#endif
