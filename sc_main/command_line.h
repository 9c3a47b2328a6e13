// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#ifndef WEFT_SC_MAIN_COMMAND_LINE_H
#define WEFT_SC_MAIN_COMMAND_LINE_H

#include "configs/types.h"

namespace weft::cli {

/// Parses the arguments, runs the subcommand and reports what it throws. Nothing escapes; the process should
/// end with leave() after it.
ExitCode run_command_line(int argc, char** argv);

}  // namespace weft::cli

#endif
