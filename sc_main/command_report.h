// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#ifndef WEFT_SC_MAIN_COMMAND_REPORT_H
#define WEFT_SC_MAIN_COMMAND_REPORT_H

#include "sc_main/command.h"

namespace weft::cli {

/// `weft report DIR [DIR ...] -o FILE`: results as a page to look at.
void add_report_command(CLI::App& app, Action& action);

}  // namespace weft::cli

#endif
