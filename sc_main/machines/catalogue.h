// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// The machines that Weft knows by name (configs/machines). They are in the program itself, so that it finds
// them wherever it is installed.

#ifndef WEFT_SC_MAIN_MACHINES_CATALOGUE_H
#define WEFT_SC_MAIN_MACHINES_CATALOGUE_H

#include <string>
#include <string_view>
#include <vector>

#include "configs/config.h"

namespace weft::machines {

struct Preset {
  std::string_view name;  ///< "dgx_h100"
  std::string_view text;  ///< its configuration, with its sources in comments
};

/// Sorted by name.
const std::vector<Preset>& presets();

/// The first line of its text: "NVIDIA DGX H100: ..".
std::string title_of(const Preset& preset);

/// A configuration's text, and what messages call it.
struct MachineText {
  std::string name;  ///< as it was given
  std::string text;
  std::string path;  ///< of the file; of a preset "dgx_h100.yaml"
};

/// What `--machine NAME|FILE` names: a preset; else a file. Throws UserError(usage)
/// with names like it for one that is neither.
MachineText find_machine(const std::string& name);

/// The configuration with `overrides` ("a.b=c"). Errors as those of load_config().
Config load_machine(const std::string& name, const std::vector<std::string>& overrides = {});

/// CONFIG or `--machine`, one of the two, for commands that take both. Throws UserError(usage) if both or
/// none are given.
Config load_config_or_machine(const std::string& config, const std::string& machine,
                              const std::vector<std::string>& overrides);

}  // namespace weft::machines

#endif
