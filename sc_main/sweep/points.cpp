// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_main/sweep/points.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>

#include "configs/document.h"
#include "configs/effective.h"
#include "configs/input_file.h"
#include "configs/keys.h"
#include "configs/loader.h"
#include "configs/stop.h"
#include "sc_main/command_line.h"
#include "sc_main/console.h"
#include "sc_main/progress.h"
#include "sc_main/sweep/words.h"
#include "sc_models/machine_check.h"
#include "workload/collectives/program_check.h"

namespace weft::sweep {
namespace {

/// What is known of commands beyond their options.
struct CommandRow {
  const char* name;
  bool folder;   ///< results go to a folder, given with --out
  bool always;   ///< .. also if nobody wants them
  bool machine;  ///< the whole machine is built
};
constexpr CommandRow kCommands[] = {{"run", true, true, true}, {"collective", true, false, true}};

CommandRow row_of(const std::string& command) {
  for (const CommandRow& row : kCommands)
    if (command == row.name) return row;
  return {"", false, false, false};
}

/// While it lives, the files that are opened are added.
class InputsAreFiles {
 public:
  explicit InputsAreFiles(FilesIdentity& files) {
    observe_inputs([&files, this](const std::string& path) {
      if (seen_.insert(path).second) files.add_file(path);
    });
  }
  ~InputsAreFiles() { observe_inputs(nullptr); }
  InputsAreFiles(const InputsAreFiles&) = delete;
  InputsAreFiles& operator=(const InputsAreFiles&) = delete;

 private:
  std::set<std::string> seen_;
};

/// The scalars of a document by their paths.
void collect(const DocumentNode& node, const std::string& path, std::map<std::string, std::string>& to) {
  if (node.kind == DocumentNode::Kind::scalar) to[path] = node.scalar;
  for (const DocumentEntry& e : node.entries) collect(e.value, path.empty() ? e.key : path + "." + e.key, to);
  for (size_t i = 0; i < node.items.size(); ++i) collect(node.items[i], fmt::format("{}[{}]", path, i), to);
}

/// A line for a key that there is not and that is near another.
std::string key_hint(const Grid& grid) {
  std::vector<std::string> paths;
  for (const KeySpec& key : keys()) paths.push_back(key.path);
  for (const std::string& name : grid.names()) {
    const std::string path = table_path(name);
    if (is_option(name) || find_key(path) != nullptr || find_section(path) != nullptr) continue;
    const std::string near = nearest_name(path, paths);
    if (!near.empty()) return fmt::format("\nthere is no key `{}`; did you mean `{}`?", name, near);
  }
  return "";
}

class Checker {
 public:
  Checker(const SweepOptions& options, const SweptCommand& command, const Grid& grid,
          const std::vector<std::string>& names)
      : options_(options), command_(command), grid_(grid), row_(row_of(command.name)), names_(names) {}

  CheckedPoints check() {
    check_sets();
    check_further();
    {
      const InputsAreFiles observed(files_);
      text_ = read_input(options_.config, kConfigurationInput);
      for (size_t p = 0; p < grid_.points(); ++p) check_point(p);
    }
    if (wrong_points_ != 0) fail();
    for (const std::string& word : options_.further) add_files(word);
    for (const Axis& axis : grid_.axes())
      for (const auto& values : axis.values)
        for (const std::string& value : values) files_.add_if_files(value);
    CheckedPoints checked;
    checked.identity = {{"the program", program_identity()},
                        {"the command", command_text()},
                        {"the list of points", points_identity(grid_)}};
    files_.append_to(checked.identity);
    checked.config = std::move(values_);
    return checked;
  }

 private:
  std::string command_text() const {
    std::string text = "weft " + options_.command;
    for (const std::string& set : options_.sets) text += " --set " + shell_word(set);
    if (options_.keep) text += " --keep";
    for (const std::string& word : options_.further) text += " " + shell_word(word);
    return text;
  }

