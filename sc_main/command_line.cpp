// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_main/command_line.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <optional>
#include <string>
#include <systemc>
#include <vector>

#include "configs/keys.h"
#include "sc_main/command.h"
#include "sc_main/command_calibrate.h"
#include "sc_main/command_collective.h"
#include "sc_main/command_compare.h"
#include "sc_main/command_describe.h"
#include "sc_main/command_diff.h"
#include "sc_main/command_emulate.h"
#include "sc_main/command_generate.h"
#include "sc_main/command_import.h"
#include "sc_main/command_machine.h"
#include "sc_main/command_memory.h"
#include "sc_main/command_paper.h"
#include "sc_main/command_pool.h"
#include "sc_main/command_record.h"
#include "sc_main/command_replay.h"
#include "sc_main/command_report.h"
#include "sc_main/command_rtl.h"
#include "sc_main/command_run.h"
#include "sc_main/command_schema.h"
#include "sc_main/command_sweep.h"
#include "sc_main/command_trace.h"
#include "sc_main/command_traffic.h"
#include "sc_main/command_validate.h"
#include "sc_main/command_waves.h"
#include "sc_main/console.h"
#include "sc_main/interruption.h"
#include "vcd/glob.h"
#include "vcd/value.h"

namespace weft::cli {
namespace {

ExitCode fail(ExitCode code, const std::string& message) {
  note("weft: error: " + message);
  return code;
}

/// The subcommand that the arguments got to, for a hint at its help.
const CLI::App& innermost(const CLI::App& app) {
  const auto chosen = app.get_subcommands();
  return chosen.empty() ? app : innermost(*chosen.front());
}

std::string full_name(const CLI::App& app) {
  const CLI::App* parent = app.get_parent();
  return parent == nullptr ? "weft" : full_name(*parent) + " " + app.get_name();
}

/// The names of the commands below one.
std::vector<std::string> commands_of(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
    if (!command->get_name().empty()) names.push_back(command->get_name());  // groups of options have none
  return names;
}

/// The message for a command that is missing or not known; "" if that is not what is wrong.
std::string missing_command(const CLI::App& app) {
  const std::vector<std::string> names = commands_of(app);
  if (names.empty()) return "";
  const std::vector<std::string> rest = app.remaining();
  const auto word = std::find_if(rest.begin(), rest.end(),
                                 [](const std::string& w) { return !w.empty() && w.front() != '-'; });
  const std::string all = fmt::format("{}", fmt::join(names, ", "));
  if (word == rest.end()) return rest.empty() ? fmt::format("a command is missing; one of {}", all) : "";
  const std::string near = nearest_name(*word, names);
  return fmt::format("there is no command `{} {}`{}; one of {}", full_name(app), *word,
                     near.empty() ? "" : fmt::format(" (did you mean `{}`?)", near), all);
}

/// What is wrong with the arguments, and where help is.
std::string usage(const CLI::App& app, const CLI::ParseError& error) {
  std::string what = missing_command(innermost(app));
  if (what.empty()) what = error.what();
  while (!what.empty() && what.back() == '\n') what.pop_back();
  if (const std::string bad = "Could not convert: "; what.compare(0, bad.size(), bad) == 0) {
    what.erase(0, bad.size());
    if (const size_t at = what.find(" = "); at != std::string::npos) what.replace(at, 3, " ");
    what +=
        ": this value cannot be read: it is too large, or has a sign, a point or letters where none can be";
  }
  if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr && what.find('=') != std::string::npos &&
      innermost(app).get_option_no_throw("--set") != nullptr)
    what += " (each KEY=VALUE needs a --set of its own)";
  return fmt::format("{}; see `{} --help`", what, full_name(innermost(app)));
}

ExitCode run_guarded(const Action& action) {
  try {
    return action();
  } catch (const UserError& e) {
    return fail(e.code(), e.what());
  } catch (const Interrupted&) {
    return fail(interruption_code(), interruption_text());
  } catch (const vcd::GlobError& e) {
    return fail(ExitCode::usage, fmt::format("the selection of --waves: {}", e.what()));
  } catch (const vcd::WriteError& e) {
    if (e.over_budget()) return fail(ExitCode::usage, e.what());
    return fail(ExitCode::internal,
                fmt::format("{}; free some space or choose another folder with --out", e.what()));
  } catch (const sc_core::sc_report& e) {
    return fail(ExitCode::internal, e.what());
  } catch (const std::bad_alloc&) {
    return fail(ExitCode::internal,
                "out of memory; use a smaller machine, or coarser fidelity or fewer chunks");
  } catch (const std::exception& e) {
    return fail(ExitCode::internal,
                fmt::format("internal error: {}; please report it with the command", e.what()));
  }
}

constexpr const char* kTitle =
    "Weft: a SystemC / TLM-2.0 model of AI-training fabrics. A YAML file describes the machine, Chakra\n"
    "execution traces drive it.";

/// `further`: what stands behind `--` of `weft sweep`.
void add_commands(CLI::App& app, const std::vector<std::string>& further, Action& action) {
  app.get_formatter()->column_width(36);
  app.set_version_flag("--version", "weft " WEFT_VERSION, "Print the version and exit");
  app.set_help_flag("-h,--help", "Print this help and exit");
  app.require_subcommand(1);
  app.footer(
      "Exit codes: 0 done, 2 bad usage or configuration, 3 bad trace, 4 stall, 5 an expectation not met, 1 "
      "anything else.\n\n"
      "Examples:\n"
      "  weft collective --topology \"Ring(4)_Switch(8)\" --bandwidth \"200 GB/s,50 GB/s\" --size \"1 GiB\"\n"
      "  weft generate llm --tp 2 --dp 2 --pp 2 --out trace\n"
      "  weft run configs/examples/quickstart.yaml --trace trace/llm --groups trace/llm.groups.json --out "
      "out\n"
      "  weft collective --help");
  add_run_command(app, action);
  add_emulate_command(app, action);
  add_collective_command(app, action);
  add_machine_command(app, action);
  add_calibrate_command(app, action);
  add_compare_command(app, action);
  add_pool_command(app, action);
  add_traffic_command(app, action);
  add_memory_command(app, action);
  add_record_command(app, action);
  add_replay_command(app, action);
  add_rtl_command(app, action);
  add_report_command(app, action);
  add_sweep_command(app, further, action);
  add_validate_command(app, action);
  add_describe_command(app, action);
  add_diff_command(app, action);
  add_waves_command(app, action);
  add_schema_command(app, action);
  add_generate_command(app, action);
  add_trace_command(app, action);
  add_paper_command(app, action);
  add_import_command(app, action);
  add_astra_command(app, action);
}

/// Takes what stands behind the first `--` of `weft sweep` from the arguments.
std::vector<std::string> take_further(std::vector<std::string>& arguments) {
  const auto mark = std::find(arguments.begin(), arguments.end(), "--");
  if (arguments.empty() || arguments.front() != "sweep" || mark == arguments.end()) return {};
  std::vector<std::string> further(mark + 1, arguments.end());
  arguments.erase(mark, arguments.end());
  return further;
}

/// CLI11 takes the last argument first.
std::vector<std::string> reversed(std::vector<std::string> arguments) {
  std::reverse(arguments.begin(), arguments.end());
  return arguments;
}

}  // namespace

