// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Options that are taken as text and parsed by the command, which knows what is allowed.

#ifndef WEFT_SC_MAIN_TEXT_OPTIONS_H
#define WEFT_SC_MAIN_TEXT_OPTIONS_H

#include <string>
#include <vector>

#include "configs/types.h"

namespace CLI {
class App;
}

namespace weft::cli {

/// Adds options to a command, one a call: those that are not given leave their value as it is, an empty value
/// is refused.
class TextOptions {
 public:
  explicit TextOptions(CLI::App& command) : command_(command) {}

  /// `name`: "--size"; `type`: what stands for the value in the help; the value must outlive the parsing.
  void operator()(const char* name, std::string& value, const char* type, const std::string& text);

 private:
  CLI::App& command_;
};

/// The configuration: `CONFIG` by position or `--config CONFIG`, one of the two.
void add_config_option(CLI::App& command, std::string& config, const std::string& text, bool required);

/// `--machine NAME|FILE`.
void add_machine_option(CLI::App& command, std::string& machine);

/// `--set KEY=VALUE`, as often as it is given; each value needs a `--set` of its own.
void add_set_option(CLI::App& command, std::vector<std::string>& sets, const std::string& text);

/// A whole number. Throws UserError(usage) that names the option (or another `origin`) and what is allowed.
uint64_t parse_whole(const char* origin, const std::string& text, uint64_t least, uint64_t most);

/// Of an option that is a factor, as its check: what is wrong with it; "": nothing. CLI::Range lets `nan`
/// pass.
std::string check_scale(const std::string& given);

/// The collective operation of that name. Throws UserError(usage) that names the option and what is allowed.
CollectiveOp parse_operation(const char* option, const std::string& text);

/// `--root` of a collective; 0 if it was not given. Throws UserError(usage) for what is no whole number, and
/// for an operation without a root.
uint64_t parse_root(const std::string& text, CollectiveOp op);

}  // namespace weft::cli

#endif