  /// `--trace=PREFIX` and `PREFIX`.
  void add_files(const std::string& word) {
    files_.add_if_files(word);
    const size_t equals = word.find('=');
    if (word[0] == '-' && equals != word.npos) files_.add_if_files(word.substr(equals + 1));
  }

  void check_sets() const {
    for (const std::string& set : options_.sets) {
      const std::string path = parse_override(set).path;
      for (const std::string& name : grid_.names())
        if (keys_overlap(path, name))
          throw UserError(ExitCode::usage,
                          fmt::format("`{}` is given with --set and `{}` is varied; keep one of the "
                                      "two",
                                      path, name));
    }
  }

  void check_further() const {
    for (const std::string& word : options_.further)
      if (row_.folder && (word == "--out" || word.compare(0, 6, "--out=") == 0))
        throw UserError(
            ExitCode::usage,
            "--out behind `--`: points that run at the same time would write into one folder; leave it out, "
            "and give --keep before the `--` to keep a folder for each point");
  }

  bool given(const std::string& option) const {
    const auto is = [&](const std::string& word) {
      return word == option || word.compare(0, option.size() + 1, option + "=") == 0;
    };
    return std::any_of(options_.further.begin(), options_.further.end(), is) ||
           std::find(grid_.names().begin(), grid_.names().end(), option) != grid_.names().end();
  }

  void check_point(size_t p) {
    check_stop();
    progress_.update_text(cli::wall_seconds(), [&] {
      return std::make_pair(fmt::format("{} of {} points checked", p, grid_.points()),
                            static_cast<double>(p) / static_cast<double>(grid_.points()));
    });
    const std::vector<std::string> values = grid_.values(p);
    // Points that differ in options only have one configuration, and the other way round.
    std::string config_key;
    std::string option_key;
    for (size_t i = 0; i < values.size(); ++i)
      (is_option(grid_.names()[i]) ? option_key : config_key).append(values[i]).append(1, '\0');
    try {
      if (options_seen_.insert(option_key).second)
        if (const std::string what =
                cli::command_line_error(point_arguments(options_, command_, grid_, p, "out"));
            !what.empty())
          throw UserError(ExitCode::usage, what);
      auto [it, fresh] = configs_.emplace(config_key, std::map<std::string, std::string>());
      if (fresh) it->second = check_config(values);
      for (const auto& [name, text] : it->second) {
        auto& column = values_[name];
        column.resize(grid_.points());
        column[p] = text;
      }
    } catch (const UserError& e) {
      ++wrong_points_;
      code_ = code_ == ExitCode::done ? e.code() : code_;
      if (wrong_.size() < kMostShown && told_.insert(without_values(e.what(), values)).second)
        wrong_.push_back(fmt::format("{}, point {} of {} ({}): {}", options_.config, p + 1, grid_.points(),
                                     grid_.describe(p), e.what()));
    }
  }

  /// So that what is wrong with a key is told once, whatever its values.
  std::string without_values(std::string text, const std::vector<std::string>& values) const {
    for (size_t i = 0; i < values.size(); ++i) {
      const std::string both = grid_.names()[i] + "=" + values[i];
      for (size_t at; (at = text.find(both)) != text.npos;) text.erase(at, both.size());
    }
    return text;
  }

