// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// `plugins:` is read before all other keys, whose names the plugins extend.

#ifndef WEFT_CONFIGS_LOADING_PLUGINS_H
#define WEFT_CONFIGS_LOADING_PLUGINS_H

#include <string>

#include "configs/document.h"

namespace weft::loading {

/// A path of the configuration file, made absolute from that file's folder.
std::string absolute_path(const std::string& path, const std::string& config_file);

/// Loads what `plugins:` names. What is no path is left to the reader of the keys. Errors: UserError(usage).
void load_plugins(const DocumentNode& root, const std::string& config_file);

}  // namespace weft::loading

#endif
