// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#ifndef WEFT_SC_MAIN_COMMAND_PAPER_H
#define WEFT_SC_MAIN_COMMAND_PAPER_H

#include "sc_main/command.h"

namespace weft::cli {

/// `weft paper list | all | ID ..`: the figures and tables of papers, from what configs/papers describes.
void add_paper_command(CLI::App& app, Action& action);

}  // namespace weft::cli

#endif