std::optional<ExitCode> parse_command_line(int argc, char** argv, Action& action) {
  CLI::App app(kTitle, "weft");
  std::vector<std::string> arguments(argv + (argc > 0 ? 1 : 0), argv + argc);
  const std::vector<std::string> further = take_further(arguments);
  add_commands(app, further, action);
  try {
    app.parse(reversed(std::move(arguments)));
  } catch (const CLI::CallForVersion& e) {
    print(std::string(e.what()) + "\n");
    return ExitCode::done;
  } catch (const CLI::CallForHelp&) {
    print(app.help());
    return ExitCode::done;
  } catch (const CLI::ParseError& e) {
    return fail(ExitCode::usage, usage(app, e));
  }
  return std::nullopt;
}

std::string command_line_error(const std::vector<std::string>& arguments) {
  CLI::App app(kTitle, "weft");
  Action action;
  const std::vector<std::string> further;
  add_commands(app, further, action);
  try {
    app.parse(reversed(arguments));
  } catch (const CLI::CallForHelp&) {
    return "--help prints the help and runs nothing; leave it out";
  } catch (const CLI::ParseError& e) {
    return usage(app, e);
  }
  return "";
}

ExitCode run_command_line(int argc, char** argv) {
  Action action;
  if (const std::optional<ExitCode> code = parse_command_line(argc, argv, action)) return *code;
  return run_guarded(action);
}

}  // namespace weft::cli
