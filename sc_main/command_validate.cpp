// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_main/command_validate.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <vector>

#include "configs/describe.h"
#include "configs/loader.h"
#include "sc_main/console.h"
#include "sc_main/decimal.h"
#include "sc_main/text_options.h"
#include "sc_models/packet_region.h"
#include "workload/collectives/program_check.h"
#include "workload/graph/fidelity_rules.h"
#include "workload/trace/workload_check.h"

namespace weft::cli {
namespace {

struct ValidateOptions {
  std::string config;
  std::vector<std::string> sets;
};

ExitCode validate(const ValidateOptions& options) {
  const Config config = load_config(options.config, options.sets);
  for (const std::string& warning : packet_warnings(config, packet_regions_of(config))) warn(warning);
  const graph::FidelityRules rules(config);
  for (uint32_t p = 1; p < rules.planes(); ++p) {
    const Config& plane = rules.plane(p);
    for (const std::string& warning : packet_warnings(plane, packet_regions_of(plane))) warn(warning);
  }
  collectives::check_programs(config);
  std::string text =
      fmt::format("{}: valid; {}, {} NPUs", options.config, machine_name(config), grouped(config.npus()));
  if (config.workload.trace.empty()) {
    text += "; no trace (workload.trace is not set)";
  } else {
    const trace::JobTrace traces =
        trace::open_job(config.workload.trace, config.npus(), config.workload.groups, config.workload.strict);
    for (const std::string& warning : traces.warnings()) warn(warning);
    collectives::check_programs(config, traces);
    text += fmt::format("; traces {} agree, {} nodes, {} groups", config.workload.trace,
                        grouped(traces.node_count()), traces.groups().size());
  }
  print(text + "\n");
  return ExitCode::done;
}

}  // namespace

void add_validate_command(CLI::App& app, Action& action) {
  auto options = std::make_shared<ValidateOptions>();
  CLI::App* command = app.add_subcommand("validate", "Check a configuration, and its traces if it names any");
  add_config_option(*command, options->config, "The configuration, a YAML file", true);
  add_set_option(*command, options->sets, "Set a key of the configuration; repeatable");
  command->footer(
      "Examples:\n"
      "  weft validate machine.yaml\n"
      "  weft validate machine.yaml --set workload.trace=traces/llm --set workload.strict=true");
  command->callback([options, &action] { action = [options] { return validate(*options); }; });
}

}  // namespace weft::cli
