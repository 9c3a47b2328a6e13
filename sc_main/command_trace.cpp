// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_main/command_trace.h"

#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <vector>

#include "sc_main/command_trace_convert.h"
#include "sc_main/console.h"
#include "workload/trace/trace_index.h"
#include "workload/trace/trace_info.h"

namespace weft::cli {
namespace {

struct InfoOptions {
  std::vector<std::string> files;
  bool json = false;
  bool strict = false;
};

ExitCode info(const InfoOptions& options) {
  std::vector<trace::TraceInfo> infos;
  for (const std::string& file : options.files) {
    infos.push_back(trace::trace_info(file));
    if (options.strict && infos.back().dangling != 0) {
      trace::TraceIndex::Options strict;
      strict.strict = true;
      trace::TraceIndex(file, infos.back().rank, strict);  // throws, and says which
    }
  }
  for (const trace::TraceInfo& i : infos)
    for (const std::string& warning : i.warnings) warn(warning);
  print(options.json ? trace::to_json(infos) : trace::to_text(infos));
  return ExitCode::done;
}

}  // namespace

void add_trace_command(CLI::App& app, Action& action) {
  CLI::App* trace =
      app.add_subcommand("trace", "Look into Chakra execution traces, or make them of other formats");
  trace->require_subcommand(1);
  trace->footer(
      "Examples:\n"
      "  weft trace info traces/llm.0.et\n"
      "  weft trace convert --from text workload.txt --ranks 8 --out traces");
  add_trace_convert(*trace, action);
  auto options = std::make_shared<InfoOptions>();
  CLI::App* command = trace->add_subcommand(
      "info", "Nodes by type, bytes, groups, dangling dependencies and the longest path of traces");
  command->add_option("FILE", options->files, "Chakra execution traces, one a rank")->required();
  command->add_flag("--json", options->json, "As JSON, with bytes and picoseconds as integers");
  command->add_flag("--strict", options->strict, "Dangling dependencies are errors");
  command->footer(
      "Examples:\n"
      "  weft trace info traces/llm.0.et\n"
      "  weft trace info traces/llm.*.et --json | jq .total\n"
      "  weft trace info --strict traces/llm.*.et");
  command->callback([options, &action] { action = [options] { return info(*options); }; });
}

}  // namespace weft::cli
