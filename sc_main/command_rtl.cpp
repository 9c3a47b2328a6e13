// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_main/command_rtl.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>
#include <regex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sc_main/console.h"
#include "sc_main/output_folder.h"
#include "sc_main/reserved_words.h"
#include "sc_main/rtl_templates.h"
#include "sc_main/text_options.h"

namespace weft::cli {
namespace {

struct NewOptions {
  std::string name;
  std::string kind;
  std::string out;
};

/// The template's text for this block.
std::string named(std::string text, const std::string& name) {
  const std::string place = "BLOCK";
  for (size_t at = text.find(place); at != std::string::npos; at = text.find(place, at + name.size()))
    text.replace(at, place.size(), name);
  return text;
}

ExitCode make_project(const NewOptions& options) {
  static const std::regex allowed("[a-z][a-z0-9_]{0,40}");
  if (!std::regex_match(options.name, allowed))
    throw UserError(ExitCode::usage,
                    fmt::format("'{}' cannot be a block's name; write small letters, digits and _, "
                                "a letter first: my_switch",
                                options.name));
  if (const std::string_view whose = reserved_by(options.name); !whose.empty())
    throw UserError(ExitCode::usage,
                    fmt::format("'{}' cannot be a block's name: it is a reserved word of {}; choose another "
                                "name: my_{}",
                                options.name, whose, options.name));
  const RtlTemplate* chosen = nullptr;
  std::vector<std::string> kinds;
  for (const RtlTemplate& one : rtl_templates()) {
    kinds.emplace_back(one.kind);
    if (options.kind == one.kind) chosen = &one;
  }
  if (chosen == nullptr)
    throw UserError(ExitCode::usage,
                    fmt::format("--kind '{}' is unknown; allowed: {}", options.kind, fmt::join(kinds, ", ")));
  const std::string folder = options.out.empty() ? options.name : options.out;
  std::vector<std::pair<std::string, std::string>> files = {{"CMakeLists.txt", rtl_project(*chosen)},
                                                            {options.name + ".sv", chosen->rtl},
                                                            {options.name + ".cpp", chosen->adapter},
                                                            {"machine.yaml", chosen->machine}};
  if (chosen->job != nullptr) files.emplace_back("job.txt", chosen->job);
  for (const auto& [name, text] : files)
    if (std::filesystem::exists(folder + "/" + name))
      throw UserError(ExitCode::usage,
                      fmt::format("{}/{} is there already; choose another folder with --out, or "
                                  "remove it",
                                  folder, name));
  const OutputFolder out(folder, {});
  for (const auto& [name, text] : files) out.write(name, named(text, options.name));
  print(
      fmt::format("{}: CMakeLists.txt, {}.sv, {}.cpp, machine.yaml{}\n"
                  "  cmake -S {} -B {}/build && cmake --build {}/build && ctest --test-dir {}/build\n"
                  "With Weft installed elsewhere: -D CMAKE_PREFIX_PATH=PREFIX.\n",
                  folder, options.name, options.name, chosen->job != nullptr ? ", job.txt" : "", folder,
                  folder, folder, folder));
  return ExitCode::done;
}

}  // namespace

void add_rtl_command(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand("rtl", "Projects that put RTL into a machine (docs/rtl.md)");
  command->require_subcommand(1);
  auto options = std::make_shared<NewOptions>();
  CLI::App* make = command->add_subcommand("new", "Write a project with a block that passes through");
  make->add_option("NAME", options->name, "Name of the block and of its plugin")->required();
  TextOptions add(*make);
  add("--kind", options->kind, "KIND",
      "switch, nmu, npu, memory, axi_memory, link or unit (of a switch, for collectives)");
  make->get_option("--kind")->required();
  add("--out", options->out, "DIR", "Folder of the project (default: NAME)");
  make->footer(
      "Example:\n"
      "  weft rtl new my_switch --kind switch\n"
      "  cmake -S my_switch -B my_switch/build && cmake --build my_switch/build && ctest --test-dir "
      "my_switch/build");
  make->callback([options, &action] { action = [options] { return make_project(*options); }; });
}

}  // namespace weft::cli
