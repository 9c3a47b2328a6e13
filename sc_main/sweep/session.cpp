// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_main/sweep/session.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "configs/file_set.h"
#include "configs/types.h"

namespace weft::sweep {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(const std::string& message) {
  throw UserError(ExitCode::usage, message);
}

}  // namespace

std::string SweepFolder::task_journal(size_t task) const {
  return fmt::format("{}/task-{}.journal", path_, task);
}
std::string SweepFolder::task_lock(size_t task) const {
  return fmt::format("{}/task-{}.lock", path_, task);
}
std::string SweepFolder::point(size_t point) const {
  return fmt::format("{}/{}", points(), point + 1);
}

std::vector<std::string> SweepFolder::files(const std::string& begin, const std::string& end) const {
  std::vector<std::string> found;
  std::error_code error;
  for (fs::directory_iterator it(path_, error), last; !error && it != last; it.increment(error)) {
    const std::string name = it->path().filename().string();
    if (name.size() >= begin.size() + end.size() && name.compare(0, begin.size(), begin) == 0 &&
        name.compare(name.size() - end.size(), end.size(), end) == 0)
      found.push_back(it->path().string());
  }
  std::sort(found.begin(), found.end());
  return found;
}

Session::Session(const std::string& results, const Identity& identity, size_t points, const Options& options)
    : file_(results), folder_(results), options_(options), identity_(identity), results_(points) {
  check_results_file();
  std::error_code error;
  refuse_symlink(folder_.path());
  if (options_.kind == Kind::task && !fs::exists(folder_.journal()))
    fail(fmt::format("{}: there is no such sweep; submit it with --slurm", folder_.journal()));
  fs::create_directories(folder_.path(), error);
  if (!error && !fs::is_directory(folder_.path(), error) && !error)
    error = std::make_error_code(std::errc::not_a_directory);
  if (error)
    fail(fmt::format("{}: the folder cannot be made: {}; check its permissions or choose another --out",
                     folder_.path(), error.message()));
  lock();
  if (options_.restart) forget();
  read(options_.retry_failed);
}

void Session::check_results_file() const {
  refuse_symlink(file_);
  std::error_code ignored;
  if (!fs::exists(file_, ignored)) return;
  std::string begin(6, '\0');
  std::ifstream in(file_, std::ios::binary);
  in.read(begin.data(), static_cast<std::streamsize>(begin.size()));
  if (fs::is_regular_file(file_, ignored) && (begin == "point," || fs::file_size(file_, ignored) == 0))
    return;
  fail(fmt::format(
      "{}: is there and is not the results of a sweep; choose another name with --out, or remove it", file_));
}

void Session::lock() {
  const bool task = options_.kind == Kind::task;
  lock_ = std::make_unique<FileLock>(task ? folder_.task_lock(options_.task) : folder_.lock());
  if (task) return;
  for (const std::string& file : folder_.files("task-", ".lock")) {
    const std::string who = FileLock::holder(file);
    if (!who.empty())
      fail(fmt::format("{}: a task of this sweep is running already: {}; wait for it, or end it (scancel)",
                       file, who));
  }
}

void Session::forget() const {
  std::error_code ignored;
  fs::remove(folder_.journal(), ignored);
  fs::remove(folder_.script(), ignored);
  fs::remove(folder_.job_id(), ignored);
  fs::remove_all(folder_.points(), ignored);
  for (const std::string& file : folder_.files("task-", "")) fs::remove(file, ignored);
  fs::remove(file_, ignored);
}

void Session::check_identity(const JournalContents& contents, const std::string& path) const {
  if (!contents.any) return;
  const char* const remedy =
      "run the command as it was, choose another --out, or give --restart to forget what has run and begin "
      "anew";
  if (!contents.identity)
    fail(fmt::format("{}: the first line is damaged or not of a sweep; {}", path, remedy));
  const std::vector<std::string> lines = differences(*contents.identity, identity_);
  if (lines.empty()) return;
  fail(fmt::format("{}: is of another sweep, {} points of which have run; {}\n  {}", path,
                   contents.results.size(), remedy, fmt::join(lines, "\n  ")));
}

void Session::read(bool retry_failed) {
  const auto take = [&](JournalContents& contents) {
    for (PointResult& result : contents.results) {
      if (result.point >= results_.size()) continue;
      std::optional<PointResult>& place = results_[result.point];
      // Of two the one that succeeded: points may have been tried again.
      if (!place || !place->done()) place = std::move(result);
    }
    contents.results.clear();
  };
  const bool task = options_.kind == Kind::task;
  const std::string own = task ? folder_.task_journal(options_.task) : folder_.journal();
  std::vector<std::string> files = folder_.files("task-", ".journal");
  files.push_back(folder_.journal());
  if (std::find(files.begin(), files.end(), own) == files.end()) files.push_back(own);
  for (const std::string& file : files) {
    JournalContents contents = read_journal(file);
    check_identity(contents, file);
    take(contents);
    if (file == own) writer_ = std::make_unique<JournalWriter>(own, contents, identity_);
  }
  if (!retry_failed) return;
  for (std::optional<PointResult>& result : results_)
    if (result && !result->done()) result.reset();
}

size_t Session::done() const {
  return static_cast<size_t>(
      std::count_if(results_.begin(), results_.end(), [](const auto& r) { return r.has_value(); }));
}

void Session::add(PointResult result) {
  writer_->append(result);
  std::optional<PointResult>& place = results_[result.point];
  place = std::move(result);
}

}  // namespace weft::sweep
