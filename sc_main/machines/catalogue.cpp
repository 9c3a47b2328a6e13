// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_main/machines/catalogue.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>

#include "configs/input_file.h"
#include "configs/keys.h"
#include "configs/loader.h"

namespace weft::machines {
namespace {

/// "DGX-H100" -> "dgxh100": what is the same but for how it is written.
std::string plain(std::string_view name) {
  std::string letters;
  for (const char c : name)
    if (std::isalnum(static_cast<unsigned char>(c)) != 0)
      letters += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return letters;
}

/// Presets that a user can have meant: by letters, by a part of the name, by edit distance.
std::vector<std::string> like(const std::string& name) {
  std::vector<std::string> names, near;
  const std::string letters = plain(name);
  for (const Preset& preset : presets()) {
    names.emplace_back(preset.name);
    const std::string other = plain(preset.name);
    if (!letters.empty() && (other.find(letters) != other.npos || letters.find(other) != letters.npos))
      near.emplace_back(preset.name);
  }
  if (near.empty())
    if (std::string nearest = nearest_name(name, names); !nearest.empty()) near.push_back(std::move(nearest));
  return near;
}

[[noreturn]] void fail_unknown(const std::string& name) {
  const std::vector<std::string> near = like(name);
  throw UserError(
      ExitCode::usage,
      fmt::format(
          "--machine {}: there is no file and no machine of that name{}; `weft machine list` shows all "
          "machines",
          name, near.empty() ? "" : fmt::format(" (did you mean {}?)", fmt::join(near, " or "))));
}

}  // namespace

std::string title_of(const Preset& preset) {
  std::string_view line = preset.text.substr(0, preset.text.find('\n'));
  while (!line.empty() && (line.front() == '#' || line.front() == ' ')) line.remove_prefix(1);
  while (!line.empty() && line.back() == '.') line.remove_suffix(1);
  return std::string(line);
}

MachineText find_machine(const std::string& name) {
  const auto& all = presets();
  const auto preset = std::find_if(all.begin(), all.end(), [&](const Preset& p) { return p.name == name; });
  // A folder that has the name of a machine hides none.
  const bool path = name.find('/') != name.npos || name.find('.') != name.npos;
  if (preset != all.end()) return {name, std::string(preset->text), std::string(preset->name) + ".yaml"};
  if (!path && !input_exists(name)) fail_unknown(name);
  return {name, read_input(name, kConfigurationInput), name};
}

Config load_machine(const std::string& name, const std::vector<std::string>& overrides) {
  const MachineText machine = find_machine(name);
  return parse_config(machine.text, machine.path, overrides);
}

Config load_config_or_machine(const std::string& config, const std::string& machine,
                              const std::vector<std::string>& overrides) {
  if (!config.empty() && !machine.empty())
    throw UserError(
        ExitCode::usage,
        fmt::format("CONFIG {} and --machine {} were both given; keep one of the two", config, machine));
  if (config.empty() && machine.empty())
    throw UserError(ExitCode::usage,
                    "CONFIG is missing; give a configuration, or a machine by its name: --machine dgx_h100");
  return machine.empty() ? load_config(config, overrides) : load_machine(machine, overrides);
}

}  // namespace weft::machines
