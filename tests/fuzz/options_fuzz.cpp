// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Command lines, one argument a line: parsed and not run. Every argument is also given to the readers of
// lists, units, notations and patterns that the commands use.

#include <algorithm>

#include "configs/loader.h"
#include "configs/notation.h"
#include "configs/tree_notation.h"
#include "configs/units.h"
#include "sc_main/command_line.h"
#include "sc_main/load_list.h"
#include "sc_main/size_list.h"
#include "sc_main/sweep/axis.h"
#include "sc_main/sweep/journal.h"
#include "sc_main/sweep/objective.h"
#include "sc_main/text_options.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/large_machine.h"
#include "vcd/glob.h"

namespace {

using namespace weft;

/// What `weft sweep` reads: its options, its journal, and what commands print.
void read_sweep(const std::string& text) {
  fuzz::tolerate([&] {
    const sweep::Axis axis = sweep::parse_vary(text);
    fuzz::expect(axis.size() != 0 && axis.size() <= sweep::kMostPoints, "a list of values that is none");
    for (const auto& values : axis.values) fuzz::expect(values.size() == axis.size(), "lists of two lengths");
    fuzz::tolerate([&] {
      const sweep::Grid grid({axis});
      fuzz::expect(grid.values(grid.points() - 1).back() == axis.values.back().back(), "another last point");
    });
  });
  fuzz::tolerate([&] {
    const sweep::Expression expression(text);
    const std::vector<sweep::Cell> cells(expression.names().size(), sweep::Cell::of("64 KiB"));
    static_cast<void>(expression.evaluate(cells));
    static_cast<void>(expression.evaluate({}));
  });
  fuzz::tolerate([&] { static_cast<void>(sweep::parse_objective(text)); });
  fuzz::tolerate([&] { static_cast<void>(sweep::parse_column(text)); });
  try {
    static_cast<void>(sweep::flatten_json(text));
  } catch (const UserError&) {
    // a command that prints no JSON is not the user's mistake
  }
  static_cast<void>(sweep::error_text(text));
  // With a checksum that is right, and as it is.
  static_cast<void>(sweep::parse_journal(text));
  fuzz::expect(sweep::parse_journal(sweep::fingerprint(text) + " " + text + "\n").any, "a line that is lost");
}

void read_values(const std::string& text) {
  read_sweep(text);
  fuzz::tolerate([&] {
    const auto sizes = cli::parse_sizes(text);
    fuzz::expect(!sizes.empty() && sizes.size() <= cli::kMaxSizes, "a list of sizes that is none");
  });
  fuzz::tolerate([&] {
    const auto loads = cli::parse_loads(text);
    fuzz::expect(!loads.empty() && loads.size() <= cli::kMaxLoads, "a list of loads that is none");
  });
  fuzz::tolerate([&] { static_cast<void>(cli::parse_operation("--op", text)); });
  fuzz::tolerate([&] { static_cast<void>(link_entries(text)); });
  fuzz::tolerate([&] {
    const auto dimensions = parse_notation(text);
    const std::string printed = print_notation(dimensions);
    fuzz::expect(print_notation(parse_notation(printed)) == printed,
                 "a notation reads back as another: " + printed);
  });
  fuzz::tolerate(
      [&] { fuzz::expect(parse_size(print_size(parse_size(text))) == parse_size(text), "size " + text); });
  fuzz::tolerate(
      [&] { fuzz::expect(parse_time(print_time(parse_time(text))) == parse_time(text), "time " + text); });
  fuzz::tolerate([&] {
    const Rate rate = parse_bandwidth(text);
    fuzz::expect(parse_bandwidth(print_bandwidth(rate)) == rate, "bandwidth " + text);
  });
  fuzz::tolerate([&] { static_cast<void>(parse_integer(text)); });
  fuzz::tolerate([&] { static_cast<void>(parse_number(text)); });
  fuzz::tolerate([&] {
    const Override set = parse_override(text);
    if (fuzz::large_tree(set.value)) return;
    static_cast<void>(
        build_config("weft: 1\ntopology: {notation: Ring(4)_Switch(2), dimensions: [{bandwidth: 1 GB/s}]}\n",
                     "machine.yaml", {set}));
  });
  try {
    vcd::Glob glob(text);
    static_cast<void>(glob.matches("job.system.npu0.engine.busy"));
  } catch (const vcd::GlobError&) {
    // the command line tells it
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::vector<std::string> arguments{"weft"};
  std::string word;
  for (size_t i = 0; i < size; ++i) {
    if (data[i] == '\n') {
      arguments.push_back(word);
      word.clear();
    } else if (data[i] != 0) {
      word += static_cast<char>(data[i]);
    }
  }
  if (!word.empty()) arguments.push_back(word);
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  cli::Action action;
  fuzz::tolerate([&] {
    const auto code = cli::parse_command_line(static_cast<int>(arguments.size()), argv.data(), action);
    fuzz::expect(code.has_value() != static_cast<bool>(action), "neither an exit code nor something to do");
    fuzz::expect(!code || *code == ExitCode::done || *code == ExitCode::usage, "another exit code");
  });
  for (size_t i = 1; i < std::min<size_t>(arguments.size(), 4); ++i) read_values(arguments[i]);
  return 0;
}
