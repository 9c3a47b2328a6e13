// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_main/command_machine.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <string>

#include "configs/describe.h"
#include "configs/loader.h"
#include "sc_main/console.h"
#include "sc_main/json_text.h"
#include "sc_main/machines/catalogue.h"
#include "sc_main/table.h"

namespace weft::cli {
namespace {

Config config_of(const machines::Preset& preset) {
  return parse_config(std::string(preset.text), std::string(preset.name) + ".yaml");
}

ExitCode list_machines(bool as_json) {
  JsonText json;
  json.begin_array();
  Table table({"machine", "NPUs", "topology", "library"});
  std::string titles;
  for (const machines::Preset& preset : machines::presets()) {
    const Config config = config_of(preset);
    const std::string name(preset.name);
    const std::string library = to_string(config.collectives.library.kind);
    json.begin_object();
    json.key("name").text(name);
    json.key("title").text(machines::title_of(preset));
    json.key("npus").number(uint64_t{config.npus()});
    json.key("topology").text(machine_name(config));
    json.key("library").text(library);
    json.key("gpu").text(config.collectives.library.gpu);
    json.end_object();
    table.row({name, std::to_string(config.npus()), machine_name(config), library});
    titles += fmt::format("{:<18}  {}\n", name, machines::title_of(preset));
  }
  json.end_array();
  print(as_json ? json.str() : table.str() + "\n" + titles);
  return ExitCode::done;
}

}  // namespace

void add_machine_command(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand("machine", "The machines that Weft knows by name");
  command->require_subcommand(1);
  const std::string examples =
      "Examples:\n"
      "  weft machine list\n"
      "  weft machine show dgx_h100 > my_machine.yaml\n"
      "  weft collective --machine dgx_h100 --sizes 1KiB:1GiB:x4";
  command->footer(examples);

  auto json = std::make_shared<bool>(false);
  CLI::App* list = command->add_subcommand("list", "All machines, with what they are");
  list->add_flag("--json", *json, "As JSON");
  list->footer("Examples:\n  weft machine list\n  weft machine list --json | jq -r '.[].name'");
  list->callback([json, &action] { action = [json] { return list_machines(*json); }; });

  auto name = std::make_shared<std::string>();
  CLI::App* show =
      command->add_subcommand("show", "The configuration of a machine, with the sources of its numbers");
  show->add_option("NAME", *name, "As `weft machine list` names it")->required()->type_name("NAME");
  show->footer("Examples:\n  weft machine show mi300x\n  weft machine show dgx_h100 > my_machine.yaml");
  show->callback([name, &action] {
    action = [name] {
      print(machines::find_machine(*name).text);
      return ExitCode::done;
    };
  });
}

}  // namespace weft::cli
