// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_main/command_waves.h"

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "configs/input_file.h"
#include "sc_main/console.h"
#include "sc_main/output_folder.h"
#include "sc_main/shell_word.h"
#include "sc_main/signal_table.h"

namespace weft::cli {
namespace {

namespace fs = std::filesystem;

struct WavesCommandOptions {
  std::string folder;
  bool fst = false;
  bool no_window = false;
  bool signals = false;
};

const InputKind kViewInput{"view", ExitCode::usage, "run again with --waves", uint64_t{64} << 20};

/// Runs a program in the place of this process (`replace`), or waits for it; its exit status.
int run_program(const std::vector<std::string>& words, bool replace) {
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  const pid_t child = replace ? 0 : ::fork();
  if (child == 0) {
    ::execvp(arguments[0], arguments.data());
    if (!replace) ::_exit(127);
    throw UserError(
        ExitCode::usage,
        fmt::format("{} cannot be started ({}); install Debian's package gtkwave (scripts/setup.sh does), or "
                    "open {} with another viewer",
                    words[0], std::strerror(errno), words[1]));
  }
  int status = 0;
  if (child < 0 || ::waitpid(child, &status, 0) < 0) return 127;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

/// The waveform, or what an unfinished run has left of one.
std::string waveform_in(const std::string& folder) {
  for (const char* const name : {"waves.vcd", "waves.vcd.part"}) {
    const std::string path = (fs::path(folder) / name).string();
    if (input_exists(path)) return path;
  }
  std::error_code ignored;
  throw UserError(
      ExitCode::usage,
      fs::is_directory(folder, ignored)
          ? fmt::format("{}: it has no waves.vcd; run again with --waves, for example --waves '*'", folder)
          : fmt::format("{}: no such folder; name the folder that `weft run --out DIR` has written", folder));
}

/// The view names files by absolute paths, which a folder that has moved takes with it.
std::string moved_view(const std::string& text, const std::string& folder) {
  const std::string begin = "[savefile] \"";
  const size_t at = text.find(begin);
  const size_t end = at == text.npos ? at : text.find('"', at + begin.size());
  if (end == text.npos) return text;
  const fs::path was = fs::path(text.substr(at + begin.size(), end - at - begin.size())).parent_path();
  const fs::path is = fs::absolute(folder).lexically_normal();
  const std::string from = (was / "").string();
  const std::string to = (is / "").string();
  if (from == to || was.empty()) return text;
  std::string moved;
  size_t done = 0;
  for (size_t line = 0; line < text.size();) {
    size_t next = text.find('\n', line);
    next = next == text.npos ? text.size() : next + 1;
    // Only where a path stands: after a quote of a bracket's line, or after "^1 ".
    const size_t path = text[line] == '['   ? text.find('"', line) + 1
                        : text[line] == '^' ? text.find(' ', line) + 1
                                            : text.npos;
    if (path != text.npos && path < next && text.compare(path, from.size(), from) == 0) {
      moved.append(text, done, path - done).append(to);
      done = path + from.size();
    }
    line = next;
  }
  return moved.append(text, done, text.npos);
}

/// The view without the mend names files that are not there; the signals can be looked at all the same.
void mend_view(const std::string& path, const std::string& text) {
  try {
    ResultFile file(path);
    file.append(text);
    file.close();
  } catch (const FileError&) {
    warn(fmt::format(
        "{} names files where the folder was before, and cannot be written; copy the folder to a place that "
        "can be, or choose the signals in GTKWave",
        path));
  }
}

ExitCode open_waves(const WavesCommandOptions& options) {
  if (options.signals) {
    print(signal_page());
    return ExitCode::done;
  }
  if (options.folder.empty())
    throw UserError(ExitCode::usage,
                    "DIR is missing; give the folder of a result, or `--signals` for what can be recorded");
  std::string wave = waveform_in(options.folder);
  if (wave.size() > 5 && wave.compare(wave.size() - 5, 5, ".part") == 0)
    warn(fmt::format("{}: the run that wrote it goes on, or was killed; this is what there is", wave));
  const std::string view = (fs::path(options.folder) / "waves.gtkw").string();
  if (input_exists(view)) {
    const std::string text = read_input(view, kViewInput);
    const std::string moved = moved_view(text, options.folder);
    if (moved != text) mend_view(view, moved);
  }
  if (options.fst) {
    const std::string fst = (fs::path(options.folder) / "waves.fst").string();
    if (const int status = run_program({"vcd2fst", wave, fst}, false); status != 0)
      throw UserError(
          ExitCode::usage,
          fmt::format(
              "vcd2fst could not make {} (status {}); it belongs to Debian's package gtkwave, and the "
              "folder must be writable",
              fst, status));
    wave = fst;
  }
  std::vector<std::string> words = {"gtkwave", wave};
  if (input_exists(view)) words.push_back(view);
  if (options.no_window) {
    std::string text;
    for (const std::string& word : words) text += (text.empty() ? "" : " ") + shell_word(word);
    print(text + "\n");
    return ExitCode::done;
  }
  run_program(words, true);
  return ExitCode::done;
}

}  // namespace

void add_waves_command(CLI::App& app, Action& action) {
  auto options = std::make_shared<WavesCommandOptions>();
  CLI::App* command = app.add_subcommand("waves", "Open the waveform of a result in GTKWave");
  command->add_option("DIR", options->folder, "Folder of the results of `weft run --waves`")
      ->type_name("DIR");
  command->add_flag("--fst", options->fst,
                    "Make waves.fst of it first, which is smaller and opens more quickly (vcd2fst)");
  command->add_flag("--no-window", options->no_window,
                    "Only prepare the files, and print the command that opens them");
  command->add_flag("--signals", options->signals,
                    "List the signals that a machine can record, as a page of Markdown");
  command->footer(
      "The view waves.gtkw is mended when the folder has moved.\n\n"
      "Examples:\n"
      "  weft run machine.yaml --trace traces/llm --waves '*' --out out && weft waves out\n"
      "  weft waves out --fst");
  command->callback([options, &action] { action = [options] { return open_waves(*options); }; });
}

}  // namespace weft::cli
