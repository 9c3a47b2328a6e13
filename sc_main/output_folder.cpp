// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_main/output_folder.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "configs/stop.h"
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

FileError::FileError(const std::string& message, int number_of_error)
    : UserError(disk_full(number_of_error) || number_of_error == EIO ? ExitCode::internal : ExitCode::usage,
                message),
      number(number_of_error) {}

ResultFile::ResultFile(std::string path, FileSet* together)
    : path_(std::move(path)), together_(together), file_(std::fopen(names_.add(path_).c_str(), "wb")) {
  if (file_ == nullptr) fail(errno);
}

ResultFile::~ResultFile() {
  if (file_ != nullptr) std::fclose(file_);
}

void ResultFile::fail(int error) {
  const std::string message =
      fmt::format("{}: cannot be written: {}; {}", path_, std::strerror(error), remedy(error));
  if (file_ != nullptr) {
    std::fclose(file_);
    file_ = nullptr;
  }
  throw FileError(message, error);
}

void ResultFile::append(std::string_view text) {
  check_stop();
  if (std::fwrite(text.data(), 1, text.size(), file_) != text.size()) fail(errno);
}

void ResultFile::close() {
  if (std::fflush(file_) != 0) fail(errno);
  std::FILE* const file = file_;
  file_ = nullptr;
  if (std::fclose(file) != 0) fail(errno);  // some file systems report a full disk only here
  if (together_ != nullptr) {
    names_.move_to(*together_);
  } else {
    names_.finish();
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
    std::error_code ignored;
    const bool file = !fs::is_directory(path_, ignored) && fs::exists(fs::symlink_status(path_, ignored)) &&
                      !fs::is_symlink(path_, ignored);
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
    throw UserError(e.code(), fmt::format("{}: no file can be written in the output folder: {}; {}", path_,
                                          std::strerror(e.number), remedy(e.number)));
  }
  fs::remove(probe, error);
  for (const char* name : old_results) {
    refuse_symlink(file(name));
    refuse_symlink(file(name) + kPartSuffix);
  }
  for (const char* name : old_results) {
    remove_regular(file(name));
    remove_regular(file(name) + kPartSuffix);
  }
}

std::string OutputFolder::file(std::string_view name) const {
  return (fs::path(path_) / name).string();
}

void OutputFolder::write(std::string_view name, std::string_view text, FileSet* together) const {
  ResultFile f(file(name), together);
  f.append(text);
  f.close();
}

std::string csv_field(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"') out += '"';
    out += c;
  }
  return out + '"';
}

}  // namespace weft::cli
