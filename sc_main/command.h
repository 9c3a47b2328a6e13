// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// What the subcommands share: each has a function that adds it to the parser; parsing sets the action.

#ifndef WEFT_SC_MAIN_COMMAND_H
#define WEFT_SC_MAIN_COMMAND_H

#include <functional>

#include "configs/types.h"

namespace CLI {
class App;
}

namespace weft::cli {

/// The subcommand that was chosen, with its options. It may throw what run_command_line() reports.
using Action = std::function<ExitCode()>;

}  // namespace weft::cli

#endif
