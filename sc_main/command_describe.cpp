// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_main/command_describe.h"

#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <vector>

#include "configs/describe.h"
#include "configs/loader.h"
#include "sc_main/console.h"
#include "sc_main/output_folder.h"
#include "sc_main/plan_text.h"
#include "sc_main/text_options.h"

namespace weft::cli {
namespace {

struct DescribeOptions {
  std::string config;
  std::vector<std::string> sets;
  bool dot = false;
  std::string out;
};

ExitCode describe(const DescribeOptions& options) {
  const Config config = load_config(options.config, options.sets);
  const std::string text =
      options.dot ? describe_dot(config) : describe_text(config) + describe_plans(config);
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
  add_config_option(*command, options->config, "The configuration, a YAML file", true);
  add_set_option(*command, options->sets, "Set a key of the configuration; repeatable");
  command->add_flag("--dot", options->dot, "As Graphviz DOT");
  command->add_option("--out", options->out, "Write to this file instead of the standard output")
      ->type_name("FILE");
  command->footer(
      "Examples:\n"
      "  weft describe machine.yaml\n"
      "  weft describe machine.yaml --dot | dot -Tsvg -o machine.svg\n"
      "  weft describe machine.yaml --set topology.notation='Ring(4)_Switch(2)' --dot --out machine.dot");
  command->callback([options, &action] { action = [options] { return describe(*options); }; });
}

}  // namespace weft::cli
