// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_main/command_trace_convert.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>

#include "sc_main/console.h"
#include "sc_main/decimal.h"

namespace weft::cli {
namespace {

using Converters = std::vector<std::unique_ptr<TraceConverter>>;

/// The formats: a new one is one line here and one file in sc_main/convert/.
Converters make_converters() {
  Converters converters;
  converters.push_back(make_flexflow_converter());
  converters.push_back(make_goal_converter());
  converters.push_back(make_pytorch_converter());
  converters.push_back(make_text_converter());
  return converters;
}

struct State {
  ConvertRequest request;
  std::string from;
  Converters converters = make_converters();
  std::vector<CLI::App*> groups;  ///< the options of each converter, while the command line is read
  std::string others;             ///< an option of another format is there: which format
};

void print_report(const convert::Report& report) {
  if (report.prefix.empty()) return;
  for (const std::string& warning : report.warnings) warn(warning);
  print(fmt::format("traces   {}.[0-{}].et: {} {}, {} nodes\n", report.prefix, report.ranks - 1,
                    grouped(report.ranks), report.ranks == 1 ? "rank" : "ranks", grouped(report.nodes)));
  if (!report.groups_file.empty()) print(fmt::format("groups   {}\n", report.groups_file));
  for (const auto& [what, n] : report.counts) print(fmt::format("{:>12}  {}\n", grouped(n), what));
  print(fmt::format("to run   weft run CONFIG --trace {}{}   (a topology of {} NPUs)\n", report.prefix,
                    report.groups_file.empty() ? "" : " --groups " + report.groups_file, report.ranks));
}

ExitCode convert(const State& state) {
  std::string known;
  for (size_t i = 0; i < state.converters.size(); ++i) {
    TraceConverter& converter = *state.converters[i];
    known += fmt::format("{}{}", i == 0 ? "" : ", ", converter.name());
    if (state.from != converter.name()) continue;
    if (!state.others.empty())
      throw UserError(ExitCode::usage,
                      fmt::format("weft trace convert: an option of --from {} is there, but --from is {}",
                                  state.others, state.from));
    print_report(converter.convert(state.request));
    return ExitCode::done;
  }
  throw UserError(
      ExitCode::usage,
      fmt::format("weft trace convert: --from '{}' is unknown; the formats are {}", state.from, known));
}

}  // namespace

std::string name_of(const ConvertRequest& request) {
  return request.name.empty() ? std::filesystem::path(request.inputs.front()).stem().string() : request.name;
}

const std::string& only_input(const ConvertRequest& request, const char* format) {
  if (request.inputs.size() != 1)
    throw UserError(ExitCode::usage,
                    fmt::format("weft trace convert: --from {} reads one file, and {} are named", format,
                                request.inputs.size()));
  return request.inputs.front();
}

void add_trace_convert(CLI::App& trace, Action& action) {
  auto state = std::make_shared<State>();
  CLI::App* command =
      trace.add_subcommand("convert", "Convert workloads of other formats to Chakra execution traces");
  TextOptions add(*command);
  command->add_option("INPUT", state->request.inputs, "Files of the other format")->required();
  std::string formats = "Format of the files:";
  for (const auto& converter : state->converters)
    formats += fmt::format(" {} ({});", converter->name(), converter->description());
  formats.back() = '.';
  command->add_option("--from", state->from, formats)->required()->type_name("FORMAT");
  command->add_option("--out", state->request.out, "Folder of the traces; it is created")
      ->required()
      ->type_name("DIR");
  add("--name", state->request.name, "NAME", "Files are DIR/NAME.<rank>.et (default: the name of the input)");
  for (const auto& converter : state->converters) {
    CLI::App* group = command->add_option_group(fmt::format("--from {}", converter->name()));
    converter->add_options(*group);
    state->groups.push_back(group);
  }
  command->footer(
      "Counts of what was met and mended are printed; docs/guide/converters.md explains them.\n\n"
      "Examples:\n"
      "  weft trace convert --from goal allreduce.goal --out traces\n"
      "  weft trace convert --from flexflow alexnet.4.graph --out traces --name alexnet\n"
      "  weft trace convert --from pytorch host.0.json --kineto kineto.0.json --replicate 16 --out traces");
  command->callback([state, &action] {
    for (size_t k = 0; k < state->groups.size(); ++k)
      for (const CLI::Option* option : state->groups[k]->get_options())
        if (option->count() != 0 && state->from != state->converters[k]->name())
          state->others = state->converters[k]->name();
    action = [state] { return convert(*state); };
  });
}

}  // namespace weft::cli
