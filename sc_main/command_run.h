// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#ifndef WEFT_SC_MAIN_COMMAND_RUN_H
#define WEFT_SC_MAIN_COMMAND_RUN_H

#include <functional>
#include <string>

#include "sc_main/command.h"

namespace weft {
struct RunResult;
}

namespace weft::cli {

/// `weft run CONFIG`: traces on a machine, to results in a folder.
void add_run_command(CLI::App& app, Action& action);

/// Runs a configuration as `weft run FILE --out DIR`. `told` hears of the result when it is written.
ExitCode run_file(const std::string& config, const std::string& out,
                  const std::function<void(const RunResult&)>& told);

}  // namespace weft::cli

#endif
