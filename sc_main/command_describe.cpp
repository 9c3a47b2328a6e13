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
#include "sc_main/graphviz.h"
#include "sc_main/machines/catalogue.h"
#include "sc_main/output_folder.h"
#include "sc_main/plan_text.h"
#include "sc_main/report/machine_drawing.h"
#include "sc_main/report/result_folder.h"
#include "sc_main/text_options.h"
#include "sc_models/plugin.h"

namespace weft::cli {
namespace {

struct DescribeOptions {
  std::string config, machine;
  std::vector<std::string> sets;
  bool dot = false;
  bool svg = false;
  bool models = false;
  std::string results;
  std::string out;
};

std::string description(const DescribeOptions& options) {
  if (options.models) {
    if (!options.config.empty() || !options.machine.empty())  // loads its plugins
      machines::load_config_or_machine(options.config, options.machine, options.sets);
    return list_models();
  }
  if (!options.results.empty()) {
    if (!options.config.empty() || !options.machine.empty() || !options.sets.empty())
      throw UserError(ExitCode::usage,
                      "--results: the machine is that of the results; take CONFIG, --machine and --set out");
    const std::string dot = report::draw_utilisation(report::ResultFolder(options.results));
    return options.svg ? svg_of(dot) : dot;
  }
  if (options.config.empty() && options.machine.empty())
    throw UserError(ExitCode::usage,
                    "CONFIG is missing; give a configuration, `--machine NAME`, `--results DIR` for the "
                    "machine of a result, or "
                    "`--models` for what there is");
  const Config config = machines::load_config_or_machine(options.config, options.machine, options.sets);
  if (options.svg) return svg_of(describe_dot(config));
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
  CLI::App* command = app.add_subcommand("describe", "Describe the machine in words or as a drawing");
  add_config_option(*command, options->config, "The configuration, a YAML file", false);
  add_machine_option(*command, options->machine);
  add_set_option(*command, options->sets, "Set a key of the configuration; repeatable");
  CLI::Option* dot = command->add_flag("--dot", options->dot, "As Graphviz DOT");
  CLI::Option* svg = command->add_flag("--svg", options->svg, "As SVG, by Graphviz")->excludes(dot);
  command
      ->add_flag(
          "--models", options->models,
          "List the models, routing policies and algorithms there are, those of CONFIG's plugins included")
      ->excludes(dot)
      ->excludes(svg);
  command
      ->add_option("--results", options->results,
                   "Draw the machine of these results of `weft run`, its links coloured by how busy they "
                   "were (DOT, or "
                   "--svg)")
      ->type_name("DIR");
  command->add_option("--out", options->out, "Write to this file instead of the standard output")
      ->type_name("FILE");
  command->footer(
      "Examples:\n"
      "  weft describe machine.yaml\n"
      "  weft describe --models\n"
      "  weft describe machine.yaml --svg --out machine.svg\n"
      "  weft describe --results out --svg --out busy.svg\n"
      "  weft describe machine.yaml --set topology.notation='Ring(4)_Switch(2)' --dot --out machine.dot");
  command->callback([options, &action] { action = [options] { return describe(*options); }; });
}

}  // namespace weft::cli
