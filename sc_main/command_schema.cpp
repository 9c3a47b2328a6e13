// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_main/command_schema.h"

#include <CLI/CLI.hpp>
#include <memory>

#include "configs/schema.h"
#include "sc_main/console.h"

namespace weft::cli {

void add_schema_command(CLI::App& app, Action& action) {
  auto reference = std::make_shared<bool>(false);
  CLI::App* command = app.add_subcommand("schema", "Print the JSON Schema of configurations");
  command->add_flag("--reference", *reference, "The reference of all keys as Markdown instead");
  command->footer(
      "Examples:\n"
      "  weft schema > weft.schema.json\n"
      "  weft schema --reference > docs/configuration_reference.md");
  command->callback([reference, &action] {
    action = [reference] {
      print(*reference ? reference_markdown() : json_schema());
      return ExitCode::done;
    };
  });
}

}  // namespace weft::cli
