// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_main/command_describe.h"

#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <vector>

#include "configs/describe.h"
#include "configs/loader.h"
#include "configs/types.h"
#include "sc_main/console.h"
#include "sc_main/output_folder.h"
#include "sc_main/plan_text.h"
#include "sc_main/text_options.h"
#include "sc_models/plugin.h"

namespace weft::cli {
namespace {

struct DescribeOptions {
  std::string config;
  std::vector<std::string> sets;
  bool dot = false;
  bool models = false;
  std::string out;
};

std::string description(const DescribeOptions& options) {
  if (options.models) {
    if (!options.config.empty()) load_config(options.config, options.sets);  // loads its plugins
    return list_models();
  }
  if (options.config.empty())
    throw UserError(ExitCode::usage,
                    "CONFIG is missing; give a configuration, or `--models` for what there is");
  const Config config = load_config(options.config, options.sets);
  return options.dot ? describe_dot(config) : describe_text(config) + describe_plans(config);
}

ExitCode describe(const DescribeOptions& options) {
  const std::string text = description(options);
  if (options.out.empty()) {
    print(text);
  } else {
    ResultFile file(options.out);
    file.append(text);
    file.close();
  }
  return ExitCode::done;
}

}  // namespace

void add_describe_command(CLI::App& app, Action& action) {
  auto options = std::make_shared<DescribeOptions>();
  CLI::App* command = app.add_subcommand("describe", "Describe the machine in words or as Graphviz DOT");
  add_config_option(*command, options->config, "The configuration, a YAML file", false);
  add_set_option(*command, options->sets, "Set a key of the configuration; repeatable");
  command->add_flag("--dot", options->dot, "As Graphviz DOT");
  CLI::Option* dot = command->get_option("--dot");
  command
      ->add_flag(
          "--models", options->models,
          "List the models, routing policies and algorithms there are, those of CONFIG's plugins included")
      ->excludes(dot);
  command->add_option("--out", options->out, "Write to this file instead of the standard output")
      ->type_name("FILE");
  command->footer(
      "Examples:\n"
      "  weft describe machine.yaml\n"
      "  weft describe --models\n"
      "  weft describe machine.yaml --dot | dot -Tsvg -o machine.svg\n"
      "  weft describe machine.yaml --set topology.notation='Ring(4)_Switch(2)' --dot --out machine.dot");
  command->callback([options, &action] { action = [options] { return describe(*options); }; });
}

}  // namespace weft::cli
