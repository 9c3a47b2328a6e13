// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// What plugins add to a configuration's vocabulary. The files of `plugins:` are loaded before the other keys
// are read, so that the names they bring are checked like those of this library.

#ifndef WEFT_CONFIGS_EXTENSION_H
#define WEFT_CONFIGS_EXTENSION_H

#include <string>

namespace weft {

/// Loads one plugin, by its absolute path. `origin`: where the configuration names it. Loading a file again
/// does nothing. Errors: UserError(usage).
using PluginLoader = void (*)(const std::string& path, const std::string& origin);

/// Set once by a program that can load plugins (sc_models/plugin.h: enable_plugins()).
void set_plugin_loader(PluginLoader loader);
/// nullptr: this program cannot.
PluginLoader plugin_loader();

/// A further name that the key takes: of a model, a routing policy .. Errors: std::logic_error for an unknown
/// key, UserError(usage) for a name that the key takes already.
void add_choice(const std::string& key, const std::string& name, const std::string& description);

/// A further collective algorithm `name`, and `one_<name>` for whole operations. `source`: the plugin's file.
/// Errors: UserError(usage) for a name that there is.
void add_algorithm_name(const std::string& name, const std::string& description, const std::string& source);

}  // namespace weft

#endif
