// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_main/text_options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <cstdlib>

#include "configs/keys.h"
#include "configs/units.h"
#include "workload/collectives/algorithm.h"

namespace weft::cli {

void TextOptions::operator()(const char* name, std::string& value, const char* type,
                             const std::string& text) {
  command_.add_option(name, value, text)->type_name(type)->check([](const std::string& given) {
    return given.empty() ? std::string("the value is empty; give one or leave the option out")
                         : std::string();
  });
}

void add_config_option(CLI::App& command, std::string& config, const std::string& text, bool required) {
  const auto filled = [](const std::string& given) {
    return given.empty() ? std::string("the value is empty; name a file") : std::string();
  };
  CLI::Option* const place = command.add_option("CONFIG", config, text)->check(filled);
  CLI::Option* const named =
      command.add_option("--config", config, "The same as an option")->type_name("CONFIG")->check(filled);
  named->excludes(place);
  if (!required) return;
  command.parse_complete_callback([place, named] {
    if (place->count() + named->count() == 0) throw CLI::RequiredError("CONFIG");
  });
}

void add_machine_option(CLI::App& command, std::string& machine) {
  TextOptions add(command);
  add("--machine", machine, "NAME|FILE",
      "A machine of `weft machine list`, or a file, in the place of CONFIG");
}

void add_set_option(CLI::App& command, std::vector<std::string>& sets, const std::string& text) {
  command.add_option("--set", sets, text)->type_name("KEY=VALUE")->allow_extra_args(false);
}

uint64_t parse_whole(const char* origin, const std::string& text, uint64_t least, uint64_t most) {
  uint64_t value = 0;
  try {
    value = parse_integer(text);
  } catch (const UserError& e) {
    throw UserError(ExitCode::usage,
                    fmt::format("{}: {}; give a whole number from {} to {}", origin, e.what(), least, most));
  }
  if (value < least || value > most)
    throw UserError(ExitCode::usage,
                    fmt::format("{} {}: give a whole number from {} to {}", origin, text, least, most));
  return value;
}

std::string check_scale(const std::string& given) {
  char* end = nullptr;
  const double value = std::strtod(given.c_str(), &end);
  if (end != given.c_str() && *end == '\0' && value >= 0 && value <= 1e9) return {};
  return fmt::format("'{}' is no factor; give a number from 0 to 1e9 (1 changes nothing)", given);
}

CollectiveOp parse_operation(const char* option, const std::string& text) {
  std::vector<std::string> names;
  for (int i = 0; i < kCollectiveOps; ++i) {
    names.emplace_back(to_string(static_cast<CollectiveOp>(i)));
    if (names.back() == text) return static_cast<CollectiveOp>(i);
  }
  const std::string near = nearest_name(text, names);
  throw UserError(ExitCode::usage, fmt::format("{} '{}': unknown operation{}; one of {}", option, text,
                                               near.empty() ? "" : fmt::format(" (did you mean {}?)", near),
                                               fmt::join(names, ", ")));
}

uint64_t parse_root(const std::string& text, CollectiveOp op) {
  if (text.empty()) return 0;
  if (!collectives::rooted(op))
    throw UserError(ExitCode::usage,
                    fmt::format("--root {}: {} has no root; leave it out", text, to_string(op)));
  try {
    return parse_integer(text);
  } catch (const UserError& e) {
    throw UserError(ExitCode::usage, fmt::format("--root: {}", e.what()));
  }
}

}  // namespace weft::cli
