// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "configs/file_set.h"

#include <fmt/format.h>

#include <filesystem>

#include "configs/types.h"

namespace weft {

namespace fs = std::filesystem;

void refuse_symlink(const std::string& path) {
  std::error_code ignored;
  if (fs::symlink_status(path, ignored).type() != fs::file_type::symlink) return;
  throw UserError(
      ExitCode::usage,
      fmt::format("{}: is a symlink, and results are not written through one; remove it or choose "
                  "another folder with --out",
                  path));
}

FileSet::~FileSet() {
  std::error_code ignored;
  for (const auto& [temporary, path] : files_) fs::remove(temporary, ignored);
}

std::string FileSet::add(const std::string& path) {
  refuse_symlink(path);
  std::error_code ignored;
  const fs::file_status status = fs::symlink_status(path, ignored);
  if (fs::exists(status) && !fs::is_regular_file(status)) return path;
  std::string temporary = path + kPartSuffix;
  refuse_symlink(temporary);
  files_.emplace_back(temporary, path);
  return temporary;
}

void FileSet::move_to(FileSet& other) {
  for (auto& file : files_) other.files_.push_back(std::move(file));
  files_.clear();
}

void FileSet::finish() {
  while (!files_.empty()) {
    const auto [temporary, path] = files_.front();
    std::error_code error;
    fs::rename(temporary, path, error);
    if (error)
      throw UserError(ExitCode::internal,
                      fmt::format("{}: cannot be renamed to {}: {}; check the folder's permissions",
                                  temporary, path, error.message()));
    files_.erase(files_.begin());
  }
}

}  // namespace weft
