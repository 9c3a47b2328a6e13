// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#ifndef WEFT_SC_MAIN_COMMAND_LINE_H
#define WEFT_SC_MAIN_COMMAND_LINE_H

#include <optional>
#include <string>
#include <vector>

#include "configs/types.h"
#include "sc_main/command.h"

namespace weft::cli {

/// Parses the arguments, runs the subcommand and reports what it throws. Nothing escapes; the process should
/// end with leave() after it.
ExitCode run_command_line(int argc, char** argv);

/// Parses the arguments and runs nothing. Gives an exit code (help, version, bad usage; the text is printed
/// already) or the action.
std::optional<ExitCode> parse_command_line(int argc, char** argv, Action& action);

/// What is wrong with the arguments of the program, without its name; "" if they can be run. Nothing is
/// printed.
std::string command_line_error(const std::vector<std::string>& arguments);

}  // namespace weft::cli

#endif
