// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_main/output_folder.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "configs/types.h"

namespace weft::cli {
namespace {

namespace fs = std::filesystem;

bool disk_full(int error) {
  return error == ENOSPC || error == EDQUOT || error == EFBIG;
}

const char* remedy(int error) {
  return disk_full(error) ? "free some space or choose another folder with --out"
                          : "check its permissions or choose another folder with --out";
}

void remove_regular(const std::string& path) {
  std::error_code ignored;
  if (fs::symlink_status(path, ignored).type() == fs::file_type::regular) fs::remove(path, ignored);
}

}  // namespace

ResultFile::ResultFile(std::string path) : path_(std::move(path)), file_(std::fopen(path_.c_str(), "wb")) {
  if (file_ == nullptr) fail(errno);
}

ResultFile::~ResultFile() {
  if (file_ == nullptr) return;
  std::fclose(file_);
  remove_regular(path_);
}

void ResultFile::fail(int error) {
  const std::string message =
      fmt::format("{}: cannot be written: {}; {}", path_, std::strerror(error), remedy(error));
  if (file_ != nullptr) {
    std::fclose(file_);
    file_ = nullptr;
    remove_regular(path_);
  }
  throw FileError(message, error);
}

void ResultFile::append(std::string_view text) {
  if (std::fwrite(text.data(), 1, text.size(), file_) != text.size()) fail(errno);
}

void ResultFile::close() {
  if (std::fflush(file_) != 0) fail(errno);
  std::FILE* const file = file_;
  file_ = nullptr;
  if (std::fclose(file) != 0) {  // some file systems report a full disk only here
    const int error = errno;
    remove_regular(path_);
    fail(error);
  }
}

OutputFolder::OutputFolder(std::string path, std::initializer_list<const char*> old_results)
    : path_(std::move(path)) {
  if (path_.empty())
    throw UserError(ExitCode::usage,
                    "the output folder's name is empty; name one with --out or `output.dir`");
  std::error_code error;
  fs::create_directories(path_, error);
  if (!error && !fs::is_directory(path_, error) && !error)
    error = std::make_error_code(std::errc::not_a_directory);
  if (error) {
    const bool full = disk_full(error.value());
    const bool file = !fs::is_directory(path_) && fs::exists(fs::symlink_status(path_));
    throw UserError(
        full ? ExitCode::internal : ExitCode::usage,
        fmt::format("{}: the output folder cannot be made: {}; {}", path_,
                    file ? "a file of that name is there" : error.message(), remedy(error.value())));
  }
  const std::string probe = file(fmt::format(".weft-probe-{}", getpid()));
  try {
    ResultFile f(probe);
    f.append(std::string(4096, '\n'));
    f.close();
  } catch (const FileError& e) {
    throw UserError(disk_full(e.number) ? ExitCode::internal : ExitCode::usage,
                    fmt::format("{}: no file can be written in the output folder: {}; {}", path_,
                                std::strerror(e.number), remedy(e.number)));
  }
  fs::remove(probe, error);
  for (const char* name : old_results) remove_regular(file(name));
}

std::string OutputFolder::file(std::string_view name) const {
  return (fs::path(path_) / name).string();
}

void OutputFolder::write(std::string_view name, std::string_view text) const {
  ResultFile f(file(name));
  f.append(text);
  f.close();
}

}  // namespace weft::cli
