// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#ifndef WEFT_SC_MAIN_OUTPUT_FOLDER_H
#define WEFT_SC_MAIN_OUTPUT_FOLDER_H

#include <cstdio>
#include <initializer_list>
#include <string>
#include <string_view>

#include "configs/types.h"

namespace weft::cli {

/// A file that cannot be written; `number` is the system's errno.
class FileError : public UserError {
 public:
  FileError(const std::string& message, int number_of_error)
      : UserError(ExitCode::internal, message), number(number_of_error) {}
  const int number;
};

/// One file of results. Every failure to write throws FileError: it names the file, the reason and what to
/// do; a file that could not be completed is removed if it is a regular one.
class ResultFile {
 public:
  explicit ResultFile(std::string path);
  ~ResultFile();
  ResultFile(const ResultFile&) = delete;
  ResultFile& operator=(const ResultFile&) = delete;

  void append(std::string_view text);
  /// Must be called: only then is it known that everything is written.
  void close();

 private:
  [[noreturn]] void fail(int error);

  std::string path_;
  std::FILE* file_ = nullptr;
};

/// The folder of a run's results.
class OutputFolder {
 public:
  /// Creates the folder and proves that files can be written there, so that no long run is lost at its end;
  /// removes the files `old_results` of an earlier run, that would otherwise stand beside the new ones.
  /// Throws UserError(usage) for a folder that cannot be made or written, UserError(internal) when the disk
  /// is full.
  OutputFolder(std::string path, std::initializer_list<const char*> old_results);

  const std::string& path() const { return path_; }
  std::string file(std::string_view name) const;
  void write(std::string_view name, std::string_view text) const;

 private:
  std::string path_;
};

}  // namespace weft::cli

#endif