  /// The values of the names that are keys.
  std::map<std::string, std::string> check_config(const std::vector<std::string>& values) {
    std::vector<Override> overrides;
    for (const std::string& set : options_.sets) overrides.push_back(parse_override(set));
    for (size_t i = 0; i < values.size(); ++i) {
      const std::string& name = grid_.names()[i];
      if (!is_option(name))
        overrides.push_back({name, values[i], fmt::format("--vary {}={}", name, values[i])});
    }
    const Config config = build_config(text_, options_.config, overrides);
    for (const std::string& plugin : config.plugins) files_.add_file(plugin);
    files_.add_traces(config.workload.trace);
    files_.add_if_files(config.workload.groups);
    files_.add_if_files(config.workload.goal);
    files_.add_if_files(config.workload.text.file);
    for (const JobConfig& job : config.jobs) {
      if (!job.workload.trace.empty()) files_.add_traces(job.workload.trace);
      files_.add_if_files(job.workload.groups);
      files_.add_if_files(job.workload.text.file);
    }
    if (row_.machine) {
      check_machine(config);
      collectives::check_programs(config);
    }
    if (command_.name == "run" && config.workload.trace.empty() && config.workload.goal.empty() &&
        config.workload.text.file.empty() && config.jobs.empty() && !given("--trace") && !given("--text") &&
        !given("--goal") && !given("--job"))
      throw UserError(
          ExitCode::usage,
          "key `workload.trace` is not set, so there is nothing to run; give -- --trace PREFIX, or choose "
          "another --command");
    std::map<std::string, std::string> found;
    if (names_.empty()) return found;
    std::map<std::string, std::string> all;
    collect(read_document(effective_yaml(config), "effective.yaml"), "", all);
    for (const std::string& name : names_)
      if (const auto it = all.find(name); it != all.end()) found.insert(*it);
    return found;
  }

  [[noreturn]] void fail() const {
    std::string text = fmt::format("{}", fmt::join(wrong_, "\n"));
    if (wrong_points_ > wrong_.size())
      text += fmt::format("\n{} of {} points cannot run; nothing has run", wrong_points_, grid_.points());
    // The reader of the configuration names keys of the same section only.
    throw UserError(code_, text.find("did you mean") == text.npos ? text + key_hint(grid_) : text);
  }

  static constexpr size_t kMostShown = 5;

  const SweepOptions& options_;
  const SweptCommand& command_;
  const Grid& grid_;
  const CommandRow row_;
  const std::vector<std::string>& names_;
  cli::Progress progress_{[](std::string_view text) { std::fwrite(text.data(), 1, text.size(), stderr); },
                          isatty(2) != 0, "points"};
  std::string text_;
  FilesIdentity files_;
  std::set<std::string> options_seen_;
  std::unordered_map<std::string, std::map<std::string, std::string>> configs_;
  ConfigValues values_;
  std::vector<std::string> wrong_;
  std::set<std::string> told_;
  size_t wrong_points_ = 0;
  ExitCode code_ = ExitCode::done;
};

}  // namespace

bool writes_folder(const std::string& command) {
  return row_of(command).always;
}

std::vector<std::string> point_arguments(const SweepOptions& options, const SweptCommand& command,
                                         const Grid& grid, size_t point, const std::string& folder) {
  std::vector<std::string> words = {command.name, options.config, "--json"};
  const auto set = [&](const std::string& text) {
    words.emplace_back("--set");
    words.push_back(text);
  };
  for (const std::string& text : options.sets) set(text);
  const std::vector<std::string> values = grid.values(point);
  for (size_t i = 0; i < values.size(); ++i)
    if (!is_option(grid.names()[i])) set(grid.names()[i] + "=" + values[i]);
  if (row_of(command.name).folder && !folder.empty()) {
    words.emplace_back("--out");
    words.push_back(folder);
  }
  const auto asked = [&](const std::string& word) { return word.compare(0, 6, "--jobs") == 0; };
  // Points run at the same time; their results do not depend on how many processes they have.
  if (command.jobs && std::none_of(options.further.begin(), options.further.end(), asked) &&
      std::none_of(grid.names().begin(), grid.names().end(), asked)) {
    words.emplace_back("--jobs");
    words.emplace_back("1");
  }
  for (size_t i = 0; i < values.size(); ++i)
    if (is_option(grid.names()[i])) words.push_back(grid.names()[i] + "=" + values[i]);
  words.insert(words.end(), options.further.begin(), options.further.end());
  return words;
}

CheckedPoints check_points(const SweepOptions& options, const SweptCommand& command, const Grid& grid,
                           const std::vector<std::string>& names) {
  return Checker(options, command, grid, names).check();
}

}  // namespace weft::sweep
