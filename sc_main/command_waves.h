// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#ifndef WEFT_SC_MAIN_COMMAND_WAVES_H
#define WEFT_SC_MAIN_COMMAND_WAVES_H

#include "sc_main/command.h"

namespace weft::cli {

/// `weft waves DIR`: the waveform of a result in GTKWave.
void add_waves_command(CLI::App& app, Action& action);

}  // namespace weft::cli

#endif
